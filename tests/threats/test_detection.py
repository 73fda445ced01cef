"""Honest reports are left in peace, whatever people hold; fake users are found."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
from ldp3.arrays import IntArray, Reports
from ldp3.attacks.base import Attack
from ldp3.errors import InvalidParameter, LDPError
from ldp3.protocols.base import PureOracle
from ldp3.specs import build
from ldp3.threats import detection as module
from ldp3.threats.detection import Inspection, inspect, inspect_batches, pair_p_values
from tests.verification.planted.unusual import SaltedReports

ALPHA = 1e-6
D, N, FAKES = 30, 20_000, 600
TARGETS = (3, 7, 8, 20)
HONEST = np.bincount(np.minimum(np.arange(N) % 97 % 41, D - 1), minlength=D)
POPULATIONS = {
    "one value": np.array([600, 0, 0, 0, 0, 0]),
    "two values": np.array([300, 300, 0, 0, 0, 0]),
    "all alike": np.full(6, 100),
}


@cache
def oracle(spec: str, d: int = D) -> PureOracle:
    made = ldp3.oracle(spec, 1.0, d)
    assert isinstance(made, PureOracle)
    return made


@cache
def honest(spec: str) -> Reports:
    return oracle(spec).perturb(np.repeat(np.arange(D), HONEST), ldp3.stream(1, spec))


def attacked(spec: str, attack: str) -> Inspection:
    made = build(Attack, attack, targets=TARGETS, honest=HONEST)
    fakes = made.reports(oracle(spec), FAKES, ldp3.stream(2, spec, attack))
    return inspect(oracle(spec), np.concatenate([honest(spec), fakes]))


def p_values(found: Inspection) -> dict[str, float | None]:
    return {f.test: f.p_value for f in found.tests}


@pytest.mark.parametrize("people", POPULATIONS)
@pytest.mark.parametrize(
    "spec", ["oue", "rappor", "olh", "blh", "hrr", "pi_rappor(q=2)", "pgr(q=2)"]
)
def test_honest_reports_are_called_suspicious_as_rarely_as_promised(spec: str, people: str) -> None:
    level, runs = 0.2, 100
    values: IntArray = np.repeat(np.arange(6), POPULATIONS[people])
    rng, made = ldp3.stream(3, spec, people), oracle(spec, 6)
    flagged = sum(inspect(made, made.perturb(values, rng), alpha=level).suspicious
                  for _ in range(runs))  # fmt: skip
    assert flagged <= binom.isf(ALPHA / (7 * len(POPULATIONS)), runs, level)


@pytest.mark.parametrize("padding", ["none", "fixed", "law"])
@pytest.mark.parametrize("spec", ["oue", "rappor", "ue(p=0.6)"])
def test_fake_unary_reports_betray_their_targets_and_their_number(spec: str, padding: str) -> None:
    found = attacked(spec, f"mga(padding={padding!r})")
    assert found.suspicious
    assert found.targets == TARGETS
    assert found.fakes == pytest.approx(FAKES, rel=0.3)


def test_fake_hash_seeds_betray_their_targets() -> None:
    found = attacked("olh(g=8)", "mga(effort=200)")
    assert found.suspicious
    assert set(found.targets) <= set(TARGETS)


@pytest.mark.parametrize(("spec", "attack", "test"), [
    ("oue", "mga(padding='none')", "sum"), ("oue", "mga", "size"),
    ("oue", "mga(padding='law')", "pairs"), ("olh", "flood", "repeats")])  # fmt: skip
def test_each_test_sees_what_it_is_for(spec: str, attack: str, test: str) -> None:
    p = p_values(attacked(spec, attack))[test]
    assert p is not None
    assert p < 1e-4


def test_what_one_test_cannot_see_another_does() -> None:
    seen = p_values(attacked("oue", "mga(padding='law')"))
    assert seen["size"] is not None
    assert seen["size"] > 0.01


@pytest.mark.parametrize("spec", ["grr", "ss"])
def test_where_there_is_no_test_none_claims_to_be(spec: str) -> None:
    found = attacked(spec, "mga")
    assert not found.suspicious
    assert (found.applied, found.exit_code) == ((), 3)
    assert str(found).startswith("No test applies: whether users are fake cannot be told.")


@pytest.mark.parametrize("spec", ["hrr", "pgr", "pi_rappor"])
def test_reports_of_many_sizes_are_not_said_to_be_of_one(spec: str) -> None:
    made = oracle(spec, 10)  # 2 to 8, 2 to 4 and 0 to 10 values
    found = inspect(made, made.perturb(np.arange(2_000) % 10, ldp3.stream(1)))
    assert not any("equally many" in test.text for test in found.tests)
    assert p_values(found)["sum"] is not None
    assert [t.text[:12] for t in found.tests if t.p_value is None] == ["cannot tell:"] * 3


def test_the_sum_betrays_reports_that_support_too_many_values() -> None:
    made = oracle("pi_rappor", 30)
    assert made.support_sizes == (0, 30)
    honest_ones = made.perturb(np.arange(20_000) % 30, ldp3.stream(1))
    everything = np.zeros(600, dtype=honest_ones.dtype)  # the plane that holds all values
    p = p_values(inspect(made, np.concatenate([honest_ones, everything])))["sum"]
    assert p is not None
    assert p < 1e-6


def test_what_an_oracle_does_not_say_is_not_guessed() -> None:
    made = SaltedReports(epsilon=1.0, d=10)  # says nothing of itself
    found = inspect(made, made.perturb(np.arange(500) % 10, ldp3.stream(1)))
    assert found.applied == ()
    assert {test.text.partition(":")[0] for test in found.tests} == {"cannot tell"}


@pytest.mark.parametrize("spec", ["oue", "olh"])
def test_honest_lying_cannot_be_seen(spec: str) -> None:
    assert not attacked(spec, "ria").suspicious


def test_repeated_seeds_are_seen() -> None:
    reports = honest("olh").copy()
    reports["seed"][1] = reports["seed"][0]
    p = p_values(inspect(oracle("olh"), reports))["repeats"]
    assert p is not None
    assert p < 1e-9


def test_dependent_pairs_are_never_likelier_than_independent_ones() -> None:
    # of people who hold one of two values the covariance is below zero: p-values err on one side
    made, rng = oracle("oue", 2), ldp3.stream(5)
    low = 0
    for _ in range(300):
        reports = made.perturb(np.repeat([0, 1], 100), rng)
        table = np.stack([made.supports(reports, v) for v in (0, 1)], axis=1).astype(np.int64)
        low += pair_p_values(table.sum(axis=0), table.T @ table, 200)[0, 1] <= 0.1
    assert low <= binom.isf(ALPHA, 300, 0.1)


def test_large_domains_are_looked_at_in_part_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ALL_PAIRS", 10)
    monkeypatch.setattr(module, "WORK", 10**5)
    found = next(f for f in inspect(oracle("oue"), honest("oue")).tests if f.test == "pairs")
    assert "45 pairs of the largest and a sample, 10 of 30 values" in found.text
    assert "1,000 reports" in found.text


def test_what_cannot_be_inspected_is_refused_with_one_line() -> None:
    with pytest.raises(InvalidParameter, match="only reports that support values"):
        inspect(ldp3.oracle("she", 1.0, D), honest("oue"))
    with pytest.raises(LDPError, match="between 0 and 1"):
        inspect(oracle("oue"), honest("oue"), alpha=1.5)
    with pytest.raises(LDPError, match="at least one report"):
        inspect(oracle("oue"), honest("oue")[:0])
    with pytest.raises(LDPError, match="is not"):
        inspect(oracle("oue"), honest("olh"))


@pytest.mark.parametrize("spec", ["oue", "olh", "ss", "grr"])
def test_batches_are_found_what_all_at_once_are(spec: str) -> None:
    reports = np.concatenate([honest(spec), honest(spec)[:5]])
    cut = [reports[:0], reports[:777], reports[777:12_000], reports[12_000:]]
    assert inspect_batches(oracle(spec), lambda: iter(cut)) == inspect(oracle(spec), reports)
