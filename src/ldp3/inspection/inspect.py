"""Inspect the reports of a collection."""

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import InvalidParameter, require
from ldp3.inspection import screening
from ldp3.inspection.counting import independent, together
from ldp3.inspection.findings import Finding, Findings
from ldp3.protocols.base import PureOracle
from ldp3.protocols.unary import UnaryEncoding
from ldp3.randomness.streams import stream

ALL_PAIRS = 4096  # values; with more, pairs of half as many of the largest and of a sample
WORK = 2 * 10**11  # multiplications of the pair test; with more reports, a sample of them


def inspect(
    oracle: PureOracle,
    reports: Reports,
    *,
    alpha: float = 0.01,
    labels: tuple[str, ...] = (),
    seed: int = 0,
) -> Findings:
    """Whether reports look as if honest clients had sent them, whatever people hold.

    Parameters
    ----------
    oracle
        The protocol, which must be pure.
    reports
        As `oracle.perturb` makes them, only those that `oracle.valid` accepts.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    labels
        What the values are called.
    seed
        Of the sample that is looked at where there are very many values or reports.
    """
    if not isinstance(oracle, PureOracle):
        raise InvalidParameter(
            f"{type(oracle).__name__}: only reports that support values can be inspected."
        )
    require(0 < alpha < 1, oracle, "`alpha` must be between 0 and 1", alpha)
    require(len(reports) > 0, oracle, "at least one report is needed", len(reports))
    oracle.require_valid(reports)
    tally = oracle.aggregate(reports)
    counts, n = oracle.support_counts(tally), tally.n
    frequencies = oracle.estimate(tally).frequencies
    pair, targets, fakes = _pairs(oracle, reports, frequencies, alpha, seed)
    findings = (
        screening.sum_test(oracle, counts, n),
        screening.size_test(oracle, _sizes(oracle, reports)),
        pair,
        screening.repeat_test(oracle, reports),
    )
    return Findings(findings, alpha, targets, fakes, tuple(labels))


def _sizes(oracle: PureOracle, reports: Reports) -> IntArray | None:
    if not isinstance(oracle, UnaryEncoding):
        return None
    from ldp3.kernels import bits

    return bits.sizes(reports)


def _pairs(
    oracle: PureOracle, reports: Reports, frequencies: FloatArray, alpha: float, seed: int
) -> tuple[Finding, tuple[int, ...], int | None]:
    if not independent(oracle):
        text = "honest reports of this protocol support values together by themselves."
        return Finding("pairs", None, text), (), None
    values = _looked_at(frequencies, seed)
    few = max(1_000, WORK // max(1, len(values)) ** 2)
    chosen = reports
    if len(reports) > few:
        chosen = reports[stream(seed, "inspected reports").permutation(len(reports))[:few]]
    counts, pairs = together(oracle, chosen, values)
    chance = screening.pair_p_values(counts, pairs, len(chosen))
    tested = len(values) * (len(values) - 1) // 2
    guilty = np.argwhere(chance * tested <= alpha / 3)
    where = f"{tested:,} pairs of {_scope(len(values), oracle.d)}, {len(chosen):,} reports"
    text = f"{len(guilty):,} of {where} are supported together too often."
    finding = Finding("pairs", min(1.0, float(chance.min()) * tested), text)
    if not len(guilty):
        return finding, (), None
    codes = tuple(int(v) for v in np.sort(values[np.unique(guilty)]))
    share = _fakes(counts, pairs, guilty, len(chosen))
    return finding, codes, round(share * len(reports))


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


def _fakes(counts: IntArray, pairs: IntArray, guilty: IntArray, n: int) -> float:
    """The share of fake reports that would explain the excess, if each supports both values."""
    u, v = guilty[:, 0], guilty[:, 1]
    rate = counts / n
    excess = pairs[u, v] / n - rate[u] * rate[v]
    return float(np.median(np.clip(excess / ((1 - rate[u]) * (1 - rate[v])), 0, 1)))
