"""Local hashing: binary (BLH) and optimised (OLH)."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.errors import require, require_epsilon_and_domain, require_values
from ldp3.kernels import compiled_in, njit
from ldp3.protocols.base import PureOracle
from ldp3.protocols.grr import lie_words, respond
from ldp3.randomness import WORDS, exp, words
from ldp3.types import BoolArray, FloatArray, IntArray, Reports, WordArray

REPORT = np.dtype([("seed", "<u8"), ("cell", "<u4")])
LANES = 64  # users side by side in one vector of bytes
USERS = 4 * LANES  # users per pass: four comparisons for each visit to a counter
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class LocalHashing(PureOracle):
    r"""Hash the value into one of $g$ cells with a fresh function, then GRR over the cells.

    The seed of a report names a function of the family $H_s(v) = A_s[v \bmod 2^a] +
    B_s[\lfloor v / 2^a \rfloor] \pmod g$ (tabulation in $\mathbb Z_g$), whose table entries come
    from splitmix64 of the seed. Any three values fall into independent uniform cells, so means,
    variances and covariances of the support counts are those of ideal hash functions. Privacy
    does not rest on the hash at all: it is that of GRR.
    """

    @property
    @abstractmethod
    def g(self) -> int:
        """Number of cells."""

    def __post_init__(self) -> None:
        require_epsilon_and_domain(self, self.epsilon, self.d)
        whole = isinstance(self.g, int) and not isinstance(self.g, bool)
        require(whole and 2 <= self.g <= 2**31, self, "g must be an integer in 2..2³¹", self.g)
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
    def privacy_ratio(self) -> Fraction:
        return Fraction(self.truth, self.lie)

    @property
    def report_bits(self) -> int:
        return 64 + (self.g - 1).bit_length()

    @property
    def report_form(self) -> str:
        return f"a record of a 64-bit seed and a cell in [0, {self.g})"

    @cached_property
    def low_bits(self) -> int:
        """How many bits of a value index the first table; the others index the second."""
        return ((self.d - 1).bit_length() + 1) // 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        seeds, draws = words(rng, 2 * len(codes)).reshape(2, -1)
        own = _hash_each(seeds, codes, self.low_bits, np.uint64(self.g))
        cells = np.empty(len(codes), dtype=np.uint32)
        respond(own, draws, np.uint64(self.truth), np.uint64(self.lie), cells)
        reports = np.empty(len(codes), dtype=REPORT)
        reports["seed"], reports["cell"] = seeds, cells
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return self.hash(reports["seed"], value) == reports["cell"]

    def hash(self, seeds: WordArray, value: int) -> NDArray[np.uint32]:
        """The cell of `value` under the function that each seed names."""
        codes = np.full(len(seeds), value, dtype=np.uint32)
        return _hash_each(np.ascontiguousarray(seeds), codes, self.low_bits, np.uint64(self.g))

    def log_prob(self, reports: Reports, value: int) -> FloatArray:
        # seeds are uniform whatever the value
        return np.where(self.supports(reports, value), log(self.p), log(self.lie / WORDS))

    def valid(self, reports: Reports) -> BoolArray:
        if reports.dtype != REPORT or reports.ndim != 1:
            return np.zeros(len(reports), dtype=bool)
        return np.asarray(reports["cell"] < self.g)

    def aggregate(self, reports: Reports) -> IntArray:
        self.require_valid(reports)
        counts = np.zeros(self.d, dtype=np.int64)
        # the narrowest counters that hold a cell number and one more that no cell has
        narrow = np.min_scalar_type(self.g)
        _count_supports(
            np.ascontiguousarray(reports["seed"]),
            reports["cell"].astype(narrow),
            self.low_bits,
            np.uint64(self.g),
            counts,
        )
        return counts

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> IntArray:
        # supports of different values are independent under ideal hashing
        return rng.binomial(histogram, self.p) + rng.binomial(histogram.sum() - histogram, self.q)


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
    >>> oracle.estimate(oracle.aggregate(reports), n=100_000).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Bassily, Smith. *Local, private, efficient protocols for succinct histograms.* STOC 2015; in
    this form Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency
    estimation.* USENIX Security 2017, §4.3.
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

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = OLH(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports), n=100_000).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("optimised local hashing", "optimized local hashing")

    g: int = 0

    def __post_init__(self) -> None:
        require_epsilon_and_domain(self, self.epsilon, self.d)
        if self.g == 0:
            object.__setattr__(self, "g", min(round(exp(self.epsilon)) + 1, 2**31))
        super().__post_init__()


@njit
def _mix(z: np.uint64) -> np.uint64:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def _scale(word: np.uint64, g: np.uint64) -> np.uint64:
    # the upper 32 bits of a word to [0, g); the other half serves the next entry
    g &= np.uint64(0xFFFFFFFF)  # says that 32 × 32 bits suffice, three times as fast as 64 × 64
    return ((word >> np.uint64(32)) * g) >> np.uint64(32)


@njit
def _scale_whole(word: np.uint64, g: np.uint64) -> np.uint64:
    # all 64 bits of a word to [0, g): the high word of a 64 × 32 bit product
    low = ((word & np.uint64(0xFFFFFFFF)) * g) >> np.uint64(32)
    return ((word >> np.uint64(32)) * g + low) >> np.uint64(32)


@njit
def _entry(seed: np.uint64, index: np.uint64, g: np.uint64) -> np.uint64:
    # Up to 2¹⁶ cells a word gives two table entries; more would not be uniform from 32 bits.
    one = np.uint64(1)
    if g <= np.uint64(65536):
        word = _mix(seed + ((index >> one) + one) * _GOLDEN)
        return _scale(word << ((index & one) * np.uint64(32)), g)
    return _scale_whole(_mix(seed + (index + one) * _GOLDEN), g)


@njit
def _hash_each(
    seeds: WordArray, codes: NDArray[np.uint32], low_bits: int, g: np.uint64
) -> NDArray[np.uint32]:
    cells = np.empty(codes.size, dtype=np.uint32)
    size = np.uint64(1) << np.uint64(low_bits)
    for i in range(codes.size):
        v = np.uint64(codes[i])
        cell = _entry(seeds[i], v & (size - np.uint64(1)), g)
        cell += _entry(seeds[i], size + (v >> np.uint64(low_bits)), g)
        cells[i] = min(cell, cell - g)  # modulo g: below zero wraps to something huge
    return cells


@njit
def _count_supports(
    seeds: WordArray, cells: NDArray[Any], low_bits: int, g: np.uint64, counts: IntArray
) -> None:
    # H(v) = cell means A[low] = cell - B[high]: with users across the lanes, a value costs one
    # comparison of bytes for 64 users at a time, and the tables are made once per user.
    narrow = cells.dtype.type
    size, d = 1 << low_bits, counts.size
    highs = (d + size - 1) >> low_bits
    table = np.empty((size + highs + (size + highs) % 2, USERS), cells.dtype)
    target = np.empty(USERS, cells.dtype)
    inside = np.zeros((highs * size, LANES), cells.dtype)
    seed, word = np.zeros(USERS, np.uint64), np.empty(USERS, np.uint64)
    own = np.zeros(USERS, cells.dtype)
    passes, full, none = 0, np.iinfo(cells.dtype).max // 4, narrow(g)
    for start in range(0, seeds.size, USERS):
        m = min(USERS, seeds.size - start)
        for u in range(m):
            seed[u], own[u] = seeds[start + u], cells[start + u]
        _fill_tables(seed, g, word, table)
        for high in range(highs):
            for u in range(USERS):
                b = table[size + high, u]
                difference = narrow(own[u] - b)
                target[u] = difference if own[u] >= b else narrow(difference + none)
            if m < USERS:
                target[m:] = none  # a lane without a user matches no cell
            count_equal(table, target, size, inside, high * size)
        passes += 1
        if passes == full or start + USERS >= seeds.size:  # before a narrow counter overflows
            for v in range(d):
                supports = np.uint32(0)
                for u in range(LANES):
                    supports = np.uint32(supports + np.uint32(inside[v, u]))
                counts[v] += np.int64(supports)
            inside[:] = 0
            passes = 0


@compiled_in("ldp3.lanes")
def count_equal(
    table: NDArray[Any], target: NDArray[Any], size: int, counters: NDArray[Any], first: int
) -> None:
    """Add to row `first + i` of the counters where row i of the table, i < size, is the target."""


@njit
def _fill_tables(seed: WordArray, g: np.uint64, word: WordArray, table: NDArray[Any]) -> None:
    # `_entry` for all indices and users, two entries at a time where one word gives both; words
    # are made in a loop of their own, or LLVM would run too many side by side for its registers
    narrow = table.dtype.type
    for index in range(0, table.shape[0], 2):
        if g <= np.uint64(65536):
            offset = np.uint64(index // 2 + 1) * _GOLDEN
            for u in range(USERS):
                word[u] = _mix(seed[u] + offset)
            for u in range(USERS):
                table[index, u] = narrow(_scale(word[u], g))
            for u in range(USERS):
                table[index + 1, u] = narrow(_scale(word[u] << np.uint64(32), g))
        else:
            first, second = np.uint64(index + 1) * _GOLDEN, np.uint64(index + 2) * _GOLDEN
            for u in range(USERS):
                table[index, u] = narrow(_scale_whole(_mix(seed[u] + first), g))
                table[index + 1, u] = narrow(_scale_whole(_mix(seed[u] + second), g))
