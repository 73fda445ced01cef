"""What an attack promises."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from types import ModuleType
from typing import ClassVar

import numpy as np

from ldp3 import specs
from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import require
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@dataclass(frozen=True, eq=False)
class Attack(ABC):
    r"""What fake users send, beside honest ones, to a server that cannot tell them apart.

    Everything follows from how often a fake report supports each value. With $m$ fake users beside
    $n$ honest ones, $β = m/(n+m)$, and $s_v$ the share of fake reports that support $v$, the
    estimates of the targets $T$ rise together by

    $$G = β\left[\frac{\sum_{v \in T} (s_v - q)}{p - q} - f_T\right].$$

    Subclasses say `reports`; `tally` is overridden where the law of its counts is known, `rates`
    where $s_v$ is.

    Parameters
    ----------
    targets
        Codes of the values that the attacker wants to raise.
    honest
        How many honest users hold each value, shape `(d,)`: what an attacker may know at most.

    References
    ----------
    Cao, Jia, Gong. *Data poisoning attacks to local differential privacy protocols.* USENIX
    Security 2021.
    """

    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""  # as papers write it, where that is not the name of the class
    sets: ClassVar[dict[str, tuple[str, ...]]] = {"usual": ("ria", "mga")}

    targets: tuple[int, ...]
    honest: IntArray

    def __post_init__(self) -> None:
        d = len(self.honest)
        require(len(self.targets) > 0, self, "at least one target is needed", self.targets)
        once = len(set(self.targets)) == len(self.targets)
        inside = all(0 <= t < d for t in self.targets)
        require(once and inside, self, f"targets are different codes below {d}", self.targets)

    @abstractmethod
    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        """What `m` fake users send, one row each: the definition."""

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        """What a server adds up of `m` fake users, with the law of `reports`."""
        parts = (oracle.aggregate(self.reports(oracle, k, rng)) for k in chunks(oracle, m))
        return sum(parts, start=oracle.empty)

    def rates(self, oracle: PureOracle) -> FloatArray | None:  # noqa: ARG002
        """The expected share of fake reports that support each value; None if not known."""
        return None

    def applies(self, oracle: FrequencyOracle) -> bool:
        """Whether fake users can do this under the oracle: its reports must support values."""
        return isinstance(oracle, PureOracle)

    def expected_gain(self, oracle: PureOracle, m: int) -> float | None:
        """By how much the estimates of the targets rise together, in expectation."""
        rates = self.rates(oracle)
        if rates is None:
            return None
        n, codes = int(self.honest.sum()), list(self.targets)
        seems = (rates[codes].sum() - len(codes) * oracle.q) / (oracle.p - oracle.q)
        return float(m / (n + m) * (seems - self.share))

    @property
    def share(self) -> float:
        """The share of honest users who hold a target."""
        return float(self.honest[list(self.targets)].sum() / self.honest.sum())


def build_attack(
    spec: object, *plugins: ModuleType, targets: tuple[int, ...], honest: IntArray
) -> Attack:
    """The attack that `spec` means: ``"mga"``, ``"mga(padding=law)"``, a class; one as it is."""
    return specs.build(Attack, spec, *plugins, targets=targets, honest=honest)


def amplification(oracle: PureOracle) -> float:
    r"""How many honest votes one fake report weighs in the difference of two values: $1/(p-q)$."""
    return 1 / (oracle.p - oracle.q)


@dataclass(frozen=True)
class Overtaking:
    """What it takes to lift one value over another.

    Parameters
    ----------
    fake
        Fake users who send reports made to order, of which each supports the lower value and not
        the higher one.
    lying
        Fake users who claim the lower value and randomise honestly.
    """

    fake: int
    lying: int


def overtaking(oracle: PureOracle, lead: int) -> Overtaking:
    r"""The least numbers of fake users that make the *expected* estimates swap.

    A report made to order moves the difference of two counts by one, an honest one by $p - q$ in
    expectation: where one value leads by so many honest users, it takes more than
    $\text{lead}\,(p-q)$ or more than the lead. With exactly so many the noise decides: about every
    second ranking is wrong.

    >>> from ldp3 import oracle
    >>> overtaking(oracle("oue", 1.0, 100), lead=1_000)
    Overtaking(fake=232, lying=1001)
    """
    gap = Fraction(oracle.p) - Fraction(oracle.q)  # exact: a rounded product may be one too low
    return Overtaking(floor(lead * gap) + 1, lead + 1)


def honest_lying(attack: Attack, m: int) -> float:
    r"""The gain of fake users who lie but randomise honestly: $β(1 - f_T)$, whatever the protocol.

    More than this nobody gains where the server can make clients randomise honestly.
    """
    return m / (int(attack.honest.sum()) + m) * (1 - attack.share)


def chunks(oracle: FrequencyOracle, m: int) -> Iterator[int]:
    """`m` fake users in groups that fit into memory."""
    for start in range(0, m, oracle.chunk_size):
        yield min(oracle.chunk_size, m - start)
