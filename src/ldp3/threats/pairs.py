"""Pairs of values that reports support together: what fake reports with several targets betray."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import hypergeom, norm

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.threats.report_batches import Batches

ALL_PAIRS = 4096  # values; with more, pairs of half as many of the largest and of a sample
WORK = 2 * 10**11  # multiplications of the test; with more reports, a sample of them
CLOSE = 2.0  # standard deviations within which a pair is not worth an exact p-value
CELLS = 2**24  # of the table of supports that is held at a time


def unknown(what: str) -> str:
    """Why a test does not apply."""
    return f"the protocol does not say {what}."


@dataclass(frozen=True)
class PairsTest:
    """Pairs of values that are supported together too often.

    Parameters
    ----------
    p_value
        Over all pairs; None where that cannot be told.
    text
        What was looked at and seen.
    targets, fakes
        The values that go together most, and how many fake users would explain it.
    """

    p_value: float | None
    text: str
    targets: tuple[int, ...] = ()
    fakes: int | None = None


def conspicuous_pairs(
    oracle: PureOracle, batches: Batches, n: int, frequencies: FloatArray, alpha: float, seed: int
) -> PairsTest:
    """Are two values supported together too often? And which, and by how many fake users?"""
    if oracle.support_sizes is not None and oracle.support_sizes[1] < 2:
        return PairsTest(None, "no report supports two values.")
    if oracle.independence is None or oracle.independence < 2:
        return PairsTest(None, unknown("that honest reports support any two values independently"))
    values = _looked_at(frequencies, seed)
    seen = min(n, max(1_000, WORK // max(1, len(values)) ** 2))
    chosen = sampled(batches(), n, seen, stream(seed, "inspected reports"))
    counts, pairs, seen = together(oracle, chosen, values)
    chance = pair_p_values(counts, pairs, seen)
    tested = len(values) * (len(values) - 1) // 2
    guilty = np.argwhere(chance * tested <= alpha)
    where = f"{tested:,} pairs of {_scope(len(values), oracle.d)}"
    text = f"{len(guilty):,} of {where} are together too often in {seen:,} reports."
    p_value = min(1.0, float(chance.min()) * tested)
    if not len(guilty):
        return PairsTest(p_value, text)
    members, share = _clearest(counts, pairs, guilty, seen)
    return PairsTest(p_value, text, tuple(sorted(map(int, values[members]))), round(share * n))


def pair_p_values(counts: IntArray, pairs: IntArray, n: int) -> FloatArray:
    r"""How likely two values are supported together so often, for each pair; 1 below the diagonal.

    Of honest reports the covariance is $-(p-q)^2 f_u f_v \le 0$. Given how often each is supported,
    independent ones are supported together a hypergeometric number of times, honest ones less.
    Pairs that are far from conspicuous among so many are called 1, which is never too little.
    """
    chance = np.ones(pairs.shape)
    tested = max(1, len(counts) * (len(counts) - 1) // 2)
    far = max(CLOSE, float(norm.isf(0.05 / tested)) - 1)
    rate = counts / n
    spread = np.sqrt(n * rate * (1 - rate) * n / max(1, n - 1))
    for u in range(len(counts)):
        away = pairs[u] - counts[u] * rate
        v = np.flatnonzero(away > far * spread[u] * np.sqrt(rate * (1 - rate)))
        v = v[v > u]
        chance[u, v] = hypergeom.sf(pairs[u, v] - 1, n, counts[u], counts[v])
    return chance


def _looked_at(frequencies: FloatArray, seed: int) -> IntArray:
    d = len(frequencies)
    if d <= ALL_PAIRS:
        return np.arange(d)
    largest = np.argsort(-frequencies, kind="stable")[: ALL_PAIRS // 2]
    rest = np.setdiff1d(np.arange(d), largest)
    return np.concatenate(
        [largest, stream(seed, "inspected values").choice(rest, ALL_PAIRS // 2, replace=False)]
    )


def _scope(values: int, d: int) -> str:
    return (
        f"{d:,} values" if values == d else f"the largest and a sample, {values:,} of {d:,} values"
    )


def _clearest(
    counts: IntArray, pairs: IntArray, guilty: IntArray, n: int
) -> tuple[IntArray, float]:
    """The group of values that go together most, and the share of fakes that would explain it.

    What fake reports leave out goes together too, by being left out; less so, as q is below ½.
    """
    u, v = guilty[:, 0], guilty[:, 1]
    rate = counts / n
    excess = pairs[u, v] / n - rate[u] * rate[v]
    edges = coo_array((np.ones(len(u)), (u, v)), shape=pairs.shape)
    group = connected_components(edges, directed=False)[1]
    strength = {g: float(np.median(excess[group[u] == g])) for g in np.unique(group[u])}
    best = max(strength, key=lambda g: strength[g])
    own = group[u] == best
    share = np.clip(excess[own] / ((1 - rate[u[own]]) * (1 - rate[v[own]])), 0, 1)
    return np.flatnonzero(group == best), float(np.median(share))


def sampled(
    batches: Iterator[Reports], n: int, wanted: int, rng: np.random.Generator
) -> Iterator[Reports]:
    """`wanted` of `n` reports, every set of so many alike, in the order in which they come."""
    for reports in batches:
        if wanted >= n:
            yield reports
            continue
        size = len(reports)
        few = n < 10**9  # beyond NumPy's law, whose limit is the binomial one
        drawn = (
            rng.hypergeometric(wanted, n - wanted, size) if few else rng.binomial(size, wanted / n)
        )
        chosen = rng.choice(size, min(int(drawn), wanted), replace=False)
        n, wanted = n - size, wanted - len(chosen)
        yield reports[np.sort(chosen)]


def together(
    oracle: PureOracle, batches: Iterable[Reports], values: IntArray
) -> tuple[IntArray, IntArray, int]:
    """How many reports support each of `values`, and each two of them; and how many there are."""
    counts = np.zeros(len(values), dtype=np.int64)
    pairs: FloatArray = np.zeros((len(values), len(values)))
    rows, seen = max(1, CELLS // max(1, len(values))), 0
    for reports in batches:
        seen += len(reports)
        for start in range(0, len(reports), rows):
            some = reports[start : start + rows]
            table = np.empty((len(some), len(values)), dtype=np.float32)
            for i, v in enumerate(values):
                table[:, i] = oracle.supports(some, int(v))
            counts += table.sum(axis=0, dtype=np.float64).astype(np.int64)
            pairs += table.T @ table  # whole numbers below 2²⁴: exact in 32 bits
    return counts, np.rint(pairs).astype(np.int64), seen
