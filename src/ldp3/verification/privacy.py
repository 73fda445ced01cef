"""Privacy: the ratio that an oracle declares, and an audit: how well do reports tell values apart?

The audit takes nothing on trust, and says what it could have seen with its draws, and what not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from functools import cached_property
from math import ceil, inf, log, log1p

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.protocols.pure import PureOracle
from ldp3.tails import at_least_p
from ldp3.verification.base import DRAWS, Finding, exact
from ldp3.verification.cases import CLOSELY, CONFIRMED, SUSPICIOUS, OracleCase, persistent
from ldp3.verification.statistics import (
    Codes,
    cells,
    clopper_pearson,
    coins,
    in_cell,
    top_cells,
    word_counts,
)

ROUNDING = 2.0**-51  # of a probability near 1, as a float
TRIED_CELLS = 2  # pairs of bits that are tried for each value
OPENLY = 2  # times that a report was seen before, under one value and under no other
PRODUCTS = 2**31  # multiplications for pairs of bits, for each value
POWER = 0.99  # chance with which what is called visible is found suspicious


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


def audit(case: OracleCase) -> Iterator[Finding]:
    """No event tells two values apart by more than e^ε.

    A quarter of the reports of every value teaches scores of how much a report speaks for a value,
    a quarter chooses how high a score must be, and on the other half the event is counted. Of its
    occurrences at most e^ε / (1 + e^ε) may be under the value that it speaks for, if the values
    are drawn at random: a binomial test, exact whatever the oracle says of itself.
    """
    first = _Audit(case)
    name = "No event tells two values apart by more than e^ε"
    draws = case.size * len(case.values)

    def p_values(again: OracleCase) -> FloatArray:
        return (first if again.focus is None else _Audit(again)).p_values

    finding = persistent(name, case, p_values, draws, " events")
    yield first.reach.judged(finding, case)


@dataclass(frozen=True)
class Reach:
    """The smallest excess over ε that would have been found.

    Parameters
    ----------
    case
        The oracle, and how often it was looked at.
    events
        How many were tested together.
    reports
        Reports that were counted together.
    own, telling
        Of the event that told values apart best: how often it spoke for the user's own value, and
        how often it happened at all.
    """

    case: OracleCase
    events: int
    reports: int
    own: int
    telling: int

    @property
    def epsilon(self) -> float:
        """The smallest ε that would have been found, had it been spent on that event."""
        from scipy.special import bdtr, bdtrik

        n, level = self.telling, SUSPICIOUS / self.events
        if n < 1:
            return inf
        # the smallest count that is suspicious, and the share that reaches it nearly always
        need = ceil(float(bdtrik(1 - level, n, self.case.share))) + 1
        low, high = self.case.share, 1.0
        if need > n:
            return inf
        for _ in range(60):
            middle = (low + high) / 2
            seen = 1 - float(bdtr(need - 1, n, middle)) >= POWER
            low, high = (low, middle) if seen else (middle, high)
        return log(high) - log(1 - high) if high < 1 else inf

    @property
    def rate(self) -> float:
        """How many reports of all must show a value that no other one shows, to be found."""
        from scipy.special import gammainc, gammaincinv

        hits = ceil(log(SUSPICIOUS / self.events) / log(self.case.share))
        needed = float(gammaincinv(hits, POWER)) / max(1, self.reports)
        low, high = needed, max(1.0, 2 * needed)
        for _ in range(60):  # in the half before, a value's own report must be seen twice
            rate = (low + high) / 2
            learnt = rate * float(gammainc(2, rate * self.case.size / 2))
            low, high = (low, rate) if learnt >= needed else (rate, high)
        return high

    @property
    def enough(self) -> bool:
        """Whether twice the budget would have been found."""
        return self.epsilon <= 2 * self.case.oracle.epsilon

    @property
    def hopeless(self) -> bool:
        """Whether ε is so large that the usual draws never show twice of it.

        Then what the oracle says of itself, which is checked, has to do.
        """
        usual = DRAWS // 2 * CLOSELY
        return not replace(self, own=usual, telling=usual).enough

    @property
    def shown(self) -> float:
        """The ε that the event shows for certain."""
        low = clopper_pearson(self.own, self.telling, CONFIRMED)[0]
        return max(0.0, log(low) - log(1 - low)) if 0 < low < 1 else 0.0

    @property
    def sentence(self) -> str:
        """What would have been found."""
        if self.epsilon == inf:
            budget = "no budget, however large, would have shown"
        else:
            budget = f"a budget of {self.epsilon:.3g} would have shown"
        if self.rate >= 1:
            return f"{budget}, a value told openly now and then would not"
        return f"{budget}, and a value told openly in 1 of {int(1 / self.rate):,} reports"

    def judged(self, finding: Finding, case: OracleCase) -> Finding:
        """The finding of an audit, with what it could have seen."""
        shown = f"ε ≥ {self.shown:.3f} shown, declared {case.oracle.epsilon:g}"
        evidence = f"{shown}; {finding.evidence}; {self.sentence}"
        lacking = finding.passed and not self.enough
        unsure, note = lacking and not self.hopeless, lacking and self.hopeless
        return replace(finding, evidence=evidence, unsure=unsure, note=note)


@dataclass(frozen=True, eq=False)
class _Audit:
    """Scores, the events they make, and how often those happened."""

    case: OracleCase

    @cached_property
    def p_values(self) -> FloatArray:
        hits = np.array([*self._of_pairs(), *self._of_cells(), *self._of_all])
        return at_least_p(hits[:, 0], hits[:, 1], self.case.share)

    @property
    def reach(self) -> Reach:
        """What could have been seen."""
        # of the event that shows the most for certain
        best = max(self._of_all, key=lambda hits: clopper_pearson(hits[0], hits[1], CONFIRMED)[0])
        reports = _taken(self.case.size // 2) * len(self.case.values)
        return Reach(self.case, len(self.p_values), reports, *best)

    # The reports of a value: a quarter to learn from, a quarter to choose by, a half to count.

    @property
    def _learn(self) -> slice:
        return slice(0, self.case.size // 4)

    @cached_property
    def _codes(self) -> dict[int, Codes]:
        return {v: self.case.features.codes(r) for v, r in self.case.reports.items()}

    @cached_property
    def scores(self) -> list[dict[int, FloatArray]]:
        """How much each report speaks for each value: by value, a row of scores per report."""
        made = [self._additive()]
        words = {v: list(self.case.features.words(r)) for v, r in self.case.reports.items()}
        for one in zip(*words.values(), strict=True):
            counts = word_counts([w[self._learn] for w in one])
            made.append({v: counts.log(w).T for v, w in zip(words, one, strict=True)})
        if isinstance(self.case.oracle, PureOracle):
            reports = self.case.reports.items()
            made.append(
                {v: self.case.supported(r, *self.case.values).astype(float) for v, r in reports}
            )
        return made

    def _additive(self) -> dict[int, FloatArray]:
        """Sum of the log-likelihoods of those columns whose laws differ: naive Bayes."""
        often = np.array([[np.bincount(column, minlength=256) for column in c[self._learn].T]
                          for c in self._codes.values()], dtype=float)  # fmt: skip
        mean = often.mean(axis=0)
        signal = ((often - mean) ** 2 / np.maximum(mean, 1e-9)).sum(axis=(0, 2))
        freedom = (len(often) - 1) * np.maximum((mean > 0).sum(axis=1) - 1, 1)
        # by chance it is about the degrees of freedom: a column without a signal is noise
        telling = np.flatnonzero(signal > freedom + 4 * np.sqrt(2 * freedom))
        tables = np.log(often + 0.5)
        return {v: _added(codes, tables, telling) for v, codes in self._codes.items()}

    @cached_property
    def told(self) -> dict[int, FloatArray]:
        """Whether a report was seen before, in the first half: 0, 1, or 2 for several times."""
        half = self.case.size // 2
        words = {v: next(self.case.features.words(r)) for v, r in self.case.reports.items()}
        counts = word_counts([w[:half] for w in words.values()])
        return {v: np.minimum(counts.seen(w), OPENLY).T for v, w in words.items()}

    def _of_pairs(self) -> Iterator[tuple[int, int]]:
        """For two values at a time and every score, how often the event happened."""
        size, places = self.case.size, {v: i for i, v in enumerate(self.case.values)}
        choose, rng = slice(size // 4, size // 2), self.case.stream("pairs")
        for v, w in self.case.pairs:
            for score in self.scores:
                i, j = places[v], places[w]
                first, second = (score[u][:, i] - score[u][:, j] for u in (v, w))
                level = _levels(first[choose], second[choose], self.case.share)[0]
                ahead, behind = coins(size // 2, rng)
                counted = first[size // 2 :][:ahead], second[size // 2 :][:behind]
                own, other = (int(np.count_nonzero(s >= level)) for s in counted)
                yield own, own + other

    def _of_cells(self) -> Iterator[tuple[int, int]]:
        """For every value the pairs of bits that go together most, against some other value."""
        features, reports, size = self.case.features, self.case.reports, self.case.size
        rows = slice(0, min(size // 4, PRODUCTS // max(1, len(self._bits(0, slice(0, 1)).T)) ** 2))
        tables = np.array([cells(self._bits(v, rows)) for v in self.case.values])
        odds, rng = self.case.odds, self.case.stream("cells")
        for i, v in enumerate(self.case.values):
            others = np.delete(tables, i, axis=0).min(axis=0)
            excess = (tables[i] - odds * others) / np.sqrt(tables[i] + odds**2 * others + odds)
            best = top_cells(excess, TRIED_CELLS)
            for cell, j, k in best:
                apart = [x if u != i else np.inf for u, x in enumerate(tables[:, cell, j, k])]
                w = self.case.values[int(np.argmin(apart))]
                ahead, behind = coins(size // 2, rng)
                own, other = (
                    int(in_cell(features.bits(reports[u][size // 2 :][:n], j, k), cell, 0, 1).sum())
                    for u, n in ((v, ahead), (w, behind))
                )
                yield own, own + other
            yield from [(0, 0)] * (TRIED_CELLS - len(best))

    def _bits(self, value: int, rows: slice) -> BoolArray:
        return self.case.features.bits(self.case.reports[value][rows])

    @cached_property
    def _of_all(self) -> list[tuple[int, int]]:
        """For every score, how often the events of two values drawn at random happened."""
        rng, size, made = self.case.stream("all"), self.case.size, []
        for score in self.scores:
            gaps = self._gaps(score, slice(size // 4, size // 2), rng)
            levels = _levels(gaps, -gaps, self.case.share)
            gaps = self._gaps(score, slice(size // 2, None), rng)
            made += [_counted(gaps, level) for level in levels]
        gaps = self._gaps(self.told, slice(size // 2, None), rng)
        return [*made, _counted(gaps, OPENLY)]

    def _gaps(
        self, score: dict[int, FloatArray], rows: slice, rng: np.random.Generator
    ) -> FloatArray:
        """How much more a report speaks for its own value than for another one at random."""
        parts, count = [], len(self.case.values)
        every = [score[v][rows] for v in self.case.values]
        drawn = rng.multinomial(count * _taken(len(every[0])), np.full(count, 1 / count))
        for i, (rows_of, n) in enumerate(zip(every, drawn, strict=True)):
            some = rows_of[:n]
            other = rng.integers(count - 1, size=len(some))
            other += other >= i
            parts.append(some[:, i] - some[np.arange(len(some)), other])
        return np.concatenate(parts)


def _taken(n: int) -> int:
    """Of `n` reports of each value, how many are taken on average: chance never asks for more."""
    return max(0, int(n - 5 * np.sqrt(n)))


def _added(codes: Codes, tables: FloatArray, telling: IntArray) -> FloatArray:
    scores = np.zeros((len(codes), len(tables)))
    for column in telling:
        scores += tables[:, column, codes[:, column]].T
    return scores.round(9)


def _counted(gaps: FloatArray, level: float) -> tuple[int, int]:
    own, other = (int(np.count_nonzero(g >= level)) for g in (gaps, -gaps))
    return own, own + other


def _levels(first: FloatArray, second: FloatArray, share: float) -> tuple[float, float]:
    """Scores from which on to count: where it speaks most against ε, and where it tells the most.

    The first is the most suspicious one; the second has the highest lower bound of the log-ratio,
    three standard errors below what it looks like.
    """
    ranked = np.sort(first[first > 0])[::-1]
    if not len(ranked):
        return np.inf, np.inf
    # so many reports at the top, and a quarter more, and so on
    sizes = np.unique((1.25 ** np.arange(60)).astype(int))
    levels = np.unique(ranked[np.minimum(sizes, len(ranked)) - 1])
    own = len(ranked) - np.searchsorted(ranked[::-1], levels)
    other = len(second) - np.searchsorted(np.sort(second), levels)
    suspicion = at_least_p(own, own + other, share)
    bound = np.log((own + 0.5) / (other + 0.5)) - 3 * np.sqrt(1 / (own + 0.5) + 1 / (other + 0.5))
    return float(levels[np.argmin(suspicion)]), float(levels[np.argmax(bound)])
