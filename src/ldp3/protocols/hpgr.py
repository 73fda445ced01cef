"""Hybrid projective geometry response."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import InvalidData, require, require_values, whole
from ldp3.kernels import transforms
from ldp3.kernels.source import words
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.hr import BlockNoise, expected_inside
from ldp3.protocols.layout import Code
from ldp3.protocols.singer import Geometry, dimension, geometry, is_prime_power
from ldp3.randomness import WORDS, ceil_threshold, exp
from ldp3.types import Estimate, Tally

MOST_REPORTS = 2**28


@final
@dataclass(frozen=True)
class HPGR(FrequencyOracle):
    r"""Hybrid projective geometry response: PGR in each of $h$ blocks of values.

    The values are dealt to $h$ blocks, each the $K$ points of a projective space of order $q$. With
    probability $β$ report any of the $hK$ hyperplanes of all blocks, else one of the $k$ that hold
    the own point in the own block:

    $$β = \frac{hK}{k(e^ε - 1) + hK}, \qquad \hat f_v = \frac1n \left(\frac{N_v - (λ/k) M_v}
      {(1 - β)(1 - λ/k)}\right) + γ,$$

    with $N_v$ the reports that hold $v$, $M_v$ those of its block, $λ$ the hyperplanes through two
    points, and $γ$ what makes it unbiased. Not pure: noise grows with the users in the block.
    For simulation only.

    Parameters
    ----------
    order
        The order q of the field, a prime power (``hpgr(q=5)``).
    h
        Number of blocks; 0 for the least with $hq ≥ e^ε + 1$, and at least 2.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = HPGR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Feldman, Nelson, Nguyen, Talwar. *Private frequency estimation via projective geometry.* ICML
    2022, §5.
    """

    aliases: ClassVar[tuple[str, ...]] = ("hybrid projective geometry response",)
    instead: ClassVar[str] = "pgr: less noise, and an FFT makes its server as fast"
    symbols: ClassVar[dict[str, str]] = {"order": "q"}

    order: int = 5
    h: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        sound = whole(self.order, 2, MOST_REPORTS) and is_prime_power(self.order)
        require(sound, self, "q must be a prime power, such as 2, 3, 4, 5, 7, 8, 9", self.order)
        if self.h == 0:
            enough = ceil((exp(self.epsilon) + 1) / self.order)
            object.__setattr__(self, "h", max(2, min(enough, self.d)))
        require(whole(self.h, 1, self.d), self, f"h must be an integer in 1..{self.d}", self.h)
        many = self.layout.values <= MOST_REPORTS
        require(many, self, "d must need at most 2^28 different reports", self.d)
        sound = self.kept > 2.0**-50
        require(sound, self, "epsilon must be > 0 by more than rounding can tell", self.epsilon)

    @cached_property
    def geometry(self) -> Geometry:
        """Of one block."""
        return geometry(self.order, dimension(self.order, -(-self.d // self.h)))

    @cached_property
    def blind(self) -> int:
        """The report is any hyperplane for this many words of 2⁶⁴."""
        k, all_ = self.geometry.points_of_a_hyperplane, self.h * self.geometry.points
        return ceil_threshold(all_ / (k * (exp(self.epsilon) - 1) + all_))

    @property
    def kept(self) -> float:
        """Probability that the report holds the own point on purpose."""
        return (WORDS - self.blind) / WORDS

    @property
    def privacy_ratio(self) -> Fraction:
        k, all_ = self.geometry.points_of_a_hyperplane, self.h * self.geometry.points
        return 1 + Fraction((WORDS - self.blind) * all_, self.blind * k)

    @property
    def layout(self) -> Code:
        return Code(self.h * self.geometry.points)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        places, points = self.geometry.difference_set.astype(np.int64), self.geometry.points
        through = places[rng.integers(len(places), size=len(codes))] - codes // self.h
        own = codes % self.h * points + through % points
        anything = rng.integers(self.layout.values, size=len(codes))
        blind = words(rng, len(codes)) < np.uint64(self.blind)
        return np.where(blind, anything, own).astype(self.layout.dtype)

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.layout.values), len(reports))

    def estimate(self, tally: Tally) -> Estimate:
        self.require_histogram(tally, self.layout.values)
        n, h, space = tally.n, self.h, self.geometry
        if n < 1:
            raise InvalidData("HPGR: an estimate needs at least one report.")
        counts = tally.total.reshape(h, space.points)
        rows = -(-self.d // h)
        held = np.array([transforms.correlation(some, space.members, rows) for some in counts])
        held, inside = held.T.reshape(-1)[: self.d], counts.sum(axis=1)
        blocks = np.arange(self.d) % h
        a, b, c = self._weights
        frequencies = (a * held + b * inside[blocks]) / n + c
        return Estimate(frequencies, tally, self._noise(inside, n))

    def noise(self, frequencies: FloatArray, n: int) -> BlockNoise:
        return self._noise(expected_inside(frequencies, self.h, self.kept, n), n)

    @property
    def _shared(self) -> float:
        """λ/k: how often a hyperplane through a point holds another one."""
        q, t = self.order, self.geometry.t
        return (q ** (t - 2) - 1) / (q ** (t - 1) - 1)

    @property
    def _weights(self) -> tuple[float, float, float]:
        """Of a report that holds the value, of one in its block, of any."""
        k, points = self.geometry.points_of_a_hyperplane, self.geometry.points
        a = 1 / (self.kept * (1 - self._shared))
        b = -a * self._shared
        return a, b, -(1 - self.kept) / self.h * (a * k / points + b)

    def _noise(self, inside: FloatArray, n: int) -> BlockNoise:
        """From the variance of one user's score: one in another block, in the block, with v."""
        k, points = self.geometry.points_of_a_hyperplane, self.geometry.points
        a, b, c = self._weights
        blind = (1 - self.kept) / self.h

        def variance(holding: float, block: float) -> float:
            mean = a * holding + b * block + c
            rest = (block - holding) * (b + c) ** 2 + (1 - block) * c**2
            return holding * (a + b + c) ** 2 + rest - mean**2

        at_random = blind * k / points
        outside = variance(at_random, blind)
        within = variance(at_random + self.kept * self._shared, blind + self.kept)
        own = variance(at_random + self.kept, blind + self.kept)
        return BlockNoise(
            outside / n, (own - within) / n, (1 - b - c) / n, (a + b + c) / n,
            (within - outside) / n, inside, self.kept, n,
        )  # fmt: skip
