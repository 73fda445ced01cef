"""Three ways in from the command line, and one line for every way to get it wrong."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ldp3
from ldp3.cli import main
from ldp3.plugins import plugin
from tests.plugin_files import DATASET, EXAMPLES, PROTOCOL, PURE_PYTHON, written

LEAKS = str(Path(__file__).parents[1] / "verification" / "planted" / "leaks.py")
SMALL = ["-p", "mine", "-m", "norm_sub", "-r", "2", "-d", "zipf(d=8, n=500)", "--format", "csv"]
Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def ldp3_(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["ldp3", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return (caught.value.code or 0, *capsys.readouterr())

    return call


def test_two_methods_suffice(ldp3_: Run, tmp_path: Path) -> None:
    code, out, _ = ldp3_("run", *SMALL, "--plugin", written(tmp_path, PROTOCOL))
    assert code == 0
    assert "mine" in out


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("def estimate", "def estimated", "mine.py:7: Mine lacks estimate"),
        ("class Mine", "class OUE", "mine.py:7: 'oue' is the name of another protocol, OUE in un"),
        ("        codes =", "        1 / 0\n        codes =", "mine.py:10: ZeroDivisionError: div"),
        ("rng.normal(0, 1, (len(", "np.zeros((2 + len(", "mine.py:11: ValueError: operands could"),
        ("return np.eye(self.d)[codes] +", "return [0] #", "mine.py:9: perturb must give an arr"),
        (
            "return np.eye(self.d)[codes] +",
            "return codes[1:] #",
            "one row per person, 500 here, got",
        ),
        ("tally.total / tally.n,", "np.zeros(3),", "one frequency per value, 8 here, got shape (3"),
        ("tally.total / tally.n,", "tally.total * np.nan,", "give an array of finite num"),
        ("return Estimate(", "return #(", "give an Estimate"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_place(
    ldp3_: Run, tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in PROTOCOL
    file = written(tmp_path, PROTOCOL.replace(old, new))
    code, _, err = ldp3_("run", "-q", *SMALL, "--plugin", file)
    assert code == 2
    assert reason in err
    assert "mine.py:" in err
    assert err.count("\n") == 1


def test_a_failure_in_another_process_is_named_too(ldp3_: Run, tmp_path: Path) -> None:
    source = PROTOCOL.replace("        codes =", "        1 / 0\n        codes =")
    file = written(tmp_path, source)
    code, _, err = ldp3_("run", "-q", *SMALL, "--plugin", file, "--executor", "processes")
    assert (code, err.count("\n")) == (2, 1)
    assert "mine.py:10: ZeroDivisionError" in err


def test_two_plug_ins_of_one_name_are_refused(ldp3_: Run, tmp_path: Path) -> None:
    files = written(tmp_path, PROTOCOL), written(tmp_path, PROTOCOL, "other.py")
    code, _, err = ldp3_("run", *SMALL, "--plugin", *files)
    assert code == 2
    assert "other.py:7: 'mine' is the name of another protocol, Mine in mine.py:7" in err


def test_no_such_file(ldp3_: Run, tmp_path: Path) -> None:
    code, _, err = ldp3_("list", "--plugin", str(tmp_path / "none.py"))
    assert code == 2
    assert "A plug-in is a Python file that exists" in err


def test_pure_python_gives_the_same_numbers_in_processes(ldp3_: Run, tmp_path: Path) -> None:
    command = ["run", *SMALL, "--plugin", written(tmp_path, PURE_PYTHON)]
    threads = ldp3_(*command)
    assert threads[0] == 0
    assert ldp3_(*command, "--executor", "processes", "-t", "2") == threads


@pytest.mark.parametrize("spec", ["laplace_sum", "paley_response"])
def test_the_examples_run_in_every_command(ldp3_: Run, spec: str) -> None:
    given = ["--plugin", str(EXAMPLES / f"{spec}.py")]
    assert spec in ldp3_("list", "protocols", *given)[1]
    code, out, _ = ldp3_("run", "-p", spec, "oue", "-d", "zipf(d=8, n=500)", "-r", "2", *given)
    assert code == 0
    assert spec.title().replace("_", "") in out  # the name of its class, where it says no title
    asked = ["-p", spec, "oue", "-m", "norm_sub", "-d", "zipf(d=8, n=500)", "--format", "json"]
    code, out, _ = ldp3_("recommend", *asked, *given)
    assert code == 0
    assert spec in out


def test_a_class_is_handed_in() -> None:
    cls = plugin(EXAMPLES / "laplace_sum.py").LaplaceSum
    results = ldp3.benchmark("zipf(d=8, n=500)", protocols=[cls, "oue"], repeats=2)
    assert set(results.table["protocol"]) == {"laplace_sum", "oue"}


def test_a_dataset_comes_from_a_plug_in(ldp3_: Run, tmp_path: Path) -> None:
    file = written(tmp_path, DATASET, "dice.py")
    code, out, _ = ldp3_("run", "-d", "dice(n=60)", "-p", "grr", "-r", "2", "--plugin", file)
    assert code == 0
    assert "n = 60, d = 6" in out
    assert set(ldp3.benchmark("dice", protocols="grr", repeats=1, plugins=[file]).table["d"]) == {6}
    values = tmp_path / "values.txt"
    assert ldp3_("convert", "dice(n=60)", str(values), "--plugin", file)[0] == 0
    assert len(values.read_text().split()) == 60


def test_a_plug_in_of_datasets_alone_has_nothing_to_verify(ldp3_: Run, tmp_path: Path) -> None:
    code, _, err = ldp3_("verify", "--plugin", written(tmp_path, DATASET, "dice.py"))
    assert (code, err.count("\n")) == (2, 1)
    assert "datasets have no contract" in err


def test_an_installed_package_joins_when_it_is_named(
    ldp3_: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, PROTOCOL, "strange_run.py")
    info = tmp_path / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ldp3.protocols]\nmine = strange_run:Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    code, out, _ = ldp3_("run", *SMALL)
    assert code == 0
    assert "mine" in out
    assert "From the installed package strange." in ldp3_("list", "protocols")[1]


def test_a_bug_in_a_file_ends_with_exit_code_1(ldp3_: Run) -> None:
    given = ["--plugin", LEAKS, "--format", "json", "--draws", "1000"]
    code, out, _ = ldp3_("verify", "lying_ratio", *given)
    assert code == 1
    (verdict,) = json.loads(out)["verified"]
    assert (verdict["name"], verdict["passed"]) == ("lying_ratio", False)
    failed = [f for f in verdict["findings"] if not f["passed"]]
    assert any(f["check"].startswith("No event tells") and f["draws"] > 0 for f in failed)


def test_few_draws_end_with_exit_code_3(ldp3_: Run) -> None:
    code, out, _ = ldp3_("verify", "grr", "l1", "--draws", "100", "--seed", "1")
    assert code == 3
    assert "l1: passed" in out
    assert "grr: not enough evidence" in out
    assert "????  No event tells two values apart by more than e^ε" in out


def test_a_fault_weighs_more_than_too_few_draws(ldp3_: Run) -> None:
    named = ["ratio_above_budget", "grr"]
    code, out, _ = ldp3_("verify", *named, "--plugin", LEAKS, "--draws", "100", "-q")
    assert code == 1
    assert "grr: not enough evidence" in out
    assert "  FAIL  " in out
    assert "  ok  " not in out


def test_a_sound_method_ends_with_exit_code_0(ldp3_: Run) -> None:
    code, out, err = ldp3_("verify", "norm_sub", "l1")
    assert (code, err) == (0, "")
    assert "norm_sub: passed" in out
    assert "l1: passed" in out
    brief = ldp3_("verify", "norm_sub", "l1", "-q")[1]
    assert [line.partition(": ")[0] for line in brief.splitlines() if line] == ["norm_sub", "l1"]


@pytest.mark.parametrize(
    "given",
    [["oul"], [], ["l1", "--format", "xml"], ["l1", "--draws", "9"], ["l1", "--draws", "x"]],
)
def test_nothing_to_verify_is_one_line(ldp3_: Run, given: list[str]) -> None:
    code, out, err = ldp3_("verify", *given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "other"), [("metric", "l1"), ("protocol", "oue"), ("method", "norm")]
)
def test_a_new_file_runs_and_verifies_at_once(
    ldp3_: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, other: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def call(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)

    made = call("ldp3", "new", kind, f"strange-{kind}")
    assert made.returncode == 0, made.stderr
    name = f"strange_{kind}"
    for taken in (name, other):
        code, _, err = ldp3_("new", kind, taken)
        assert (code, err.count("\n")) == (2, 1)
    tested = call("pytest", "-q", f"test_{name}.py")
    assert tested.returncode == 0, tested.stdout
    if kind != "protocol":  # its own test has just done this
        verified = call("ldp3", "verify", name, "--plugin", f"{name}.py")
        assert verified.returncode == 0, verified.stdout
