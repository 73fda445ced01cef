"""Subset selection."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import erf, pi, sqrt
from math import exp as float_exp
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray, Reports, WordArray
from ldp3.errors import require, require_generator, require_histogram, require_values, whole
from ldp3.kernels import bits
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import subset_counts
from ldp3.kernels.source import Key, fill, key_of, next_word, open_source
from ldp3.protocols.design import Design, least, require_design, risk
from ldp3.protocols.layout import Bits
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS, Words, exp, floor_threshold
from ldp3.types import Tally


@final
@dataclass(frozen=True)
class SS(PureOracle):
    r"""Subset selection, also called ω-subset mechanism.

    Report $k$ values: the true one with probability $p$, the others at random:

    $$p = \frac{k e^ε}{k e^ε + d - k}, \qquad q = \frac{p(k-1) + (1-p)k}{d - 1}, \qquad
      k ≈ \frac{d}{e^ε + 1}.$$

    A report is a set of $k$ values, packed into $d$ bits, and supports its members. The most
    accurate of the six in general, at the price of long reports.

    Parameters
    ----------
    k
        Size of the subset, in 1..d-1; 0 for the neighbour of $d / (e^ε + 1)$ with the lower
        variance.
    design
        The frequency, below ½, for which the variance is to be least, or ``"minimax"`` for the
        least worst case; by default that of a value that nobody holds.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = SS(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Ye, Barg. *Optimal schemes for discrete distribution estimation under locally differential
    privacy.* IEEE Transactions on Information Theory 2018; Wang et al. *Local differential private
    data aggregation for discrete distribution estimation.* IEEE TPDS 2019.
    """

    aliases: ClassVar[tuple[str, ...]] = ("subset", "subset selection")
    examples: ClassVar[tuple[str, ...]] = ("ss(k=1)", "ss(k=4)")

    k: int = 0
    design: Design = None

    def __post_init__(self) -> None:
        self.settle()
        require_design(self, self.design, chosen=self.k != 0)
        if whole(self.k, 0, 0):
            object.__setattr__(self, "k", _best_size(self.epsilon, self.d, self.design))
            object.__setattr__(self, "design", None)  # it has done its work
        require(whole(self.k, 1, self.d - 1), self, f"k must be in 1..{self.d - 1}", self.k)
        super().__post_init__()

    @cached_property
    def own(self) -> int:
        """The user's value is in the subset for this many words of 2⁶⁴."""
        odds = self.k * exp(self.epsilon)
        return floor_threshold(odds / (odds + self.d - self.k))

    @cached_property
    def p(self) -> float:
        return self.own / WORDS

    @cached_property
    def q(self) -> float:
        return float((self.k - Fraction(self.own, WORDS)) / (self.d - 1))

    @property
    def support_ratio(self) -> Fraction:
        return Fraction(self.own * (self.d - self.k), (WORDS - self.own) * self.k)

    @property
    def support_sizes(self) -> tuple[int, int]:
        return self.k, self.k

    @property
    def exchangeable(self) -> bool:
        return True

    @property
    def layout(self) -> Bits:
        return Bits(self.d, ones=self.k)

    @property
    def constants(self) -> dict[str, int]:
        return {"own": self.own, "k": self.k}

    def draw(self, value: int, words: Words) -> int:
        # a word for the own value, then others, drawn with replacement until k differ
        inside = next(words) < self.own
        mask = np.uint64((1 << (self.d - 1).bit_length()) - 1)
        members = np.zeros(self.d, dtype=bool)
        while (missing := self.k - inside - int(members.sum())) > 0:
            others = words.take(missing) & mask  # none of them can be one too many
            members[others[(others < self.d) & (others != value)]] = True
        members[value] = inside
        return bits.number(members)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        rows = np.empty((len(codes), bits.width(self.d)), dtype=np.uint64)
        last, key = bits.last_word(self.d), key_of(rng)
        if 2 * self.k <= self.d:
            _draw_subsets(codes, self.d, self.k, np.uint64(self.own), *self._start, key, rows)
        else:  # what a large subset leaves out is a small one
            out = np.uint64(WORDS - self.own)
            _draw_subsets(codes, self.d, self.d - self.k, out, *self._start, key, rows)
            np.invert(rows, out=rows)
            rows[:, -1] &= last
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
        require_generator(self, rng)
        histogram = require_histogram(self, histogram, self.d)
        # With probability β a report is the own value and a uniform subset of k-1 others, else a
        # blind uniform subset of k of all values: the same law, and blind users are alike.
        blind_share = (1 - Fraction(self.own, WORDS)) / (1 - Fraction(self.k, self.d))
        keep = rng.binomial(histogram, float(1 - blind_share))
        n, kept = int(histogram.sum()), int(keep.sum())
        return Tally(keep + subset_counts(keep, n - kept, self.k, key_of(rng)), n)

    @cached_property
    def _start(self) -> tuple[int, int]:
        return _best_start(self.d, min(self.k, self.d - self.k))


def _best_size(epsilon: float, d: int, design: Design) -> int:
    def cost(k: int) -> Fraction:
        return subset_risk(epsilon, d, k, design)

    if design is None:
        ideal = int(d / (exp(epsilon) + 1))
        return min({min(max(k, 1), d - 1) for k in (ideal, ideal + 1)}, key=cost)
    return least(1, d - 1, cost)


def subset_risk(epsilon: float, d: int, k: int, design: Design) -> Fraction:
    """n times the variance, for a value of the design frequency."""
    odds = k * exp(epsilon)
    p = odds / (odds + d - k)
    return risk(p, (k - p) / (d - 1), design)


def _best_start(d: int, k: int) -> tuple[int, int]:
    """Bits and numerator of the dyadic density to start from, by a rough count of nanoseconds.

    Any start gives the right law; a good one leaves few members to add or remove.
    """

    def cost(level: int, numerator: int) -> float:
        share = numerator / 2**level
        mean, spread = d * share, sqrt(d * share * (1 - share)) or 1e-9
        z = (k - mean) / spread
        normal = float_exp(-z * z / 2) / sqrt(2 * pi)
        add = (k - mean) * 0.5 * (1 + erf(z / sqrt(2))) + spread * normal
        tries = add / (1 - k / d) + (add - (k - mean)) * d / k
        return level * bits.width(d) * 0.8 + tries * 2.2

    starts = [(0, 0)] + [(level, odd) for level in range(1, 8) for odd in range(1, 2**level, 2)]
    return min(starts, key=lambda start: cost(*start))


@njit
def _draw_subsets(
    codes: NDArray[np.uint32],
    d: int,
    k: int,
    own: np.uint64,
    level: int,
    numerator: int,
    key: Key,
    rows: WordArray,
) -> None:
    # Start from independent bits of density numerator / 2^level; given its size, such a set is
    # uniform. Then add or remove uniformly drawn members until the size is right: still uniform.
    # The own value stands apart.
    n, width = rows.shape
    step = max(1, 8192 // width)  # users whose planes stay in cache
    flat = rows.reshape(-1)
    planes = np.empty((16, (step * width * max(level, 1) + 7) // 8), np.uint32)
    plane = planes.reshape(-1).view(np.uint64)
    source = open_source(key)
    one, zero = np.uint64(1), np.uint64(0)
    size = np.uint64(d)
    last = ~zero if d % 64 == 0 else (one << np.uint64(d % 64)) - one
    digits = 1
    while (1 << digits) < d:
        digits += 1
    mask, shift, per_word = (one << np.uint64(digits)) - one, np.uint64(digits), 64 // digits
    draws, left = zero, 0
    for start in range(0, n, step):
        users = min(step, n - start)
        base, words = start * width, users * width
        flat[base : base + words] = zero
        if level > 0:
            fill(source, planes)
        for b in range(level):  # from the lowest binary digit of the density to the highest
            part = plane[b * words : (b + 1) * words]
            if (numerator >> b) & 1:
                for j in range(words):
                    flat[base + j] |= part[j]
            else:
                for j in range(words):
                    flat[base + j] &= part[j]
        for i in range(start, start + users):
            inside = int(next_word(source) < own)
            word, bit = np.int64(codes[i]) >> 6, one << (np.uint64(codes[i]) & np.uint64(63))
            rows[i, width - 1] &= last
            rows[i, word] &= ~bit
            need = k - inside
            for w in range(width):
                need -= int(bits.ones(rows[i, w]))
            adding = need > 0
            flip = zero if adding else ~zero
            if adding:
                rows[i, word] |= bit  # taken, so that it cannot be added
            need = abs(need)
            while need > 0:
                if left == 0:
                    draws, left = next_word(source), per_word
                value = draws & mask
                draws >>= shift
                left -= 1
                if value < size:
                    other, member = np.int64(value >> np.uint64(6)), one << (value & np.uint64(63))
                    fits = (rows[i, other] ^ flip) & member == zero
                    need -= int(fits)
                    rows[i, other] ^= member if fits else zero
            rows[i, word] = (rows[i, word] & ~bit) | (bit * np.uint64(inside))
