"""Hadamard response: a pure oracle whose reports are log₂ K bits, ready to be deployed."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ldp3 import PureOracle, Tally
from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require, require_values
from ldp3.protocols.layout import Code
from ldp3.randomness.thresholds import WORDS, exp, floor_threshold
from ldp3.randomness.words import Words


@dataclass(frozen=True)
class HadamardResponse(PureOracle):
    r"""Hadamard response (HR): name a column in which the row of the own value is +1.

    Value $v$ stands for row $v + 1$ of the Hadamard matrix of order $K$, the power of two above
    $d$, with entries $(-1)^{\mathrm{popcount}(\text{row} \,\&\, \text{column})}$. Half of the
    columns are +1 in a row, and a quarter in any two rows, so that

    $$p = \frac{e^ε}{e^ε + 1}, \qquad q = \frac12.$$

    A report is a column and supports every value whose row is +1 there. Good at small ε, with
    reports of $\log_2 K$ bits whatever ε is; the server adds up a histogram of columns, and one
    transform in $O(K \log K)$ gives the support counts of all values.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = HadamardResponse(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Acharya, Sun, Zhang. *Hadamard response: estimating distributions privately, efficiently, and
    with little communication.* AISTATS 2019, §3.
    """

    @property
    def columns(self) -> int:
        """The order K of the matrix."""
        return 1 << self.d.bit_length()

    @cached_property
    def plus(self) -> int:
        """The sign of the named entry is +1 for this many words of 2⁶⁴."""
        return floor_threshold(exp(self.epsilon) / (exp(self.epsilon) + 1))

    @property
    def p(self) -> float:
        return self.plus / WORDS

    @property
    def q(self) -> float:
        return 0.5

    @property
    def privacy_ratio(self) -> Fraction:
        return Fraction(self.plus, WORDS - self.plus)

    @property
    def layout(self) -> Code:
        return Code(self.columns)

    @property
    def constants(self) -> dict[str, int]:
        return {"plus": self.plus, "columns": self.columns}

    def draw(self, value: int, words: Words) -> int:
        row, minus = value + 1, next(words) >= self.plus
        column = next(words) % self.columns
        # flipping the lowest bit of the row in the column turns its sign round, and pairs columns
        return column if (row & column).bit_count() % 2 == minus else column ^ (row & -row)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        rows = require_values(self, values, self.d).astype(np.int64) + 1
        signs, places = rng.integers(WORDS, size=(2, len(rows)), dtype=np.uint64)
        columns = (places % np.uint64(self.columns)).astype(np.int64)
        wrong = np.bitwise_count(rows & columns) % 2 != (signs >= np.uint64(self.plus))
        return np.where(wrong, columns ^ (rows & -rows), columns).astype(self.layout.dtype)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.bitwise_count(reports & (value + 1)) % 2 == 0

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.columns), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        held = int(tally.total.sum())
        require(held == tally.n, self, f"n must be the {held} reports that were added up", tally.n)
        return (tally.n + walsh_hadamard(tally.total)[1 : self.d + 1]) // 2


def walsh_hadamard(column_counts: IntArray) -> IntArray:
    """The product with the Hadamard matrix, by halves: for every row, plus less minus."""
    total, half = column_counts, 1
    while half < len(column_counts):
        pairs = total.reshape(-1, 2, half)
        total = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return total
