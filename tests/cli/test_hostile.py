"""Command lines, names and streams of people who mean no good, or had no luck."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ldp3
from ldp3.cli.app import run_command
from ldp3.collection.plan import Plan
from tests.cli.fuzzing.lines import line
from tests.cli.fuzzing.running import fuzz
from tests.plugin_files import SLOW, written
from tests.posix import posix

LDP3 = [sys.executable, "-m", "ldp3"]
Run = Callable[..., tuple[int, str, str]]
ESCAPES = "\x1b\x9b\u202e\u2066\u200f\u2028\x07"
EVIL = "=1+1\x1b[31m\u202e\x9b2J\u2066\u2028."


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.txt").write_text("b\na\nb\nc\n")
    (tmp_path / "domain.txt").write_text("a\nb\nc\n")

    def call(*words: str) -> tuple[int, str, str]:
        code = run_command(list(words))
        return code, *capsys.readouterr()

    return call


@posix("there is no alarm there for what takes too long")
@pytest.mark.slow
def test_no_command_line_ends_in_a_traceback() -> None:
    failures = [f"seed {f.seed}: {f.line!r}\n{f.why}" for f in fuzz(range(2_000))]
    assert not failures, "\n".join(failures)


def test_fuzzed_lines_stay_in_their_folder() -> None:
    for seed in range(20_000):
        for word in line(seed):
            for place in (word, word.partition("=")[2]):
                assert not place.startswith("/")
                assert ".." not in Path(place).parts
                assert not place.startswith("~") or place.startswith("~nosuchuser")


QUICK = ["run", "-p", "grr", "-m", "norm", "-d", "values.txt"]
MISTAKES: list[tuple[list[str], str]] = [
    ([*QUICK, "-e", "1e308"], "epsilon must be at most 40"),
    ([*QUICK, "-e", "40.01"], "epsilon must be at most 40"),
    ([*QUICK, "-r", "1000000000000"], "at most 10,000,000 cells"),
    ([*QUICK, "-r", "10**12"], "10**12"),
    ([*QUICK, "-r", "1.6"], "'1.6' is no whole number"),
    ([*QUICK, "-r", "1e400000000"], "is no whole number"),
    ([*QUICK, "--top", "2.5"], "'2.5' is no whole number"),
    ([*QUICK, "--population", "1,00"], "'1,00' is no whole number"),
    (["plan", "x", "-p", "olh", "-e1", "--domain-size=8.6", "-oa"], "'8.6' is no whole number"),
    (["attack", "infer", "--rounds", "1", "2.5"], "'2.5' is no whole number"),
    ([*QUICK, "--population", str(10**30)], "--population must be an integer from 1 to 2⁶²"),
    (["run", "-p", f"olh(g={'-' * 100_000}1)"], "A spec has at most 1,000 characters"),
    (["run", "-p", f"olh(g={'-' * 900}1)"], "A spec is a name"),
    (["run", "-p", "olh(**{'g':4})"], "A spec is a name"),
    (["run", "-p", "olh(g=4,g=8)"], "A spec is a name"),
    (["run", "-d", "~nosuchuser/x.csv"], "there is no such file"),
    (["run", "-d", "loop.csv"], "Too many levels of symbolic links"),
    (["run", "--plugin", "loop.py"], "A plug-in is a Python file that exists"),
    (["merge", "loop", "loop", "-o", "x.json"], "is given twice"),
    (["run", "-d", "bad\udcff.csv"], "'bad\\udcff.csv' is not UTF-8"),
    (["run", "-d", "n" * 300 + ".csv"], "File name too long"),
    (["plan", "-p", "oue", "-e", "50", "--domain", "domain.txt", "-o", "x.json"], "at most 40"),
    (["recommend", "-d", "values.txt", "-e", "41"], "at most 40"),
    (["convert", "zipf(n=10_000_000_000)", "x.csv"], "rows are too many"),
]  # fmt: skip


@posix("links need a privilege there")
@pytest.mark.parametrize(("words", "why"), MISTAKES, ids=[w[1][:40] for w in MISTAKES])
def test_a_hostile_word_is_one_line_and_nothing_half_done(
    run: Run, tmp_path: Path, words: list[str], why: str
) -> None:
    for name in ("loop", "loop.csv", "loop.py"):
        (tmp_path / name).symlink_to(name)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1
    assert len(err) < 1_100
    assert sorted(tmp_path.iterdir()) == before


def test_a_confidence_that_rounds_to_certainty_is_refused(run: Run, tmp_path: Path) -> None:
    run("plan", "-p", "grr", "-e", "1", "--domain", "domain.txt", "-o", "plan.json")
    run("perturb", "plan.json", "values.txt", "-o", "r.bin")
    run("aggregate", "plan.json", "r.bin", "-o", "counts.json")
    almost = ["estimate", "counts.json", "--confidence", "0.9999999999999999"]
    assert run(*almost)[0] == 0
    code, _, err = run(*almost, "--simultaneous")
    assert code == 2
    assert "level must be one that floats tell from 1" in err


def test_every_command_says_what_a_large_epsilon_means(run: Run) -> None:
    told = (
        "note: ε = 12 hides little: one report can turn even odds between two values into 162,755"
    )
    for words in (
        ["plan", "-p", "grr", "-e", "12", "--domain", "domain.txt", "-o", "plan.json"],
        ["perturb", "plan.json", "values.txt", "--max-epsilon", "12", "-o", "r.bin"],
        ["aggregate", "plan.json", "r.bin", "-o", "counts.json"],
        ["merge", "counts.json", "-o", "merged.json"],
        ["estimate", "merged.json"],
        ["run", "-e", "1", "12", "-d", "values.txt", "-p", "grr", "-m", "norm", "-o", "t.csv"],
        ["report", "t.csv", "-o", "page.html"],
        ["recommend", "-d", "values.txt", "-e", "12", "-p", "grr", "-m", "norm", "--margin", "0.9"],
    ):
        code, _, err = run(*words)
        assert code == 0, err
        assert sum(told in line for line in err.splitlines()) == 1, words
    assert "odds" not in run(*QUICK, "-e", "8")[2]


def test_a_client_obeys_no_epsilon_above_eight_unless_told(run: Run, tmp_path: Path) -> None:
    run("plan", "-p", "grr", "-e", "8", "--domain", "domain.txt", "-o", "eight.json")
    assert run("perturb", "eight.json", "values.txt", "-o", "r.bin")[0] == 0
    run("plan", "-p", "grr", "-e", "8.1", "--domain", "domain.txt", "-o", "more.json")
    (tmp_path / "r.bin").unlink()
    code, out, err = run("perturb", "more.json", "values.txt", "-o", "r.bin")
    assert (code, out) == (2, "")
    assert "3,294 to 1; nothing was sent. Raise --max-epsilon only if that is meant" in err
    assert not (tmp_path / "r.bin").exists()
    with pytest.raises(ldp3.errors.InvalidParameter, match="above `max_epsilon` = 8"):
        ldp3.Client("more.json")
    assert len(ldp3.Client("more.json", max_epsilon=9).report("a")) > 8
    for wrong in (0, -1, 41, float("nan"), "9"):
        with pytest.raises(ldp3.errors.InvalidParameter, match="`max_epsilon`"):
            ldp3.Client("eight.json", max_epsilon=wrong)  # type: ignore[arg-type]


def hostile_files(folder: Path) -> None:
    """Labels and names that would work on a terminal, in a spreadsheet, or in LaTeX."""
    (folder / "dömain.txt").write_text(f"{EVIL}\n\\input{{x}}\n")
    (folder / f"{EVIL}.txt").write_text(f"{EVIL}\n\\input{{x}}\n" * 3)


@pytest.mark.parametrize("format", ["text", "csv", "json", "markdown", "latex"])
def test_no_name_or_label_works_on_the_terminal(run: Run, tmp_path: Path, format: str) -> None:
    hostile_files(tmp_path)
    name = f"{EVIL}.txt"
    said: list[str] = []
    said += run(*QUICK[:-1], name, "--format", format)[1:]
    said += run("run", "--dry-run", "-d", name, "-p", "grr", "-m", "norm")[1:]
    said += run(
        "plan", "-p", "grr", "-e", "1", "--domain", name, "--name", EVIL, "-o", f"{EVIL}.json"
    )[1:]
    run("plan", "-p", "grr", "-e", "1", "--domain", "dömain.txt", "--name", EVIL, "-o", "p")
    run("perturb", "p", name, "-o", "r.bin")
    said += run("aggregate", "p", "r.bin", "-o", "counts.json")[1:]
    said += run("estimate", "counts.json", "--format", format)[1:]
    said += run("run", "-d", f"no {EVIL}.csv")[1:]
    said += run(EVIL)[1:]
    said += run("merge", EVIL, "-o", EVIL)[1:]
    text = "".join(said)
    assert not set(ESCAPES) & set(text)
    assert r"\u001b[31m\u202e" in text.replace(r"\textbackslash{}", "\\").replace("\\\\", "\\")


def test_what_a_json_result_escapes_is_still_the_label(run: Run, tmp_path: Path) -> None:
    hostile_files(tmp_path)
    run("plan", "-p", "grr", "-e", "1", "--domain", "dömain.txt", "-o", "p")
    run("perturb", "p", f"{EVIL}.txt", "-o", "r.bin")
    run("aggregate", "p", "r.bin", "-o", "counts.json")
    found = json.loads(run("estimate", "counts.json", "--format", "json")[1])
    assert [value["label"] for value in found["values"]] == [EVIL, "\\input{x}"]


def test_commands_print_through_the_one_printer() -> None:
    for path in (Path(ldp3.__file__).parent / "cli").glob("*.py"):
        for call in re.findall(r"(?<![\w.])print\((?:[^()]|\([^()]*\))*\)", path.read_text()):
            assert "file=sys.stderr" in call, f"{path.name}: {call}"


RUN = [*LDP3, "run", "-p", "grr", "-m", "norm", "-r", "2", "-d", "uniform(d=4,n=100)"]


@pytest.mark.parametrize("words", [RUN, [*LDP3, "list"], [*LDP3, "--help"]])
def test_an_encoding_without_our_letters_is_no_traceback(words: list[str]) -> None:
    asked = {"PYTHONIOENCODING": "cp1252", "PATH": "", "HOME": "/nonexistent"}
    done = subprocess.run(words, env={**os.environ, **asked}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    if words == RUN:
        assert b"\\u03b5 = 1" in done.stdout


def test_files_and_pipes_get_utf8_whatever_the_system_would_say() -> None:
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(RUN, env={**os.environ, **old}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ε = 1" in done.stdout.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize(
    "words",
    [[*LDP3, "list"], pytest.param(RUN, marks=pytest.mark.slow),
     pytest.param([*LDP3, "run", "--help"], marks=pytest.mark.slow)],
)  # fmt: skip
@pytest.mark.parametrize("where", [">/dev/full", ">&-", ">&- 2>&-", ">/dev/full 2>/dev/full"])
def test_a_full_or_closed_output_is_one_line(words: list[str], where: str) -> None:
    command = ["sh", "-c", f'"$@" {where}', "sh", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    if "2>" not in where:
        assert re.fullmatch(
            r"(note: .*\n)?ldp3: .*(No space left on device|is closed).*\n", done.stderr
        )
    else:
        assert done.stderr == ""


def at_work(folder: Path) -> list[str]:
    """A command whose one cell takes longer than anybody waits, and that says when it is at it."""
    plugin = written(folder, SLOW.format(seconds=600), "slow.py")
    return [*RUN, "--plugin", plugin, "-u", "slow", "-t", "1"]


def started(folder: Path, *more: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [*at_work(folder), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not (folder / "at work").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@posix("no other process can be sent this signal there")
@pytest.mark.parametrize(
    "first", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "second", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_a_second_signal_always_ends_the_program(
    tmp_path: Path, first: signal.Signals, second: signal.Signals
) -> None:
    with started(tmp_path) as process:
        process.send_signal(first)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)  # what is running is waited for
        process.send_signal(second)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -second
    assert "Traceback" not in err


@posix("no other process can be sent this signal there")
@pytest.mark.slow
def test_workers_of_a_killed_parent_end(tmp_path: Path) -> None:
    with started(tmp_path, "--executor", "processes") as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.kill()
            pytest.skip("this system does not tell the children of a process")
        workers = children.read_text().split()
        assert workers
        process.kill()
    ends = time.monotonic() + 60
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < ends, "a worker is still there"
        time.sleep(0.05)


def test_the_ledger_of_a_description_is_checked(run: Run, tmp_path: Path) -> None:
    plan = Plan("letters", ("a", "b", "c"), "grr", 1.0)
    plan.save(tmp_path / "plan.json")
    text = (tmp_path / "plan.json").read_text(encoding="utf-8")
    (tmp_path / "plan.json").write_text(text.replace("One report spends ε = 1", "It is free"))
    code, _, err = run("perturb", "plan.json", "values.txt", "-o", "r.bin")
    assert code == 2
    assert "plan.json: 'ledger' is" in err


def test_lone_surrogates_in_identifiers_count_like_any_other(run: Run, tmp_path: Path) -> None:
    plan = Plan("letters", ("a", "b", "c"), "grr", 1.0)
    server, client = ldp3.Aggregator(plan), ldp3.Client(plan)
    server.add([client.report("a") for _ in range(3)], ids=["\ud800", "\udfff", "\ud800"])
    assert (server.n, server.refused) == (2, {"duplicate": 1})


@pytest.mark.parametrize("written", ["1e3", "1,000", "1_000", "1000.0"])
def test_whole_numbers_as_people_write_them(run: Run, written: str) -> None:
    code, out, _ = run(*QUICK, "--no-header", "-e", "1", "-r", "1", "--population", written)
    assert code == 0
    assert "n = 1,000" in out


def test_who_reads_only_the_first_line_of_help_ends_nothing_in_an_error() -> None:
    help_ = subprocess.Popen([*LDP3, "run", "--help"], stdout=subprocess.PIPE)
    assert help_.stdout is not None
    help_.stdout.close()
    assert help_.wait(60) == 0


def test_a_crash_does_not_look_like_what_was_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("ldp3.collection.plan.as_plan", fail)
    code, out, err = run("inspect", "plan.json", "reports.bin")
    assert (code, out) == (70, "")
    assert err.startswith("Traceback")


def test_what_others_make_of_ctrl_c_is_no_crash(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as stop:
            raise SystemError("in a library") from stop

    monkeypatch.setattr("ldp3.collection.plan.as_plan", fail)
    assert run("inspect", "plan.json", "reports.bin") == (130, "", "ldp3: stopped.\n")


def test_options_nested_deeply_are_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("a = " + "[" * 1_500 + "]" * 1_500)
    (tmp_path / "b.toml").write_text(".".join("a" * 3_000) + " = 1")
    for name in ("a.toml", "b.toml"):
        code, _, err = run("run", "--config", name)
        assert (code, err.count("\n")) == (2, 1)
