"""Inspect the reports of a collection."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidParameter, require
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness import stream
from ldp3.threats import screening
from ldp3.threats.findings import Finding, Findings
from ldp3.threats.pairs import independent, together
from ldp3.threats.screening_pass import Batches, FirstLook, in_batches, sampled

ALL_PAIRS = 4096  # values; with more, pairs of half as many of the largest and of a sample
TESTS = 4  # that share α, at most
WORK = 2 * 10**11  # multiplications of the pair test; with more reports, a sample of them


def inspect(
    collection: Plan | FrequencyOracle, reports: Reports, *, alpha: float = 0.01, seed: int = 0
) -> Findings:
    """Whether reports look as if honest clients had sent them, whatever people hold.

    Parameters
    ----------
    collection
        The plan, or the protocol, which must be pure.
    reports
        As `oracle.perturb` makes them, only those that `oracle.valid` accepts.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    seed
        Of the sample that is looked at where there are very many values or reports.

    Examples
    --------
    >>> from ldp3 import oracle, stream
    >>> oue = oracle("oue", 1.0, 20)
    >>> inspect(oue, oue.perturb(np.arange(10_000) % 20, stream(1))).suspicious
    False
    """
    oracle = _pure(collection)
    oracle.require_valid(reports)
    require(len(reports) > 0, oracle, "at least one report is needed", len(reports))
    return inspect_batches(collection, in_batches(reports), alpha=alpha, seed=seed)


def _pure(collection: Plan | FrequencyOracle) -> PureOracle:
    oracle = collection.oracle if isinstance(collection, Plan) else collection
    if not isinstance(oracle, PureOracle):
        raise InvalidParameter(
            f"{type(oracle).__name__}: only reports that support values can be inspected."
        )
    return oracle


def inspect_batches(
    collection: Plan | FrequencyOracle, batches: Batches, *, alpha: float = 0.01, seed: int = 0
) -> Findings:
    """The same for reports that come in batches, read twice: memory does not grow with them."""
    oracle = _pure(collection)
    sound = isinstance(alpha, int | float) and 0 < alpha < 1
    require(sound, "inspect", "`alpha` must be between 0 and 1", alpha)
    look = FirstLook(oracle, batches())
    require(look.tally.n > 0, oracle, "at least one report is needed", 0)
    counts, n = oracle.support_counts(look.tally), look.tally.n
    again, share = (look.repeats.again, look.repeats.share) if look.repeats else (0, 1.0)
    frequencies = oracle.estimate(look.tally).frequencies
    name = collection.label if isinstance(collection, Plan) else str
    pair, targets, fakes = _pairs(oracle, batches, n, frequencies, alpha, seed)
    findings = (
        screening.sum_test(oracle, counts, n),
        screening.size_test(oracle, look.sizes),
        pair,
        screening.repeat_test(oracle, n, again, share),
    )
    return Findings(findings, alpha, targets, fakes, tuple(map(name, targets)))


def _pairs(
    oracle: PureOracle,
    batches: Batches,
    n: int,
    frequencies: FloatArray,
    alpha: float,
    seed: int,
) -> tuple[Finding, tuple[int, ...], int | None]:
    if not independent(oracle):
        text = "honest reports of this protocol support values together by themselves."
        return Finding("pairs", None, text), (), None
    values = _looked_at(frequencies, seed)
    seen = min(n, max(1_000, WORK // max(1, len(values)) ** 2))
    chosen = sampled(batches(), n, seen, stream(seed, "inspected reports"))
    counts, pairs, seen = together(oracle, chosen, values)
    chance = screening.pair_p_values(counts, pairs, seen)
    tested = len(values) * (len(values) - 1) // 2
    guilty = np.argwhere(chance * tested <= alpha / TESTS)
    where = f"{tested:,} pairs of {_scope(len(values), oracle.d)}"
    text = f"{len(guilty):,} of {where} are together too often in {seen:,} reports."
    finding = Finding("pairs", min(1.0, float(chance.min()) * tested), text)
    if not len(guilty):
        return finding, (), None
    members, share = _clearest(counts, pairs, guilty, seen)
    return finding, tuple(sorted(map(int, values[members]))), round(share * n)


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
