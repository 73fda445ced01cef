"""Schemes for several attributes: who is asked which of them, and how the answers are joined."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import comb, prod
from typing import Any, ClassVar, final

from ldp3 import specs
from ldp3.domain import Domain, Records
from ldp3.errors import InvalidData, InvalidParameter, as_python, require, several, whole
from ldp3.noise import LinearChannel
from ldp3.randomness import WORDS
from ldp3.schemes import shares
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.tables import Attributes, GroupAnswer, Tables
from ldp3.types import Estimate, Tally

Target = int | tuple[int, ...]
MOST_COUNTED = 2**21  # cells of all groups together: beyond, files and answers take minutes


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
    most_together: ClassVar[int] = 64  # attributes that one person is asked

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
            what = "targets are 1, 2 … or different attributes by their numbers from 0 on"
            require(sound, self, what, target)
        # before they are listed: there may be any number
        ways = [(comb(k, t), t) if isinstance(t, int) else (1, len(t)) for t in targets]
        if sum(tables * 2**way for tables, way in ways) > shares.MOST_PARTS:
            raise shares.too_many(sum(tables for tables, _ in ways), k)
        require(len(self.wanted) > 0, self, "there must be a table that is wanted", given)
        if (largest := max(map(len, self.wanted))) > self.most_together:
            raise InvalidParameter(
                f"{type(self).__name__}: a table of {largest} attributes is wanted, and nobody is "
                f"asked so many together: use groups, with the same targets."
            )

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
        if (every := sum(v.size(self.sizes) for v in views)) > MOST_COUNTED:
            raise InvalidParameter(
                f"{type(self).__name__}: the tables that are asked have {every:,} cells together, "
                f"and {MOST_COUNTED:,} can be served: merge values (bins, top and other), or want "
                f"fewer tables, as in groups(targets=1)."
            )
        oracles = [shares.best_oracle(self.epsilon, v.size(self.sizes)) for v in views]
        return tuple(map(Group, views, parts, oracles))

    @property
    def channel(self) -> None:
        """None: the likelihood of whole records would have to list them."""

    def information(self, interaction: Attributes) -> float:
        """What one person tells of each direction of an interaction, for even data."""
        known = [
            shares.information(group.oracle) * group.share / WORDS  # type: ignore[arg-type]
            for group in self.groups
            if set(interaction) <= {a for a, _ in group.view.parts}
        ]
        return sum(known)

    @property
    def loss(self) -> float:
        """n times the weighted variance of the wanted tables, for a population spread evenly."""
        return shares.loss_with(self.information, self.sizes, self.load)

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
                if any(bins is not None for _, bins in group.view.parts):
                    raise InvalidData("Tables are joined of attributes that are asked as they are.")
                table = group.oracle.estimate(part).frequencies
                shape = [self.sizes[a] for a in own]
                law, channel = shares.law(group.oracle), group.oracle.channel
                exact = channel if isinstance(channel, LinearChannel) else None
                answers.append(GroupAnswer(own, table.reshape(shape), part.n, *law, exact))
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


def by_number(spec: str, domain: Domain) -> str:
    """The spec of a scheme in which attributes that targets name have their numbers.

    >>> from ldp3.domain import Labels
    >>> people = Records([Labels(["f", "m"], name="sex"), Labels(["old", "young"], name="age")])
    >>> by_number("groups(targets=[1, [age, sex]])", people)
    'groups(targets=(1, (1, 0)))'
    """
    name, given = specs.parse(spec)
    if "targets" not in given or not isinstance(domain, Records):
        return spec
    given["targets"] = numbered(given["targets"], domain)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def numbered(targets: Any, domain: Records) -> tuple[Target, ...]:
    """Wanted tables by the numbers of their attributes; a name alone is a table of one."""
    wanted = [targets] if isinstance(targets, int | str) else several(targets, "targets")
    tables = [(one,) if isinstance(one, str) else one for one in wanted]
    return tuple(t if isinstance(t, int) else tuple(map(domain.number, t)) for t in tables)


def _target(given: Any) -> Any:
    number = as_python(given)
    return number if isinstance(number, int | str) else tuple(map(as_python, given))


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

    most_together: ClassVar[int] = 2

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
    most_together: ClassVar[int] = 1

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
