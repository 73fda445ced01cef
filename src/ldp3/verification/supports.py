"""Pure oracles: which values reports support, and how often."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray
from ldp3.verification.base import Finding, binomial_p, exact, statistical
from ldp3.verification.case import OracleCase


def own_and_others(case: OracleCase) -> Iterator[Finding]:
    """Own value is supported with p, others with q."""
    oracle = case.pure
    p_values = []
    for v, reports in case.reports.items():
        for w in case.values:
            hits = np.count_nonzero(oracle.supports(reports, w))
            p_values.append(binomial_p(hits, case.size, oracle.p if w == v else oracle.q))
    yield statistical("Own value is supported with p, others with q", np.array(p_values), case.size)


def declared_law(case: OracleCase) -> Iterator[Finding]:
    """Reports follow `log_prob`.

    Where log P(r|w) - log P(r|v) is l, a report is e^l times as likely from a user with w as from
    one with v: of so many such reports of both, a binomial share is of w. This is exact, however
    rare they are.
    """
    oracle, limit = case.pure, case.oracle.epsilon * (1 + 1e-9) + 1e-12
    p_values, widest = [], 0.0
    for v, w in case.pairs:
        both = np.concatenate([case.reports[v], case.reports[w]])
        own, other = oracle.log_prob(both, v), oracle.log_prob(both, w)
        if own is None or other is None:
            return
        ratio = other - own
        widest = max(widest, float(np.abs(ratio).max()))
        p_values.append(_shares(ratio, case.supported(both, v, w)[:, 0], case.size))
    draws = case.size * len(case.values)
    yield statistical("Reports follow `log_prob`", np.concatenate(p_values), draws)
    evidence = f"largest log-ratio {widest:.6g} against ε = {oracle.epsilon:g}"
    yield exact("`log_prob` stays within ε", widest <= limit, evidence)


def _shares(ratio: FloatArray, supported: NDArray[np.uint8], size: int) -> FloatArray:
    """p-values that of alike reports, e^l / (1 + e^l) are among those after the first `size`."""
    levels, level = np.unique(ratio.round(9), return_inverse=True)
    alike = 4 * level + supported
    every = np.bincount(alike, minlength=4 * len(levels))
    later = np.bincount(alike[size:], minlength=4 * len(levels))
    share = np.repeat(1 / (1 + np.exp(-levels)), 4)
    return binomial_p(later, every, share)[every > 0]


def fixed_support(case: OracleCase) -> Iterator[Finding]:
    """A report supports as many values as `support_size` says."""
    oracle = case.pure
    if oracle.support_size is not None and oracle.d <= 256:
        some = case.reports[0][:1_000]
        held = np.sum([oracle.supports(some, v) for v in range(oracle.d)], axis=0)
        passed = (held == oracle.support_size).all()
        evidence = f"{held.min()}..{held.max()} against {oracle.support_size}"
        yield exact("A report supports as many values as stated", passed, evidence)
