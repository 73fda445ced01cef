"""Local hashing: binary (BLH) and optimised (OLH)."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray, Reports, WordArray
from ldp3.errors import require, require_histogram, require_values, whole
from ldp3.kernels import hashing
from ldp3.kernels.source import words
from ldp3.protocols.design import Design, least, require_design, risk
from ldp3.protocols.grr import lie_words, respond, tell
from ldp3.protocols.layout import Fields
from ldp3.protocols.pure import PureOracle, independent_supports
from ldp3.randomness import WORDS, Words, exp
from ldp3.types import Tally

HASH_VERSION = 2  # of the family of hash functions: a seed names another function in another one


@dataclass(frozen=True)
class LocalHashing(PureOracle):
    r"""Hash the value into one of $g$ cells with a fresh function, then GRR over the cells.

    The seed of a report names a function of the family $H_s(v) = A_s[l] + B_s[h] + C_s[l + h]
    \pmod g$, where $l$ are the lower bits of the value and $h$ the others (tabulation in
    $\mathbb Z_g$ with a derived character), whose table entries come from splitmix64 of the seed.
    Of independent uniform entries, any five values would fall into independent uniform cells, so
    the joint law of any five supports is that of ideal hash functions. (Entries are uniform up to
    rounding: a cell has probability $1/g$ to within 4 · 10⁻⁹ of it, exactly if $g$ is a power of
    two.) Privacy does not rest on the hash at all: it is that of GRR.

    References
    ----------
    Thorup, Zhang. *Tabulation-based 5-independent hashing with applications to linear probing and
    second moment estimation.* SIAM Journal on Computing, 2012.
    """

    @property
    @abstractmethod
    def g(self) -> int:
        """Number of cells."""

    def __post_init__(self) -> None:
        self.settle()
        require(whole(self.g, 2, 2**31), self, "g must be an integer in 2..2³¹", self.g)
        super().__post_init__()

    @cached_property
    def lie(self) -> int:
        """Words, of 2⁶⁴, that give one particular wrong cell."""
        return lie_words(self.epsilon, self.g)

    @cached_property
    def truth(self) -> int:
        """Words, of 2⁶⁴, that give the right cell."""
        return WORDS - (self.g - 1) * self.lie

    @cached_property
    def p(self) -> float:
        return self.truth / WORDS

    @cached_property
    def q(self) -> float:
        return 1 / self.g

    @property
    def support_ratio(self) -> Fraction:
        return Fraction(self.truth, self.lie)

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d

    @property
    def independence(self) -> int:
        # the cells of any five values are independent, and one of them may be the truth's
        return self.d if self.d <= 5 else 4

    @property
    def nonce(self) -> tuple[str, int]:
        return "seed", WORDS

    @cached_property
    def layout(self) -> Fields:
        return Fields((("seed", WORDS), ("cell", self.g)))

    @property
    def constants(self) -> dict[str, int]:
        return {
            "truth": self.truth,
            "lie": self.lie,
            "g": self.g,
            "hash": HASH_VERSION,
            "low_bits": self.low_bits,
        }

    @cached_property
    def low_bits(self) -> int:
        """How many bits of a value index the first table; the others index the second."""
        return ((self.d - 1).bit_length() + 1) // 2

    def draw(self, value: int, words: Words) -> int:
        seed, choice = next(words), next(words)
        cell = hashing.cell(seed, value, self.low_bits, self.g)
        return seed | tell(cell, choice, self.truth, self.lie) << 64

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        seeds, draws = words(rng, 2 * len(codes)).reshape(2, -1)
        own = hashing.cells(seeds, codes, self.low_bits, self.g)
        cells = np.empty(len(codes), dtype=np.uint32)
        respond(own, draws, np.uint64(self.truth), np.uint64(self.lie), cells)
        reports = np.empty(len(codes), dtype=self.layout.dtype)
        reports["seed"], reports["cell"] = seeds, cells
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return self._cells(reports["seed"], np.full(len(reports), value)) == reports["cell"]

    def report_with(self, nonces: WordArray, values: IntArray) -> Reports:
        reports = np.empty(len(nonces), dtype=self.layout.dtype)
        reports["seed"], reports["cell"] = nonces, self._cells(nonces, values)
        return reports

    def _cells(self, seeds: WordArray, values: IntArray) -> NDArray[np.uint32]:
        return hashing.cells(seeds, values.astype(np.uint32), self.low_bits, self.g)

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        seeds, cells = reports["seed"], reports["cell"]
        counts = hashing.support_counts(seeds, cells, self.low_bits, self.g, self.d)
        return Tally(counts, len(reports))

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        # as under ideal hashing
        return independent_supports(self.support, require_histogram(self, histogram, self.d), rng)


@final
@dataclass(frozen=True)
class BLH(LocalHashing):
    r"""Binary local hashing: a random bit of the value, then randomised response on that bit.

    $$p = \frac{e^ε}{e^ε + 1}, \qquad q = \frac12.$$

    A report is a hash seed and one of two cells: 65 bits whatever the domain.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = BLH(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Bassily, Smith. *Local, private, efficient protocols for succinct histograms.* STOC 2015; in
    this form Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency
    estimation.* USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("binary local hashing",)

    @property
    def g(self) -> int:
        return 2


@final
@dataclass(frozen=True)
class OLH(LocalHashing):
    r"""Optimised local hashing: the number of cells that minimises the variance.

    $$p = \frac{e^ε}{e^ε + g - 1}, \qquad q = \frac1g, \qquad g = \mathrm{round}(e^ε) + 1.$$

    A report is a hash seed and one of $g$ cells: as accurate as OUE, and small for large domains.

    Parameters
    ----------
    g
        Number of cells, in 2..2³¹; 0 for the best one.
    design
        The frequency, below ½, for which the variance is to be least, or ``"minimax"`` for the
        least worst case; by default that of a value that nobody holds.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = OLH(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("optimised local hashing", "optimized local hashing")
    examples: ClassVar[tuple[str, ...]] = ("olh(g=5)", "olh(g=70000)")

    g: int = 0
    design: Design = None

    def __post_init__(self) -> None:
        self.settle()
        require_design(self, self.design, chosen=self.g != 0)
        if whole(self.g, 0, 0):
            object.__setattr__(self, "g", _best_cells(self.epsilon, self.design))
            object.__setattr__(self, "design", None)  # it has done its work
        super().__post_init__()


def _best_cells(epsilon: float, design: Design) -> int:
    x = exp(epsilon)
    most = min(round(x) + 1, 2**31)  # for values that nobody holds
    if design is None:
        return most
    return least(2, most, lambda g: risk(x / (x + g - 1), Fraction(1, g), design))
