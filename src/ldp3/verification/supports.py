"""Pure oracles: which values reports support, and how often."""

from collections.abc import Iterator

import numpy as np

from ldp3.verification.base import Finding, binomial_p, exact, mean_p, statistical
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
    """Reports follow `log_prob`."""
    oracle, limit = case.pure, case.oracle.epsilon * (1 + 1e-9) + 1e-12
    p_values, widest = [], 0.0
    for v, reports in case.reports.items():
        own = oracle.log_prob(reports, v)
        if own is None:
            return
        for w in case.values:
            other = oracle.log_prob(reports, w)
            assert other is not None
            widest = max(widest, float(np.abs(other - own).max()))
            # reports of v, weighted by the likelihood ratio, are reports of w
            weight = np.exp(other - own)
            supported = np.stack([oracle.supports(reports, u) for u in (v, w)], axis=1)
            expected = [1.0, *(oracle.p if u == w else oracle.q for u in (v, w))]
            sample = np.column_stack([weight, weight[:, None] * supported])
            p_values.append(mean_p(sample, np.array(expected)))
    draws = case.size * len(case.values)
    yield statistical("Reports follow `log_prob`", np.concatenate(p_values), draws)
    evidence = f"largest log-ratio {widest:.6g} against ε = {oracle.epsilon:g}"
    yield exact("`log_prob` stays within ε", widest <= limit, evidence)


def fixed_support(case: OracleCase) -> Iterator[Finding]:
    """A report supports as many values as `support_size` says."""
    oracle = case.pure
    if oracle.support_size is not None and oracle.d <= 256:
        some = case.reports[0][:1_000]
        held = np.sum([oracle.supports(some, v) for v in range(oracle.d)], axis=0)
        passed = (held == oracle.support_size).all()
        evidence = f"{held.min()}..{held.max()} against {oracle.support_size}"
        yield exact("A report supports as many values as stated", passed, evidence)
