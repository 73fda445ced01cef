r"""Protocols with a fixed family of hash functions: FLH, CMS, HCMS.

Every user draws one of $k$ public functions into $m$ cells. The server then needs to hash only $k$
times, not $n$ times, but which values collide is settled once for the whole collection, and no
number of people averages that out: beside the noise of reports, the estimate of $f_v$ is off by an
error of variance

$$\frac{\sum_{w \ne v} f_w^2}{(m - 1) k}$$

over the choice of the family. Given the family, estimates are biased. The stated noise has both.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.errors import InvalidData, require, require_values, whole
from ldp3.kernels import bits, transforms
from ldp3.kernels.source import words
from ldp3.noise import Noise, PureNoise, Support
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import lie_words, respond
from ldp3.protocols.layout import Code, Numbers
from ldp3.protocols.unary import RAPPOR
from ldp3.randomness import WORDS, exp, floor_threshold
from ldp3.types import Estimate, Tally

MOST_CELLS = 2**28


@dataclass(frozen=True)
class Sketch(FrequencyOracle):
    """A report names one of `k` hash functions and tells something of a cell of it."""

    k: int = 1000
    family: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(whole(self.k, 1, 2**31), self, "k must be an integer in 1..2³¹", self.k)
        require(whole(self.family, 0, WORDS - 1), self, "family must be a 64-bit word", self.family)
        require(whole(self.m, 2), self, "the number of cells must be at least 2", self.m)
        many = self.k * self.m
        require(many <= MOST_CELLS, self, "k functions must have at most 2^28 cells in all", many)
        sound = self.epsilon > 2.0**-40
        require(sound, self, "epsilon must be > 0 by more than rounding can tell", self.epsilon)

    @property
    @abstractmethod
    def m(self) -> int:
        """Number of cells of a function."""

    @property
    @abstractmethod
    def support_of_reports(self) -> Support:
        """Probability that a report supports the own value, and another one, over all families."""

    @abstractmethod
    def cell_counts(self, tally: Tally) -> IntArray:
        """How many reports support each cell, shape `(k, m)`."""

    def cells(self, functions: WordArray, codes: NDArray[Any]) -> IntArray:
        """The cells of values under the functions of these numbers."""
        seeds = _mix(_mix(np.array(self.family, dtype=np.uint64)) + functions)
        return (_mix(seeds ^ _mix(codes.astype(np.uint64))) % np.uint64(self.m)).astype(np.int64)

    def estimate(self, tally: Tally) -> Estimate:
        if tally.n < 1:
            raise InvalidData(f"{type(self).__name__}: an estimate needs at least one report.")
        inside, counts = self.cell_counts(tally), np.zeros(self.d, dtype=np.int64)
        codes, step = np.arange(self.d), max(1, 2**20 // self.d)
        for start in range(0, self.k, step):  # so many functions at once
            functions = np.arange(start, min(start + step, self.k), dtype=np.uint64)[:, None]
            counts += inside[functions, self.cells(functions, codes)].sum(axis=0)
        support, n = self.support_of_reports, tally.n
        frequencies = (counts / n - support.q) / (support.p - support.q)
        seen = float((frequencies**2 - PureNoise.of(support, n).variance(frequencies)).sum())
        return Estimate(frequencies, tally, self._noise(min(max(seen, 0.0), 1.0), n))

    def noise(self, frequencies: FloatArray, n: int) -> "FamilyNoise":
        return self._noise(float((frequencies**2).sum()), n)

    def _noise(self, squares: float, n: int) -> "FamilyNoise":
        """With this Σ f², or an estimate of it."""
        pure = PureNoise.of(self.support_of_reports, n)
        return FamilyNoise(pure.base, pure.slope, 1 / ((self.m - 1) * self.k), squares)


@dataclass(frozen=True, eq=False)
class FamilyNoise(Noise):
    """Noise of reports, and what a fixed family of hash functions adds to it.

    Parameters
    ----------
    collisions
        1/((m - 1) k).
    squares
        The sum of the squared frequencies, as estimated.
    """

    collisions: float = 0.0
    squares: float = 0.0

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates over families, if these are the frequencies.

        Where they are no distribution, the sum of squares is that of the estimate.
        """
        squares = self.squares
        if frequencies.min() >= 0 and abs(frequencies.sum() - 1) < 1e-9:
            squares = float((frequencies**2).sum())
        others = np.maximum(squares - frequencies**2, 0)
        return super().variance(frequencies) + self.collisions * others


@final
@dataclass(frozen=True)
class FLH(Sketch):
    r"""Fast local hashing: OLH with $k$ fixed hash functions instead of one for every user.

    $$p = \frac{e^ε}{e^ε + g - 1}, \qquad q = \frac1g, \qquad
      n \mathrm{Var} = n \mathrm{Var}_{OLH} + n \frac{\sum_{w \ne v} f_w^2}{(g - 1) k}.$$

    A report is a function and a cell. Counting is fast, but biased given the functions: the second
    term does not fall with the number of people. For simulation only.

    Parameters
    ----------
    k
        Number of hash functions.
    family
        Which family of them.
    g
        Number of cells; 0 for OLH's.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = FLH(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Cormode, Maddock, Maple. *Frequency estimation under local differential privacy.* PVLDB 2021.
    """

    aliases: ClassVar[tuple[str, ...]] = ("fast local hashing",)
    instead: ClassVar[str] = "pgr: no bias, as many bits, and a faster server"

    g: int = 0

    def __post_init__(self) -> None:
        self.settle()
        if self.g == 0:
            object.__setattr__(self, "g", min(round(exp(self.epsilon)) + 1, 2**16))
        require(whole(self.g, 2, 2**16), self, "g must be an integer in 2..2¹⁶", self.g)
        super().__post_init__()

    @property
    def m(self) -> int:
        return self.g

    @cached_property
    def lie(self) -> int:
        """Words, of 2⁶⁴, that give one particular wrong cell."""
        return lie_words(self.epsilon, self.g)

    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(WORDS - (self.g - 1) * self.lie, self.lie)

    @property
    def support_of_reports(self) -> Support:
        return Support(1 - (self.g - 1) * self.lie / WORDS, 1 / self.g)

    @property
    def layout(self) -> Code:
        return Code(self.k * self.g)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        functions = rng.integers(self.k, size=len(codes), dtype=np.uint64)
        own, told = self.cells(functions, codes), np.empty(len(codes), dtype=np.int64)
        truth = np.uint64(WORDS - (self.g - 1) * self.lie)
        respond(own, words(rng, len(codes)), truth, np.uint64(self.lie), told)
        return (functions.astype(np.int64) * self.g + told).astype(self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.k * self.g), len(reports))

    def cell_counts(self, tally: Tally) -> IntArray:
        self.require_histogram(tally, self.k * self.g)
        return tally.total.reshape(self.k, self.g)


@final
@dataclass(frozen=True)
class CMS(Sketch):
    r"""Count-mean sketch: RAPPOR on the cells of one of $k$ fixed hash functions.

    $$p = \frac{e^{ε/2}}{e^{ε/2} + 1}, \qquad q = \frac pm + (1 - p)\left(1 - \frac1m\right), \qquad
      \text{floor} = \frac{\sum_{w \ne v} f_w^2}{(m - 1) k}.$$

    A report is a function and $m$ bits. Biased given the functions. For simulation only.

    Parameters
    ----------
    k
        Number of hash functions.
    family
        Which family of them.
    m
        Number of cells.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = CMS(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Apple Differential Privacy Team. *Learning with privacy at scale.* Apple Machine Learning
    Journal 2017.
    """

    aliases: ClassVar[tuple[str, ...]] = ("count-mean sketch",)
    instead: ClassVar[str] = "pgr: no bias, less noise, and a hundredth of the bits"

    k: int = 2048
    m: int = 1024

    @cached_property
    def unary(self) -> RAPPOR:
        """What randomises the cells."""
        return RAPPOR(self.epsilon, self.m)

    @property
    def privacy_ratio(self) -> Fraction:
        return self.unary.support_ratio

    @property
    def support_of_reports(self) -> Support:
        p = self.unary.p
        return Support(p, p / self.m + self.unary.q * (1 - 1 / self.m))

    @property
    def layout(self) -> Numbers:
        return Numbers(np.dtype(np.uint64), (1 + bits.width(self.m),))

    def valid(self, reports: Reports) -> BoolArray:
        if not self.layout.fits(reports).all() or reports.dtype != np.uint64:
            return np.zeros(len(reports), dtype=bool)
        return (reports[:, 0] < self.k) & bits.well_formed(reports[:, 1:], self.m)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        functions = rng.integers(self.k, size=len(codes), dtype=np.uint64)
        rows = self.unary.perturb(self.cells(functions, codes), rng)
        return np.concatenate([functions[:, None], rows], axis=1)

    def aggregate(self, reports: Reports) -> Tally:
        """How often each bit of each function was 1."""
        self.require_valid(reports)
        total = np.zeros((self.k, self.m), dtype=np.int64)
        order = np.argsort(reports[:, 0], kind="stable")
        functions, starts = np.unique(reports[order, 0], return_index=True)
        for function, some in zip(functions, np.split(order, starts[1:]), strict=False):
            total[int(function)] = bits.count(reports[some, 1:], self.m)
        return Tally(total, len(reports))

    def cell_counts(self, tally: Tally) -> IntArray:
        within = tally.total.shape == (self.k, self.m) and tally.total.min() >= 0
        if not within or int(tally.total.max(axis=1).sum()) > tally.n:
            raise InvalidData(f"CMS: these are no counts of n={tally.n} reports.")
        return tally.total


@final
@dataclass(frozen=True)
class HCMS(Sketch):
    r"""Hadamard count-mean sketch: one Hadamard entry of a cell of a fixed hash function.

    $$p = \frac{e^ε}{e^ε + 1}, \qquad q = \frac pm + \frac12\left(1 - \frac1m\right), \qquad
      \text{floor} = \frac{\sum_{w \ne v} f_w^2}{(m - 1) k}.$$

    A report is a function, a column and a bit. Biased given the functions. For simulation only.

    Parameters
    ----------
    k
        Number of hash functions.
    family
        Which family of them.
    m
        Number of cells, a power of two.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = HCMS(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Apple Differential Privacy Team. *Learning with privacy at scale.* Apple Machine Learning
    Journal 2017.
    """

    aliases: ClassVar[tuple[str, ...]] = ("Hadamard count-mean sketch",)
    instead: ClassVar[str] = "hrr: no bias, and fewer bits"

    k: int = 2048
    m: int = 1024

    def __post_init__(self) -> None:
        sound = whole(self.m, 2, MOST_CELLS) and self.m.bit_count() == 1
        require(sound, self, "m must be a power of two", self.m)
        super().__post_init__()

    @cached_property
    def right(self) -> int:
        """The entry is the right one for this many words of 2⁶⁴."""
        return floor_threshold(exp(self.epsilon) / (exp(self.epsilon) + 1))

    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(self.right, WORDS - self.right)

    @property
    def support_of_reports(self) -> Support:
        p = self.right / WORDS
        return Support(p, p / self.m + (1 - 1 / self.m) / 2)

    @property
    def layout(self) -> Code:
        return Code(2 * self.k * self.m)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        functions = rng.integers(self.k, size=len(codes), dtype=np.uint64)
        columns = rng.integers(self.m, size=len(codes))
        wrong = words(rng, len(codes)) >= np.uint64(self.right)
        entries = np.bitwise_count(columns & self.cells(functions, codes)) % 2 ^ wrong
        reports = 2 * (functions.astype(np.int64) * self.m + columns) + entries
        return reports.astype(self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.layout.values), len(reports))

    def cell_counts(self, tally: Tally) -> IntArray:
        self.require_histogram(tally, self.layout.values)
        counts = tally.total.reshape(self.k, self.m, 2)
        signs = (counts[:, :, 0] - counts[:, :, 1]).reshape(-1)
        sums = transforms.walsh_hadamard(signs, self.m).reshape(self.k, self.m)
        return (counts.sum(axis=(1, 2))[:, None] + sums) // 2


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # splitmix64's finaliser (Steele, Lea, Flood 2014) of the next multiple of the golden ratio
    with np.errstate(over="ignore"):
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
