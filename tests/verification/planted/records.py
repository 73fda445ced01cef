"""Bugs of schemes for several attributes."""

from dataclasses import dataclass
from functools import cached_property
from math import exp, log

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.domain import Records
from ldp3.errors import require_codes, require_generator
from ldp3.protocols.grr import GRR
from ldp3.randomness import WORDS
from ldp3.schemes.attributes import RecordScheme
from ldp3.schemes.base import Group, View
from ldp3.tables import Attributes, GroupAnswer, Tables
from ldp3.types import Tally


@dataclass(frozen=True)
class HonestSampling(RecordScheme):
    """What the bugs are planted in: one attribute each, by randomised response."""

    targets: tuple[int | tuple[int, ...], ...] = (1,)

    @property
    def asked(self) -> dict[Attributes, float]:
        return {(a,): 1.0 for a in range(len(self.sizes))}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        k = len(self.sizes)
        shares = [WORDS // k] * k
        shares[0] += WORDS - sum(shares)
        return tuple(
            Group(View(((a, None),)), shares[a], GRR(self.budget, self.sizes[a])) for a in range(k)
        )

    @property
    def budget(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class FakeData(HonestSampling):
    """RS+FD: fakes hide which attribute was asked, so its budget is thought to be amplified.

    It is that of one record among many that is amplified by sampling, not that of one attribute of
    a record: a report that agrees with all of a record is $e^{ε'}$ times as likely as under one
    that differs everywhere.
    """

    @property
    def budget(self) -> float:
        return log(len(self.sizes) * (exp(self.epsilon) - 1) + 1)

    @property
    def privacy_ratio(self) -> None:  # it believes in ε
        return None

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_codes(self, values, self.d).astype(np.int64)
        require_generator(self, rng)
        records = np.stack(np.unravel_index(codes, self.sizes), axis=1)
        asked = rng.integers(len(self.sizes), size=len(records))
        told = np.stack([rng.integers(d, size=len(records)) for d in self.sizes], axis=1)
        for a, group in enumerate(self.groups):
            mine = asked == a
            told[mine, a] = group.oracle.perturb(records[mine, a], rng)
        return told.astype(np.uint8)


@dataclass(frozen=True)
class AsksWhatIsRare(HonestSampling):
    """People with the first value of the first attribute are asked for it more often."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        rows = super().perturb(values, rng)
        records = self.records(values)
        again = (records[:, 0] == 0) & (rows[:, 0] != 0) & (rng.random(len(rows)) < 0.5)
        rows[again, 0] = 0
        rows[again, 1] = self.groups[0].oracle.perturb(records[again, 0], rng)
        return rows


@dataclass(frozen=True)
class WholeBudgetForEach(HonestSampling):
    """Each attribute has ε, as if a record were one of them: twice the budget."""

    @property
    def budget(self) -> float:
        return 2 * self.epsilon


@dataclass(frozen=True, eq=False)
class _Unsampled(Tables):
    def _of_group(self, answer: GroupAnswer, squares, held, mean):  # type: ignore[no-untyped-def, override]
        return (answer.base * squares + answer.slope * held) / answer.n


@dataclass(frozen=True)
class ForgetsWhoIsAsked(HonestSampling):
    """Its noise is that of the reports alone, not of who happens to be in which group."""

    def tables(self, tally: Tally, domain: Records | None = None) -> Tables:
        made = super().tables(tally, domain)
        return _Unsampled(made.sizes, made.answers, tally, made.targets, domain)


@dataclass(frozen=True)
class StretchesATable(HonestSampling):
    """What the first attribute says is taken for more than it is."""

    def tables(self, tally: Tally, domain: Records | None = None) -> Tables:
        made = super().tables(tally, domain)
        first = made.answers[0]
        wrong = GroupAnswer(first.attributes, first.table * 1.5, first.n, first.base, first.slope)
        return Tables(made.sizes, (wrong, *made.answers[1:]), tally, made.targets, domain)
