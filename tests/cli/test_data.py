"""What `-d` names: a dataset for each argument, from wherever it comes."""

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ldp3
from ldp3.cli import main

SMALL = ["-p", "grr", "-m", "norm_sub", "-r", "2"]
Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("page\n" + "home\nnews\nhome\nnews\n" * 9)
    Path("b.csv").write_text("page\n" + "home\nmail\nhome\nmail\n" * 9)
    Path("sub").mkdir()
    Path("sub/a.csv").write_text("page\n" + "x\ny\nz\nz\ny\nx\n" * 9)
    Path("names.csv").write_text("name\nAnn\nBob\nCy\n")

    def call(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, *capsys.readouterr()

    return call


def datasets_of(printed: str) -> list[tuple[str, str, str]]:
    rows = csv.DictReader(printed.splitlines())
    return list(dict.fromkeys((row["dataset"], row["n"], row["d"]) for row in rows))


def test_several_arguments_are_several_datasets_and_a_note_says_so(run: Run) -> None:
    code, out, err = run("run", "-d", "a.csv", "b.csv", *SMALL, "--format", "csv")
    assert code == 0
    assert datasets_of(out) == [("a", "36", "2"), ("b", "36", "2")]
    assert "note: 2 datasets: a, b; one of several files is a quoted pattern" in err
    assert "note: a: The first row is read as a header" in err


@pytest.mark.parametrize("source", ["[ab].csv", "a.csv+b.csv"])
def test_a_pattern_and_a_sum_are_one_dataset(run: Run, source: str) -> None:
    code, out, err = run("run", "-d", source, *SMALL, "--format", "csv")
    assert code == 0
    assert [row[1:] for row in datasets_of(out)] == [("72", "3")]
    assert "note: One dataset of 2 files: a.csv, b.csv." in err


def test_datasets_with_the_same_name_are_called_as_they_were_typed(run: Run) -> None:
    command = ["run", "-d", "a.csv", "sub/a.csv", *SMALL]
    _, out, _ = run(*command, "--format", "csv", "-o", "results")
    assert datasets_of(out) == [("a.csv", "36", "2"), ("sub/a.csv", "54", "3")]
    kept = ldp3.load_results("results")
    assert [data.d for data in kept.datasets.values()] == [2, 3]
    for form in ("text", "markdown"):
        _, out, _ = run(*command, "--format", form)
        assert out.index("a.csv: n = 36, d = 2") < out.index("sub/a.csv: n = 54, d = 3")


@pytest.mark.parametrize("output", ["results.csv", "results.parquet", "results.json", "folder"])
def test_several_datasets_are_kept_and_gone_on_with(run: Run, output: str) -> None:
    command = ["run", "-d", "flights", "zipf(d=8, n=100)", "a.csv", *SMALL, "-o", output]
    first = run(*command)
    assert first[0] == 0
    again = run(*command)
    assert again[1] == first[1]
    assert "holds this run already" in again[2]
    table = ldp3.load_results(output).table
    assert table["dataset"].n_unique() == 3
    alone = run("run", "-d", "a.csv", *SMALL, "--format", "csv")[1]
    together = table.filter(dataset="a", method="none")["value"].mean()
    row = next(r for r in csv.DictReader(alone.splitlines()) if r["method"] == "none")
    assert float(row["mean"]) == together


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("recommend -d a.csv b.csv", "A recommendation is for one sample: give one dataset, got 2"),
        ("run -d -p grr", "-d needs at least one dataset"),
        ("recommend -d -p grr", "-d needs at least one dataset"),
        ("run -d - -", "standard input can be read once"),
        ("run -d https://example.org/a.csv", "is an address; download it first"),
        (
            "run -d a.csv --column pag",
            "has no column 'pag'. Did you mean 'page'? It has the column",
        ),
        ("run -d nowhere/*.csv", "no file matches this pattern"),
        ("run -d a.csv --delimiter ab", "--delimiter is one character"),
        ("run -d a.csv --other rest", "--other stands for what --top or --domain leaves out"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(run: Run, command: str, message: str) -> None:
    code, _, err = run(*command.split())
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1
    assert not Path("page.html").exists()


def test_several_datasets_make_one_page_and_a_folder_of_figures_each(run: Run) -> None:
    code, _, _ = run(
        "run", "-d", "a.csv", "b.csv", *SMALL, "-o", "results", "--report", "page.html"
    )
    assert code == 0
    assert "<h1>2 datasets</h1>" in Path("page.html").read_text(encoding="utf-8")
    assert run("report", "results", "--figures", "figures", "--format", "tex")[0] == 0
    assert sorted(file.parent.name for file in Path("figures").glob("*/*.tex")) == ["a", "b"]


def test_in_doubt_both_commands_are_spelled_out_and_work(run: Run) -> None:
    code, _, err = run("run", "-d", "names.csv", "-p", "grr", "-r", "2")
    assert code == 2
    assert err.rstrip().endswith(
        "Say ldp3 run -d names.csv -p grr -r 2 --header or ldp3 run -d names.csv -p grr -r 2 "
        "--no-header"
    )
    for flag, users in (("--header", 3), ("--no-header", 4)):
        out = run("run", "-d", "names.csv", "-p", "grr", "-r", "2", flag)[1]
        assert f"n = {users}, d = {users}" in out
    Path("numbers.csv").write_text("1,5;2,3\n2,5;7,1\n")
    err = run("run", "-d", "numbers.csv")[2]
    assert err.rstrip().endswith("--delimiter , or ldp3 run -d numbers.csv --delimiter ';'")


def test_options_of_reading_are_understood(run: Run) -> None:
    Path("t.csv").write_text("c\n" + "NA\nDE\n-\nDE\nNA\nFR\nFR\nDE\n" * 3)
    for flags, d, n in (
        (["--missing", "keep"], 4, 24),
        (["--missing", "drop"], 2, 15),
        (["--na", "-", "--missing", "drop"], 3, 21),
        (["--missing", "drop", "--top", "2", "--na", "-", "--other", "rest"], 3, 21),
    ):
        code, out, err = run("run", "-d", "t.csv", "--header", *flags, *SMALL)
        assert (code, f"n = {n}, d = {d}" in out) == (0, True), err


def test_a_metric_that_needs_an_order_is_noted(run: Run) -> None:
    err = run("run", "-d", "a.csv", *SMALL, "-u", "l1", "emd", "ks")[2]
    assert "note: EMD, KS go by the order of the values, but those are labels without one" in err
    assert "--ordered" in err
    assert "order" not in run("run", "-d", "a.csv", *SMALL, "-u", "emd", "--ordered")[2]
    said = run("recommend", "-d", "a.csv", "-p", "grr", "-m", "norm_sub", "-u", "emd", "-q")[1]
    assert "EMD goes by the order of the values" in said


def test_recommend_takes_other_for_what_top_leaves_out(run: Run) -> None:
    said = run("recommend", "-d", "sub/a.csv", "--top", "2", "--other", "rest", "-p", "grr",
               "-m", "norm_sub", "-q")[1]  # fmt: skip
    assert "18 people with another value counted as 'rest'." in said


@pytest.mark.parametrize("command", [["run", "-d", "-", *SMALL], ["convert", "-", "out.csv"]])
def test_a_hyphen_is_standard_input(run: Run, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ldp3", *command],
        input=Path("a.csv").read_text(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "read as a header" in done.stderr
    if command[0] == "convert":
        assert ldp3.load("out.csv").digest == ldp3.load("a.csv").digest
    else:
        assert "standard input: n = 36, d = 2" in done.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run a.csv", "Unexpected 'a.csv': data are given as -d a.csv."),
        ("plan", "needs --epsilon, --output, one of --domain, --domain-size, --bins"),
        ("plan -p oue -e1 --domain-size 4", "ldp3 plan needs --output."),
        (
            "run -d two.csv --column page,country",
            "several columns, and a value is of one: --columns",
        ),
        ("run -d flights --column x", "column is for files and tables"),
        ("run -d flights --columns x y", "columns is for files and tables"),
        ("run -d two.csv --columns page contry", "has no column 'contry'. Did you mean 'country'"),
        ("run -d two.csv --columns page page", "--columns: must be different ones, got 'page'"),
        ("run -d two.csv --columns page", "--columns reads several together, and ['page'] is one"),
        ("run -d two.csv --columns page,country --top 2", "--top: of which column?"),
        ("run -d two.csv --columns page(to=2) country", "page has no option 'to'. Did you mean"),
        ("run -d two.csv --columns page(top=2;) country", "(top=20), (bins=[0, 18, 65]) or"),
        ("run -d two.csv --columns page(1=f) country", "has no column 'page(1=f)'"),
        ("run -d two.csv --columns none.toml", "none.toml: No such file"),
        ("attack infer -d two.csv --columns page country -e 1 -q", "has several attributes, page"),
    ],
)
def test_a_newcomers_slip_gets_an_answer(run: Run, line: str, said: str) -> None:
    Path("two.csv").write_text("page,country\na,de\nb,fr\n")
    code, out, err = run(*line.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_without_targets_few_values_have_few(run: Run) -> None:
    code, _, err = run("attack", "poison", "-d", "sub/a.csv", *SMALL, "-a", "mga", "-q")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    "line",
    [
        "plan -p oue -e 9 --domain-size 4 -o p.json",
        "size -e 9 --domain-size 4 --error 1% -p grr",
        "attack infer -e 9 -d a.csv -p grr",
        "attack cost -e 9 -d a.csv -p grr --overtake news home",
        "convert a.csv out.csv",
    ],
)
def test_quiet_says_nothing_but_the_result(run: Run, line: str) -> None:
    code, _, err = run(*line.split(), "-q")
    assert (code, err) == (0, "")
