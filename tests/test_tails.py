"""Tails of support counts are those of the sum of two binomials."""

import numpy as np
import pytest
from scipy.stats import binom

from ldp3.arrays import FloatArray
from ldp3.tails import at_least, at_most, fewest, most

LAWS = [(0.5, 0.25), (0.7, 0.01), (1e-3, 1e-4), (0.99, 0.5), (1 - 1e-9, 1e-9), (0.2, 0.199)]


def law(holders: int, n: int, p: float, q: float) -> FloatArray:
    """P(C = 0), …, P(C = n)."""
    own = binom.pmf(np.arange(holders + 1), holders, p)
    return np.convolve(own, binom.pmf(np.arange(n - holders + 1), n - holders, q))


@pytest.mark.parametrize(("p", "q"), LAWS)
@pytest.mark.parametrize("n", [1, 2, 30, 1_000])
def test_tails_are_sums_of_probabilities(n: int, p: float, q: float) -> None:
    counts = np.arange(n + 1)
    for holders in {0, 1, n // 3, n - 1, n}:
        chance = law(holders, n, p, q)
        upper, lower = chance[::-1].cumsum()[::-1], chance.cumsum()
        everyone = np.full(n + 1, holders)
        assert at_least(counts, everyone, n, p, q) == pytest.approx(upper, rel=1e-6, abs=1e-11)
        assert at_most(counts, everyone, n, p, q) == pytest.approx(lower, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("n", [10**9, 10**12])
def test_tails_of_many_are_those_of_the_binomial(n: int) -> None:
    q = 0.25
    spread = (n * q * (1 - q)) ** 0.5
    counts = (n * q + spread * np.array([-5.0, -2.0, 0.0, 1e-6, 0.01, 2.0, 5.0])).astype(np.int64)
    nobody = np.zeros(7, dtype=np.int64)
    assert at_least(counts, nobody, n, 0.5, q) == pytest.approx(
        binom.sf(counts - 1, n, q), rel=1e-6
    )
    assert at_most(counts, nobody, n, 0.5, q) == pytest.approx(binom.cdf(counts, n, q), rel=1e-6)


@pytest.mark.parametrize("alpha", [0.3, 0.025, 1e-7])
@pytest.mark.parametrize(("p", "q"), LAWS)
def test_limits_are_where_the_tails_reach_alpha(p: float, q: float, alpha: float) -> None:
    n = 25
    counts, holders = np.arange(n + 1), np.arange(n + 1)
    laws = np.array([law(k, n, p, q) for k in range(n + 1)])
    upper, lower = laws[:, ::-1].cumsum(axis=1)[:, ::-1], laws.cumsum(axis=1)
    for c, low, high in zip(
        counts, fewest(counts, n, p, q, alpha), most(counts, n, p, q, alpha), strict=True
    ):
        assert low == next((k for k in holders if upper[k, c] > alpha), n)
        assert high == next((k for k in holders[::-1] if lower[k, c] > alpha), 0)
