"""Schemes: the lot sees nothing of a person, and a group's reports are those of its oracle."""

from collections.abc import Iterator
from decimal import Context, Decimal
from itertools import chain

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS, Words
from ldp3.schemes.base import Scheme
from ldp3.tails import binomial_p
from ldp3.verification.base import Finding, exact
from ldp3.verification.cases import OracleCase, persistent


def lot(case: OracleCase) -> Iterator[Finding]:
    """The group is drawn with the stated shares, whatever the record."""
    scheme = _scheme(case)
    if len(scheme.groups) == 1:
        return
    name = "The group is drawn with the stated shares, whatever the record"
    shares = np.array([group.share / WORDS for group in scheme.groups])

    def p_values(again: OracleCase) -> FloatArray:
        found = [
            np.bincount(scheme.layout.groups(reports), minlength=len(shares))
            for reports in again.reports.values()
        ]
        return np.concatenate([binomial_p(own, own.sum(), shares) for own in found])

    yield persistent(name, case, p_values, case.size * len(case.values))
    if scheme.deployable:
        yield from _first_word(case)


def _first_word(case: OracleCase) -> Iterator[Finding]:
    """A client's group is that of its first word, on both sides of every bound."""
    scheme, start, wrong = _scheme(case), 0, []
    for number, group in enumerate(scheme.groups):
        for word in (start, start + group.share - 1):
            for value in case.two:
                words = chain([word], Words.drawn(case.stream("words after the first")))
                if scheme.draw(value, Words.of(words)) % 256**scheme.layout.head != number:
                    wrong.append(f"group {number}, value {value}")
        start += group.share
    evidence = f"not so: {wrong[0]}" if wrong else f"{len(scheme.groups)} groups, two values"
    name = "A client's first word alone chooses its group, with the stated share"
    yield exact(name, not wrong and start == WORDS, evidence)


def members(case: OracleCase) -> Iterator[Finding]:
    """A group's reports are those of its oracle about its cells, and none spends more than ε."""
    scheme = _scheme(case)
    digits = Context(prec=60)
    bound = Decimal(scheme.epsilon).exp(digits)
    wrong = []
    for number, group in enumerate(scheme.groups):
        ratio = group.oracle.privacy_ratio
        if ratio is not None:
            told = digits.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
            wrong += [f"group {number}"] if told > bound else []
    evidence = f"not so: {', '.join(wrong)}" if wrong else f"{len(scheme.groups)} groups"
    yield exact("No group's oracle spends more than ε", not wrong, evidence)
    draws = case.size * len(case.values)
    name = "A group's reports are those of its oracle about its cells"
    yield persistent(name, case, _members_p, draws)


def _members_p(case: OracleCase) -> FloatArray:
    scheme, found = _scheme(case), [np.ones(1)]
    for value, rows in case.reports.items():
        of = scheme.layout.groups(rows)
        for number, group in enumerate(scheme.groups):
            own = scheme.layout.part(rows[of == number], number)
            if len(own):
                found.append(_law_p(group.oracle, scheme.cell(number, value), own))
    return np.concatenate(found)


def _law_p(oracle: FrequencyOracle, cell: int, reports: Reports) -> FloatArray:
    """p-values that these are reports of one cell."""
    if isinstance(oracle, PureOracle):
        other = (cell + 1) % oracle.d
        held = [np.count_nonzero(oracle.supports(reports, v)) for v in (cell, other)]
        return binomial_p(np.array(held), len(reports), np.array([oracle.p, oracle.q]))
    if oracle.channel is None:
        return np.ones(1)
    law = np.clip(oracle.channel.forward(np.eye(1, oracle.d, cell)[0]), 0, 1)
    counts = oracle.channel.counts(oracle.aggregate(reports).total)
    return binomial_p(counts, len(reports), law)


def one_length(case: OracleCase) -> Iterator[Finding]:
    """A report that names no group, or has anything behind its end, is refused."""
    scheme, rows = _scheme(case), next(iter(case.reports.values()))[:2_000]
    layout, of, taken = scheme.layout, scheme.layout.groups(rows), []
    for number, part in enumerate(layout.layouts):
        mine, end = rows[of == number], layout.head + part.size
        if len(mine) and end < layout.size:
            stray = mine[:1].copy()
            stray[0, -1] = 1
            taken += [f"bytes behind group {number}"] if scheme.valid(stray).any() else []
    if len(scheme.groups) < 256**layout.head:
        unknown = rows[:1].copy()
        for byte in range(layout.head):
            unknown[0, byte] = len(scheme.groups) >> 8 * byte & 0xFF
        taken += ["a group that there is not"] if scheme.valid(unknown).any() else []
    evidence = f"taken: {', '.join(taken)}" if taken else f"{layout.size} bytes"
    name = "What names no group, or has anything behind its end, is refused"
    yield exact(name, not taken, evidence)


def _scheme(case: OracleCase) -> Scheme:
    assert isinstance(case.oracle, Scheme)
    return case.oracle
