"""p-values for the laws that tests compare."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc

from ldp3.arrays import FloatArray, Reports
from ldp3.protocols.pure import PureOracle


def variance_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `samples` have this variance, per column.

    χ², with the degrees of freedom that the kurtosis of the samples leaves (Box 1953).
    """
    samples = samples.reshape(len(samples), -1)
    away = samples - samples.mean(axis=0)
    spread = (away**2).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a constant, which no p-value excuses
        excess = np.maximum((away**4).mean(axis=0) / spread**2 - 3, 0)
        freedom = (len(samples) - 1) / (1 + excess / 2)
        statistic = freedom * samples.var(axis=0, ddof=1) / expected
    return 2 * np.minimum(chdtr(freedom, statistic), chdtrc(freedom, statistic))


def same_law_p(first: NDArray[Any], second: NDArray[Any]) -> float:
    """p-value that the rows of two samples of equal size have one law (χ², rare rows pooled)."""
    axis = 0 if first.ndim > 1 else None
    rows, which = np.unique(np.concatenate([first, second]), axis=axis, return_inverse=True)
    which = which.reshape(-1)
    a = np.bincount(which[: len(first)], minlength=len(rows))
    b = np.bincount(which[len(first) :], minlength=len(rows))
    rare = a + b < 20
    a, b = np.append(a[~rare], a[rare].sum()), np.append(b[~rare], b[rare].sum())
    both = np.maximum(a + b, 1)
    return float(chdtrc(max(1, len(a) - 1), ((a - b) ** 2 / both).sum()))


def every_law(oracle: PureOracle) -> tuple[Reports, FloatArray]:
    """Every report of a pure oracle of few, and its probability under each value, shape `(d, …)`.

    From what the oracle is built on: independent bits, or reports that are alike but for the ratio.
    """
    reports = oracle.every_report(2**16)
    assert reports is not None
    held = np.array([oracle.supports(reports, v) for v in range(oracle.d)])
    if oracle.independence == oracle.d:
        alone = np.where(np.eye(oracle.d, dtype=bool), oracle.p, oracle.q)[:, :, None]
        return reports, np.where(held, alone, 1 - alone).prod(axis=1)
    assert oracle.support_ratio is not None
    weights = np.where(held, float(oracle.support_ratio), 1.0)
    return reports, weights / weights.sum(axis=1, keepdims=True)
