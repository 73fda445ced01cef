"""Hadamard response: a pure oracle whose reports are log₂ K bits."""

from dataclasses import dataclass
from math import exp

import numpy as np

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.base import PureOracle


@dataclass(frozen=True)
class HadamardResponse(PureOracle):
    r"""Hadamard response (HR): name a column in which the row of the own value is +1.

    Value $v$ stands for row $v + 1$ of the Hadamard matrix of order $K$, the power of two above
    $d$, with entries $(-1)^{\mathrm{popcount}(\text{row} \,\&\, \text{column})}$. Half of the
    columns are +1 in a row, and a quarter in any two rows, so that

    $$p = \frac{e^ε}{e^ε + 1}, \qquad q = \frac12.$$

    A report is a column and supports every value whose row is +1 there. Good at small ε, with
    reports of $\log_2 K$ bits whatever ε is.

    References
    ----------
    Acharya, Sun, Zhang. *Hadamard response: estimating distributions privately, efficiently, and
    with little communication.* AISTATS 2019, §3.
    """

    @property
    def columns(self) -> int:
        """The order K of the matrix."""
        return 1 << self.d.bit_length()

    @property
    def p(self) -> float:
        return exp(self.epsilon) / (exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 0.5

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        rows = require_values(self, values, self.d).astype(np.int64) + 1
        columns = rng.integers(self.columns, size=len(rows))
        minus = np.bitwise_count(rows & columns) % 2 == 1
        wrong = minus != (rng.random(len(rows)) >= self.p)
        # flipping the lowest bit of the row in the column turns its sign round, and pairs columns
        return np.where(wrong, columns ^ (rows & -rows), columns)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return np.bitwise_count(reports & (value + 1)) % 2 == 0

    def valid(self, reports: Reports) -> BoolArray:
        return (reports >= 0) & (reports < self.columns)
