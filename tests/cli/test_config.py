"""A run written down in a file, and a finished run repeated."""

import sys
from pathlib import Path

import pytest

from ldp3 import load_results
from ldp3.cli import main
from ldp3.cli.config import expanded

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


def test_a_finished_run_is_repeated_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ldp3(monkeypatch, "--config", "sweep.toml") == 0
    Path("sweep.toml").unlink()  # what was run stands in the manifest
    for place, where in enumerate(["sweep", "sweep/manifest.json"]):
        assert ldp3(monkeypatch, "--config", where, "-o", f"again{place}") == 0
        assert load_results(f"again{place}").table.equals(load_results("sweep").table)


def test_the_command_line_wins() -> None:
    words = expanded(["run", "--config=sweep.toml", "-e", "2", "--repeats", "3"])
    assert words[words.index("--epsilon") + 1] == "2"
    assert "0.5" not in words
    assert words[words.index("--repeats") + 1] == "3"
    assert words[words.index("--methods") + 1] == "norm_sub"
    assert expanded(["run", "-e", "1"]) == ["run", "-e", "1"]
    assert expanded(["list", "--config"]) == ["list", "--config"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("epsilon = [", "is no TOML"),
        ("epsilon = {a = 1}", "epsilon holds"),
        ("colour = 1", "--colour"),
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


def test_files_that_name_one_another_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.toml").write_text('config = "a.toml"')
    assert ldp3(monkeypatch, "--config", "a.toml") == 2
