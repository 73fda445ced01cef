"""Paley response: a pure oracle whose reports are log₂ K bits, ready to be deployed."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count

import numpy as np

from ldp3 import PureOracle, Tally
from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.errors import require_values
from ldp3.protocols.layout import Code
from ldp3.randomness import WORDS, Words, exp, floor_threshold


@dataclass(frozen=True)
class PaleyResponse(PureOracle):
    r"""Paley response: name a number that makes a square of the own value.

    Let $K ≥ d$ be the least prime that leaves 3 when it is divided by 4. Modulo $K$ there are
    $k = (K-1)/2$ squares other than 0, and the same number $(K-3)/4$ of them is shared by any two
    shifts of that set, so that it does for subset selection what random subsets do. Report a number
    $u$ for which $u + v$ is one of these squares with probability $p$, else another one:

    $$p = \frac{k e^ε}{k e^ε + K - k}, \qquad q = \frac{k - p}{K - 1}.$$

    A report is a number below $K$ and supports every value that it makes a square of. Good at small
    ε, with reports of $\log_2 K$ bits whatever ε is.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = PaleyResponse(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Paley. *On orthogonal matrices.* Journal of Mathematics and Physics, 1933; Park, Nam, Lee.
    *Exactly optimal and communication-efficient private estimation via block designs.* IEEE Journal
    on Selected Areas in Information Theory 2024.
    """

    @cached_property
    def modulus(self) -> int:
        """K."""
        return next(n for n in count(3, 4) if n >= self.d and _prime(n))

    @cached_property
    def is_square(self) -> BoolArray:
        """Whether each number below K is a square other than 0."""
        found = np.zeros(self.modulus, dtype=bool)
        found[np.arange(1, self.modulus) ** 2 % self.modulus] = True
        return found

    @cached_property
    def own(self) -> int:
        """The report makes a square of the own value for this many words of 2⁶⁴."""
        k = self.modulus // 2
        odds = k * exp(self.epsilon)
        return floor_threshold(odds / (odds + self.modulus - k))

    @property
    def p(self) -> float:
        return self.own / WORDS

    @property
    def q(self) -> float:
        k = self.modulus // 2
        return float((k - Fraction(self.own, WORDS)) / (self.modulus - 1))

    @property
    def support_ratio(self) -> Fraction:
        k = self.modulus // 2
        return Fraction(self.own * (self.modulus - k), (WORDS - self.own) * k)

    @property
    def layout(self) -> Code:
        return Code(self.modulus)

    @property
    def constants(self) -> dict[str, int]:
        return {"own": self.own, "modulus": self.modulus}

    def draw(self, value: int, words: Words) -> int:
        # a word for the choice, then words until one is a number of the chosen kind
        square = next(words) < self.own
        while self.is_square[number := words.below(self.modulus)] != square:
            pass
        return (number - value) % self.modulus

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        square = rng.integers(WORDS, size=len(codes), dtype=np.uint64) < np.uint64(self.own)
        squares, others = np.flatnonzero(self.is_square), np.flatnonzero(~self.is_square)
        numbers = np.where(square, rng.choice(squares, len(codes)), rng.choice(others, len(codes)))
        return ((numbers - codes) % self.modulus).astype(self.layout.dtype)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return self.is_square[(reports.astype(np.int64) + value) % self.modulus]

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.modulus), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        self.require_histogram(tally, self.modulus)
        squares = np.flatnonzero(self.is_square)
        return np.array([tally.total[squares - v].sum() for v in range(self.d)])


def _prime(number: int) -> bool:
    return all(number % divisor for divisor in range(2, int(number**0.5) + 1))
