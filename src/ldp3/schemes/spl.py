"""Splitting: everybody answers every attribute, each with a part of ε."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.domain import Records
from ldp3.errors import InvalidData, require_codes, require_generator
from ldp3.noise import Noise
from ldp3.protocols.base import CHUNK, FrequencyOracle, users
from ldp3.protocols.layout import Numbers
from ldp3.protocols.subset_selection import SS
from ldp3.randomness import WORDS
from ldp3.schemes import shares
from ldp3.schemes.attributes import RecordScheme
from ldp3.schemes.base import Group, View
from ldp3.tables import Attributes, Tables, interaction
from ldp3.types import Estimate, Tally


@final
@dataclass(frozen=True)
class SPL(RecordScheme):
    r"""Splitting: everybody answers every attribute, each with a part of ε.

    Each answer is one of subset selection with $ε/k$, so that the record has ε. With
    $\tilde s_u = (s_u - q)/(p - q)$ what an answer adds to the estimate of value $u$,

    $$\hat f_u = \frac1n \sum \tilde s_u, \qquad \hat f_{uv} = \frac1n \sum \tilde s_u \tilde t_v,$$

    which is unbiased, for the answers of a person are independent given the record. A report is
    the sets of all answers, $\sum_j d_j$ bits. Here to compare with: its error is much larger.

    References
    ----------
    Arcolezi, Couchot, Al Bouna, Xiao. *Random sampling plus fake data: multidimensional frequency
    estimates with local differential privacy.* CIKM 2021, §3.
    """

    aliases: ClassVar[tuple[str, ...]] = ("splitting",)

    @property
    def asked(self) -> dict[Attributes, float]:
        return {tuple(range(len(self.sizes))): 1.0}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        view = View(tuple((a, None) for a in range(len(self.sizes))))
        return (Group(view, WORDS, _Answers(self.epsilon, self.d, self.sizes)),)

    @cached_property
    def answers(self) -> "_Answers":
        """All answers of a person, as one oracle."""
        oracle = self.groups[0].oracle
        assert isinstance(oracle, _Answers)
        return oracle

    def information(self, interaction: Attributes) -> float:
        return prod(shares.information(self.answers.oracles[a]) for a in interaction)

    def simulate_records(
        self, records: IntArray, counts: IntArray, rng: np.random.Generator
    ) -> Tally:
        require_generator(self, rng)
        found = self.empty
        for rows in users(np.asarray(counts), CHUNK) if np.sum(counts) else ():
            found = found + self.join(
                [self.answers.counted(self.answers.drawn(records[rows], rng))]
            )
        return found

    @property
    def simulates_exactly(self) -> bool:
        return False

    def tables(self, tally: Tally, domain: Records | None = None) -> "SplitTables":
        self.require_tally(tally)
        return SplitTables(self.sizes, (), tally, self.wanted, domain, self.answers)


@dataclass(frozen=True)
class _Answers(FrequencyOracle):
    """An answer about every attribute, by subset selection with ε/k; a tally counts pairs."""

    most_values: ClassVar[int] = 2**63 - 1
    sizes: tuple[int, ...] = ()

    @cached_property
    def oracles(self) -> tuple[SS, ...]:
        return tuple(SS(self.epsilon / len(self.sizes), d) for d in self.sizes)

    @cached_property
    def ends(self) -> list[int]:
        """Where the bits of each attribute begin, and the last ones end."""
        return [0, *np.cumsum(self.sizes).tolist()]

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_codes(self, values, self.d).astype(np.int64)
        require_generator(self, rng)
        return self.drawn(np.stack(np.unravel_index(codes, self.sizes), axis=1), rng)

    def drawn(self, records: IntArray, rng: np.random.Generator) -> Reports:
        """The reports of people with these records."""
        told = [
            np.unpackbits(o.perturb(column, rng).astype("<u8").view(np.uint8), axis=1,
                          count=o.d, bitorder="little")
            for o, column in zip(self.oracles, records.T, strict=True)
        ]  # fmt: skip
        return np.packbits(np.concatenate(told, axis=1), axis=1, bitorder="little")

    def _members(self, reports: Reports) -> Reports:
        return np.unpackbits(reports, axis=1, count=self.ends[-1], bitorder="little")

    @cached_property
    def layout(self) -> "_Sets":
        return _Sets(np.dtype(np.uint8), (-(-self.ends[-1] // 8),), self)

    def aggregate(self, reports: Reports) -> Tally:
        """How many reports support each two values, of all attributes."""
        self.require_valid(reports)
        starts = range(0, len(reports), CHUNK)
        none = Tally(np.zeros(self.ends[-1] ** 2, dtype=np.int64), 0)
        return sum((self.counted(reports[s : s + CHUNK]) for s in starts), none)

    def counted(self, reports: Reports) -> Tally:
        members = self._members(reports).astype(np.float32)  # whole numbers below 2²⁴
        return Tally((members.T @ members).astype(np.int64).ravel(), len(reports))

    def part(self, tally: Tally, own: Attributes) -> FloatArray:
        """Unbiased frequencies of one attribute, or of two."""
        both = tally.total.reshape(self.ends[-1], -1) / tally.n
        some = [slice(self.ends[a], self.ends[a + 1]) for a in own]
        told = [(np.diag(both)[s], self.oracles[a]) for s, a in zip(some, own, strict=True)]
        single = [(mean - oracle.q) / (oracle.p - oracle.q) for mean, oracle in told]
        if len(own) == 1:
            return np.asarray(single[0])
        (m, o), (t, w) = told  # E (s - q)(t - q') = E st - q' E s - q E t + q q'
        product = both[some[0], some[1]] - w.q * m[:, None] - o.q * t + o.q * w.q
        return np.asarray(product / ((o.p - o.q) * (w.p - w.q)))

    def estimate(self, tally: Tally) -> Estimate:  # noqa: ARG002
        raise InvalidData("SPL: whole records are not estimated; ask for tables of one or two.")

    def require_tally(self, tally: Tally) -> None:
        total = np.asarray(tally.total)
        sound = total.shape == (self.ends[-1] ** 2,) and np.issubdtype(total.dtype, np.integer)
        sums = np.array([oracle.k * tally.n for oracle in self.oracles])
        if sound:
            own = np.diag(total.reshape(self.ends[-1], -1))
            sound = total.min() >= 0 and (np.add.reduceat(own, self.ends[:-1]) == sums).all()
        if not sound:
            raise InvalidData(f"SPL: these are no counts of n={tally.n} reports.")

    @property
    def privacy_ratio(self) -> Fraction:
        return prod((oracle.support_ratio for oracle in self.oracles), start=Fraction(1))


@dataclass(frozen=True)
class _Sets(Numbers):
    """The sets of all answers, each of the size that its attribute has; no other bits."""

    answers: _Answers

    def fits(self, reports: Reports) -> BoolArray:
        fits = super().fits(reports)
        if not fits.all() or not len(reports):
            return fits
        ends = self.answers.ends
        every = np.unpackbits(reports, axis=1, bitorder="little")
        told = np.add.reduceat(every[:, : ends[-1]], ends[:-1], axis=1, dtype=np.int64)
        right = (told == [oracle.k for oracle in self.answers.oracles]).all(axis=1)
        return np.asarray(right & ~every[:, ends[-1] :].any(axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class SplitTables(Tables):
    """Tables of one and of two attributes, from the answers of everybody to everything."""

    oracle: _Answers = field(default_factory=lambda: _Answers(1.0, 4, (2, 2)))

    @cached_property
    def _counts(self) -> Tally:
        return Tally(self.tally.total[1:], self.n)  # after the size of the one group

    def seen(self, own: Attributes) -> bool:
        return self.n > 0 and len(own) <= 2

    def table(self, own: Attributes) -> FloatArray:
        return self.oracle.part(self._counts, own)

    def _joined(self, wanted: Attributes) -> tuple[FloatArray, float]:
        told = prod(shares.information(self.oracle.oracles[a]) for a in wanted)
        return interaction(self.table(wanted), wanted, wanted), self.n * told

    def _estimate(self, own: Attributes) -> Estimate:
        table = self.table(own)
        noises = [self.oracle.oracles[a].noise(table, 1) for a in own]
        if len(own) == 1:
            return Estimate(table, self.tally, self.oracle.oracles[own[0]].noise(table, self.n))
        # E s̃² is `base` of somebody who holds another value, and `more` above that of one who does
        (a, more_a), (b, more_b) = ((float(np.mean(n.base)), n.slope + 1) for n in noises)
        rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0)
        square = a * b + more_a * b * rows + a * more_b * columns + more_a * more_b * table
        base = np.maximum(square - table, 1e-9) / self.n
        return Estimate(table.ravel(), self.tally, Noise(base.ravel()))
