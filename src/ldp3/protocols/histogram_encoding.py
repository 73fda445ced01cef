"""Histogram encodings: thresholding (THE) and summation (SHE)."""

from dataclasses import dataclass
from functools import cached_property
from math import exp as float_exp
from math import inf
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.errors import InvalidData, require, require_values
from ldp3.noise import BoundedNoise
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Numbers
from ldp3.protocols.unary import UnaryEncoding
from ldp3.randomness import ceil_threshold, exp, floor_threshold
from ldp3.types import Estimate, Tally

STEPS = 1024  # of the grid that noise is drawn on, to one user


@final
@dataclass(frozen=True)
class THE(UnaryEncoding):
    r"""Thresholding with histogram encoding: which entries of a noisy histogram are high.

    Every entry of the user's histogram of one gets Laplace noise of scale $2/ε$; the report says
    which are above the threshold $θ$, so its bits are independent with

    $$p = 1 - \tfrac12 e^{ε(θ-1)/2}, \qquad q = \tfrac12 e^{-εθ/2},$$

    and are drawn as such, without any Laplace noise. A report is $d$ bits.

    Parameters
    ----------
    theta
        The threshold, between ½ and 1; 0 for the least variance.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = THE(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("thresholding with histogram encoding",)
    instead: ClassVar[str] = "oue: as many bits, less noise"

    theta: float = 0.0

    def __post_init__(self) -> None:
        self.settle()
        if self.theta == 0:
            object.__setattr__(self, "theta", _best_threshold(self.epsilon))
        number = isinstance(self.theta, float | int) and not isinstance(self.theta, bool)
        sound = number and 0.5 <= self.theta <= 1
        require(sound, self, "theta must be between 0.5 and 1", self.theta)
        super().__post_init__()

    @cached_property
    def own(self) -> int:
        return floor_threshold(1 - 1 / exp(self.epsilon * (1 - self.theta) / 2) / 2)

    @cached_property
    def other(self) -> int:
        return ceil_threshold(1 / exp(self.epsilon * self.theta / 2) / 2)


def _best_threshold(epsilon: float) -> float:
    def noise(theta: float) -> float:
        p, q = 1 - float_exp(epsilon * (theta - 1) / 2) / 2, float_exp(-epsilon * theta / 2) / 2
        return q * (1 - q) / (p - q) ** 2 if p > q else inf

    return min((i / 1024 for i in range(512, 1025)), key=noise)


@final
@dataclass(frozen=True)
class SHE(FrequencyOracle):
    r"""Summation with histogram encoding: every user adds noise to a histogram of one.

    $$y_v = [v = x] + \mathrm{Lap}(2/ε), \qquad \hat f_v = \frac1n \sum_i y_v^{(i)}, \qquad
      \mathrm{Var} = \frac{8}{n ε^2}.$$

    The noise is drawn on a grid of 1024 steps to one user (the discrete Laplace distribution), for
    the last bits of a sum of real numbers would give the value away. A report is $d$ numbers. For
    simulation only: the probabilities on the client are those of NumPy's samplers, not exact.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = SHE(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §4; Mironov. *On significance of the least significant bits for
    differential privacy.* CCS 2012.
    """

    aliases: ClassVar[tuple[str, ...]] = ("summation with histogram encoding",)
    instead: ClassVar[str] = "oue: half the noise in a sixtieth of the bits"

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = 2.0**-20, 1400.0  # beyond, noise on the grid is too wide for 32 bits, or none
        sound = low <= self.epsilon <= high
        require(sound, self, "epsilon must be > 0 by at least 2^-20 and at most 1400", self.epsilon)

    @cached_property
    def stop(self) -> float:
        """Probability that a step of the noise is the last, on either side."""
        return -float(np.expm1(-self.epsilon / 2 / STEPS))

    @property
    def layout(self) -> Numbers:
        return Numbers(np.dtype(np.int64), (self.d,))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        shape = len(codes), self.d
        reports = rng.geometric(self.stop, shape) - rng.geometric(self.stop, shape)
        reports[np.arange(len(codes)), codes] += STEPS
        return np.asarray(reports)

    def estimate(self, tally: Tally) -> Estimate:
        if tally.n < 1 or tally.total.shape != (self.d,):
            raise InvalidData(f"SHE: an estimate needs {self.d} sums of at least one report.")
        frequencies = tally.total / STEPS / tally.n
        return Estimate(frequencies, tally, self.noise(frequencies, tally.n))

    def noise(self, frequencies: FloatArray, n: int) -> BoundedNoise:  # noqa: ARG002
        spread = 2 * (1 - self.stop) / self.stop**2 / STEPS**2
        step = 3 / self.stop / STEPS / n  # tails of a Laplace law are those of a law so bounded
        return BoundedNoise(spread / n, below=step, above=step)

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        n = int(histogram.sum())
        if n == 0:
            return self.empty
        up, down = rng.negative_binomial(n, self.stop, (2, self.d))  # sums of geometric steps
        return Tally(histogram * STEPS + up - down, n)
