"""Schemes for several attributes: who is asked which of them, and how the answers are joined."""

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, ClassVar, final

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.domain import Records
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    as_python,
    require,
    require_codes,
    require_generator,
    whole,
)
from ldp3.noise import Noise
from ldp3.protocols.base import CHUNK, FrequencyOracle, users
from ldp3.protocols.layout import Numbers
from ldp3.protocols.subset_selection import SS
from ldp3.randomness import WORDS
from ldp3.schemes import shares
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.tables import Attributes, GroupAnswer, Tables
from ldp3.types import Estimate, Tally

Target = int | tuple[int, ...]


@dataclass(frozen=True)
class RecordScheme(Scheme):
    """A scheme for records of several attributes: ε is for all answers of a person together.

    Parameters
    ----------
    sizes
        The number of values of each attribute; d is their product.
    targets
        The tables that are wanted: 1 for those of each attribute, 2 for those of every two, or
        the numbers of some attributes, such as `(0, 3)`.
    """

    needs_records: ClassVar[bool] = True
    most_values: ClassVar[int] = 2**63 - 1
    usual_method: ClassVar[str] = "interactions"

    sizes: tuple[int, ...] = ()
    targets: tuple[Target, ...] = (1, 2)

    def __post_init__(self) -> None:
        self.settle()
        sizes = tuple(map(as_python, self.sizes))
        fine = len(sizes) > 0 and all(whole(size, 2) for size in sizes) and prod(sizes) == self.d
        require(fine, self, f"sizes must be numbers ≥ 2 whose product is d={self.d}", self.sizes)
        object.__setattr__(self, "sizes", sizes)
        given: Any = self.targets
        targets = (given,) if isinstance(given, int) else tuple(map(_target, given))
        object.__setattr__(self, "targets", targets)
        k = len(sizes)
        for target in targets:
            some = (target,) if isinstance(target, int) else target
            least, most = (1, max(k, 2)) if isinstance(target, int) else (0, k - 1)
            sound = (
                some and len(set(some)) == len(some) and all(whole(t, least, most) for t in some)
            )
            require(sound, self, "targets are 1, 2 … or different attributes' numbers", target)
        require(len(self.wanted) > 0, self, "there must be a table that is wanted", given)

    @cached_property
    def _classes(self) -> list[list[Attributes]]:
        """The wanted tables, in classes that count the same."""
        k = len(self.sizes)
        every = [shares.all_tables(t, k) for t in self.targets if isinstance(t, int)]
        return [
            some for some in [*every, [t for t in self.targets if isinstance(t, tuple)]] if some
        ]

    @cached_property
    def wanted(self) -> tuple[Attributes, ...]:
        """The tables that are wanted, by the numbers of their attributes."""
        return tuple(dict.fromkeys(chain.from_iterable(self._classes)))

    @cached_property
    def load(self) -> dict[Attributes, float]:
        """How much each wanted table counts."""
        return shares.loads([[tuple(sorted(t)) for t in c] for c in self._classes], self.sizes)

    @property
    @abstractmethod
    def asked(self) -> dict[Attributes, float]:
        """The groups of attributes, and the share of people that each has."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        asked = self.asked
        parts = whole_shares(list(asked.values()))
        views = [View(tuple((a, None) for a in own)) for own in asked]
        oracles = [shares.best_oracle(self.epsilon, v.size(self.sizes)) for v in views]
        return tuple(map(Group, views, parts, oracles))

    @property
    def channel(self) -> None:
        """None: the likelihood of whole records would have to list them."""

    @property
    def loss(self) -> float:
        """n times the weighted variance of the wanted tables, for a population spread evenly."""
        views = [tuple(a for a, _ in group.view.parts) for group in self.groups]
        told = [shares.information(group.oracle) for group in self.groups]  # type: ignore[arg-type]
        parts = [group.share / WORDS for group in self.groups]
        return shares.loss_of(views, parts, told, self.sizes, self.load)

    @cached_property
    def above_limit(self) -> float:
        """How far its variance lies above what no ε-LDP mechanism goes below: 0.04 is 4 %."""
        return self.loss / shares.limit(self.epsilon, self.sizes, self.load) - 1

    def tables(self, tally: Tally, domain: Records | None = None) -> Tables:
        """Server: unbiased tables that agree with each other."""
        self.require_tally(tally)
        answers = []
        for group, part in zip(self.groups, self.split(tally), strict=True):
            if part.n:
                own = tuple(a for a, _ in group.view.parts)
                table = group.oracle.estimate(part).frequencies
                shape = [self.sizes[a] for a in own]
                law = shares.law(group.oracle)
                answers.append(GroupAnswer(own, table.reshape(shape), part.n, *law))
        return Tables(self.sizes, tuple(answers), tally, self.wanted, domain)

    def estimate(self, tally: Tally) -> Estimate:
        """The table of all attributes, if a group saw them all together."""
        if not tally.n:
            raise InvalidData(f"{type(self).__name__}: an estimate needs at least one report.")
        return self.tables(tally)[tuple(range(len(self.sizes)))]

    def require_tally(self, tally: Tally) -> None:
        if not isinstance(tally, Tally):
            raise InvalidData(f"{type(self).__name__}: a Tally is needed, as `aggregate` gives it.")
        super().require_tally(tally)


def _target(given: Any) -> Any:
    number = as_python(given)
    return number if isinstance(number, int) else tuple(map(as_python, given))


@final
@dataclass(frozen=True)
class Groups(RecordScheme):
    r"""The groups of attributes, and the shares of people, with the least error of the targets.

    Everybody answers one small group of attributes as one value, by `ss`, `pgr` or `grr` with the
    whole ε; the group is drawn by lot before anybody looks at the answers. Least squares join the
    answers (`ldp3.tables`), and the shares $π$ solve

    $$\min_π \sum_{T \ne \emptyset} \frac{r_T μ_T}{\sum_{G \supseteq T} π_G ρ_G}$$

    (`ldp3.schemes.shares`). For ε up to 2 the variance is within some percent of what any ε-LDP
    mechanism could reach: `above_limit` says how many.

    A report is the number of a group and that group's report. By default tables of one and of two
    attributes count alike.

    Examples
    --------
    >>> scheme = Groups(1.0, 60, (3, 4, 5))
    >>> print(f"{len(scheme.groups)} groups, {scheme.above_limit:.0%} above the limit")
    6 groups, 1% above the limit

    References
    ----------
    Zhang, Wang, Li, He, Chen. *CALM: consistent adaptive local marginal for marginal release under
    local differential privacy.* CCS 2018 (groups of attributes, chosen by a rule of thumb).
    """

    aliases: ClassVar[tuple[str, ...]] = ("best groups",)

    @property
    def asked(self) -> dict[Attributes, float]:
        found = shares.best_shares(self.sizes, self.epsilon, tuple(sorted(self.load.items())))
        return dict(zip(found.groups, found.shares, strict=True))


@final
@dataclass(frozen=True)
class Pairs(RecordScheme):
    r"""Every two attributes are a group, all of the same size, joined by least squares.

    $$π_G = 1 / \binom{k}{2}$$

    A report is the number of a pair and the report of `ss`, `pgr` or `grr` about both values with
    the whole ε. What is often done; `groups` also asks single attributes, and larger groups where
    these are small.

    References
    ----------
    Zhang, Wang, Li, He, Chen. *CALM: consistent adaptive local marginal for marginal release under
    local differential privacy.* CCS 2018.
    """

    @property
    def asked(self) -> dict[Attributes, float]:
        k = len(self.sizes)
        require(k > 1, self, "two attributes are needed", k)
        return dict.fromkeys(shares.all_tables(2, k), 1.0)


@final
@dataclass(frozen=True)
class SMP(RecordScheme):
    r"""Sampling: everybody answers one attribute, drawn by lot, with the whole ε.

    $$π_j = 1 / k$$

    A report is the number of an attribute and the report of `ss`, `pgr` or `grr` about it. For
    tables of one attribute nothing is better where attributes have $e^ε + 1$ values or more; how
    two attributes go together it cannot tell.

    References
    ----------
    Nguyên, Xiao, Yang, Hui, Shin, Shin. *Collecting and analyzing data from smart device users
    with local differential privacy.* arXiv 2016 (sampling one attribute).
    Arcolezi, Couchot, Al Bouna, Xiao. *Random sampling plus fake data: multidimensional frequency
    estimates with local differential privacy.* CIKM 2021, §3 (the name).
    """

    aliases: ClassVar[tuple[str, ...]] = ("sampling",)

    targets: tuple[Target, ...] = (1,)

    @property
    def asked(self) -> dict[Attributes, float]:
        return dict.fromkeys(shares.all_tables(1, len(self.sizes)), 1.0)


@final
@dataclass(frozen=True)
class Joint(RecordScheme):
    r"""Everybody answers all attributes as one value of $D = \prod d_j$.

    $$\mathrm{Var} \approx \frac{D}{D_S} \frac{4 e^ε}{n (e^ε - 1)^2}$$

    for a cell of a table of $D_S$ cells. A report is that of `ss`, `pgr` or `grr`. Worth it only
    where there are very few combinations, or ε is so large that $e^ε > D$.

    References
    ----------
    Kairouz, Oh, Viswanath. *Extremal mechanisms for local differential privacy.* NIPS 2014.
    """

    @property
    def asked(self) -> dict[Attributes, float]:
        if self.d > shares.MOST_CELLS:
            raise InvalidParameter(
                f"Joint: {self.d:,} combinations are more than the {shares.MOST_CELLS:,} that can "
                f"be asked at once: use groups, or merge values."
            )
        return {tuple(range(len(self.sizes))): 1.0}


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

    @property
    def loss(self) -> float:
        told = [shares.information(oracle) for oracle in self.answers.oracles]
        return shares.loss_with(lambda T: prod(told[a] for a in T), self.sizes, self.load)

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


@dataclass(frozen=True, eq=False)
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
        from ldp3.tables import interaction

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
