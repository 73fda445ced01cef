"""The samplers inside kernels have exactly the law they are named after."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import (
    binomial,
    hypergeometric,
    log_binomial,
    log_hypergeometric,
    subset_counts,
)
from ldp3.kernels.source import Key, key_of, open_source
from ldp3.verification.base import ALPHA
from ldp3.verification.statistics import mean_p
from tests.laws import variance_p

DRAWS = 200_000


@njit
def binomials(n: int, p: float, key: Key, out: IntArray) -> None:
    source = open_source(key)
    for i in range(out.size):
        out[i] = binomial(n, p, source)


@njit
def hypergeometrics(good: int, bad: int, draws: int, key: Key, out: IntArray) -> None:
    source = open_source(key)
    for i in range(out.size):
        out[i] = hypergeometric(good, bad, draws, source)


def assert_law(sample: IntArray, law: Any) -> None:
    """χ² against the probabilities of `law`, in about fifty cells of equal mass."""
    edges = np.unique(law.ppf(np.linspace(0, 1, 51)[1:-1]).astype(np.int64))
    observed = np.bincount(np.searchsorted(edges, sample), minlength=len(edges) + 1)
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * len(sample)
    keep = expected > 0
    assert observed[~keep].sum() == 0
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > ALPHA


@pytest.mark.parametrize(
    ("n", "p"),
    [
        (1, 0.3),
        (5, 0.3),
        (30, 0.2),
        (30, 0.8),
        (50, 0.5),
        (1_000, 0.3),
        (1_000, 0.999),
        (10**6, 1e-5),
        (10**6, 0.27),
        (10**9, 0.3),
        (10**12, 1e-11),
        (10**12, 0.4),
    ],
)
def test_binomial_draws_are_binomial(n: int, p: float) -> None:
    sample = np.empty(DRAWS, dtype=np.int64)
    binomials(n, p, key_of(stream(1, "binomial", n, repr(p))), sample)
    assert_law(sample, stats.binom(n, p))


@pytest.mark.parametrize(
    ("good", "bad", "draws"),
    [
        (5, 1_000, 30),
        (7, 9, 12),
        (40, 30, 60),
        (100, 900, 100),
        (900, 100, 50),
        (1_000, 200_000, 100_000),
        (50_000, 200_000, 240_000),
        (10**6, 10**8, 10**5),
    ],
)
def test_hypergeometric_draws_are_hypergeometric(good: int, bad: int, draws: int) -> None:
    sample = np.empty(DRAWS, dtype=np.int64)
    hypergeometrics(good, bad, draws, key_of(stream(1, "hyper", good, bad, draws)), sample)
    assert_law(sample, stats.hypergeom(good + bad, good, draws))


def test_hypergeometric_draws_stay_right_beyond_what_numpy_takes() -> None:
    good, bad, draws = 3 * 10**11, 7 * 10**11, 10**11
    sample = np.empty(DRAWS, dtype=np.int64)
    hypergeometrics(good, bad, draws, key_of(stream(1, "huge")), sample)
    share = good / (good + bad)
    mean = draws * share
    variance = mean * (1 - share) * (good + bad - draws) / (good + bad - 1)
    z = (sample - mean) / np.sqrt(variance)
    assert mean_p(z, 0.0) > ALPHA
    assert variance_p(z, 1.0) > ALPHA
    assert stats.kstest(z, "norm").pvalue > ALPHA


@pytest.mark.parametrize("edge", [(0, 5, 3), (5, 0, 3), (4, 4, 0), (4, 4, 8), (10**12, 1, 10**12)])
def test_hypergeometric_draws_respect_the_edges(edge: tuple[int, int, int]) -> None:
    good, bad, draws = edge
    sample = np.empty(100, dtype=np.int64)
    hypergeometrics(good, bad, draws, key_of(stream(2)), sample)
    assert (sample >= max(0, draws - bad)).all()
    assert (sample <= min(good, draws)).all()


def test_log_probabilities_are_accurate() -> None:
    k = np.array([0, 1, 3, 10, 17, 30])
    ours = [log_binomial(float(x), 30.0, 0.3) for x in k]
    assert np.allclose(ours, stats.binom(30, 0.3).logpmf(k), rtol=1e-12)
    ours = [log_hypergeometric(float(x), 40.0, 60.0, 30.0) for x in k]
    assert np.allclose(ours, stats.hypergeom(100, 40, 30).logpmf(k), rtol=1e-11)


def subset_moments(own: IntArray, blind: int, k: int) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of `subset_counts`, from the odds of one and two values."""
    d = len(own)

    def law(size: int, taken: int) -> tuple[float, FloatArray]:
        one = taken / size
        two = one * (taken - 1) / (size - 1) if size > 1 else 0.0
        return one, np.where(np.eye(d) == 1, one - one**2, two - one**2)

    one, cov = law(d, k)
    mean, total = np.full(d, blind * one), blind * cov
    one, cov = law(d - 1, k - 1)
    for v, users in enumerate(own):
        others = np.arange(d) != v
        mean += users * one * others
        total += users * cov * np.outer(others, others)
    return mean, total


@pytest.mark.parametrize("scale", [1, 1_000, 10**9])
@pytest.mark.parametrize(("d", "k"), [(2, 1), (5, 1), (5, 4), (7, 3), (16, 5)])
def test_subset_counts_have_the_right_moments(d: int, k: int, scale: int) -> None:
    own = np.arange(d)[::-1] * scale
    blind = 10 * scale
    rng = stream(3, "subsets", d, k, scale)
    drawn = np.array([subset_counts(own, blind, k, key_of(rng)) for _ in range(4_000)])
    assert (drawn.sum(axis=1) == blind * k + own.sum() * (k - 1)).all()
    mean, cov = subset_moments(own, blind, k)
    away = (drawn - mean) / np.sqrt(np.maximum(np.diag(cov), 1e-9))
    first, second = np.triu_indices(d)
    expected = (cov / np.sqrt(np.maximum(np.outer(np.diag(cov), np.diag(cov)), 1e-18)))[
        first, second
    ]
    p = np.concatenate([mean_p(away, 0.0), mean_p(away[:, first] * away[:, second], expected)])
    assert p.min() * p.size > ALPHA
