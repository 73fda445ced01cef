"""The uncertainty of an estimate."""

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.arrays import BoolArray, FloatArray
from ldp3.types import Estimate
from tests.postprocessing.estimates import PROTOCOLS, estimate, impure, support

ALPHA = 1e-6  # chance of a false alarm, per test


def estimates_of(n: int, frequency: float, p: float, q: float) -> tuple[Estimate, FloatArray]:
    """Every estimate that n reports can give, and its exact probability."""
    held = round(n * frequency)
    own = stats.binom.pmf(np.arange(held + 1), held, p)
    others = stats.binom.pmf(np.arange(n - held + 1), n - held, q)
    return estimate((np.arange(n + 1) / n - q) / (p - q), n, p, q), np.convolve(own, others)


def covered(est: Estimate, frequency: float, level: float) -> BoolArray:
    low, high = est.confidence_interval(level)
    return (low <= frequency + 1e-12) & (frequency - 1e-12 <= high)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_noise_and_variance_are_those_of_the_protocol(protocol: str) -> None:
    p, q, _ = support(protocol, 1.0, 10)
    for n, frequency in ((20, 0.0), (20, 0.5), (50, 1.0)):
        est, chance = estimates_of(n, frequency, p, q)
        mean = (chance * est.frequencies).sum()
        variance = (chance * (est.frequencies - mean) ** 2).sum()
        assert mean == pytest.approx(frequency, abs=1e-12)
        assert est.noise + frequency * est.slope == pytest.approx(variance, rel=1e-10)
        # the plug-in variance is unbiased, because it is linear in the estimate
        assert (chance * est.variance).sum() == pytest.approx(variance, rel=1e-10)
        assert np.array_equal(est.std, np.sqrt(est.variance))


def test_the_interval_by_hand() -> None:
    # p = ½, q = ¼, n = 100: noise 0.03, slope 0.01; z = 1.96: (f̂ - f)² = z² (0.03 + 0.01 f)
    low, high = estimate([0.5, 0.0, -1.0], 100).confidence_interval(0.95)
    for f, end, sign in ((0.5, low[0], -1), (0.5, high[0], 1), (0.0, high[1], 1)):
        roots = np.roots([1, -2 * f - 3.8414588 * 0.01, f**2 - 3.8414588 * 0.03])
        assert end == pytest.approx(max(roots) if sign > 0 else min(roots), rel=1e-6)
    assert low[1] == low[2] == high[2] == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("n", "d"), [(40, 4), (400, 10)])
def test_coverage_is_the_level_at_small_n(protocol: str, n: int, d: int) -> None:
    # exact, over all outcomes: counts are whole, so it swings about the level as f changes
    p, q, _ = support(protocol, 1.0, d)
    for level in (0.8, 0.95, 0.99):
        coverage = []
        for held in range(0, n + 1, n // 20):
            est, chance = estimates_of(n, held / n, p, q)
            coverage.append((chance * covered(est, held / n, level)).sum())
        assert np.mean(coverage) >= level - 0.01
        assert min(coverage) >= level - 0.06


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("n", [30, 1000, 5000])
def test_simulated_coverage_is_the_computed_one(protocol: str, n: int) -> None:
    d, repeats = 6, 2000
    oracle, rng = ldp3.oracle(protocol, epsilon=1.0, d=d), ldp3.stream(0, "coverage", protocol, n)
    histogram = np.array([n - n // 5 - n // 10, n // 5, n // 10, 0, 0, 0])
    hits = np.zeros(d)
    for _ in range(repeats):
        est = oracle.estimate(oracle.simulate(histogram, rng), n)
        low, high = est.confidence_interval(0.95)
        hits += (low <= histogram / n) & (histogram / n <= high)
    assert oracle.p is not None
    assert oracle.q is not None
    for v in range(d):
        every, chance = estimates_of(n, histogram[v] / n, oracle.p, oracle.q)
        expected = (chance * covered(every, histogram[v] / n, 0.95)).sum()
        # two-sided binomial test, Bonferroni over the values
        least = stats.binom.ppf(ALPHA / 2 / d, repeats, expected)
        most = stats.binom.isf(ALPHA / 2 / d, repeats, expected)
        assert least <= hits[v] <= most


def test_simultaneous_intervals_hold_all_at_once() -> None:
    d, n, repeats = 20, 10_000, 2000
    oracle, rng = ldp3.oracle("oue", epsilon=1.0, d=d), ldp3.stream(0, "simultaneous")
    histogram = np.full(d, n // d)
    hits = {True: 0, False: 0}
    for _ in range(repeats):
        est = oracle.estimate(oracle.simulate(histogram, rng), n)
        for simultaneous in hits:
            low, high = est.confidence_interval(0.9, simultaneous=simultaneous)
            hits[simultaneous] += bool(((low <= 1 / d) & (1 / d <= high)).all())
    # binomial tests of "at least 0.9": the simultaneous intervals pass, the plain ones cannot
    least = stats.binom.ppf(ALPHA, repeats, 0.9)
    assert hits[True] >= least > hits[False]


def test_without_p_and_q_the_interval_is_the_normal_one() -> None:
    low, high = impure([0.5, 0.2], noise=0.01).confidence_interval(0.9)
    assert np.allclose(low, np.array([0.5, 0.2]) - 0.1644854, atol=1e-7)
    assert np.allclose(high, np.array([0.5, 0.2]) + 0.1644854, atol=1e-7)
    assert np.array_equal(impure([0.5, 0.2], noise=0.01).variance, [0.01, 0.01])


def test_intervals_lie_within_zero_and_one_and_widen_with_the_level() -> None:
    est = estimate(np.linspace(-2, 3, 50), n=30)
    low, high = est.confidence_interval(0.5)
    wider_low, wider_high = est.confidence_interval(0.99)
    assert ((wider_low >= 0) & (wider_low <= low) & (low <= high)).all()
    assert ((high <= wider_high) & (wider_high <= 1)).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan")])
def test_a_level_that_is_none_is_refused(level: float) -> None:
    with pytest.raises(ldp3.LDPError, match="level must be between 0 and 1, got"):
        estimate([0.5, 0.5]).confidence_interval(level)
