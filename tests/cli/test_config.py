"""A run written down in a file, and a finished run repeated."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ldp3 import load_results
from ldp3.cli import main

SWEEP = """
epsilon = [0.5, 1]
protocols = ["grr", "oue"]
methods = "norm_sub"
repeats = 2
output = "sweep"
data = [
  {source = "visits.csv", column = "page"},
  {source = "visits.csv", column = "shop"},
  "zipf(d=4, n=99)",
]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("page,shop\n" + "a,x\nb,y\na,z\n" * 9)
    Path("sweep.toml").write_text(SWEEP)


def ldp3(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["ldp3", "run", "-q", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code or 0


def test_a_file_holds_a_whole_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ldp3(monkeypatch, "--config", "sweep.toml") == 0
    found = load_results("sweep")
    names = ["visits:page", "visits:shop", "zipf(d=4, n=99, s=1.1)"]
    assert list(found.datasets) == names
    assert [found.datasets[name].d for name in names] == [2, 3, 4]
    assert found.manifest["epsilons"] == [0.5, 1.0]


def test_the_command_line_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ldp3(monkeypatch, "--config=sweep.toml", "-e", "2", "--repeats", "3") == 0
    manifest = load_results("sweep").manifest
    assert (manifest["epsilons"], manifest["repeats"]) == ([2.0], 3)
    assert manifest["methods"] == ["none", "norm_sub"]


def test_an_option_that_is_also_the_name_of_a_command_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("page.toml").write_text('report = "page.html"\nfresh = true\nrepeats = 2\n')
    assert ldp3(monkeypatch, "--config", "page.toml", "-p", "grr") == 0
    assert Path("page.html").exists()


@pytest.mark.parametrize("where", ["sweep", "sweep/manifest.json"])
def test_a_finished_run_is_repeated_from_what_its_results_hold(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    assert ldp3(monkeypatch, "--config", "sweep.toml", "-m", "all") == 0
    Path("sweep.toml").unlink()
    Path("visits.csv").unlink()  # a folder has its data
    assert ldp3(monkeypatch, "--config", where, "-o", "again") == 0
    assert load_results("again").table.equals(load_results("sweep").table)


def test_a_repeated_run_chooses_its_repeats_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ldp3(monkeypatch, "-d", "zipf(d=64, n=100_000)", "-p", "grr", "oue", "-o", "chosen") == 0
    assert ldp3(monkeypatch, "--config", "chosen", "-o", "again") == 0
    chosen, again = load_results("chosen"), load_results("again")
    assert chosen.manifest["repeats_asked"] is again.manifest["repeats_asked"] is False
    assert again.table.equals(chosen.table)


def test_a_table_has_no_data_to_repeat_it_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["-d", "visits.csv", "--column", "page"]
    assert ldp3(monkeypatch, *data, "-p", "grr", "-r", "2", "-o", "x.csv") == 0
    assert ldp3(monkeypatch, "--config", "x.csv", "-o", "again.csv") == 2
    assert "x.csv holds no data" in capsys.readouterr().err
    assert ldp3(monkeypatch, "--config", "x.csv", *data, "-o", "again.csv") == 0
    assert Path("again.csv").read_bytes() == Path("x.csv").read_bytes()


PLUGIN = """
from pathlib import Path
from ldp3.metrics.distances import L1
Path("ran").touch()
class Mine(L1): pass
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"command": "ldp3 run --plugin mine.py -omine"},
        {"plugins": {"mine.py": "0"}, "plugin": ["mine.py"]},
        {"protocols": ["grr", "--plugin", "mine.py"]},
        {"protocols": ["grr", "--plugin=mine.py"]},
        {"epsilons": [1.0, "--plugin=mine.py"]},
        {"seed": "0 --plugin mine.py"},
        {"simulate": "--plugin=mine.py"},
        {"output": "mine", "executor": "tcp://127.0.0.1:1", "report": "mine.html"},
    ],
)
def test_results_run_no_code_and_name_no_output(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    assert ldp3(monkeypatch, "--config", "sweep.toml") == 0
    Path("mine.py").write_text(PLUGIN)
    manifest = Path("sweep/manifest.json")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **changes}))
    before = {str(path) for path in Path().rglob("*")}
    ldp3(monkeypatch, "--config", "sweep")
    assert {str(path) for path in Path().rglob("*")} == before


def test_a_repeated_run_says_what_it_does_not_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.py").write_text(PLUGIN)
    given = ["-d", "zipf(d=4, n=99)", "-p", "grr", "-u", "mine", "-r", "2", "-o", "mine"]
    assert ldp3(monkeypatch, *given, "--plugin", "mine.py") == 0
    monkeypatch.setattr(sys, "argv", ["ldp3", "run", "--config", "mine", "-d", "flights"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2  # nothing here is called `mine`
    assert ldp3(monkeypatch, "--config", "mine", "--plugin", "mine.py", "-o", "again") == 0
    assert load_results("again").table.equals(load_results("mine").table)
    capsys.readouterr()
    argv = ["ldp3", "run", "--config", "mine", "--plugin", "mine.py", "-d", "zipf(d=5, n=99)"]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit):
        main()
    err = capsys.readouterr().err
    assert "plug-ins, executor and output are yours to give" in err
    assert "The data are not those of mine." in err
    assert "mine used plug-ins, which are code: mine.py." in err


def test_results_of_an_attack_are_not_repeated_as_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["ldp3", "attack", "poison", "-q", "-p", "grr", "-r", "2", "-o", "attacked"]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit):
        main()
    capsys.readouterr()
    assert ldp3(monkeypatch, "--config", "attacked") == 2
    assert "there were attacks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("epsilon = [", "is no TOML"),
        ("epsilon = " + "[" * 1_500 + "]" * 1_500, "is no TOML"),
        ("epsilon = {a = 1}", "[epsilon][a]"),
        ("colour = 1", "[colour]"),
        ('data = [{source = "visits.csv", colour = 1}]', "no reading option 'colour'"),
        (
            'data = [{source = "visits.csv", header = "no"}]',
            "visits.csv: --header: is True or False, got 'no'",
        ),
        (
            'data = [{source = "visits.csv", domain = [1]}]',
            "visits.csv: --domain holds at least two values",
        ),
    ],
)
def test_a_mistake_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    Path("bad.toml").write_text(content)
    assert ldp3(monkeypatch, "--config", "bad.toml") == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("where", ["none.toml", "visits.csv", "nowhere"])
def test_what_is_no_configuration_is_refused(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    assert ldp3(monkeypatch, "--config", where) == 2
