"""Synthetic shapes: expected counts, the same for every seed."""

from abc import abstractmethod
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar, final

import numpy as np

from ldp3 import kinds
from ldp3.arrays import FloatArray, apportion
from ldp3.datasets.base import Source
from ldp3.domain import Integers
from ldp3.errors import MOST_VALUES, require, settle_numbers, whole
from ldp3.people import Dataset

MOST_USERS = 10**15  # beyond, expected counts are not exact in floating point
NARROWEST = 1e-6  # standard deviation of a bell, as a fraction of the domain


@dataclass(frozen=True, kw_only=True)
class Synthetic(Source):
    """`n` users over the values 0 … d-1, spread in proportion to a shape by largest remainders.

    Parameters
    ----------
    d
        Size of the domain.
    n
        Number of people.
    """

    ordered: ClassVar[bool] = False  # whether the shape lies along a line, as a bell does

    d: int = 128
    n: int = 1_000_000

    def __post_init__(self) -> None:
        settle_numbers(self)
        for name, least, most in (("d", 2, MOST_VALUES), ("n", 1, MOST_USERS)):
            given = getattr(self, name)
            what = f"{name} must be an integer from {least} to {most:,}"
            require(whole(given, least, most), self, what, given)
        for name, given in vars(self).items():
            number = isinstance(given, int | float) and not isinstance(given, bool)
            require(number and isfinite(given), self, f"{name} must be a number", given)

    @abstractmethod
    def weights(self) -> FloatArray:
        """The shape, shape `(d,)`, not yet scaled to anything."""

    def load(self) -> Dataset:
        """Expected counts."""
        spec = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return Dataset(
            f"{kinds.name_of(type(self))}({spec})",
            Integers(self.d, ordered=self.ordered),
            apportion(self.weights(), self.n),
        )


@final
@dataclass(frozen=True, kw_only=True)
class Zipf(Synthetic):
    r"""A power law, as words and web pages have: $$f_v \propto (v + 1)^{-s}.$$

    Parameters
    ----------
    s
        How steep: 0 is uniform, 1 is Zipf's law.

    Examples
    --------
    >>> Zipf(s=1.0, d=4, n=25).load().histogram
    array([12,  6,  4,  3])
    """

    aliases: ClassVar[tuple[str, ...]] = ("zipfian", "power_law")

    s: float = 1.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.s >= 0, self, "s must be at least 0", self.s)

    def weights(self) -> FloatArray:
        """$(v + 1)^{-s}$."""
        return np.arange(1, self.d + 1, dtype=np.float64) ** -self.s


@final
@dataclass(frozen=True, kw_only=True)
class Geometric(Synthetic):
    r"""Exponential decay: $$f_v \propto (1 - p)^v, \quad 0 < p < 1.$$

    Parameters
    ----------
    p
        What each value has less than the one before, as a share of it.
    """

    aliases: ClassVar[tuple[str, ...]] = ("exponential",)

    p: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.p < 1, self, "p must lie between 0 and 1", self.p)

    def weights(self) -> FloatArray:
        """$(1 - p)^v$."""
        return (1 - self.p) ** np.arange(self.d, dtype=np.float64)


@final
@dataclass(frozen=True, kw_only=True)
class Gaussian(Synthetic):
    r"""A bell: $$f_v \propto e^{-(v - μ)^2 / 2σ^2},$$ with μ and σ as fractions of the domain.

    Parameters
    ----------
    mean, std
        μ and σ: where the bell stands, from 0 to 1, and how wide it is.
    """

    aliases: ClassVar[tuple[str, ...]] = ("normal", "bell")
    ordered: ClassVar[bool] = True

    mean: float = 0.5
    std: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.mean <= 1, self, "mean must lie between 0 and 1", self.mean)
        require(self.std >= NARROWEST, self, f"std must be at least {NARROWEST}", self.std)

    def weights(self) -> FloatArray:
        """Densities at the values; the nearest one has weight 1, so that none underflows."""
        return _bell(self.d, self.mean, self.std)


@final
@dataclass(frozen=True, kw_only=True)
class Bimodal(Synthetic):
    r"""Two bells of unequal weight, at a quarter and three quarters of the domain.

    Parameters
    ----------
    share
        Share of the users in the second bell.
    std
        Standard deviation of both, as a fraction of the domain.
    """

    ordered: ClassVar[bool] = True

    share: float = 0.3
    std: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.share < 1, self, "share must lie between 0 and 1", self.share)
        require(self.std >= NARROWEST, self, f"std must be at least {NARROWEST}", self.std)

    def weights(self) -> FloatArray:
        """`share` of the users in the second bell."""
        first, second = _bell(self.d, 0.25, self.std), _bell(self.d, 0.75, self.std)
        return (1 - self.share) * first / first.sum() + self.share * second / second.sum()


@final
@dataclass(frozen=True, kw_only=True)
class Uniform(Synthetic):
    r"""Every value alike: $$f_v = 1/d.$$"""

    def weights(self) -> FloatArray:
        """Ones."""
        return np.ones(self.d)


@final
@dataclass(frozen=True, kw_only=True)
class Spike(Synthetic):
    r"""One value with a share of its own, the rest alike: the hardest case for many methods.

    Parameters
    ----------
    share
        Share of the users who hold the first value.
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.share <= 1, self, "share must lie between 0 and 1", self.share)

    def weights(self) -> FloatArray:
        """`share` at value 0."""
        weights = np.full(self.d, (1 - self.share) / (self.d - 1))
        weights[0] = self.share
        return weights


@final
@dataclass(frozen=True, kw_only=True)
class Steps(Synthetic):
    r"""A staircase of `steps` equal parts of the domain, each `ratio` times the one before.

    Parameters
    ----------
    steps
        How many parts.
    ratio
        Frequency of a value over that of one on the step before.
    """

    steps: int = 4
    ratio: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = whole(self.steps, 1, self.d)
        require(fits, self, "steps must be an integer from 1 to d", self.steps)
        require(0 < self.ratio <= 1, self, "ratio must lie between 0 and 1", self.ratio)

    def weights(self) -> FloatArray:
        """$r^{\\lfloor kv/d \\rfloor}$."""
        return self.ratio ** (self.steps * np.arange(self.d) // self.d).astype(np.float64)


def _bell(d: int, mean: float, std: float) -> FloatArray:
    squares = ((np.arange(d) - mean * (d - 1)) / (std * d)) ** 2 / 2
    return np.exp(squares.min() - squares)
