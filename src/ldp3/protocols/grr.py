"""Generalised randomised response."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.errors import require_generator, require_histogram, require_values
from ldp3.kernels import transforms
from ldp3.kernels.compile import njit
from ldp3.kernels.source import words
from ldp3.noise import LinearChannel
from ldp3.protocols.layout import Code
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS, Words, ceil_threshold, exp
from ldp3.types import Tally


@final
@dataclass(frozen=True)
class GRR(PureOracle):
    r"""Generalised randomised response, also called k-RR or direct encoding.

    Report the true value with probability $p$, otherwise one of the others at random:

    $$p = \frac{e^ε}{e^ε + d - 1}, \qquad q = \frac{1}{e^ε + d - 1}.$$

    A report is an integer in `[0, d)` and supports itself. Best when $d < 3e^ε + 2$.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = GRR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 5_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Kairouz, Bonawitz, Ramage. *Discrete distribution estimation under local privacy.* ICML 2016.
    """

    aliases: ClassVar[tuple[str, ...]] = ("k-RR", "direct encoding", "randomised response")

    @cached_property
    def lie(self) -> int:
        """Words, of 2⁶⁴, that give one particular lie."""
        return lie_words(self.epsilon, self.d)

    @cached_property
    def truth(self) -> int:
        """Words, of 2⁶⁴, that give the truth: what the lies leave."""
        return WORDS - (self.d - 1) * self.lie

    @cached_property
    def p(self) -> float:
        return self.truth / WORDS

    @cached_property
    def q(self) -> float:
        return self.lie / WORDS

    @property
    def support_ratio(self) -> Fraction:
        return Fraction(self.truth, self.lie)

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 1, 1

    @property
    def exchangeable(self) -> bool:
        return True

    @property
    def layout(self) -> Code:
        return Code(self.d)

    @property
    def constants(self) -> dict[str, int]:
        return {"truth": self.truth, "lie": self.lie}

    @property
    def channel(self) -> "RandomisedResponse":
        return RandomisedResponse(self.p, self.q)

    def draw(self, value: int, words: Words) -> int:
        return tell(value, next(words), self.truth, self.lie)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = np.empty(len(codes), dtype=self.layout.dtype)
        respond(codes, words(rng, len(codes)), np.uint64(self.truth), np.uint64(self.lie), reports)
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return reports == value

    def report_of(self, members: BoolArray) -> Reports:
        return members.argmax(axis=1).astype(self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        return Tally(transforms.histogram(reports, self.d), len(reports))

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        require_generator(self, rng)
        histogram = require_histogram(self, histogram, self.d)
        # "the truth, or a value drawn blindly from all d": the blind ones form one multinomial
        truthful = rng.binomial(histogram, self.p - self.q)
        blind = rng.multinomial((histogram - truthful).sum(), np.full(self.d, 1 / self.d))
        return Tally(truthful + blind, int(histogram.sum()))


@dataclass(frozen=True)
class RandomisedResponse(LinearChannel):
    """The channel of GRR: p on the diagonal, q elsewhere."""

    p: float
    q: float

    def forward(self, frequencies: FloatArray) -> FloatArray:
        """The distribution of reports."""
        return self.q * frequencies.sum(axis=-1, keepdims=True) + (self.p - self.q) * frequencies

    def backward(self, weights: FloatArray) -> FloatArray:
        """For each value, the mean of the reports' weights: the matrix is symmetric."""
        return self.forward(weights)

    def scores(self, weights: FloatArray) -> FloatArray:
        """What each report adds to a weighted sum of frequencies."""
        return (weights - self.q * weights.sum(axis=-1, keepdims=True)) / (self.p - self.q)


def lie_words(epsilon: float, choices: int) -> int:
    """Words, of 2⁶⁴, for each lie of a randomised response; rounded up, towards privacy."""
    return ceil_threshold(1 / (exp(epsilon) + choices - 1))


def tell(value: int, word: int, truth: int, lie: int) -> int:
    """The truth below `truth`; the other words fall into equal drawers, one for each lie."""
    if word < truth:
        return value
    drawer = (word - truth) // lie
    return drawer + (drawer >= value)  # step over the true value


@njit
def respond(
    codes: NDArray[Any],
    draws: WordArray,
    truth: np.uint64,
    lie: np.uint64,
    reports: NDArray[Any],
) -> None:
    """`tell` for many users at a time."""
    inverse = 1.0 / float(lie)
    for i in range(codes.size):
        own = np.uint64(codes[i])
        offset = draws[i] - truth
        # offset // lie by a multiplication, which is off by one at most: the remainder tells
        drawer = np.uint64(np.int64(float(offset) * inverse))
        rest = np.int64(offset - drawer * lie)
        drawer += np.uint64(rest >= 0 and np.uint64(rest) >= lie) - np.uint64(rest < 0)
        drawer += np.uint64(drawer >= own)  # step over the true value
        reports[i] = own if draws[i] < truth else drawer
