"""Pairs of values that honest reports support together, and samples of reports."""

import numpy as np
from scipy.stats import binom

import ldp3
from ldp3.protocols.pure import PureOracle
from ldp3.threats.pairs import pair_p_values, sampled

ALPHA = 1e-6


def test_dependent_pairs_are_never_likelier_than_independent_ones() -> None:
    # of people who hold one of two values the covariance is below zero: p-values err on one side
    made, rng = ldp3.oracle("oue", 1.0, 2), ldp3.stream(5)
    assert isinstance(made, PureOracle)
    low = 0
    for _ in range(300):
        reports = made.perturb(np.repeat([0, 1], 100), rng)
        table = np.stack([made.supports(reports, v) for v in (0, 1)], axis=1).astype(np.int64)
        low += pair_p_values(table.sum(axis=0), table.T @ table, 200)[0, 1] <= 0.1
    assert low <= binom.isf(ALPHA, 300, 0.1)


def test_a_sample_of_reports_has_its_size_and_misses_nobody() -> None:
    rng, reports = ldp3.stream(9), np.arange(100)
    times = np.zeros(100, dtype=np.int64)
    for _ in range(400):
        cut = iter([reports[:30], reports[30:31], reports[31:]])
        chosen = np.concatenate(list(sampled(cut, 100, 20, rng)))
        assert len(np.unique(chosen)) == 20
        times[chosen] += 1
    p = binom.sf(times.max() - 1, 400, 0.2) * 100, binom.cdf(times.min(), 400, 0.2) * 100
    assert min(p) > ALPHA
