"""What is known of the error of an estimate, besides that its mean is zero."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, as_floats


@dataclass(frozen=True)
class Support:
    """How the reports of a pure oracle support values.

    Parameters
    ----------
    p, q
        Probability that a report supports the user's own value, and any other one.
    size
        How many values each report supports, where that number is fixed (1 for GRR, k for SS).
    """

    p: float
    q: float
    size: int | None = None


@dataclass(frozen=True, eq=False)
class Noise:
    r"""The error of unbiased estimates: $\mathrm{Var}[\hat f_v] = \mathrm{base}_v + f_v\,s$.

    Parameters
    ----------
    base
        Variance of the estimate of a value that nobody holds: one number, or one for each value.
    slope
        How much the variance grows with the frequency, $s$.

    Examples
    --------
    >>> Noise(0.01).variance(np.array([0.5, 0.0]))
    array([0.01, 0.01])
    """

    base: float | FloatArray
    slope: float = 0.0

    def __post_init__(self) -> None:
        (base,) = as_floats("Noise", variance=self.base)
        if not (base.size and np.isfinite(base).all() and np.min(base) > 0):
            raise InvalidData("The noise of an estimate is a variance: finite and above 0.")

    @property
    def floor(self) -> float:
        """Variance of a value that nobody holds; the mean, where values differ."""
        return float(np.mean(self.base))

    @property
    def support(self) -> Support | None:
        """How reports support values, where the oracle is pure."""
        return None

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates, if these are the frequencies."""
        return np.maximum(self.base + frequencies * self.slope, 0)

    def interval(self, frequencies: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of the score interval for each frequency, each with this level.

        The frequencies $f$ that lie within $z$ of *their* standard deviations of the estimate,

        $$(\hat f_v - f)^2 \le z^2 (\mathrm{base}_v + f s),$$

        which is a quadratic in $f$. The noise is taken as normal, so this holds nearly; with few
        reports the coverage swings about the level.

        References
        ----------
        Wilson. *Probable inference, the law of succession, and statistical inference.* Journal of
        the American Statistical Association, 1927.
        """
        z = -NormalDist().inv_cdf((1 - level) / 2)
        centre = frequencies + z**2 * self.slope / 2
        half = z * np.sqrt(self.variance(frequencies) + (z * self.slope / 2) ** 2)
        return centre - half, centre + half


@dataclass(frozen=True, eq=False)
class PureNoise(Noise):
    r"""The noise of a pure oracle, from the law of its support counts.

    $$\mathrm{base} = \frac{q(1-q)}{n(p-q)^2}, \qquad s = \frac{1-p-q}{n(p-q)}.$$
    """

    support: Support = Support(1.0, 0.0)

    @classmethod
    def of(cls, support: Support, n: int) -> Self:
        """The noise of `n` reports.

        >>> PureNoise.of(Support(p=0.5, q=0.25), n=300).floor
        0.01
        """
        p, q = support.p, support.q
        return cls(q * (1 - q) / (n * (p - q) ** 2), (1 - p - q) / (n * (p - q)), support)
