"""The values that flow from one stage to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ldp3.errors import InvalidData, InvalidParameter, require

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
WordArray = NDArray[np.uint64]
Reports = NDArray[Any]  # users first: integers, packed bits, records or real vectors
Total = IntArray | FloatArray  # what `aggregate` gives and `estimate` takes


class Oracle(Protocol):
    """What a post-processor may ask of a frequency oracle before it runs."""

    @property
    def p(self) -> float | None: ...
    @property
    def q(self) -> float | None: ...
    @property
    def support_size(self) -> int | None: ...


@dataclass(frozen=True)
class Estimate:
    """What a server knows after a collection; it holds no truth.

    Parameters
    ----------
    frequencies
        Unbiased estimates, shape `(d,)`; they may be negative and need not sum to one.
    total
        The aggregate they come from.
    n
        Number of reports.
    noise
        Variance of the estimate of a value that nobody holds.
    p, q
        Support probabilities, where the oracle is pure.
    support_size
        How many values each report supports, where that number is fixed (1 for GRR, k for SS).
    """

    frequencies: FloatArray
    total: Total
    n: int
    noise: float
    p: float | None = None
    q: float | None = None
    support_size: int | None = None

    @property
    def d(self) -> int:
        """Size of the domain."""
        return len(self.frequencies)

    @property
    def slope(self) -> float:
        """How much the variance of an estimate grows with the frequency; 0 if unknown."""
        if self.p is None or self.q is None:
            return 0.0
        return (1 - self.p - self.q) / (self.n * (self.p - self.q))

    @cached_property
    def variance(self) -> FloatArray:
        r"""Variance of each estimate, $\mathrm{noise} + \hat f_v\,\mathrm{slope}$.

        The estimate stands for the frequency, which is unbiased, as the variance is linear in it.
        """
        return np.maximum(self.noise + self.frequencies * self.slope, 0)

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of each estimate: the root of `variance`."""
        return np.sqrt(self.variance)

    def confidence_interval(
        self, level: float = 0.95, simultaneous: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of the score interval for each frequency, within $[0, 1]$.

        The frequencies $f$ that lie within $z$ of *their* standard deviations of the estimate,

        $$(\hat f_v - f)^2 \le z^2 (\mathrm{noise} + f\,\mathrm{slope}),$$

        which is a quadratic in $f$; without $p$ and $q$ the slope is 0 and this is the normal
        interval. A frequency lies in $[0, 1]$, so the ends are cut there, which takes no coverage
        away: a value that nobody holds is covered with probability $(1 + \mathrm{level})/2$, and an
        estimate far below zero gets $[0, 0]$. With `simultaneous` all $d$ intervals hold at once
        with probability at least `level`, by Bonferroni. The noise is taken as normal, so
        all of this holds nearly; with few reports the coverage swings about the level.

        Examples
        --------
        >>> est = Estimate(np.array([0.5, 0.0]), np.zeros(2), n=100, noise=0.01)
        >>> low, high = est.confidence_interval(0.95)
        >>> low.round(3), high.round(3)
        (array([0.304, 0.   ]), array([0.696, 0.196]))

        References
        ----------
        Wilson. *Probable inference, the law of succession, and statistical inference.* Journal of
        the American Statistical Association, 1927.
        """
        require(0 < level < 1, self, "level must be between 0 and 1", level)
        alpha = (1 - level) / (self.d if simultaneous else 1)
        z = -NormalDist().inv_cdf(alpha / 2)
        centre = self.frequencies + z**2 * self.slope / 2
        half = z * np.sqrt(self.variance + (z * self.slope / 2) ** 2)
        return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


@dataclass(frozen=True, eq=False)  # compare digests: arrays have no single answer to ==
class Dataset:
    """What the users hold: how many hold each of the `d` values, and what the values are called.

    Parameters
    ----------
    name
        What tables call it.
    histogram
        Number of users per value, shape `(d,)`.
    labels
        One text per value.
    positions
        Where the values lie on a line, if they are numbers; for the earth mover's distance.
    values
        The users' codes in `[0, d)`, in the order of the file, if they were kept.
    notes
        What the loader did and a person should know, one sentence each.
    """

    name: str
    histogram: IntArray
    labels: Sequence[str]
    positions: FloatArray | None = None
    values: NDArray[np.integer[Any]] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        h = self.histogram
        if h.ndim != 1 or len(h) < 2:
            raise InvalidData(f"{self.name}: at least two different values are needed.")
        if not np.issubdtype(h.dtype, np.integer) or h.min() < 0 or h.sum() < 1:
            raise InvalidData(f"{self.name}: a histogram holds numbers of users, at least one.")
        if len(self.labels) != len(h):
            raise InvalidData(f"{self.name}: {len(h)} values but {len(self.labels)} labels.")
        if self.positions is not None and self.positions.shape != h.shape:
            raise InvalidData(f"{self.name}: {len(h)} values but {len(self.positions)} positions.")

    @property
    def d(self) -> int:
        """Size of the domain."""
        return len(self.histogram)

    @cached_property
    def n(self) -> int:
        """Number of users."""
        return int(self.histogram.sum())

    @cached_property
    def frequencies(self) -> FloatArray:
        """The truth that metrics compare with."""
        return self.histogram / self.n

    @cached_property
    def digest(self) -> str:
        """SHA-256 of histogram, labels and positions: what the data *is*, whatever its name."""
        content = sha256(self.histogram.astype("<i8").tobytes())
        for label in self.labels:
            content.update(f"{len(label)}:{label}".encode())
        if self.positions is not None:
            content.update(self.positions.astype("<f8").tobytes())
        return content.hexdigest()

    def scaled(self, population: int) -> "Dataset":
        """The same distribution for `population` users, by largest remainders."""
        if population < 1:
            raise InvalidParameter(f"population must be at least 1, got {population!r}.")
        counts = apportion(self.histogram, population)
        return Dataset(self.name, counts, self.labels, self.positions, notes=self.notes)


def apportion(weights: NDArray[Any], seats: int) -> IntArray:
    """Whole numbers that sum to `seats`, in proportion to `weights`, by largest remainders.

    Equal remainders go to the lower index.

    >>> apportion(np.array([3, 2, 2]), 9)
    array([4, 3, 2])
    """
    if np.issubdtype(weights.dtype, np.integer):  # exact, whatever the size
        total = int(weights.sum())
        shares = [divmod(int(w) * seats, total) for w in weights]
        floors = np.array([whole for whole, _ in shares], dtype=np.int64)
        remainders = np.array([rest / total for _, rest in shares])
    else:
        exact = weights / weights.sum() * seats
        floors = np.floor(exact).astype(np.int64)
        remainders = exact - floors
    order = np.argsort(-remainders, kind="stable")
    floors[order[: seats - int(floors.sum())]] += 1
    return floors


def as_distribution(weights: FloatArray) -> FloatArray:
    """Negatives to 0, the rest rescaled to sum to one; uniform if nothing is left.

    >>> as_distribution(np.array([3.0, -1.0, 1.0]))
    array([0.75, 0.  , 0.25])
    """
    positive = np.maximum(weights, 0)
    top = positive.max()
    if top == 0:
        return np.full(len(weights), 1 / len(weights))
    positive /= top  # or the sum of very small or very large weights would leave the floats
    return positive / positive.sum()
