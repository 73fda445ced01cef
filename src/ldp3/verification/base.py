"""Findings, and statistical tests whose chance of a false alarm is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.types import FloatArray

ALPHA = 1e-6  # chance that one statistical check fails by accident


@dataclass(frozen=True)
class Finding:
    """One check: what was tested, the evidence, the verdict.

    `draws` is the number of random reports or runs behind it, `alpha` the chance of a false alarm;
    both are 0 for a check that is exact.
    """

    check: str
    passed: bool
    evidence: str
    draws: int = 0
    alpha: float = 0.0


def exact(check: str, passed: object, evidence: str) -> Finding:
    """A finding without chance in it."""
    return Finding(check, bool(passed), evidence)


def statistical(check: str, p_values: FloatArray, draws: int, what: str = "") -> Finding:
    """A finding from p-values of any dependence, by Bonferroni."""
    p_values = np.atleast_1d(p_values)
    worst = float(p_values.min(initial=1.0))
    evidence = f"smallest p-value {worst:.2g} of {p_values.size}{what}"
    return Finding(check, worst * p_values.size >= ALPHA, evidence, draws, ALPHA)


def binomial_p(
    successes: NDArray[Any] | np.integer[Any], trials: int, p: float | FloatArray
) -> FloatArray:
    """Exact two-sided p-values of counts that should be Binomial(trials, p)."""
    from scipy.special import bdtr, bdtrc

    k = np.asarray(successes, dtype=np.float64)
    low = bdtr(k, trials, p)
    high = np.where(k > 0, bdtrc(np.maximum(k - 1, 0), trials, p), 1.0)
    return np.minimum(1.0, 2 * np.minimum(low, high))


def mean_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that the rows of `samples` have this mean, per column (z-test)."""
    from scipy.special import ndtr

    samples = samples.reshape(len(samples), -1)
    error = samples.mean(axis=0) - expected
    scale = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(samples).max(axis=0))
    z = error / np.where(constant, 1.0, scale)
    return np.where(constant, np.abs(error) < 1e-9, 2 * ndtr(-np.abs(z)))


def variance_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that nearly normal rows of `samples` have this variance, per column."""
    from scipy.special import chdtr, chdtrc

    samples = samples.reshape(len(samples), -1)
    freedom = len(samples) - 1
    statistic = freedom * samples.var(axis=0, ddof=1) / expected
    return 2 * np.minimum(chdtr(freedom, statistic), chdtrc(freedom, statistic))


def same_law_p(first: NDArray[Any], second: NDArray[Any]) -> float:
    """p-value that the rows of two samples of equal size have one law (χ², rare rows pooled)."""
    from scipy.special import chdtrc

    rows, which = np.unique(np.concatenate([first, second]), axis=0, return_inverse=True)
    which = which.reshape(-1)
    a = np.bincount(which[: len(first)], minlength=len(rows))
    b = np.bincount(which[len(first) :], minlength=len(rows))
    rare = a + b < 20
    a, b = np.append(a[~rare], a[rare].sum()), np.append(b[~rare], b[rare].sum())
    both = np.maximum(a + b, 1)
    return float(chdtrc(max(1, len(a) - 1), ((a - b) ** 2 / both).sum()))


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Lower and upper bound of a probability, each wrong with probability `alpha` at the most."""
    from scipy.special import bdtri, betaincinv

    low = float(betaincinv(successes, trials - successes + 1, alpha)) if successes else 0.0
    high = float(bdtri(successes, trials, alpha)) if successes < trials else 1.0
    return low, high


def covariances(samples: NDArray[Any]) -> FloatArray:
    """Products of deviations, one column per pair of columns: their means are the covariances."""
    away = samples - samples.mean(axis=0)
    first, second = np.triu_indices(samples.shape[1])
    return away[:, first] * away[:, second]
