"""Honest reports are left in peace, whatever people hold; fake users are found."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import ldp3
from ldp3.arrays import IntArray, Reports
from ldp3.attacks.base import Attack
from ldp3.collection.databases import open_store
from ldp3.collection.plan import Plan
from ldp3.collection.store import Entry, hour_now
from ldp3.domain import Integers, Records
from ldp3.errors import LDPError
from ldp3.noise import PureNoise, Support
from ldp3.protocols.pure import PureOracle
from ldp3.specs import build
from ldp3.threats import pairs as module
from ldp3.threats.detection import Inspection, inspect, inspect_batches, inspect_tally
from ldp3.threats.report_batches import ReportFiles
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
    "spec", ["oue", "rappor", "olh", "blh", "hrr", "pi_rappor(q=2)", "pgr(q=2)", "grr", "ss"]
)
def test_honest_reports_are_called_suspicious_as_rarely_as_promised(spec: str, people: str) -> None:
    level, runs = 0.2, 100
    values: IntArray = np.repeat(np.arange(6), POPULATIONS[people])
    rng, made = ldp3.stream(3, spec, people), oracle(spec, 6)
    flagged = sum(inspect(made, made.perturb(values, rng), alpha=level).suspicious
                  for _ in range(runs))  # fmt: skip
    assert flagged <= binom.isf(ALPHA / (9 * len(POPULATIONS)), runs, level)


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


def test_where_there_is_no_test_none_claims_to_be() -> None:
    made = oracle("grr")  # of 60 reports, none for a value that 2 should name is no wonder
    found = inspect(made, made.perturb(np.arange(60) % D, ldp3.stream(1)))
    assert not found.suspicious
    assert (found.applied, found.exit_code) == ((), 3)
    assert str(found).startswith("No test applies: whether reports are fake cannot be told.")


@pytest.mark.parametrize("spec", ["grr", "ss", "pgr", "hrr", "olh"])
def test_values_far_below_zero_betray_fake_users_whatever_the_protocol(spec: str) -> None:
    made, values = oracle(spec), np.arange(20_000) % (D - 8)
    real = made.perturb(values, ldp3.stream(1, spec))
    found = inspect(made, np.concatenate([real, np.repeat(real[:1], 4_500, axis=0)]))
    p = p_values(found)["below zero"]
    assert p is not None
    assert p < 1e-3
    assert found.suspicious


def test_fake_users_are_seen_from_the_number_on_that_is_said() -> None:
    made, rng, runs = oracle("grr"), ldp3.stream(4), 60
    values = np.zeros(20_000, dtype=np.int64)  # D - 1 values that nobody holds
    said = inspect(made, made.perturb(values, rng)).tests[0].text
    seen = int(said.split("about ")[1].split(" ")[0].replace(",", ""))
    assert 2_000 < seen < 6_000

    def found(fakes: int) -> int:
        few = np.repeat(values[:1], fakes).astype(made.perturb(values[:1], rng).dtype)
        real = (made.perturb(values[fakes:], rng) for _ in range(runs))
        return sum(inspect(made, np.concatenate([r, few])).suspicious for r in real)

    # one of D - 1 values is enough, and all tests share α: half as many are hardly seen
    assert binom.sf(found(seen) - 1, runs, 0.5) < 1e-6
    assert binom.sf(found(seen // 3) - 1, runs, 0.1) > 1e-6


def test_below_zero_is_exact_for_all_that_few_people_can_hold() -> None:
    p, q, n = 0.6, 0.2, 9  # GRR with three values: every histogram, every tally
    noise = PureNoise.of(Support(p, q, 1), n)
    tallies = [(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)]
    counts = np.array(tallies)
    least = 3 * noise.below_zero((counts / n - q) / (p - q)).min(axis=1)
    for held in tallies:
        law = np.zeros((n + 1, n + 1))
        law[0, 0] = 1
        for value, people in enumerate(held):
            for _ in range(people):
                chance = np.full(3, q)
                chance[value] = p
                law = sum(
                    chance[to] * np.roll(law, step, axis=(0, 1))
                    for to, step in enumerate([(1, 0), (0, 1), (0, 0)])
                )
        weights = law[counts[:, 0], counts[:, 1]]
        assert weights.sum() == pytest.approx(1)
        for level in np.unique(least):
            assert weights[least <= level].sum() <= level + 1e-12


@pytest.mark.parametrize("spec", ["hrr", "pgr", "pi_rappor"])
def test_reports_of_many_sizes_are_not_said_to_be_of_one(spec: str) -> None:
    made = oracle(spec, 10)  # 2 to 8, 2 to 4 and 0 to 10 values
    found = inspect(made, made.perturb(np.arange(2_000) % 10, ldp3.stream(1)))
    assert not any("equally many" in test.text for test in found.tests)
    assert p_values(found)["sum"] is not None
    assert [t.text[:12] for t in found.tests if t.p_value is None] == ["the protocol"] * 3


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
    assert [test.test for test in found.tests if test.p_value is not None] == ["below zero"]
    assert {t.text[:25] for t in found.tests[1:]} == {"the protocol does not say"}


@pytest.mark.parametrize("spec", ["oue", "olh"])
def test_honest_lying_cannot_be_seen(spec: str) -> None:
    assert not attacked(spec, "ria").suspicious


def test_repeated_seeds_are_seen() -> None:
    reports = honest("olh").copy()
    reports["seed"][1] = reports["seed"][0]
    p = p_values(inspect(oracle("olh"), reports))["repeats"]
    assert p is not None
    assert p < 1e-9


def test_large_domains_are_looked_at_in_part_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ALL_PAIRS", 10)
    monkeypatch.setattr(module, "WORK", 10**5)
    found = next(f for f in inspect(oracle("oue"), honest("oue")).tests if f.test == "pairs")
    assert "45 pairs of the largest and a sample, 10 of 30 values" in found.text
    assert "1,000 reports" in found.text


def test_what_cannot_be_inspected_is_refused_with_one_line() -> None:
    she = ldp3.oracle("she", 1.0, D)
    assert inspect(she, she.perturb(np.arange(D), ldp3.stream(0))).exit_code == 3
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


def test_reports_that_a_store_keeps_are_inspected_as_those_of_a_file(tmp_path: Path) -> None:
    plan = Plan("kept", 8, "oue", 1.0)
    reports = plan.oracle.perturb(np.arange(4_000) % 8, ldp3.stream(3))
    data = plan.wire.encode(reports).tobytes()
    (tmp_path / "reports.bin").write_bytes(data)
    store = open_store(str(tmp_path / "x.sqlite"), write=True)
    number = store.register(plan, keep=True)
    store.write([Entry(number, hour_now(), bytes(16), 4_000, data)])
    store.count()
    store.close()
    found = [
        inspect_batches(plan, ReportFiles(plan, [tmp_path / name]))
        for name in ("reports.bin", "x.sqlite")
    ]
    assert found[0].applied == found[1].applied
    tally = inspect_tally(plan, plan.oracle.aggregate(reports))
    assert tally is not None
    assert tally.tests == found[0].tests[:2]


def test_honest_groups_look_honest_and_a_group_that_was_chosen_does_not() -> None:
    ages = [Integers(d, name=name) for d, name in ((3, "a"), (4, "b"), (2, "c"))]
    plan = Plan("people", Records(ages), "smp", 1.0)
    honest = plan.oracle.perturb(ldp3.stream(1).integers(0, plan.d, 6_000), ldp3.stream(2))
    found = inspect(plan, honest)
    assert not found.suspicious
    assert found.tests[0].test == "shares"
    assert any("(group 1: b)" in test.test for test in found.tests)
    chosen = honest.copy()
    chosen[:300] = chosen[chosen[:, 0] == 2][:300]  # fake users who are all in one group
    flooded = inspect(plan, chosen)
    assert flooded.suspicious
    assert flooded.tests[0].p_value is not None
    assert flooded.tests[0].p_value < 1e-6
    tally = plan.oracle.aggregate(chosen)
    by_counts = inspect_tally(plan, tally)
    assert by_counts is not None
    assert by_counts.suspicious


def test_each_group_is_looked_at_by_the_tests_of_its_protocol() -> None:
    ages = [Integers(d, name=name) for d, name in ((3, "a"), (40, "b"))]
    plan = Plan("people", Records(ages), "smp", 1.0)
    scheme = plan.oracle
    reports = scheme.perturb(ldp3.stream(1).integers(0, plan.d, 30_000), ldp3.stream(2))
    fakes = reports[reports[:, 0] == 0].copy()
    fakes[:, 1] = 0  # everybody who is asked for a says 0
    reports[reports[:, 0] == 0] = fakes
    found = inspect(plan, reports)
    assert found.suspicious
    (worst,) = [test for test in found.tests if test.p_value == min(found.applied)]
    assert worst.test == "below zero (group 0: a)"
