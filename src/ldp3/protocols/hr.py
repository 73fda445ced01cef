"""Hadamard response."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import InvalidData, InvalidParameter, require, require_values, whole
from ldp3.kernels import transforms
from ldp3.kernels.bits import parity
from ldp3.kernels.compile import njit
from ldp3.kernels.source import STEP, Key, fill, key_of, open_source
from ldp3.noise import BoundedNoise, PureNoise, Support
from ldp3.protocols.base import FrequencyOracle, histogram_chunk
from ldp3.protocols.layout import Code
from ldp3.randomness import WORDS, Words, ceil_threshold, exp
from ldp3.tails import most
from ldp3.types import Estimate, Tally

MOST_REPORTS = 2**28


@final
@dataclass(frozen=True)
class HR(FrequencyOracle):
    r"""Hadamard response with $B$ blocks.

    The values are dealt to $B$ blocks; value $v$ is row $i ≥ 1$ of the Hadamard matrix of order
    $b > d/B$ in its block. With probability $β$ report any of the $Bb$ columns of all blocks, else
    one of the $b/2$ columns of the own block where the own row is +1:

    $$β = \frac{2B}{e^ε + 2B - 1}, \qquad \hat f_v = \frac{c}{n} (\text{reports where row } v
      \text{ is } +1 - \text{where it is } {-1}), \qquad c = \frac{e^ε + 2B - 1}{e^ε - 1}.$$

    A report is a column, $\log_2 Bb$ bits; the server counts columns and makes one transform for
    each block. It is not pure: reports of the own block say more than those of others, so the
    noise of a value grows with the share $F$ of users in its block,

    $$n \mathrm{Var}[\hat f_v] = A + F (A' - A) - f_v, \qquad
      A = \frac{2(e^ε + 2B - 1)}{(e^ε - 1)^2}, \qquad
      A' = \frac{(e^ε + 2B - 1)(e^ε + 1)}{(e^ε - 1)^2}.$$

    Parameters
    ----------
    B
        Number of blocks, a power of two up to d; 0 for the least noise if all blocks hold equally
        many users, which is near $(e^ε - 1)/2$.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = HR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Acharya, Sun, Zhang. *Hadamard response: estimating distributions privately, efficiently, and
    with little communication.* AISTATS 2019.
    """

    aliases: ClassVar[tuple[str, ...]] = ("Hadamard response",)
    examples: ClassVar[tuple[str, ...]] = ("hr(B=2)", "hr(B=4)")

    B: int = 0

    def __post_init__(self) -> None:
        self.settle()
        if self.B == 0:
            object.__setattr__(self, "B", _best_blocks(self.epsilon, self.d))
        sound = whole(self.B, 1, self.d) and self.B.bit_count() == 1
        require(sound, self, f"B must be a power of two up to d={self.d}", self.B)
        most = self.layout.values <= MOST_REPORTS
        require(most, self, "d must need at most 2^28 different reports", self.d)
        if self.privacy_ratio - 1 < Fraction(1, 2**52):
            raise InvalidParameter(
                f"HR: epsilon must be > 0 by more than rounding can tell for d={self.d}, got "
                f"{self.epsilon!r}."
            )

    @property
    def order(self) -> int:
        """The order b of a block's matrix: its rows but the first are the block's values."""
        return 1 << (-(-self.d // self.B)).bit_length()

    @cached_property
    def blind(self) -> int:
        """The report is any column for this many words of 2⁶⁴."""
        return ceil_threshold(2 * self.B / (exp(self.epsilon) + 2 * self.B - 1))

    @property
    def privacy_ratio(self) -> Fraction:
        return 1 + Fraction((WORDS - self.blind) * 2 * self.B, self.blind)

    @property
    def layout(self) -> Code:
        return Code(self.B * self.order)

    @property
    def chunk_size(self) -> int:
        return histogram_chunk(self.layout.values)

    @property
    def constants(self) -> dict[str, int]:
        return {"blind": self.blind, "B": self.B, "b": self.order}

    def draw(self, value: int, words: Words) -> int:
        # a word for the choice, and one for the column
        blind, column = next(words) < self.blind, next(words) % self.layout.values
        if blind:
            return column
        block, row = value % self.B, value // self.B + 1
        column %= self.order
        # flipping the lowest bit of the row in the column turns its sign round, and pairs columns
        column ^= (row & -row) * ((row & column).bit_count() % 2)
        return block * self.order + column

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = np.empty(len(codes), dtype=self.layout.dtype)
        _respond(codes, self.B, self.order, np.uint64(self.blind), key_of(rng), reports)
        return reports

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(transforms.histogram(reports, self.layout.values), len(reports))

    def estimate(self, tally: Tally) -> Estimate:
        self.require_histogram(tally, self.layout.values)
        n = tally.n
        if n < 1:
            raise InvalidData("HR: an estimate needs at least one report.")
        rows = transforms.walsh_hadamard(tally.total, self.order).reshape(self.B, self.order)
        scores = rows[:, 1:].T.reshape(-1)[: self.d]  # value v is row v // B + 1 of block v % B
        kept = 1 - self.blind / WORDS
        return Estimate(
            scores / (n * kept), tally, BlockNoise.of(kept, rows[:, 0].astype(np.float64), n)
        )

    def noise(self, frequencies: FloatArray, n: int) -> "BlockNoise":
        kept = 1 - self.blind / WORDS
        return BlockNoise.of(kept, expected_inside(frequencies, self.B, kept, n), n)

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        size, n = self.layout.values, int(histogram.sum())
        keep = rng.binomial(histogram, 1 - self.blind / WORDS)
        users = np.zeros((self.order, self.B), dtype=np.int64)
        users[1:].reshape(-1)[: self.d] = keep
        bits = np.array([[0, 1], [1, 0]]), np.array([[0, 0], [0, 1]])
        kept = [transforms.orthogonal(block, *bits, True, key_of(rng)) for block in users.T.copy()]
        blind = rng.multinomial(n - int(keep.sum()), np.full(size, 1 / size))
        return Tally(blind + np.concatenate(kept), n)


@dataclass(frozen=True, eq=False)
class BlockNoise(BoundedNoise):
    """Noise that grows with the share of users in the block of a value.

    Parameters
    ----------
    growth
        By how much, if all users are in the block.
    inside
        How many reports are of each block.
    kept, n
        A report is of the own block on purpose with probability `kept`, else of any; and how many
        there are.
    only
        How reports support values, where there is one block only: then intervals are exact.
    """

    growth: float = 0.0
    inside: FloatArray = field(default_factory=lambda: np.zeros(1))
    kept: float = 1.0
    n: int = 1
    only: Support | None = None

    @classmethod
    def of(cls, kept: float, inside: FloatArray, n: int) -> "BlockNoise":
        """The noise of `n` reports, from the variance of one score, ±1/kept or 0."""
        outside = (1 - kept) / len(inside) / kept**2  # A: how often a score is not 0, if blind
        step = 1 / kept / n  # and A' - A, for if it is not blind it is never 0
        only = Support((1 + kept) / 2, 0.5) if len(inside) == 1 else None
        return cls(outside / n, -1 / n, step + 1 / n, step, step, inside, kept, n, only)

    def interval(self, frequencies: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        if self.only is not None:
            return PureNoise.of(self.only, self.n).interval(frequencies, level)
        return super().interval(frequencies, level)

    @property
    def blind(self) -> float:
        """Probability that a report is of one particular block by chance."""
        return (1 - self.kept) / len(self.inside)

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates, if these are the frequencies.

        The shares of blocks are theirs, if they are a distribution. The sum of unbiased estimates
        over a block rests on few reports: then the blocks' own counts stand for it.
        """
        masses = np.clip((self.inside / self.n - self.blind) / self.kept, 0, 1)
        if frequencies.min() >= 0 and abs(frequencies.sum() - 1) < 1e-9:
            masses = block_masses(frequencies, len(masses))
        grown = self.growth * masses[np.arange(len(frequencies)) % len(masses)]
        return np.maximum(self.base + grown + self.slope * frequencies, 0)

    def worst(self, alpha: float, d: int) -> tuple[FloatArray, FloatArray]:
        counts = np.ceil(self.inside).astype(np.int64)
        masses = most(counts, self.n, self.kept + self.blind, self.blind, alpha) / self.n
        return self.base + self.growth * masses[np.arange(d) % len(masses)], np.asarray(self.slope)


def block_masses(frequencies: FloatArray, blocks: int) -> FloatArray:
    """The share of users in each block, to which values are dealt in turn."""
    dealt = np.arange(len(frequencies)) % blocks
    return np.bincount(dealt, frequencies, minlength=blocks).astype(np.float64)


def expected_inside(frequencies: FloatArray, blocks: int, kept: float, n: int) -> FloatArray:
    """How many of `n` reports are of each block, in the mean."""
    return n * (kept * block_masses(frequencies, blocks) + (1 - kept) / blocks)


def _best_blocks(epsilon: float, d: int) -> int:
    powers = (1 << i for i in range(d.bit_length()))
    return min(powers, key=lambda blocks: _even_noise(epsilon, blocks))


def _even_noise(epsilon: float, blocks: int) -> Fraction:
    # n·Var of a value that nobody holds, if every block has its share, up to a factor
    x = exp(epsilon)
    return (2 * blocks - 1 + x) * (2 + (x - 1) / blocks)


@njit
def _respond(
    codes: NDArray[np.uint32],
    blocks: int,
    order: int,
    blind: np.uint64,
    key: Key,
    reports: NDArray[Any],
) -> None:
    source = open_source(key)
    fresh = np.empty((16, STEP // 4), np.uint32)  # two words for each user
    words = fresh.reshape(-1).view(np.uint64)
    mask, one = np.uint64(blocks * order - 1), np.uint64(1)
    inside = np.uint64(order - 1)
    for start in range(0, codes.size, STEP):
        fill(source, fresh)
        for i in range(min(STEP, codes.size - start)):
            code = np.int64(codes[start + i])
            row = np.uint64(code // blocks + 1)
            column = words[STEP + i] & inside
            column ^= (row & (~row + one)) * parity(row & column)
            own = np.uint64((code % blocks) * order) + column
            reports[start + i] = words[STEP + i] & mask if words[i] < blind else own
