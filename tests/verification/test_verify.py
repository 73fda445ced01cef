"""Verdicts: what is said of protocols, methods and metrics, by name, class or object."""

import ast
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3 import LDPError, verification
from ldp3.arrays import IntArray, Reports
from ldp3.errors import require
from ldp3.progress import Progress
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import SETTINGS, findings, verify
from ldp3.verification.base import DRAWS, answer_of
from ldp3.verification.verify import LEAST, named
from tests.plugin_files import PROTOCOL, written
from tests.verification.planted.honest import HonestClient, HonestDirect, HonestSubset, HonestSum
from tests.verification.planted.subtle import BitsTwiceTheBudget
from tests.verification.planted.sums import TooLittleNoise

PLANTED = Path(__file__).parent / "planted" / "leaks.py"


def test_findings_are_the_same_contract_for_every_kind() -> None:
    for thing in (ldp3.oracle("grr", 1.0, 3), ldp3.postprocess("norm"), ldp3.metric("l1")):
        made = list(findings(thing))
        assert made
        assert all(finding.passed for finding in made)


def test_a_bug_in_a_file_is_found_by_name() -> None:
    verdict = ldp3.verify("ratio_above_budget", plugins=[PLANTED], draws=1_000)
    assert not verdict.passed
    assert {f.check for f in verdict.failures} == {"The declared likelihood ratio is at most e^ε"}
    assert (verdict.outcome, verdict.exit_code) == ("failed", 1)
    assert {"epsilon=1, d=2", "epsilon=3, d=5000"} <= {f.setting for f in verdict.findings}
    assert "FAIL  The declared likelihood ratio is at most e^ε" in str(verdict)


def test_verdicts_are_told_to_people_and_to_programs() -> None:
    answer = answer_of([ldp3.verify("norm_sub"), ldp3.verify("l1")])
    assert "norm_sub: passed" in answer.render("text")
    read = json.loads(answer.render("json"))["verified"]
    assert [(v["name"], v["passed"], v["outcome"], v["alpha"]) for v in read] == [
        ("norm_sub", True, "passed", 0),
        ("l1", True, "passed", 0),
    ]


def test_without_names_everything_in_the_plug_ins_is_meant() -> None:
    everything = named([], [Path(PLANTED)])
    assert {"lying_ratio", "leaks_in_a_parity"} <= set(everything)
    assert "honest_direct" not in everything  # imported, not defined there
    assert named(["l1"], [Path(PLANTED)]) == ["l1"]
    with pytest.raises(LDPError, match="Say what to verify"):
        named([], [])


def test_what_an_oracle_refuses_in_one_line_is_no_fault() -> None:
    verdict = ldp3.verify(OnlyPairs, draws=4_000)
    refused = [f for f in verdict.findings if f.check.startswith("Parameters that it cannot")]
    assert verdict.passed
    assert len(refused) == sum(d != 2 for _, d, _ in SETTINGS)
    assert refused[0].evidence == "OnlyPairs: d must be 2, got 5."


class OnlyPairs(HonestClient):
    def __post_init__(self) -> None:
        require(self.d == 2, self, "d must be 2", self.d)


@pytest.mark.parametrize(
    ("name", "hint"), [("oul", "Did you mean 'oue' or 'olh'"), ("zzz", "See `ldp3 list`")]
)
def test_an_unknown_name_gets_a_hint(name: str, hint: str) -> None:
    with pytest.raises(
        LDPError, match=f"No protocol, method, metric or attack is called '{name}'.*{hint}"
    ):
        ldp3.verify(name)


def test_an_oracle_is_examined_as_it_is() -> None:
    verdict = ldp3.verify(ldp3.oracle("grr", epsilon=1.0, d=3))
    assert verdict.passed
    assert {f.setting for f in verdict.findings} == {"epsilon=1, d=3"}
    assert verdict.alpha == pytest.approx(1e-6 * sum(f.alpha > 0 for f in verdict.findings))
    assert verdict.alpha > 1e-5
    assert "declared 1" in repr(verdict)


def test_what_is_nothing_of_ours_is_refused() -> None:
    with pytest.raises(LDPError, match="A protocol, method, metric or attack is needed, got 3"):
        ldp3.verify(3)


def test_the_same_oracle_and_seed_give_the_same_findings() -> None:
    oracle = ldp3.oracle("olh", epsilon=1.0, d=5)
    first, again = (list(findings(oracle, seed=3, draws=400)) for _ in range(2))
    assert first == again
    assert first != list(findings(oracle, seed=4, draws=400))


def test_no_check_depends_on_the_clock() -> None:
    for path in Path(verification.__file__).parent.glob("*.py"):
        if path.stem == "verify":  # it chooses the draws, and says so
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", "")]
                assert not {"time", "datetime", "timeit"} & set(names), path.name


@dataclass(frozen=True)
class Slow(HonestDirect):
    """Takes its time for every report."""

    seconds: float = 1e-4

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        until = time.process_time() + self.seconds * len(values)
        while time.process_time() < until:
            pass
        return super().perturb(values, rng)


@pytest.mark.slow
def test_a_slow_protocol_gets_fewer_draws_and_says_so() -> None:
    slow = Slow(epsilon=2.0, d=3, seconds=3e-4)
    verdict = ldp3.verify(slow)
    assert LEAST <= verdict.draws < DRAWS
    assert verdict.remark.startswith("It is slow")
    assert f"{verdict.draws:,} draws instead of 40,000" in verdict.outcome
    assert verdict.passed
    again = ldp3.verify(HonestDirect(epsilon=2.0, d=3))
    assert (again.draws, again.remark, again.outcome) == (DRAWS, "", "passed")


def test_what_there_is_no_time_for_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LONG", 0.0)
    verdict = ldp3.verify(OnlyPairs)
    assert verdict.exit_code == 3
    left_out = [f for f in verdict.findings if f.check == "Every setting is looked at"]
    assert [f.setting for f in left_out] == ["epsilon=1, d=2", "epsilon=2.5, d=2"]


def test_an_error_ends_it_and_is_said_once(tmp_path: Path) -> None:
    file = written(tmp_path, PROTOCOL.replace("        codes =", "        1 / 0\n        codes ="))
    verdict = ldp3.verify("mine", plugins=[file])
    assert verdict.exit_code == 1
    assert len(verdict.findings) == 1
    assert str(verdict).count("ZeroDivisionError") == 1
    assert "The error ended the examination." in str(verdict)


@pytest.mark.parametrize("thing", [HonestDirect(1.0, 5), HonestSum(1.0, 5), HonestSubset(1.0, 70)])
def test_few_draws_are_not_enough_evidence(thing: FrequencyOracle) -> None:
    verdict = ldp3.verify(thing, draws=100)
    assert (verdict.outcome, verdict.exit_code, verdict.passed) == ("not enough evidence", 3, False)
    assert verdict.failures == ()
    (unsure,) = verdict.unsure
    assert unsure.check == "No event tells two values apart by more than e^ε"
    assert "would have shown" in unsure.evidence
    assert "????  No event tells two values apart" in str(verdict)
    assert "not enough evidence (no fault was found, but more draws" in str(verdict)


@pytest.mark.parametrize("thing", [TooLittleNoise(1.0, 5), BitsTwiceTheBudget(1.0, 70)])
@pytest.mark.parametrize("draws", [100, 200, 1_000, 4_000])
def test_twice_the_budget_never_passes_for_want_of_draws(
    thing: FrequencyOracle, draws: int
) -> None:
    assert not ldp3.verify(thing, draws=draws).passed


@pytest.mark.parametrize("draws", [99, 0, -1, 1.5, True])
def test_a_number_of_draws_that_is_none_is_refused(draws: int) -> None:
    with pytest.raises(LDPError, match="`draws` must be an integer of at least 100, got"):
        ldp3.verify("l1", draws=draws)


def test_progress_is_told() -> None:
    told: list[float] = []

    class Listener(Progress):
        def expect(self, cells: float, done: float = 0.0) -> None:
            told.append(-cells)

        def tick(self, cells: float) -> None:
            told.append(cells)

    ldp3.verify(OnlyPairs, draws=100, progress=Listener())
    assert told[0] == -len(SETTINGS)
    assert sum(told) == pytest.approx(0)
