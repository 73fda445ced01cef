"""Privacy: what an oracle declares, and whether any value of the domain stands out."""

from collections.abc import Iterator
from decimal import Context, Decimal
from math import exp, log, log1p

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import (
    Finding,
    at_least_p,
    binomial_p,
    clopper_pearson,
    exact,
    far_binomial_p,
)
from ldp3.verification.case import OracleCase
from ldp3.verification.features import as_bytes
from ldp3.verification.looks import persistent

EVERY = 100_000  # reports of all values together
EACH = 32  # of each value at the least
MOST = 1024  # values that are looked at one by one
ROUNDING = 2.0**-51  # of a probability near 1, as a float
MEANS = 1e-9  # chance that the mean over all values is above its bound


def bounded_ratio(case: OracleCase) -> Iterator[Finding]:
    """The declared likelihood ratio is at most e^ε."""
    ratio = case.oracle.privacy_ratio
    if ratio is not None:
        digits = Context(prec=60)
        bound = Decimal(case.oracle.epsilon).exp(digits)
        declared = digits.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
        evidence = f"ratio {declared:.12g} against e^ε = {bound:.12g}"
        yield exact("The declared likelihood ratio is at most e^ε", declared <= bound, evidence)


def bounded_supports(case: OracleCase) -> Iterator[Finding]:
    """Supporting a value, and not supporting it, is at most e^ε times as likely if it is true."""
    p, q = case.pure.p, case.pure.q
    sound = 0 <= q <= 1 and 0 <= p <= 1
    name = "p and q are probabilities with p ≤ e^ε q and 1 - q ≤ e^ε (1 - p)"
    if not sound or q == 0:
        yield exact(name, False, f"p = {p:.6g}, q = {q:.6g}")
        return
    yes, no = log(p / q), log1p(-q) - log(1 - p + ROUNDING)
    limit = case.oracle.epsilon * (1 + 1e-9)
    evidence = f"log-ratios {yes:.6g} and {no:.6g} against ε = {case.oracle.epsilon:g}"
    yield exact(name, max(yes, no) <= limit, evidence)


def every_value(case: OracleCase) -> Iterator[Finding]:
    """No value of the domain stands out.

    Privacy bounds the probability of an event under any value by e^ε times its mean over all.
    """
    values = _all_or_many(case)
    hits, each = _hits(case, values)
    draws = len(values) * each

    def standing_out(again: OracleCase) -> FloatArray:
        return _standing_out(
            again, *((hits, each) if again.focus is None else _hits(again, values))
        )

    name = "No value's reports exceed e^ε times the mean over all values"
    what = f" events, for each of {len(values)} values"
    yield persistent(name, case, standing_out, draws, what)
    if isinstance(case.oracle, PureOracle):

        def supported(again: OracleCase) -> FloatArray:
            return _supported(
                again, *((hits, each) if again.focus is None else _hits(again, values))
            )

        name = "Every value is supported with p by its own reports, with q by others"
        yield persistent(name, case, supported, draws, f", for {len(values) ** 2} pairs of values")


def _all_or_many(case: OracleCase) -> IntArray:
    d = case.oracle.d
    others = case.stream("which values").permutation(np.setdiff1d(np.arange(d), case.values))
    most = min(MOST, max(len(case.values), case.count(EVERY) // EACH))
    return np.sort(np.append(case.values, others[: most - len(case.values)]))


def _hits(case: OracleCase, values: IntArray) -> tuple[IntArray, int]:
    """How often each event happened under each value, and of how many reports of each."""
    each = max(EACH << case.look, case.count(EVERY) // len(values))
    rng, step = case.stream("every value"), max(1, case.at_once // each)
    parts = []
    for start in range(0, len(values), step):
        some = np.repeat(values[start : start + step], each)
        events = _events(case, case.oracle.perturb(some, rng), values)
        parts.append(np.stack([e.reshape(-1, each).sum(axis=1) for e in events], axis=1))
    return np.concatenate(parts), each


def _standing_out(case: OracleCase, hits: IntArray, each: int) -> FloatArray:
    """p-values that a value keeps to the bound, of an event and of its opposite."""
    made = []
    for counts in (hits, each - hits):
        totals = counts.sum(axis=0)
        means = np.array(
            [clopper_pearson(int(t), counts.shape[0] * each, MEANS)[1] for t in totals]
        )
        bound = np.minimum(1.0, exp(min(case.oracle.epsilon, 700.0)) * means)
        above, p_values = counts > each * bound, np.ones(counts.shape)
        bounds = np.broadcast_to(bound, counts.shape)[above]
        p_values[above] = np.minimum(1.0, at_least_p(counts[above], each, bounds) + MEANS)
        made.append(p_values)
    return np.concatenate(made, axis=None)


def _supported(case: OracleCase, hits: IntArray, each: int) -> FloatArray:
    """p-values of every pair of values, and of every value over the reports of all others."""
    oracle, count = case.pure, len(hits)
    held = hits[:, :count]
    expected = np.where(np.eye(count, dtype=bool), oracle.p, oracle.q)
    others = held.sum(axis=0) - held.diagonal()
    over_all = binomial_p(others, (count - 1) * each, oracle.q)
    own = binomial_p(held.trace(), count * each, oracle.p)
    return np.concatenate([far_binomial_p(held, each, expected), over_all, own], axis=None)


def _events(case: OracleCase, reports: Reports, values: IntArray) -> Iterator[BoolArray]:
    """Things that a report may or may not do."""
    if isinstance(case.oracle, PureOracle):
        yield from (case.oracle.supports(reports, int(w)) for w in values)
    features = case.features
    if features.numeric:
        yield from features.levels(reports)
        return
    raw = as_bytes(reports)
    columns = [np.bitwise_xor.reduce(raw, axis=1), raw.sum(axis=1, dtype=np.uint8)]
    columns += [*raw.T] if raw.shape[1] <= 32 else []
    yield from ((column >> bit) & 1 == 1 for column in columns for bit in range(8))
    few = (raw != 0).sum(axis=1)
    yield from (few == count for count in range(3))
