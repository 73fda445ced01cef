"""Manners: one form of report; what is foreign is refused."""

from collections.abc import Iterator

import numpy as np

from ldp3.errors import LDPError
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import Finding, exact
from ldp3.verification.case import OracleCase


def one_form(case: OracleCase) -> Iterator[Finding]:
    """Reports have one form, whatever the value and the number of users."""
    forms = set()
    for n in (0, 1, 2, 65):
        for v in case.values:
            reports = case.oracle.perturb(np.full(n, v), case.stream(f"form {n} {v}"))
            rows = len(reports) == n if isinstance(reports, np.ndarray) else None
            forms.add((type(reports).__name__, rows) if not rows else
                      (str(reports.dtype), reports.shape[1:]))  # fmt: skip
    only = next(iter(forms))
    sound = len(forms) == 1 and isinstance(only[1], tuple) and only[0] != "object"
    evidence = "; ".join(f"{kind} {shape}" for kind, shape in sorted(forms, key=str))
    name = "Reports are an array with one row per user, of one form for every value"
    yield exact(name, sound, evidence)


def bad_values(case: OracleCase) -> Iterator[Finding]:
    """A value outside the domain is refused, never sent."""
    d, sent = case.oracle.d, []
    for what, values in {
        "negative": np.array([0, -1]),
        "too large": np.array([0, d]),
        "far too large": np.array([0, 2**32 + 1]),
        "not an integer": np.array([0.0, 0.5]),
    }.items():
        try:
            case.oracle.perturb(values, case.stream("bad"))
            sent.append(what)
        except LDPError:
            pass
    evidence = f"sent: {', '.join(sent)}; call `require_values` first" if sent else "four kinds"
    yield exact("A value outside the domain is refused with one line", not sent, evidence)


def validity(case: OracleCase) -> Iterator[Finding]:
    """Every honest report is valid, and hostile ones never crash or count."""
    oracle = case.oracle
    honest = np.concatenate([oracle.valid(some) for some in case.reports.values()])
    yield exact("Every honest report is valid", honest.all(), f"{honest.size} reports")
    rng, some = case.stream("hostile"), case.reports[0][:500]
    raw = np.ascontiguousarray(some).view(np.uint8).copy()
    raw[...] = rng.integers(0, 256, raw.shape)
    hostile = raw.view(some.dtype).reshape(some.shape)
    if np.issubdtype(hostile.dtype, np.floating):  # any finite number may be an honest one
        hostile = some.copy()
        hostile.reshape(len(hostile), -1)[:3, 0] = (np.nan, np.inf, -np.inf)
    ok = oracle.valid(hostile)
    tally = oracle.aggregate(hostile[ok][:100])
    sound = bool(np.isfinite(tally.total).all())
    if isinstance(oracle, PureOracle):
        held = [np.count_nonzero(oracle.supports(hostile[ok][:100], v)) for v in case.values]
        sound = np.array_equal(oracle.support_counts(tally)[case.values], held)
    evidence = f"of {len(hostile)} rows {int(ok.sum())} may be counted"
    yield exact("Random bytes, or no numbers, cannot corrupt the counts", sound, evidence)
    if not ok.all():
        try:
            oracle.aggregate(hostile)
            refused = False
        except LDPError:
            refused = True
        yield exact("`aggregate` refuses what `valid` refuses", refused, "the same rows")
