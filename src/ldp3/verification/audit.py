"""An attack on privacy: how well do reports tell values apart? Nothing is taken on trust."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import Finding, at_least_p, clopper_pearson
from ldp3.verification.case import OracleCase
from ldp3.verification.features import Codes
from ldp3.verification.looks import CONFIRMED, persistent
from ldp3.verification.reach import Reach
from ldp3.verification.telling import (
    cells,
    coins,
    in_cell,
    top_cells,
    word_counts,
)

CELLS = 2  # pairs of bits that are tried for each value
OPENLY = 2  # times that a report was seen before, under one value and under no other
PRODUCTS = 2**31  # multiplications for pairs of bits, for each value


def audit(case: OracleCase) -> Iterator[Finding]:
    """No event tells two values apart by more than e^ε.

    A quarter of the reports of every value teaches scores of how much a report speaks for a value,
    a quarter chooses how high a score must be, and on the other half the event is counted. Of its
    occurrences at most e^ε / (1 + e^ε) may be under the value that it speaks for, if the values
    are drawn at random: a binomial test, exact whatever the oracle says of itself.
    """
    first = _Attack(case)
    name = "No event tells two values apart by more than e^ε"
    draws = case.size * len(case.values)

    def p_values(again: OracleCase) -> FloatArray:
        return (first if again.focus is None else _Attack(again)).p_values

    finding = persistent(name, case, p_values, draws, " events")
    yield first.reach.judged(finding, case)


@dataclass(frozen=True, eq=False)
class _Attack:
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
        reports = self.case.size // 2 * len(self.case.values)
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
            best = top_cells(excess, CELLS)
            for cell, j, k in best:
                apart = [x if u != i else np.inf for u, x in enumerate(tables[:, cell, j, k])]
                w = self.case.values[int(np.argmin(apart))]
                ahead, behind = coins(size // 2, rng)
                own, other = (
                    int(in_cell(features.bits(reports[u][size // 2 :][:n], j, k), cell, 0, 1).sum())
                    for u, n in ((v, ahead), (w, behind))
                )
                yield own, own + other
            yield from [(0, 0)] * (CELLS - len(best))

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
        users = int(count * (len(every[0]) - 5 * np.sqrt(len(every[0]))))
        drawn = rng.multinomial(max(0, users), np.full(count, 1 / count))
        for i, (rows_of, n) in enumerate(zip(every, drawn, strict=True)):
            some = rows_of[:n]
            other = rng.integers(count - 1, size=len(some))
            other += other >= i
            parts.append(some[:, i] - some[np.arange(len(some)), other])
        return np.concatenate(parts)


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
