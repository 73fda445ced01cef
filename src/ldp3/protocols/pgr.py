"""Projective geometry response."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, log2
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require, require_values, whole
from ldp3.kernels import sampling, transforms
from ldp3.kernels.compile import njit
from ldp3.kernels.source import STEP, Key, fill, key_of, open_source
from ldp3.noise import LinearChannel
from ldp3.protocols import incidence
from ldp3.protocols.base import histogram_chunk
from ldp3.protocols.design import Design, require_design
from ldp3.protocols.layout import Code
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.singer import Geometry, dimension, geometry, is_prime_power, prime_factors
from ldp3.protocols.subset_selection import subset_risk
from ldp3.randomness import WORDS, Words, ceil_threshold, exp
from ldp3.types import Tally

MOST_POINTS = 2**28
FAST = 31  # the largest prime by which transforms are still fast
DOUBLING = 0.005  # share of the variance that half as many points are worth


@final
@dataclass(frozen=True)
class PGR(PureOracle):
    r"""Projective geometry response: subset selection where the subsets are hyperplanes.

    The values are $d$ of the $K = (q^t-1)/(q-1)$ points of a projective space over the field of $q$
    elements, the reports its $K$ hyperplanes. With probability $β$ report one of them at random,
    else one of the $k = (q^{t-1}-1)/(q-1)$ that hold the own point, so that

    $$β = \frac{K}{k e^ε + K - k}, \qquad p = \frac{k e^ε}{k e^ε + K - k}, \qquad
      q_s = \frac{k - p}{K - 1}.$$

    A report is a hyperplane, $\lceil \log_2 K \rceil$ bits, and supports its points. As accurate as
    subset selection on $K$ values: for $d ≥ 128$ and $ε ≤ 2$ within 4 % of `ss`, and within 3 % but
    for $ε$ near 0.36, where $e^ε + 1$ lies between the fields of 2 and of 3 elements, and near
    1.93. At larger $ε$ the points beyond $d$ can cost more (at $d = 128$, $ε = 4$ it is best to be
    GRR, 8 % above `ss`). Points and hyperplanes are numbered by Singer's cyclic difference set $D$,
    so that hyperplane $u$ holds point $v$ if $u + v \bmod K \in D$: a client looks up one entry of
    a table at the most, and a server counts reports and makes one FFT of them.

    Parameters
    ----------
    order
        The order q of the field, a prime power (``pgr(q=4)``); 0 for the least variance, where half
        as many points are worth half a percent of it.
    design
        The frequency, below ½, for which the variance is to be least, or ``"minimax"`` for the
        least worst case; by default that of a value that nobody holds.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = PGR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Feldman, Nelson, Nguyen, Talwar. *Private frequency estimation via projective geometry.* ICML
    2022; Park, Nam, Lee. *Exactly optimal and communication-efficient private estimation via block
    designs.* IEEE Journal on Selected Areas in Information Theory 2024.
    """

    aliases: ClassVar[tuple[str, ...]] = ("projective geometry response",)
    examples: ClassVar[tuple[str, ...]] = ("pgr(q=2)", "pgr(q=9)")
    symbols: ClassVar[dict[str, str]] = {"order": "q"}

    order: int = 0
    design: Design = None

    def __post_init__(self) -> None:
        self.settle()
        require_design(self, self.design, chosen=self.order != 0)
        if self.order == 0:
            object.__setattr__(self, "order", _best_order(self.epsilon, self.d, self.design))
            object.__setattr__(self, "design", None)  # it has done its work
        sound = whole(self.order, 2, MOST_POINTS) and is_prime_power(self.order)
        require(sound, self, "q must be a prime power, such as 2, 3, 4, 5, 7, 8, 9", self.order)
        points = self.geometry.points
        many = f"d={self.d} and q={self.order} must need at most 2^28 points"
        require(points <= MOST_POINTS, self, many, points)
        super().__post_init__()

    @cached_property
    def geometry(self) -> Geometry:
        """The points and hyperplanes."""
        return geometry(self.order, dimension(self.order, self.d))

    @property
    def points(self) -> int:
        """K, the number of points and of reports."""
        return self.geometry.points

    @property
    def k(self) -> int:
        """The number of points of a report."""
        return self.geometry.points_of_a_hyperplane

    @cached_property
    def blind(self) -> int:
        """The report is any hyperplane for this many words of 2⁶⁴."""
        return ceil_threshold(self.points / (self.k * exp(self.epsilon) + self.points - self.k))

    @cached_property
    def _own(self) -> Fraction:
        """Probability that a report holds the user's point."""
        return 1 - Fraction(self.blind * (self.points - self.k), WORDS * self.points)

    @cached_property
    def p(self) -> float:
        return float(self._own)

    @cached_property
    def q(self) -> float:
        return float((self.k - self._own) / (self.points - 1))

    @property
    def support_ratio(self) -> Fraction:
        return 1 + Fraction((WORDS - self.blind) * self.points, self.blind * self.k)

    @cached_property
    def support_sizes(self) -> tuple[int, int]:
        # hyperplane u holds as many of the first d points as the set has members in u..u+d-1
        members = self.geometry.members
        until = np.cumsum(np.concatenate([[False], members, members[: self.d]]), dtype=np.int64)
        held = until[self.d : self.d + self.points] - until[: self.points]
        return int(held.min()), int(held.max())

    @property
    def support_size(self) -> int | None:
        # without a table: incidence is invertible, so only of all points all hold equally many
        return self.k if self.d == self.points else None

    def support_both(
        self, first: IntArray, second: IntArray, frequencies: FloatArray
    ) -> FloatArray:
        # it depends on whether the truth is on a line with both: sum over hyperplanes through both
        space, sent = self.geometry, self.channel.forward(frequencies)
        through, places = space.difference_set.astype(np.int64), np.broadcast(first, second)
        found = np.empty(places.shape)
        for i, (u, v) in enumerate(places):
            ours = (through - u) % self.points
            found.flat[i] = sent[ours[space.members[(ours + v) % self.points]]].sum()
        return found

    @cached_property
    def channel(self) -> "Hyperplanes":
        return Hyperplanes(self)

    @property
    def layout(self) -> Code:
        return Code(self.points)

    @property
    def chunk_size(self) -> int:
        return histogram_chunk(self.points)

    @property
    def constants(self) -> dict[str, int]:
        return {
            "blind": self.blind,
            "q": self.order,
            "t": self.geometry.t,
            "polynomial": self.geometry.polynomial_number,
        }

    def draw(self, value: int, words: Words) -> int:
        # a word for the choice, then words until one is a place in the set or any hyperplane
        if next(words) < self.blind:
            return words.below(self.points)
        return (int(self.geometry.difference_set[words.below(self.k)]) - value) % self.points

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        reports = np.empty(len(codes), dtype=self.layout.dtype)
        places, blind = self.geometry.difference_set, np.uint64(self.blind)
        _respond(codes, places, self.points, blind, key_of(rng), reports)
        return reports

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return self.geometry.members[(reports.astype(np.int64) + value) % self.points]

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(transforms.histogram(reports, self.points), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        self.require_histogram(tally, self.points)
        return transforms.correlation(tally.total, self.geometry.members, self.d)

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        keep = rng.binomial(histogram, 1 - self.blind / WORDS)
        n = int(histogram.sum())
        return Tally(incidence.simulated(self.geometry, keep, n - int(keep.sum()), rng), n)


@dataclass(frozen=True)
class Hyperplanes(LinearChannel):
    """The channel of PGR, by FFT: hyperplane u holds point v if u + v is in the difference set."""

    oracle: PGR

    def forward(self, frequencies: FloatArray) -> FloatArray:
        """The distribution of reports."""
        return self._correlated(frequencies, self._laws)

    def backward(self, weights: FloatArray) -> FloatArray:
        """For each value, the mean of the reports' weights."""
        return self.forward(weights)[..., : self.oracle.d]  # incidence is symmetric

    def scores(self, weights: FloatArray) -> FloatArray:
        """What each report adds to a weighted sum of frequencies."""
        p, q = self.oracle.p, self.oracle.q
        held = self._correlated(weights, self._members)
        return (held - q * weights.sum(axis=-1, keepdims=True)) / (p - q)

    def _correlated(self, weights: FloatArray, kernel: NDArray[np.complex128]) -> FloatArray:
        """For each hyperplane the sum over points, or the other way round, weighted by a kernel.

        Of a longer transform than once around, results are right as far as they are used: all for
        d weights, d for all.
        """
        spectrum = np.fft.rfft(weights, self._length)
        np.conjugate(spectrum, out=spectrum)
        spectrum *= kernel
        return np.fft.irfft(spectrum, self._length)[..., : self.oracle.points]

    @cached_property
    def _length(self) -> int:
        """Of transforms: once around, or where a large prime makes that slow, as far as is used."""
        points = self.oracle.points
        fast = prime_factors(points)[-1] <= FAST
        return points if fast else transforms.smooth(points + self.oracle.d - 1)

    @cached_property
    def _members(self) -> NDArray[np.complex128]:
        around = np.resize(self.oracle.geometry.members, self.oracle.points + self.oracle.d - 1)
        return np.fft.rfft(around[: self._length], self._length)

    @cached_property
    def _laws(self) -> NDArray[np.complex128]:
        """The same for the probability of each report, which adds what blind people send."""
        blind = self.oracle.blind / WORDS
        laws = (1 - blind) / self.oracle.k * self._members
        laws[0] += blind * self._length / self.oracle.points  # as much to every report
        return laws


def _best_order(epsilon: float, d: int, design: Design) -> int:
    def cost(space: Geometry) -> float:
        points, k = space.points, space.points_of_a_hyperplane
        return log(subset_risk(epsilon, points, k, design)) + DOUBLING * log2(points)

    return min((Geometry(q, t) for q, t in _candidates(epsilon, d)), key=cost).q


def _candidates(epsilon: float, d: int) -> Iterator[tuple[int, int]]:
    """Orders and dimensions, with up to 16d points: GRR, and fields about as large as e^ε + 1."""
    grr = max(2, d - 1)
    while not is_prime_power(grr):
        grr += 1
    yield grr, 2
    points, best = max(16 * d, 4096), min(int(4 * exp(epsilon)), 2**31) + 8
    for q in range(2, min(best, grr - 1) + 1):
        if q * q + q + 1 > points and dimension(q, d) == 3:
            return  # larger ones have more points still
        if is_prime_power(q) and (q ** (t := dimension(q, d)) - 1) // (q - 1) <= points:
            yield q, t


@njit
def _respond(
    codes: NDArray[np.uint32],
    places: NDArray[np.uint32],
    points: int,
    blind: np.uint64,
    key: Key,
    reports: NDArray[Any],
) -> None:
    source = open_source(key)
    blocks = np.empty((16, STEP // 4), np.uint32)  # two words for each user
    words = blocks.reshape(-1).view(np.uint64)
    for start in range(0, codes.size, STEP):
        fill(source, blocks)
        for i in range(min(STEP, codes.size - start)):
            if words[i] < blind:
                size = np.uint64(points)
                reports[start + i] = sampling.below(words[STEP + i], size, source)
            else:
                size = np.uint64(places.size)
                place = np.int64(places[sampling.below(words[STEP + i], size, source)])
                place -= np.int64(codes[start + i])
                reports[start + i] = place + points if place < 0 else place
