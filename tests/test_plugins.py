"""Plug-in files: loaded once, and one line for every way to get one wrong."""

from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3 import FrequencyOracle, LDPError
from ldp3.kinds import find
from ldp3.plugins import blame, blaming, load_plugins, plugin
from tests.plugin_files import DATASET, EXAMPLES, PROTOCOL, written


def test_a_plug_in_is_loaded_once_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path(written(tmp_path, PROTOCOL))
    module = plugin(file)
    monkeypatch.chdir(tmp_path)
    assert load_plugins([file, "mine.py"]) == [module, module]
    assert find(FrequencyOracle, module)["mine"] is module.Mine


def test_an_edited_file_is_another_plug_in(tmp_path: Path) -> None:
    first = plugin(Path(written(tmp_path, PROTOCOL)))
    second = plugin(Path(written(tmp_path, PROTOCOL + "\nEDITED = True\n")))
    assert first is not second
    assert second.EDITED


def test_its_source_can_be_sent_to_another_machine(tmp_path: Path) -> None:
    there = tmp_path / "only_there" / "mine.py"
    module = plugin(there, PROTOCOL.encode())
    assert module.Mine(epsilon=1.0, d=3).d == 3
    assert plugin(there, PROTOCOL.encode()) is module


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("import numpy as np", "import nothing_like_it", "mine.py:3: ModuleNotFoundError"),
        ("return Estimate", "return (Estimate", "mine.py:14: SyntaxError"),
        ("class Mine", "class _Mine", "mine.py:1: a plug-in defines a protocol, method, metric"),
        ("def estimate", "def estimated", "mine.py:7: Mine lacks estimate"),
        ("@dataclass", "raise SystemExit(3)\n@dataclass", "mine.py:7: SystemExit"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_its_place(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in PROTOCOL
    with pytest.raises(LDPError) as caught:
        plugin(Path(written(tmp_path, PROTOCOL.replace(old, new))))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["none.py", ".", "mine.txt"])
def test_a_plug_in_is_a_python_file(tmp_path: Path, name: str) -> None:
    written(tmp_path, PROTOCOL, "mine.txt")
    with pytest.raises(LDPError, match="A plug-in is a Python file that exists, got"):
        plugin(tmp_path / name)


def test_a_failure_at_work_names_its_file_and_line(tmp_path: Path) -> None:
    broken = PROTOCOL.replace("        codes =", "        1 / 0\n        codes =")
    oracle = plugin(Path(written(tmp_path, broken))).Mine(epsilon=1.0, d=3)
    with pytest.raises(LDPError) as caught, blaming():
        oracle.simulate(np.array([1, 2, 3]), ldp3.stream(0))
    said = "mine.py:10: ZeroDivisionError: division by zero"
    assert str(caught.value) == f"{said}. Mend the plug-in."
    assert blame(caught.value.__cause__ or caught.value) == said


def test_a_failure_of_ours_is_not_blamed_on_plug_ins() -> None:
    with pytest.raises(ZeroDivisionError) as caught, blaming():
        1 / 0  # noqa: B018
    assert blame(caught.value) is None


def test_a_class_from_a_file_is_handed_in(tmp_path: Path) -> None:
    cls = plugin(EXAMPLES / "laplace_sum.py").LaplaceSum
    assert ldp3.oracle(cls, epsilon=1.0, d=4) == cls(epsilon=1.0, d=4)
    assert ldp3.load(plugin(Path(written(tmp_path, DATASET, "dice.py"))).Dice).d == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace_sum", "paley_response"])
def test_an_example_keeps_the_contract(name: str) -> None:
    verdict = ldp3.verify(name, plugins=[EXAMPLES / f"{name}.py"])
    assert verdict.passed, verdict


def test_paley_response_can_be_deployed() -> None:
    oracle = plugin(EXAMPLES / "paley_response.py").PaleyResponse(epsilon=1.0, d=1000)
    assert oracle.deployable
    assert oracle.report_bits == 10
    assert not plugin(EXAMPLES / "laplace_sum.py").LaplaceSum(epsilon=1.0, d=4).deployable


def test_paley_response_decodes_once_whatever_the_batches() -> None:
    oracle = plugin(EXAMPLES / "paley_response.py").PaleyResponse(epsilon=1.0, d=70)
    reports = oracle.perturb(np.arange(5_000) % 70, ldp3.stream(0))
    tally = sum(oracle.aggregate(part) for part in np.array_split(reports, 7))
    assert tally.total.shape == (71,)
    held = [oracle.supports(reports, v).sum() for v in range(70)]
    assert oracle.support_counts(tally).tolist() == held
    with pytest.raises(LDPError, match="no counts of n=4999 reports"):
        oracle.estimate(ldp3.Tally(tally.total, 4_999))
