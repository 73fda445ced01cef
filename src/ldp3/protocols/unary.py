"""Unary encodings: RAPPOR, OUE, and any other."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray, Reports, WordArray
from ldp3.errors import require, require_histogram, require_values
from ldp3.kernels import bits
from ldp3.kernels.compile import njit
from ldp3.kernels.source import Key, fill, key_of, next_word, open_source
from ldp3.protocols.layout import Bits
from ldp3.protocols.pure import PureOracle, independent_supports
from ldp3.randomness import WORDS, Words, ceil_threshold, exp, floor_threshold
from ldp3.types import Tally


@dataclass(frozen=True)
class UnaryEncoding(PureOracle):
    """One bit per value of the domain, each randomised on its own.

    The bit of the user's value is 1 with probability `p`, every other bit with probability `q`.
    A report is a row of packed 64-bit words; it supports the values whose bits are 1.
    """

    @property
    @abstractmethod
    def own(self) -> int:
        """The bit of the user's value is 1 for this many words of 2⁶⁴."""

    @property
    @abstractmethod
    def other(self) -> int:
        """Any other bit is 1 for this many words of 2⁶⁴."""

    @cached_property
    def p(self) -> float:
        return self.own / WORDS

    @cached_property
    def q(self) -> float:
        return self.other / WORDS

    @property
    def support_ratio(self) -> Fraction:
        # two values differ in two bits, and the worst report has one right and the other wrong
        return Fraction(self.own * (WORDS - self.other), self.other * (WORDS - self.own))

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d

    @property
    def independence(self) -> int:
        return self.d

    @property
    def exchangeable(self) -> bool:
        return True

    @property
    def layout(self) -> Bits:
        return Bits(self.d)

    @property
    def constants(self) -> dict[str, int]:
        return {"own": self.own, "other": self.other}

    def draw(self, value: int, words: Words) -> int:
        # one word for every bit, from bit 0 on
        draws = words.take(self.d)
        report = draws < np.uint64(self.other)
        report[value] = draws[value] < np.uint64(self.own)
        return bits.number(report)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        rows = np.empty((len(codes), bits.width(self.d)), dtype=np.uint64)
        own, other = np.uint64(self.own), np.uint64(self.other)
        _randomise(codes, own, other, bits.last_word(self.d), key_of(rng), rows)
        return rows

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return bits.contains(reports, value)

    def sizes(self, reports: Reports) -> IntArray:
        return bits.sizes(reports)

    def report_of(self, members: BoolArray) -> Reports:
        return bits.packed(members)

    def aggregate(self, reports: Reports) -> Tally:
        self.require_valid(reports)
        return Tally(bits.count(reports, self.d), len(reports))

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        return independent_supports(self.support, require_histogram(self, histogram, self.d), rng)


@final
@dataclass(frozen=True)
class RAPPOR(UnaryEncoding):
    r"""Basic one-time RAPPOR, also called symmetric unary encoding (SUE).

    $$p = \frac{e^{ε/2}}{e^{ε/2} + 1}, \qquad q = 1 - p.$$

    A report is $d$ bits.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = RAPPOR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Erlingsson, Pihur, Korolova. *RAPPOR: randomized aggregatable privacy-preserving ordinal
    response.* CCS 2014; in this form Wang, Blocki, Li, Jha, USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("SUE", "symmetric unary encoding", "basic RAPPOR")

    @cached_property
    def own(self) -> int:
        root = exp(self.epsilon / 2)
        return floor_threshold(root / (root + 1))

    @cached_property
    def other(self) -> int:
        return WORDS - self.own


@final
@dataclass(frozen=True)
class OUE(UnaryEncoding):
    r"""Optimised unary encoding: the probabilities that minimise the variance of rare values.

    $$p = \frac12, \qquad q = \frac{1}{e^ε + 1}.$$

    A report is $d$ bits. Among the best for large domains, if $d$ bits can be sent.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = OUE(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = (
        "optimised unary encoding",
        "optimized unary encoding",
    )

    @property
    def own(self) -> int:
        return WORDS // 2

    @cached_property
    def other(self) -> int:
        return ceil_threshold(1 / (exp(self.epsilon) + 1))


@final
@dataclass(frozen=True)
class UE(UnaryEncoding):
    r"""Unary encoding with any probabilities: RAPPOR and OUE are two of them.

    $$q = \frac{p}{e^ε (1 - p) + p}.$$

    A report is $d$ bits. A larger $p$ than OUE's ½ suits frequent values; the worst case over all
    frequencies is least for RAPPOR's $p = e^{ε/2}/(e^{ε/2}+1)$.

    Parameters
    ----------
    p
        Probability that the bit of the user's value is 1; ½ makes it OUE.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = UE(epsilon=2.0, d=4, p=0.75)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("unary encoding",)
    examples: ClassVar[tuple[str, ...]] = ("ue(p=0.75)",)
    instead: ClassVar[str] = "oue, which it is unless p is set"

    p: float = 0.5

    def __post_init__(self) -> None:
        self.settle()
        number = isinstance(self.p, float | int) and not isinstance(self.p, bool)
        require(number and 0 < self.p < 1, self, "p must be between 0 and 1", self.p)
        object.__setattr__(self, "p", self.own / WORDS)
        super().__post_init__()

    @cached_property
    def own(self) -> int:
        return floor_threshold(Fraction(self.p))

    @cached_property
    def other(self) -> int:
        p = Fraction(self.own, WORDS)
        return ceil_threshold(p / (exp(self.epsilon) * (1 - p) + p))


@njit
def _randomise(
    codes: NDArray[np.uint32],
    own: np.uint64,
    other: np.uint64,
    last: np.uint64,
    key: Key,
    rows: WordArray,
) -> None:
    # A bit is 1 when its 64-bit draw is below a threshold. Draws are made bit by bit from the
    # top, for 64 positions at once: eight planes decide all but one draw in 256, and an undecided
    # draw takes one more word for its other 56 bits.
    n, width = rows.shape
    step = max(1, 8192 // width)  # users whose planes stay in cache
    flat = rows.reshape(-1)
    planes = np.empty((16, step * width), np.uint32)
    plane = planes.reshape(-1).view(np.uint64).reshape(8, step * width)
    source = open_source(key)
    truths = np.empty((16, (step + 7) // 8), np.uint32)
    truth = truths.reshape(-1).view(np.uint64)
    open_bits = np.empty(step * width, np.uint64)
    open_words = np.empty(step * width + 1, np.int32)
    zero, full = np.uint64(0), ~np.uint64(0)
    threshold = np.empty(8, np.uint64)  # the top bits of `other`, each spread over a word
    for b in range(8):
        threshold[b] = full if (other >> np.uint64(63 - b)) & np.uint64(1) else zero
    t0, t1, t2, t3 = threshold[0], threshold[1], threshold[2], threshold[3]
    t4, t5, t6, t7 = threshold[4], threshold[5], threshold[6], threshold[7]
    rest = other << np.uint64(8)
    for start in range(0, n, step):
        users = min(step, n - start)
        size, base = users * width, start * width
        fill(source, planes)
        for j in range(size):
            below, still = _below(zero, full, plane[0, j], t0)
            below, still = _below(below, still, plane[1, j], t1)
            below, still = _below(below, still, plane[2, j], t2)
            below, still = _below(below, still, plane[3, j], t3)
            below, still = _below(below, still, plane[4, j], t4)
            below, still = _below(below, still, plane[5, j], t5)
            below, still = _below(below, still, plane[6, j], t6)
            below, still = _below(below, still, plane[7, j], t7)
            flat[base + j], open_bits[j] = below, still
        found = 0
        for j in range(size):
            open_words[found] = j
            found += int(open_bits[j] != zero)
        for i in range(found):
            j = open_words[i]
            still = open_bits[j]
            while still != zero:
                bit = still & (zero - still)  # the lowest one
                still ^= bit
                flat[base + j] |= bit * np.uint64(next_word(source) < rest)
        fill(source, truths)
        for i in range(users):
            rows[start + i, width - 1] &= last
            word = np.int64(codes[start + i]) >> 6
            place = np.uint64(codes[start + i]) & np.uint64(63)
            others = rows[start + i, word] & ~(np.uint64(1) << place)
            rows[start + i, word] = others | (np.uint64(truth[i] < own) << place)


@njit
def _below(
    below: np.uint64, still: np.uint64, draw: np.uint64, threshold: np.uint64
) -> tuple[np.uint64, np.uint64]:
    # one more bit of 64 comparisons: which draws are below by now, which are still equal
    return below | (still & threshold & ~draw), still & ~(draw ^ threshold)
