"""`simulate` has the law of the user path."""

from collections.abc import Iterator

import numpy as np

from ldp3.arrays import IntArray, Total
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.verification.base import (
    Finding,
    covariances,
    exact,
    mean_p,
    same_law_p,
    statistical,
    variance_p,
)
from ldp3.verification.case import RUNS, SMALL, OracleCase


def simulation(case: OracleCase) -> Iterator[Finding]:
    """`simulate` has the law of the user path, for a handful of users."""
    oracle, d = case.oracle, case.oracle.d
    if type(oracle).simulate is FrequencyOracle.simulate or d > SMALL:
        return
    histogram = np.zeros(d, dtype=np.int64)
    histogram[: min(d, 3)] = (3, 2, 1)[: min(d, 3)]
    yield from _manners(case, histogram)
    runs = case.runs(5 * RUNS if d <= 8 else RUNS, 6)
    rng = case.stream("simulate")
    drawn = np.array([oracle.simulate(histogram, rng).total for _ in range(runs)])
    yield from _same_law(case, drawn.reshape(runs, -1), _populations(case, histogram, runs))


def _manners(case: OracleCase, histogram: IntArray) -> Iterator[Finding]:
    simulate, before = case.oracle.simulate, histogram.copy()
    first, again = (simulate(histogram, case.stream("twice")) for _ in range(2))
    same = np.array_equal(first.total, again.total) and np.array_equal(histogram, before)
    yield exact("`simulate` draws from its generator alone", same, "drawn twice, input compared")
    n = int(histogram.sum())
    yield exact("`simulate` counts its users", first.n == n, f"{first.n} of {n}")


def _same_law(case: OracleCase, drawn: Total, by_users: Total) -> Iterator[Finding]:
    runs, ranks = len(drawn), [drawn, by_users]
    if np.issubdtype(drawn.dtype, np.floating):  # real totals are compared by rank
        edges = np.quantile(np.concatenate(ranks), np.linspace(0, 1, 33)[1:-1], axis=0)
        ranks = [(some[:, None, :] > edges).sum(axis=1) for some in ranks]
    fours = [[some[:, four] for some in ranks] for four in _rectangles(drawn.shape[1])]
    p = [same_law_p(a, b) for a, b in fours]
    p += [same_law_p(a.sum(axis=1), b.sum(axis=1)) for a, b in fours]
    yield statistical("`simulate` has the joint law of the user path", np.array(p), 2 * runs)
    difference = (drawn - by_users).astype(float)
    yield statistical("`simulate` has the means of the user path", mean_p(difference, 0.0), runs)
    some = [c for c in case.values if c < drawn.shape[1]]
    products = covariances(drawn[:, some]) - covariances(by_users[:, some])
    name = "`simulate` has the variances and covariances of the user path"
    yield statistical(name, mean_p(products, 0.0), runs)
    laws = [same_law_p(ranks[0][:, c], ranks[1][:, c]) for c in range(drawn.shape[1])]
    name = "`simulate` has the law of the user path for each value"
    yield statistical(name, np.array(laws), 2 * runs)


def _rectangles(d: int) -> list[list[int]]:
    """Fours of values: the first, and corners that a hash of their halves might tie together."""
    first = list(range(min(d, 4)))
    corners = ([0, 1, side, side + 1] for side in (2**k for k in range(2, d.bit_length())))
    return [first, *(four for four in corners if four[-1] < d)]


def _populations(case: OracleCase, histogram: IntArray, runs: int) -> Total:
    """Totals by the user path; many populations at a time where they are support counts."""
    oracle, n = case.oracle, int(histogram.sum())
    plain = type(oracle).support_counts if isinstance(oracle, PureOracle) else None
    if not isinstance(oracle, PureOracle) or plain is not PureOracle.support_counts:
        totals = [tally.total for tally in case.tallies(histogram, runs, "populations")]
        return np.array(totals).reshape(runs, -1)
    values = np.repeat(np.arange(oracle.d), histogram)
    reports = oracle.perturb(np.tile(values, runs), case.stream("populations"))
    held = np.stack([oracle.supports(reports, v) for v in range(oracle.d)], axis=1)
    return held.reshape(runs, n, oracle.d).sum(axis=1, dtype=np.int64)


def large_populations(case: OracleCase) -> Iterator[Finding]:
    """`simulate` is right for a million users and for ten thousand million."""
    oracle, runs = case.oracle, 60
    if type(oracle).simulate is FrequencyOracle.simulate:
        return
    for n in (10**6, 10**10):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[0], histogram[-1] = n - n // 3, n // 3
        rng, told = case.stream(f"simulate {n}"), case.told(histogram, runs)
        tallies = [oracle.simulate(histogram, rng) for _ in range(runs)]
        sample, truth = case.estimates(tallies)[:, told], histogram / n
        p = mean_p(sample, truth[told])
        yield statistical(f"`simulate` is unbiased for {n:,} users", p, runs)
        p = variance_p(sample, oracle.estimate(tallies[0]).noise.variance(truth)[told])
        yield statistical(f"`simulate` has the stated noise for {n:,} users", p, runs)
