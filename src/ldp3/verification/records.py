"""Several attributes: privacy of whole records, and the tables."""

from collections.abc import Iterator
from math import log

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS
from ldp3.schemes.attributes import RecordScheme
from ldp3.tables import Key, Tables, margin
from ldp3.types import Tally
from ldp3.verification.base import Finding, exact
from ldp3.verification.cases import RUNS, OracleCase, persistent
from ldp3.verification.statistics import mean_p, spread_p

MOST_REPORTS = 4096  # of a group, where all of them are listed
PEOPLE = 60  # in the smallest group, or its share of them hardly has a law
STATED = 20  # runs whose stated variances are averaged
QUERIES = 4  # weighted sums of each table


def enumerated(case: OracleCase) -> Iterator[Finding]:
    """Over whole records, no report is more than e^ε times as likely as under another one.

    All reports of all groups and all pairs of records, however many attributes these differ in.
    """
    scheme = _scheme(case)
    if scheme is None:
        return
    worst, left = 0.0, 0
    records = scheme.records(np.arange(scheme.d))
    for group in scheme.groups:
        oracle, held = group.oracle, np.unique(group.view.cells(scheme.sizes, records))
        reports = oracle.every_report(MOST_REPORTS) if isinstance(oracle, PureOracle) else None
        rows = [oracle.log_prob(reports, v) for v in held] if reports is not None else [None]  # type: ignore[attr-defined]
        told = [row for row in rows if row is not None]
        left += len(told) < len(rows)
        if told:
            worst = max(worst, float((np.max(told, axis=0) - np.min(told, axis=0)).max()))
    said = f"ε = {worst:.9g} over {scheme.d} records" if worst else "no group has so few reports"
    if left:
        said += f"; of {left} groups the reports are too many to list"
    sound = worst <= scheme.epsilon * (1 + 1e-12)
    if scheme.privacy_ratio is not None and not left:
        sound = sound and abs(worst - log(scheme.privacy_ratio)) < 1e-9 * max(1.0, worst)
    name = "Over whole records, no report is more than e^ε times as likely as under another one"
    yield exact(name, sound, said)


def tables(case: OracleCase) -> Iterator[Finding]:
    """Tables are unbiased, agree with each other, and have the stated covariance."""
    draws = _people(case) * _runs(case)
    yield persistent("Tables are unbiased", case, _bias_p, draws)
    yield persistent("Tables have the stated covariance", case, _spread_p, draws)
    made = _tables(case, case.oracle.simulate(case.crowd(_people(case)), case.stream("agree")))
    worst = 0.0
    for own in made.targets:
        if made.seen(own) and len(own) > 1:
            shape = [made.sizes[a] for a in own]
            table = made[own].frequencies.reshape(shape)
            for a in own:
                apart = margin(table, own, (a,)) - made[a].frequencies
                worst = max(worst, float(np.abs(apart).max()))
    yield exact("Tables agree on what they share", worst < 1e-9, f"largest difference {worst:.2g}")


def _scheme(case: OracleCase) -> RecordScheme | None:
    """The oracle, if it is made of groups and may say what they are."""
    return case.oracle if isinstance(case.oracle, RecordScheme) else None


def _tables(case: OracleCase, tally: Tally) -> Tables:
    made: Tables = case.oracle.tables(tally)  # type: ignore[attr-defined]
    return made


def _people(case: OracleCase) -> int:
    scheme = _scheme(case)
    least = 1.0 if scheme is None else min(g.share for g in scheme.groups) / WORDS
    return int(min(max(1_000, PEOPLE / least), 100_000))


def _runs(case: OracleCase) -> int:
    return case.count(RUNS // 4, 50)


def _sums(made: Tables, case: OracleCase) -> list[tuple[Key, FloatArray]]:
    """Every cell of each table, and some weighted sums of them: rows of weights."""
    rng = case.first.stream("weights")
    found: list[tuple[Key, FloatArray]] = []
    for key in made:
        d = made[key].d
        found.append((key, np.concatenate([np.eye(d), rng.normal(size=(QUERIES, d))])))
    return found


def _errors(case: OracleCase) -> FloatArray:
    """Errors of cells and sums, one row for each of many populations with one histogram."""
    n, rng = _people(case), case.stream("tables")
    histogram = case.crowd(n)
    values = np.repeat(np.arange(case.oracle.d), histogram)
    rows = []
    for _ in range(_runs(case)):
        tally = case.oracle.aggregate(case.oracle.perturb(values, rng))
        made = _tables(case, tally)
        whole, every = histogram.reshape(made.sizes) / n, tuple(range(len(made.sizes)))
        parts = []
        for key, weights in _sums(made, case):
            truth = margin(whole, every, made.attributes(key)).ravel()
            parts.append(weights @ (made[key].frequencies - truth))
        rows.append(np.concatenate(parts))
    return np.array(rows)


def _stated(case: OracleCase) -> FloatArray:
    """The variances that tables state, on average; 0 where they do not say."""
    rng, rows = case.stream("stated"), []
    for _ in range(STATED):
        made = _tables(case, case.oracle.simulate(case.crowd(_people(case)), rng))
        parts = []
        for key, weights in _sums(made, case):
            found = made[key]
            some = weights[found.d :]
            said = [found.noise.of_query(w, found.frequencies) or 0.0 for w in some]
            parts.append(np.append(found.variance, said))
        rows.append(np.concatenate(parts))
    return np.mean(rows, axis=0)


def _bias_p(case: OracleCase) -> FloatArray:
    return mean_p(case.once(_errors), 0.0)


def _spread_p(case: OracleCase) -> FloatArray:
    stated = case.first.once(_stated)
    said = stated > 0
    p = np.ones(len(stated))
    p[said] = spread_p(case.once(_errors)[:, said], stated[said])
    return p
