"""Privacy: what an oracle declares, and whether any value of the domain stands out."""

from collections.abc import Iterator
from decimal import Context, Decimal
from math import exp

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import (
    ALPHA,
    Finding,
    binomial_p,
    clopper_pearson,
    exact,
    statistical,
)
from ldp3.verification.case import COLUMNS, OracleCase, as_bytes

EACH = 96  # reports of every value of the domain
MOST = 1024  # values that are looked at one by one


def bounded_ratio(case: OracleCase) -> Iterator[Finding]:
    """The declared likelihood ratio is at most e^ε."""
    ratio = case.oracle.privacy_ratio
    if ratio is not None:
        digits = Context(prec=60)
        bound = Decimal(case.oracle.epsilon).exp(digits)
        declared = digits.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
        evidence = f"ratio {declared:.12g} against e^ε = {bound:.12g}"
        yield exact("The declared likelihood ratio is at most e^ε", declared <= bound, evidence)


def every_value(case: OracleCase) -> Iterator[Finding]:
    """No value of the domain stands out.

    Privacy bounds the probability of an event under any value by e^ε times its mean over all.
    """
    oracle, values = case.oracle, _all_or_many(case)
    rng, step = case.stream("every value"), max(1, case.at_once // EACH)
    parts = []
    for start in range(0, len(values), step):
        some = np.repeat(values[start : start + step], EACH)
        events = _events(case, oracle.perturb(some, rng), values)
        parts.append(np.stack([e.reshape(-1, EACH).sum(axis=1) for e in events], axis=1))
    hits, draws = np.concatenate(parts), len(values) * EACH
    p_values = [_standing_out(case, hits), _standing_out(case, EACH - hits)]
    name = "No value's reports exceed e^ε times the mean over all values"
    what = f" events, for each of {len(values)} values"
    yield statistical(name, np.concatenate(p_values), draws, what)
    if isinstance(oracle, PureOracle):
        held = hits[:, : len(values)]
        own = np.eye(len(values), dtype=bool)
        p = [_extremes(held[own], oracle.p), _extremes(held[~own], oracle.q)]
        name = "Every value is supported with p by its own reports, with q by others"
        yield statistical(name, np.concatenate(p), draws, f", for {held.size} pairs of values")


def _all_or_many(case: OracleCase) -> IntArray:
    d, rng = case.oracle.d, case.stream("which values")
    most = case.affordable(min(d, MOST) * EACH, EACH * len(case.values), seconds=2.0) // EACH
    others = rng.permutation(np.setdiff1d(np.arange(d), case.values))
    return np.sort(np.append(case.values, others[: most - len(case.values)]))


def _standing_out(case: OracleCase, hits: IntArray) -> FloatArray:
    """For each event a p-value that the value that favours it most keeps to the bound."""
    from scipy.special import bdtrc

    alpha = ALPHA / 4 / hits.shape[1]
    draws = len(hits) * EACH
    means = [clopper_pearson(int(t), draws, alpha)[1] for t in hits.sum(axis=0)]
    bound = np.minimum(1.0, exp(case.oracle.epsilon) * np.array(means))
    most = hits.max(axis=0)
    tail = np.where(most > 0, bdtrc(np.maximum(most - 1, 0), EACH, bound), 1.0)
    return np.minimum(1.0, 2 * len(hits) * tail)  # the other half of α is spent on the means


def _extremes(counts: IntArray, p: float) -> FloatArray:
    """p-values of the smallest and the largest of many counts."""
    ends = np.array([counts.min(), counts.max()])
    return np.minimum(1.0, counts.size * binomial_p(ends, EACH, p))


def _events(case: OracleCase, reports: Reports, values: IntArray) -> Iterator[NDArray[np.bool_]]:
    """Things that a report may or may not do."""
    if isinstance(case.oracle, PureOracle):
        yield from (case.oracle.supports(reports, int(w)) for w in values)
    rows = reports.reshape(len(reports), -1)
    if np.issubdtype(rows.dtype, np.floating):
        yield from (rows[:, c] > case.ranks[c, 32] for c in range(min(rows.shape[1], MOST)))
        return
    raw = as_bytes(reports)
    columns = [np.bitwise_xor.reduce(raw, axis=1), raw.sum(axis=1, dtype=np.uint8)]
    columns += [*raw.T] if raw.shape[1] <= COLUMNS else []
    yield from ((column >> bit) & 1 == 1 for column in columns for bit in range(8))
