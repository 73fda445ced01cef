"""The values that flow from one stage to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ldp3 import display
from ldp3.arrays import BoolArray, FloatArray, IntArray, Total
from ldp3.domain import Domain
from ldp3.errors import (
    InvalidData,
    as_floats,
    needing_full,
    require,
    require_share,
    settle_numbers,
    several,
    whole,
)
from ldp3.noise import Channel, Noise, PureNoise, Support
from ldp3.questions import PLACES, Distribution, Place, Quantity, Questions

if TYPE_CHECKING:
    import polars as pl


# Of a posterior, what a metric wants and a method answers. A share is the mean, scaled so that all
# sum to one; a root the square of the mean root, likewise.
Point = Literal["mean", "median", "share", "root"]


@dataclass(frozen=True, eq=False)
class Tally:
    """What a server has added up, and from how many reports. Tallies of batches add.

    Parameters
    ----------
    total
        Whatever adds up over reports: support counts, a histogram of reports, real vectors.
    n
        Number of reports in it.

    Examples
    --------
    >>> Tally(np.array([3, 1]), 4) + Tally(np.array([0, 2]), 2)
    Tally(total=array([3, 3]), n=6)
    """

    total: Total
    n: int

    def __post_init__(self) -> None:
        settle_numbers(self)
        require(whole(self.n, 0), self, "n must be an integer of at least 0", self.n)
        total = np.asarray(self.total)
        require(total.dtype.kind in "biufc", self, "total must be an array of numbers", self.total)
        object.__setattr__(self, "total", total)

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        if self.total.shape != other.total.shape:
            raise InvalidData(
                f"Tallies of one protocol, ε and domain add up, got totals of shape "
                f"{self.total.shape} and {other.total.shape}."
            )
        return Tally(self.total + other.total, self.n + other.n)

    def __radd__(self, other: object) -> "Tally":
        return self if other == 0 else NotImplemented  # so that `sum` works


class Oracle(Protocol):
    """What a post-processor may ask of a frequency oracle before it runs, or of an estimate."""

    @property
    def support(self) -> Support | None: ...
    @property
    def channel(self) -> Channel | None: ...
    @property
    def correlated(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a server knows after a collection; it holds no truth.

    Parameters
    ----------
    frequencies
        Unbiased estimates, shape `(d,)`; they may be negative and need not sum to one.
    tally
        What they come from.
    noise
        What is known of their error; a number stands for a constant variance, an array for one
        per value.
    channel
        Probability of each report given each value, where the tally is a histogram of reports and
        the oracle says it.
    domain
        What the values are, where that is known.
    """

    frequencies: FloatArray
    tally: Tally
    noise: Noise
    channel: Channel | None = None
    domain: Domain | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            object.__setattr__(self, "noise", Noise(self.noise))
        if self.domain is not None:
            fits = self.domain.d == self.d
            require(fits, self, f"a domain of {self.d} values is needed", self.domain.d)

    @classmethod
    def of(cls, frequencies: FloatArray, n: int, noise: Noise | Support | float) -> "Estimate":
        """An estimate without its tally, to try methods on; a `Support` says pure noise.

        >>> Estimate.of(np.array([0.5, 0.5]), n=300, noise=Support(p=0.5, q=0.25)).std
        array([0.10801234, 0.10801234])
        """
        (frequencies,) = as_floats(cls.__name__, frequencies=frequencies)
        require(frequencies.ndim == 1, cls.__name__, "frequencies are a list", frequencies)
        known = PureNoise.of(noise, n) if isinstance(noise, Support) else noise
        return cls(frequencies, Tally(np.zeros(0), n), known)  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.tally.n

    @property
    def reports(self) -> IntArray | None:
        """How often each report was sent, where there is a channel."""
        return None if self.channel is None else self.channel.counts(self.tally.total)

    @property
    def d(self) -> int:
        """Size of the domain."""
        return len(self.frequencies)

    @property
    def support(self) -> Support | None:
        """How reports support values, where the oracle is pure."""
        return self.noise.support

    @property
    def correlated(self) -> bool:
        """Whether errors of different values hang together too much to be taken alone."""
        return self.noise.correlated

    @cached_property
    def variance(self) -> FloatArray:
        r"""Variance of each estimate.

        The estimate stands for the frequency, which is unbiased, as the variance is linear in it.
        """
        return self.noise.variance(self.frequencies)

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of each estimate: the root of `variance`."""
        return np.sqrt(self.variance)

    def confidence_interval(
        self, level: float = 0.95, simultaneous: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of an interval for each frequency, within $[0, 1]$.

        For the frequency among the n users who reported, not in a wider population that they may
        be a sample of. With a pure oracle each interval holds with probability `level` or more,
        whatever n, d and ε (`PureNoise.interval`); with another one the noise is taken as normal
        (`Noise.interval`), which is right for many reports. A frequency lies in $[0, 1]$, so the
        ends are cut there, which takes no coverage away: an estimate far below zero gets
        $[0, 0]$. With `simultaneous` all $d$ intervals hold at once, by Bonferroni: each at the
        level $1 - (1 - \mathrm{level})/d$.

        Examples
        --------
        >>> est = Estimate.of(np.array([0.5, 0.0]), n=100, noise=0.01)
        >>> low, high = est.confidence_interval(0.95)
        >>> low.round(3), high.round(3)
        (array([0.304, 0.   ]), array([0.696, 0.196]))
        """
        require_share("level", level)
        alpha = (1 - level) / (self.d if simultaneous else 1)
        require(1 - alpha < 1, self, "level must be one that floats tell from 1", level)
        low, high = self.noise.interval(self.frequencies, 1 - alpha)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def mean(self, level: float = 0.95, guaranteed: bool = False) -> Quantity:
        """The mean of the values, unbiased, with its interval; of bins, that of their middles.

        Numbers that were clipped to a range have the mean of clipped numbers. The interval is by
        the normal law, which is right for many reports; if `guaranteed`, it holds with probability
        `level` or more for every number of reports, and is wider (by half, for `sw`).

        >>> from ldp3 import oracle, stream
        >>> sw = oracle("sw", epsilon=1.0, d=100)
        >>> histogram = np.bincount([30] * 60_000 + [50] * 40_000, minlength=100)
        >>> print(sw.estimate(sw.simulate(histogram, stream(0))).mean())
        38.49 (37.88 to 39.1)
        """
        return self._questions(guaranteed).mean(level)

    def quantile(self, q: float, level: float = 0.95, guaranteed: bool = False) -> Quantity:
        """Where a share q of the people lies below, with its interval: 0.5 is the median."""
        return self._questions(guaranteed).quantile(q, level)

    def share(
        self,
        *,
        above: Place | None = None,
        below: Place | None = None,
        between: tuple[Place, Place] | None = None,
        level: float = 0.95,
        guaranteed: bool = False,
    ) -> Quantity:
        """The share of people from `above` on, or below `below`, or from one up to another."""
        return self._questions(guaranteed).share(above, below, between, level)

    def cdf(self, level: float = 0.95, guaranteed: bool = False) -> Distribution:
        """The share of people up to each value, unbiased, with an interval for each."""
        return self._questions(guaranteed).cdf(level)

    def until(self, level: float = 0.95) -> Distribution | None:
        """The `cdf` with one place for each value, where there is one to show; for drawings."""
        in_line = self.domain is None or self.domain.in_line
        if self.d > PLACES or not in_line:
            return None
        if self.noise.of_query(np.ones(self.d), self.frequencies) is None:
            return None
        found = self.cdf(level)
        return found if len(found.places) == self.d else None

    def _questions(self, guaranteed: bool) -> Questions:
        return Questions(self.frequencies, self.noise, self.domain, guaranteed)

    def above_noise(self, level: float = 0.95) -> BoolArray:
        """Which values stand above the noise: somebody holds them.

        With probability `level` or more, all that are named do (by simultaneous intervals). One
        that is not named may be held by many, too: noise hides it.

        Examples
        --------
        >>> Estimate.of(np.array([0.5, 0.1]), n=100, noise=0.01).above_noise()
        array([ True, False])
        """
        require_share("level", level)
        if 1 - (1 - level) / self.d == 1:  # floats know no interval that is so sure
            return np.zeros(self.d, dtype=bool)
        return self.confidence_interval(level, simultaneous=True)[0] > 0

    def to_frame(
        self, labels: "Sequence[str] | None" = None, level: float = 0.95, simultaneous: bool = False
    ) -> "pl.DataFrame":
        """One row per value, in the order of the domain, as a Polars table.

        `label` (of the domain, or the code where none is known), `frequency`, its `std`, the ends
        `low` and `high` of its confidence interval, `users` (as unbiased as the frequency: it may
        be negative) and `above_noise`.

        Examples
        --------
        >>> est = Estimate.of(np.array([0.5, 0.1]), n=100, noise=0.01)
        >>> est.to_frame(["yes", "no"])["users"].to_list()
        [50, 10]
        """
        known = range(self.d) if self.domain is None else self.domain.labels
        names = known if labels is None else several(labels, "labels")
        require(len(names) == self.d, self, f"d={self.d} labels are needed", len(names))
        with needing_full("Estimate.to_frame"):
            import polars as pl
        low, high = self.confidence_interval(level, simultaneous)
        columns = {
            "label": [str(name) for name in names],
            "frequency": self.frequencies,
            "std": self.std,
            "low": low,
            "high": high,
            "users": np.rint(self.n * self.frequencies).astype(np.int64),
            "above_noise": self.above_noise(level),
        }
        return pl.DataFrame(columns)

    def _repr_html_(self) -> str:
        return display.of_estimate(self)
