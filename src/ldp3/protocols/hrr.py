"""Hadamard randomised response."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require, require_values
from ldp3.kernels import transforms
from ldp3.kernels.bits import parity
from ldp3.kernels.compile import njit
from ldp3.kernels.source import STEP, Key, fill, key_of, next_word, open_source
from ldp3.protocols.base import histogram_chunk
from ldp3.protocols.layout import Code
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS, Words, exp, floor_threshold
from ldp3.types import Tally

MOST_VALUES = 2**28


@final
@dataclass(frozen=True)
class HRR(PureOracle):
    r"""Hadamard randomised response, also called Harmony: one entry of a row, perhaps turned round.

    Value $v$ stands for row $v$ of the Hadamard matrix of order $D$, the least power of two that is
    at least $d$, with entries $(-1)^{\langle j, v \rangle}$. Draw a column $j ≠ 0$ (column 0 is the
    same for all) and report it with the entry, which is the right one with probability $p$:

    $$p = \frac{e^ε}{e^ε + 1}, \qquad q = \frac{p(D/2 - 1) + (1 - p)D/2}{D - 1}.$$

    A report is a column and a bit, $\lceil \log_2 2(D-1) \rceil$ bits, and supports the values that
    have this entry there. As accurate as local hashing with two cells, for small $ε$; the server
    counts reports and makes one transform of $D \log_2 D$ additions.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = HRR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Nguyên, Xiao, Yang, Hui, Shin, Shin. *Collecting and analyzing data from smart device users with
    local differential privacy.* arXiv:1606.05053, 2016; Cormode, Kulkarni, Srivastava. *Answering
    range queries under local differential privacy.* PVLDB 2019.
    """

    aliases: ClassVar[tuple[str, ...]] = ("Hadamard randomised response", "Harmony")

    def __post_init__(self) -> None:
        self.settle()
        require(self.d <= MOST_VALUES, self, "d must be at most 2^28", self.d)
        super().__post_init__()

    @property
    def columns(self) -> int:
        """The order D of the matrix."""
        return 1 << (self.d - 1).bit_length()

    @cached_property
    def right(self) -> int:
        """The entry is the right one for this many words of 2⁶⁴."""
        return floor_threshold(exp(self.epsilon) / (exp(self.epsilon) + 1))

    @cached_property
    def p(self) -> float:
        return self.right / WORDS

    @cached_property
    def q(self) -> float:
        p, half = Fraction(self.right, WORDS), self.columns // 2
        return float((p * (half - 1) + (1 - p) * half) / (self.columns - 1))

    @property
    def support_ratio(self) -> Fraction:
        return Fraction(self.right, WORDS - self.right)

    @property
    def support_sizes(self) -> tuple[int, int]:
        # of the values 0..d-1 all but the last d mod 2^(b+1) are split evenly by a column whose
        # lowest bit is b, and of those at most 2^b are on one side
        ends = [(self.d % (2 << b), 2 << b) for b in range((self.d - 1).bit_length())]
        uneven = max(min(rest, block - rest) for rest, block in ends)
        return (self.d - uneven) // 2, (self.d + uneven) // 2

    @property
    def both(self) -> tuple[float, float]:
        # of the D - 1 columns D/2 - 1 have one entry for two rows, and D/4 - 1 one for three
        p, rows = self.p, self.columns
        return p * (rows / 2 - 1) / (rows - 1), (rows / 4 - p) / (rows - 1)

    @property
    def layout(self) -> Code:
        # the number of the column, from 0 on, twice, and the bit
        return Code(2 * (self.columns - 1))

    @property
    def chunk_size(self) -> int:
        return histogram_chunk(2 * self.columns)

    @property
    def constants(self) -> dict[str, int]:
        return {"right": self.right, "columns": self.columns}

    def draw(self, value: int, words: Words) -> int:
        # a word for the entry, then words until one names a column other than 0
        wrong = next(words) >= self.right
        while not (column := next(words) % self.columns):
            pass
        return 2 * (column - 1) + ((column & value).bit_count() + wrong) % 2

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = np.empty(len(codes), dtype=self.layout.dtype)
        _respond(codes, np.uint64(self.columns - 1), np.uint64(self.right), key_of(rng), reports)
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        numbers = reports.astype(np.int64)
        return np.bitwise_count((numbers // 2 + 1) & value) % 2 == numbers % 2

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(transforms.histogram(reports, self.layout.values), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        self.require_histogram(tally, self.layout.values)
        signs = np.zeros(self.columns, dtype=np.int64)
        signs[1:] = tally.total[0::2] - tally.total[1::2]
        return (tally.n + transforms.walsh_hadamard(signs, self.columns)[: self.d]) // 2

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        users = np.zeros(self.columns, dtype=np.int64)
        users[: self.d] = histogram
        entries = transforms.products(users, key_of(rng))[1:]
        wrong = rng.binomial(entries, 1 - self.p)
        return Tally((entries - wrong + wrong[:, ::-1]).reshape(-1), int(histogram.sum()))


@njit
def _respond(
    codes: NDArray[np.uint32],
    mask: np.uint64,
    right: np.uint64,
    key: Key,
    reports: NDArray[Any],
) -> None:
    source = open_source(key)
    blocks = np.empty((16, STEP // 4), np.uint32)  # two words for each user
    words = blocks.reshape(-1).view(np.uint64)
    one = np.uint64(1)
    for start in range(0, codes.size, STEP):
        fill(source, blocks)
        for i in range(min(STEP, codes.size - start)):
            column = words[STEP + i] & mask
            while column == np.uint64(0):
                column = next_word(source) & mask
            bit = parity(column & np.uint64(codes[start + i])) ^ np.uint64(words[i] >= right)
            reports[start + i] = ((column - one) << one) | bit
