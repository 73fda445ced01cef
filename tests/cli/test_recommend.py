import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ldp3.arrays import BoolArray
from ldp3.cli import main
from ldp3.experiment import schedule
from ldp3.experiment.outcomes import Block, Outcome
from ldp3.experiment.schedule import Forecast
from ldp3.experiment.simulator import Simulator
from ldp3.types import Tally
from tests.posix import posix

SMALL = ["-d", "sample.csv", "-p", "grr", "oue", "-m", "norm_sub"]


@pytest.fixture(autouse=True)
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sample.csv").write_text("a\na\nb\nc\n" * 100)


def ldp3(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["ldp3", "recommend", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code or 0


def test_the_answer_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ldp3(monkeypatch, *SMALL, "-e", "1", "-u", "l1", "--population", "5000") == 0
    out = capsys.readouterr().out
    assert "sample: 400 people in the sample, 3 values. The answer is for 5,000 people." in out
    assert out.startswith("· Deploy ")
    assert "ℓ1 (share of people) will be " in out
    assert "--details tells" in out
    assert ldp3(monkeypatch, *SMALL, "--population", "5000", "--details") == 0
    assert "worse by" in capsys.readouterr().out


def test_of_several_attributes_it_is_told_who_gave_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("sex,page\n" + "f,a\nm,b\n,a\n" * 20)
    given = ["-d", "people.csv", "--columns", "sex", "page", "-p", "groups", "-m", "none"]
    assert ldp3(monkeypatch, *given) == 0
    assert "sex: 20 people without an answer counted as 'no answer'." in capsys.readouterr().err


def test_several_questions_are_answered_in_one_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ldp3(monkeypatch, *SMALL, "-e", "1,2", "-u", "l1", "--format", "markdown") == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert rows[0].startswith("| ε | metric | deploy | error")
    assert [row.split(" | ")[0] for row in rows[2:4]] == ["| 1", "| 2"]


def test_limits_leave_protocols_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ldp3(monkeypatch, *SMALL, "--max-bits", "2", "--max-decode", "60") == 0
    assert "Left out: OUE (3 bits)." in capsys.readouterr().out
    assert ldp3(monkeypatch, *SMALL, "--max-bits", "1") == 2
    err = capsys.readouterr().err
    assert "No protocol keeps to --max-bits and --max-decode: GRR (2 bits), OUE (3 bits)." in err


def test_json_and_the_plan_agree(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ldp3(monkeypatch, *SMALL, "--format", "json", "--save", "plan.json") == 0
    best = json.loads(capsys.readouterr().out)["answers"][0]["best"]
    plan = json.loads(Path("plan.json").read_text())
    assert (plan["groups"][0]["protocol"], plan["method"]) == (best["protocol"], best["method"])
    assert plan["attributes"][0]["labels"] == ["a", "b", "c"]
    assert ldp3(monkeypatch, *SMALL, "--save", "plan.json") == 0
    assert "Saved plan.json. Next: ldp3 perturb plan.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "needs --data"),
        (["-d", "nowhere.csv"], "nowhere.csv"),
        ([*SMALL, "-e", "much"], "-e: epsilon must be a number"),
        ([*SMALL, "--confidence", "2"], "confidence must be"),
        ([*SMALL, "-e", "1", "2", "--save", "plan.json"], "--save is for one choice"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ldp3(monkeypatch, *arguments) == 2
    err = capsys.readouterr().err
    assert reason in err
    assert err.count("\n") == 1


def test_a_plan_is_not_promised_for_what_cannot_be_deployed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = Path(__file__).parents[2] / "examples" / "plugins" / "laplace_sum.py"
    line = [*SMALL, "-p", "laplace_sum", "--plugin", str(plugin), "--save", "plan.json"]
    assert ldp3(monkeypatch, *line) == 2
    assert "--save needs protocols that can be deployed" in capsys.readouterr().err
    assert not Path("plan.json").exists()


SIGN = '''
"""A plug-in that tells us that it was loaded."""
from ldp3 import Metric

open("begun", "w").close()


class Mine(Metric):
    """The largest error."""

    def compare(self, truth, frequencies):
        return float(abs(truth - frequencies).max())
'''


@posix("no other process can be sent this signal there")
def test_ctrl_c_leaves_no_answer_and_no_plan(tmp_path: Path) -> None:
    (tmp_path / "sign.py").write_text(SIGN, encoding="utf-8")
    command = [sys.executable, "-m", "ldp3", "recommend", "-d", "zipf(d=3000, n=1_000_000)"]
    with subprocess.Popen(
        [*command, "--format", "json", "--save", "plan.json", "--plugin", "sign.py"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        while not (tmp_path / "begun").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    # by the signal, which shells show as 130 too, if it came while Python was in `exec`
    assert process.returncode in (130, -signal.SIGINT)
    assert out == ""
    assert err.splitlines()[-1] == "ldp3: stopped."
    assert not (tmp_path / "plan.json").exists()


def test_a_dry_run_tells_what_would_compete(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ldp3(monkeypatch, *SMALL, "--dry-run", "--distribution") == 0
    out = capsys.readouterr().out
    assert "methods    none norm_sub" in out
    assert "deploy" not in out


def test_a_dry_run_promises_no_less_than_a_run_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    each = 0.05  # seconds, so that the rounding of what is said is less than a collection

    def fixed(simulator: Simulator, threads: int | None) -> Forecast:
        assert threads == 1
        return Forecast({cell.protocol: each for cell in simulator.cells}, threads, 0)

    measure, taken = Simulator.measure, []

    def counting(
        self: Simulator, block: Block, methods: BoolArray | None = None, tally: Tally | None = None
    ) -> Outcome:
        taken.append(len(block))
        return measure(self, block, methods, tally)

    monkeypatch.setattr(schedule, "forecast", fixed)
    monkeypatch.setattr(Simulator, "measure", counting)
    alike = ["-d", "uniform(d=40, n=1000)", "-p", "oue", "rappor", "-m", "none", "norm"]
    asked = *alike, "--margin", "0", "--threads", "1"  # hardly anything leaves
    assert ldp3(monkeypatch, *asked, "--dry-run") == 0
    said = re.fullmatch(
        r"time       about (.+) s for the first look, up to about (.+) s if nothing leaves the "
        r"race; on 1 free core, once it has started",
        capsys.readouterr().out.splitlines()[-1],
    )
    assert said is not None
    assert ldp3(monkeypatch, *asked) == 0
    first, most = (float(number) / each for number in said.groups())
    assert first < sum(taken) < most + 1


def test_a_dry_run_of_several_attributes_says_what_tells_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("sex,age\n" + "f,a\nm,b\n" * 50)
    line = ["-d", "people.csv", "--columns", "sex", "age", "-e", "1"]
    assert ldp3(monkeypatch, *line, "--dry-run") == 2
    assert "ldp3 run … -p attributes -m attributes --dry-run" in capsys.readouterr().err


def test_too_few_people_for_some_table_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("people.csv").write_text("sex,age\nf,10\nm,\nf,30\nNA,40\n")
    assert ldp3(monkeypatch, "-d", "people.csv", "--columns", "sex", "age", "-e", "1") == 2
    assert "4 people are too few: in a repeat nobody was asked" in capsys.readouterr().err
