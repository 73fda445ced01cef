"""Tallies add up; estimates know their uncertainty."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ldp3
from ldp3.arrays import BoolArray, FloatArray
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.noise import Noise, Support
from ldp3.types import Estimate, Tally
from tests.postprocessing.estimates import PROTOCOLS, estimate, steady, support

ALPHA = 1e-6  # chance of a false alarm, per test


@steady
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_tallies_add_up_in_any_grouping(parts: list[tuple[int, int, int]]) -> None:
    tallies = [Tally(np.array([a, b]), n) for a, b, n in parts]
    whole = sum(tallies)
    assert isinstance(whole, Tally)
    assert whole.n == sum(n for *_, n in parts)
    assert whole.total.tolist() == [sum(a for a, _, _ in parts), sum(b for _, b, _ in parts)]
    left, right = tallies[: len(parts) // 2], tallies[len(parts) // 2 :]
    apart = sum(left, start=Tally(np.zeros(2, dtype=int), 0)) + sum(right, start=tallies[0])
    assert apart.total.tolist() == (whole.total + tallies[0].total).tolist()


def test_adding_leaves_both_tallies_as_they_are() -> None:
    one, two = Tally(np.array([1, 2]), 3), Tally(np.array([3, 4]), 5)
    assert ((one + two).total.tolist(), (one + two).n) == ([4, 6], 8)
    assert (one.total.tolist(), two.total.tolist(), one.n, two.n) == ([1, 2], [3, 4], 3, 5)


def test_tallies_of_other_domains_do_not_add() -> None:
    for other in (np.zeros(3), np.zeros((2, 1)), np.zeros(1), 0.0):  # no broadcasting
        with pytest.raises(InvalidData, match=r"ε and domain add up, got totals of shape \(2,\)"):
            Tally(np.zeros(2), 1) + Tally(np.asarray(other), 1)
    with pytest.raises(TypeError):
        Tally(np.zeros(2), 1) + np.zeros(2)  # type: ignore[operator]
    with pytest.raises(TypeError):
        1 + Tally(np.zeros(2), 1)


@pytest.mark.parametrize("n", [-1, 1.0, True, "1", None])
def test_a_number_of_reports_is_a_whole_number(n: object) -> None:
    with pytest.raises(InvalidParameter, match="Tally: n must be an integer of at least 0, got"):
        Tally(np.zeros(2), n)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_number_of_reports_cannot_disagree_with_the_counts(protocol: str) -> None:
    oracle = ldp3.oracle(protocol, epsilon=1.0, d=6)
    tally = oracle.simulate(np.full(6, 50), ldp3.stream(0, "disagree", protocol))
    fine = oracle.estimate(tally)
    assert (fine.n, fine.tally) == (300, tally)
    least = int(tally.total.max())
    for n in (0, 2, least - 1):
        with pytest.raises(InvalidData, match=f"^{type(oracle).__name__}: .*n={n}"):
            oracle.estimate(Tally(tally.total, n))
    for total in (tally.total[:5], -tally.total, tally.total * 301):
        with pytest.raises(InvalidData, match="n=300"):
            oracle.estimate(Tally(total, 300))


@pytest.mark.parametrize("protocol", ["grr", "ss"])
def test_where_reports_support_so_many_values_the_counts_say_n(protocol: str) -> None:
    oracle = ldp3.oracle(protocol, epsilon=1.0, d=6)
    tally = oracle.simulate(np.full(6, 50), ldp3.stream(0, "exactly", protocol))
    with pytest.raises(InvalidData, match="no counts of n=301 reports, each of which supports"):
        oracle.estimate(Tally(tally.total, 301))


def test_a_number_or_an_array_stands_for_a_noise() -> None:
    f, tally = np.array([0.5, 0.25]), Tally(np.zeros(2), 100)
    assert Estimate(f, tally, 0.01).variance.tolist() == [0.01, 0.01]  # type: ignore[arg-type]
    each = Estimate(f, tally, np.array([0.01, 0.04]))  # type: ignore[arg-type]
    assert each.std.tolist() == [0.1, 0.2]
    assert (each.n, each.d, each.support, each.channel) == (100, 2, None, None)
    with pytest.raises(InvalidData, match="a variance: finite and above 0"):
        Estimate(f, tally, 0.0)  # type: ignore[arg-type]


def test_an_estimate_to_try_methods_on_needs_no_tally() -> None:
    pure = Estimate.of(np.array([0.5, 0.5]), 300, Support(0.5, 0.25, 1))
    assert pure.support == Support(0.5, 0.25, 1)
    assert (pure.n, pure.noise.floor) == (300, 0.01)
    assert Estimate.of(np.array([0.5, 0.5]), 300, Noise(0.25)).std.tolist() == [0.5, 0.5]


def estimates_of(n: int, frequency: float, p: float, q: float) -> tuple[Estimate, FloatArray]:
    """Every estimate that n reports can give, and its exact probability."""
    held = round(n * frequency)
    own = stats.binom.pmf(np.arange(held + 1), held, p)
    others = stats.binom.pmf(np.arange(n - held + 1), n - held, q)
    return estimate((np.arange(n + 1) / n - q) / (p - q), n, p, q), np.convolve(own, others)


def covered(interval: tuple[FloatArray, FloatArray], frequency: float) -> BoolArray:
    low, high = interval
    return (low <= frequency + 1e-12) & (frequency - 1e-12 <= high)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_noise_and_variance_are_those_of_the_protocol(protocol: str) -> None:
    p, q, _ = support(protocol, 1.0, 10)
    for n, frequency in ((20, 0.0), (20, 0.5), (50, 1.0)):
        est, chance = estimates_of(n, frequency, p, q)
        mean = (chance * est.frequencies).sum()
        variance = (chance * (est.frequencies - mean) ** 2).sum()
        assert mean == pytest.approx(frequency, abs=1e-12)
        assert est.noise.variance(np.array([frequency])) == pytest.approx(variance, rel=1e-10)
        # the plug-in variance is unbiased, because it is linear in the estimate
        assert (chance * est.variance).sum() == pytest.approx(variance, rel=1e-10)
        assert np.array_equal(est.std, np.sqrt(est.variance))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("n", "d", "epsilon"), [(40, 4, 1.0), (100, 10, 5.0), (60, 1_000, 3.0)])
def test_each_interval_holds_at_least_as_often_as_it_says(
    protocol: str, n: int, d: int, epsilon: float
) -> None:
    # exact, over all outcomes: counts are whole, so it lies above the level as f changes
    p, q, _ = support(protocol, epsilon, d)
    every, _ = estimates_of(n, 0.0, p, q)
    for level in (0.8, 0.95, 0.99):
        interval, coverage = every.confidence_interval(level), []
        for held in range(0, n + 1, n // 20):
            _, chance = estimates_of(n, held / n, p, q)
            coverage.append((chance * covered(interval, held / n)).sum())
        assert min(coverage) >= level - 1e-7


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("n", [30, 1000, 5000])
def test_simulated_coverage_is_the_computed_one(protocol: str, n: int) -> None:
    d, repeats = 6, 2000
    oracle, rng = ldp3.oracle(protocol, epsilon=1.0, d=d), ldp3.stream(0, "coverage", protocol, n)
    histogram = np.array([n - n // 5 - n // 10, n // 5, n // 10, 0, 0, 0])
    assert oracle.support is not None
    every, _ = estimates_of(n, 0.0, oracle.support.p, oracle.support.q)
    interval = every.confidence_interval(0.95)
    counts = np.array([oracle.simulate(histogram, rng).total for _ in range(repeats)])
    for v in range(d):
        hits = covered(interval, histogram[v] / n)
        _, chance = estimates_of(n, histogram[v] / n, oracle.support.p, oracle.support.q)
        expected = (chance * hits).sum()
        # two-sided binomial test, Bonferroni over the values
        least = stats.binom.ppf(ALPHA / 2 / d, repeats, expected)
        most = stats.binom.isf(ALPHA / 2 / d, repeats, expected)
        assert least <= hits[counts[:, v]].sum() <= most


REPEATS = 300
CROWDED = [
    ("grr", 1_000, 10_000, 1.0), ("grr", 10_000, 10_000, 1.0), ("grr", 10_000, 1_000, 5.0),
    ("oue", 1_000, 1_000, 5.0), ("oue", 5_000, 500, 1.0), ("olh", 1_000, 1_000, 4.0),
    ("ss", 1_000, 1_000, 4.0), ("ss", 300, 100, 5.0), ("rappor", 100, 100_000, 1.0),
    ("blh", 1_000, 300, 5.0), ("grr", 16, 10_000, 8.0),
]  # fmt: skip


@pytest.mark.parametrize(("protocol", "d", "n", "epsilon"), CROWDED)
def test_all_intervals_hold_at_once_as_often_as_they_say(
    protocol: str, d: int, n: int, epsilon: float
) -> None:
    # few people per value, large ε: counts are Poisson in the tails that Bonferroni reaches
    oracle, name = ldp3.oracle(protocol, epsilon, d), f"{protocol} {d} {n} {epsilon}"
    rng, weights = ldp3.stream(0, "at once", name), 1 / np.arange(1, d + 1) ** 1.1
    histogram = rng.multinomial(n, weights / weights.sum())
    assert oracle.support is not None
    every, _ = estimates_of(n, 0.0, oracle.support.p, oracle.support.q)
    low, high = every.noise.interval(every.frequencies, 1 - 0.05 / d)
    held, hits = histogram / n, 0
    for _ in range(REPEATS):
        counts = oracle.simulate(histogram, rng).total
        hits += bool(((low[counts] <= held + 1e-12) & (held - 1e-12 <= high[counts])).all())
    # binomial test of "at least 0.95", Bonferroni over the cells
    assert hits >= stats.binom.ppf(ALPHA / len(CROWDED), REPEATS, 0.95)


def test_simultaneous_intervals_are_those_of_bonferroni() -> None:
    oracle = ldp3.oracle("oue", epsilon=1.0, d=20)
    est = oracle.estimate(oracle.simulate(np.full(20, 500), ldp3.stream(0, "simultaneous")))
    ends = est.confidence_interval(0.9, simultaneous=True)
    assert np.array_equal(ends, est.noise.interval(est.frequencies, 1 - 0.1 / 20))
    assert (ends[1] > est.confidence_interval(0.9)[1]).all()


@pytest.mark.parametrize(("protocol", "n"), [("oue", 10**5), ("olh", 10**6), ("grr", 10**5)])
def test_where_the_normal_interval_is_right_ours_is_hardly_wider(protocol: str, n: int) -> None:
    oracle, d = ldp3.oracle(protocol, epsilon=1.0, d=20), 20
    est = oracle.estimate(oracle.simulate(np.full(d, n // d), ldp3.stream(0, "wide", protocol)))
    (low, high), (first, last) = (
        est.confidence_interval(),
        Noise.interval(est.noise, est.frequencies, 0.95),
    )
    wider = (high - low) / (last - first)
    assert wider.max() < 1.02
    assert wider.min() > 0.999


def test_intervals_lie_within_zero_and_one_and_widen_with_the_level() -> None:
    est = estimate(np.linspace(-2, 3, 50), n=30)
    low, high = est.confidence_interval(0.5)
    wider_low, wider_high = est.confidence_interval(0.99)
    assert ((wider_low >= 0) & (wider_low <= low) & (low <= high)).all()
    assert ((high <= wider_high) & (wider_high <= 1)).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(ldp3.LDPError, match="level: must be between 0 and 1, got"):
        estimate([0.5, 0.5]).confidence_interval(level)
