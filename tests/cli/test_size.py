import json
import re
import sys
from pathlib import Path

import pytest

from ldp3.cli import main

SMALL = ["--domain-size", "229", "--value-share", "5%", "-p", "ss", "olh"]


def ldp3(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["ldp3", "size", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code or 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["-e", "1", "--error", "1%"], "142,219 people are enough, with SS"),
        (
            ["-e", "1", "--population", "142219"],
            "± 1 percentage point at 95 % confidence for a value that 5 % hold, with SS",
        ),
        (["--population", "142219", "--error", "0.01"], "ε = 1 is enough, with SS"),
    ],
)
def test_two_give_the_third(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    said: str,
) -> None:
    assert ldp3(monkeypatch, *SMALL, *given) == 0
    assert said in capsys.readouterr().out


def test_a_sample_says_how_frequent_values_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_text("page\n" + "a\n" * 600 + "b\n" * 300 + "c\n" * 100)
    given = ["-d", str(sample), "-e", "2", "-p", "oue"]
    assert ldp3(monkeypatch, *given, "--error", "5%") == 0
    assert "a value that 60 % hold" in capsys.readouterr().out
    assert ldp3(monkeypatch, *given, "--goal", "top2") == 0
    assert "the 2 most frequent values in the right order" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "Give two of --epsilon, --population and --error, got 0 of three."),
        (["-e", "1", "--error", "little"], "--error is a share, such as 1% or 0.01"),
        (["-e", "1", "--error", "1%", "--goal", "mean"], "in the unit of the values"),
        (["-e", "1", "--error", "1,5", "--goal", "mean"], "in the unit of the values"),
        (["-e", "1", "--error", "1"], "of a share must be below 1: 0.01 is one percentage point"),
        (["-e", "1", "--error", "1%", "--shuffled"], "--shuffled needs --delta"),
        (["-e", "1", "--error", "1%", "--delta", "1e-6"], "--shuffled needs --delta"),
        (["--central-epsilon", "1", "--delta", "1e-6"], "needs --population and --delta"),
        (["-e", "1", "--population", "1", "--shuffled", "--delta", "1e-6"], "is not mixed"),
        (["-e", "1", "--population", "9", "--shuffled", "--delta", "2"], "--delta"),
    ],
)
def test_a_mistake_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    said: str,
) -> None:
    assert ldp3(monkeypatch, *SMALL, *given) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_what_a_shuffler_adds_comes_after_what_holds_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mixed = ["--population", "100000", "--delta", "1e-9", "-p", "grr", "--rounds", "4"]
    assert ldp3(monkeypatch, *SMALL, "-e", "1", "--shuffled", *mixed) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Locally ε = 1, whoever looks. If a shuffler that you trust mixes at least" in out
    assert "4 collections from the same people: locally ε = 4, whoever looks." in out
    assert ldp3(monkeypatch, *SMALL, "--central-epsilon", "0.1", *mixed) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"honest reports each time: central ε ≤ 0\.(1|099\d) at δ = 1e-9", out)
    once = [*mixed[:-2], "--format", "json"]
    assert ldp3(monkeypatch, *SMALL, "--central-epsilon", "0.1", *once) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["rounds"] for one in answer["shuffled"]] == [1, 52]
    assert 0.099 < answer["shuffled"][0]["epsilon"] <= 0.1 < answer["shuffled"][1]["epsilon"]
