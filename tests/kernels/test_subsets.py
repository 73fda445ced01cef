"""Counts of random subsets have the means and covariances of the subsets themselves."""

import numpy as np
import pytest

from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.source import key_of
from ldp3.kernels.subsets import subset_counts
from ldp3.verification.base import ALPHA, mean_p


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
