"""`simulate` has the law of the user path."""

from collections.abc import Iterator

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Total
from ldp3.protocols.pure import PureOracle
from ldp3.tails import binomial_p
from ldp3.types import Tally
from ldp3.verification.base import Finding, exact
from ldp3.verification.cases import RUNS, SMALL_DOMAIN, OracleCase, fold, persistent
from ldp3.verification.statistics import Codes, Traits, bias_p, spread_p, told_apart_p

CROWDS = 60, 2_000, 50_000, 10**6, 10**10  # users
DRAWN = 100  # populations of each size, in a small domain
NORMAL = 30.0  # variance of a count from which on its square is that of a normal number


def simulation(case: OracleCase) -> Iterator[Finding]:
    """`simulate` has the law of the user path, for a handful of users and for a few hundred."""
    oracle, d = case.oracle, case.oracle.d
    if not oracle.simulates_exactly:
        return
    yield from _own_randomness(case, case.crowd(6))
    for n, runs in ((6, 2 * RUNS), (300, RUNS // 4)) if d <= SMALL_DOMAIN else ((6, RUNS // 4),):

        def p_values(again: OracleCase, n: int = n, runs: int = runs) -> FloatArray:
            return _same_law_p(again, case.crowd(n), again.count(runs, 50))

        name = f"`simulate` has the law of the user path, for {n} people"
        yield persistent(name, case, p_values, 2 * case.count(runs, 50))


def _own_randomness(case: OracleCase, histogram: IntArray) -> Iterator[Finding]:
    simulate, before = case.oracle.simulate, histogram.copy()
    first, again = (simulate(histogram, case.stream("twice")) for _ in range(2))
    same = np.array_equal(first.total, again.total) and np.array_equal(histogram, before)
    yield exact("`simulate` draws from its generator alone", same, "drawn twice, input compared")
    n = int(histogram.sum())
    yield exact("`simulate` counts its people", first.n == n, f"{first.n} of {n}")


def _same_law_p(case: OracleCase, histogram: IntArray, runs: int) -> FloatArray:
    rng = case.stream(f"simulate {histogram.sum()}")
    drawn = np.array([case.oracle.simulate(histogram, rng).total for _ in range(runs)])
    by_users = _populations(case, histogram, runs)
    both = np.concatenate([drawn.reshape(runs, -1), by_users.reshape(runs, -1)])
    fours = [both[:, four].sum(axis=1) for four in _rectangles(both.shape[1])]
    if both.shape[1] == len(histogram):  # what is held comes first
        both = both[:, np.argsort(-histogram, kind="stable")]
    both = np.column_stack([both[:, : 2 * SMALL_DOMAIN], *fours, both.sum(axis=1)])
    codes, few = _small(both), [0, *range(both.shape[1])[1:3], -1]  # the sum is the last one
    seen = Traits(codes, both > np.median(both, axis=0), fold(np.ascontiguousarray(codes[:, few])))
    return told_apart_p(seen.part(slice(0, runs)), seen.part(slice(runs, None)), rng)


def _small(totals: Total) -> Codes:
    """Totals as small numbers: as they are, or their ranks."""
    if np.issubdtype(totals.dtype, np.integer) and totals.min() >= 0 and totals.max() < 256:
        return totals.astype(np.uint8)
    edges = np.quantile(totals, np.linspace(0, 1, 66)[1:-1], axis=0)
    ranks = [np.searchsorted(e, c) for e, c in zip(edges.T, totals.T, strict=True)]
    return np.array(ranks).T.astype(np.uint8)


def _rectangles(d: int) -> list[list[int]]:
    """Fours of values: the first, and corners that a hash of their halves might tie together."""
    first = list(range(min(d, 4)))
    corners = ([0, 1, side, side + 1] for side in (2**k for k in range(2, d.bit_length())))
    return [first, *(four for four in corners if four[-1] < d)]


def _populations(case: OracleCase, histogram: IntArray, runs: int) -> Total:
    """Totals by the user path; many populations at a time where they are support counts."""
    oracle, n = case.oracle, int(histogram.sum())
    plain = type(oracle).support_counts if isinstance(oracle, PureOracle) else None
    large = n * runs > case.at_once or oracle.d > SMALL_DOMAIN
    if large or not isinstance(oracle, PureOracle) or plain is not PureOracle.support_counts:
        return np.array([t.total for t in case.tallies(histogram, runs, f"populations {n}")])
    values = np.repeat(np.arange(oracle.d), histogram)
    reports = oracle.perturb(np.tile(values, runs), case.stream(f"populations {n}"))
    held = np.stack([oracle.supports(reports, v) for v in range(oracle.d)], axis=1)
    return held.reshape(runs, n, oracle.d).sum(axis=1, dtype=np.int64)


def crowds(case: OracleCase) -> Iterator[Finding]:
    """`simulate` is right for crowds of all sizes."""
    oracle = case.oracle
    if not oracle.simulates_exactly:
        return
    for n in (n for n in CROWDS if n >= case.fewest):

        def p_values(again: OracleCase, n: int = n) -> FloatArray:
            return np.concatenate([_crowd_p(again, h) for h in _histograms(again, n)])

        name = f"`simulate` has the stated means and noise for {n:,} people"
        yield persistent(name, case, p_values, 2 * _drawn(case))


def _histograms(case: OracleCase, n: int) -> tuple[IntArray, IntArray]:
    """All users hold one value; or they are spread over the domain."""
    one = np.zeros(case.oracle.d, dtype=np.int64)
    one[case.two[0]] = n
    return one, case.crowd(n)


def _drawn(case: OracleCase) -> int:
    return case.count(DRAWN if case.oracle.d <= SMALL_DOMAIN else DRAWN // 5, 20)


def _crowd_p(case: OracleCase, histogram: IntArray) -> FloatArray:
    n, runs = int(histogram.sum()), _drawn(case)
    rng = case.stream(f"crowd {n} {histogram.max()}")
    tallies = [case.oracle.simulate(histogram, rng) for _ in range(runs)]
    if isinstance(case.oracle, PureOracle):
        return _counts_p(case.oracle, tallies, histogram)
    error, stated = case.estimates(tallies) - histogram / n, case.stated(tallies, histogram)
    return np.concatenate([bias_p(error, stated), spread_p(error, stated)])


def _counts_p(oracle: PureOracle, tallies: list[Tally], histogram: IntArray) -> FloatArray:
    """p-values of the means, the variances and the last binary digits of support counts.

    A count is a sum of unequal coins, whose tails are within those of equal ones (Hoeffding 1956).
    """
    from scipy.special import chdtr, chdtrc

    counts = np.array([oracle.support_counts(tally) for tally in tallies])
    n, runs, (p, q) = int(histogram.sum()), len(counts), (oracle.p, oracle.q)
    mean = (histogram * p + (n - histogram) * q) / n
    variance = histogram * p * (1 - p) + (n - histogram) * q * (1 - q)
    made = [binomial_p(counts.sum(axis=0), n * runs, mean)]
    squares = ((counts - n * mean) ** 2).sum(axis=0) / np.maximum(variance, 1e-300)
    spread = 2 * np.minimum(chdtr(runs, squares), chdtrc(runs, squares))
    made.append(np.where(variance > NORMAL, spread, 1.0))
    for digit in (0, 4):  # of a count that varies by many times as much, it is a coin
        odd = ((counts >> digit) & 1).sum(axis=0)
        made.append(np.where(variance > 100.0 * 4**digit, binomial_p(odd, runs, 0.5), 1.0))
    return np.concatenate(made)
