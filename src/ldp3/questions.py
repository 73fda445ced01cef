"""Questions about numbers: mean, quantiles, shares and the cumulated distribution.

All of them are weighted sums of unbiased frequencies, $\\sum_v w_v \\hat f_v$, whose variance the
noise of an estimate knows. The sum of all frequencies is one, so that a constant is taken off the
weights first, which leaves less noise. Where some value has no place on the line ("no answer"),
everything is among those who hold another one: one sum over another, with Fieller's interval.
Intervals are by the normal law, which is right for many
reports, or, where that is asked for and a protocol knows it, guaranteed for every number of them;
they are for the people who reported.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property, partial
from math import inf, isfinite, sqrt
from statistics import NormalDist

import numpy as np

from ldp3.arrays import BoolArray, FloatArray
from ldp3.domain import Bins, Domain, Integers
from ldp3.errors import InvalidData, InvalidParameter, require, require_share
from ldp3.noise import Noise

CLOSE = 5e-6  # of itself: as many digits as are printed of an edge
Place = float | str | date  # a number, a date, or a text that spells one
NUMBERS = 2**16  # in the weights of several sums that are looked at together
PLACES = 1_024  # of a line at which its cumulated distribution is asked for, at the most


@dataclass(frozen=True, repr=False)
class Quantity:
    """A number that was estimated, and the ends of its interval.

    >>> Quantity(37.414, 36.92, 37.91)
    37.41 (36.92 to 37.91)
    """

    value: float
    low: float
    high: float
    std: float | None = None  # of the value, where it is a weighted sum
    said: Callable[[float], str] = field(default="{:.4g}".format, compare=False)

    def __repr__(self) -> str:
        value, low, high = map(self.said, (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


@dataclass(frozen=True, eq=False)
class Distribution:
    """The share of people up to each of several places, with pointwise intervals.

    Parameters
    ----------
    places
        Rising; the share is of those at most there, of bins: below the end of one.
    shares, low, high
        Estimates, which need not rise, and the ends of an interval for each.
    """

    places: FloatArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Questions:
    """What can be asked of unbiased frequencies over values that lie on a line.

    Parameters
    ----------
    frequencies, noise
        The estimates, and what is known of their error.
    domain
        What the values are; without one they are the codes 0, 1, 2, …
    guaranteed
        Whether intervals are to hold for every number of reports.
    """

    frequencies: FloatArray
    noise: Noise
    domain: Domain | None
    guaranteed: bool = False

    def __post_init__(self) -> None:
        if self.domain is not None and not self.domain.ordered:
            raise InvalidData(
                f"A mean, a quantile or a share goes by an order, {self.domain.without_order}."
            )

    def mean(self, level: float) -> Quantity:
        """The mean of the values, of bins: of their middles."""
        if self.domain is not None and self.line.line is None:
            raise InvalidData(
                f"A mean needs numbers, and {self.line.form} have an order but no place on a "
                f"line: ask for a quantile."
            )
        line = self._middles
        ends = float(line.min()), float(line.max())
        value, low, high, std = self._sums(line[None], level, *ends)[:, 0].tolist()
        return Quantity(value, low, high, std, self._said)

    def share(
        self,
        above: Place | None,
        below: Place | None,
        between: tuple[Place, Place] | None,
        level: float,
    ) -> Quantity:
        """The share of people from `above` on, or below `below`, or from one up to another."""
        chosen = self.chosen(above, below, between).astype(np.float64)
        return Quantity(*self._sums(chosen[None], level)[:, 0].tolist())

    def chosen(
        self, above: Place | None, below: Place | None, between: tuple[Place, Place] | None
    ) -> BoolArray:
        """Which values lie from `above` on, or below `below`, or from one up to another.

        Some do and some do not: of all and of none the share needs no collection.
        """
        if sum(given is not None for given in (above, below, between)) != 1:
            raise InvalidParameter("A share needs one of `above`, `below` and `between`.")
        low, high = above, below
        if between is not None:
            two = isinstance(between, tuple | list) and len(between) == 2
            require(two, "A share", "between two places takes both, as in (18, 65)", between)
            low, high = between
        start = -inf if low is None else self.line.point(low)
        end = inf if high is None else self.line.point(high)
        if not start < end:
            raise InvalidParameter(
                f"A share is of a range from a number to a larger one, got one "
                f"{range_said(self.line, low, high)}."
            )
        chosen = self._from(start) & ~self._from(end)
        if chosen.all() or not chosen.any():
            which = "Every" if chosen.all() else "No"
            what = "bin" if isinstance(self.domain, Bins) else "value"
            ends = (self.line.said(float(place)) for place in (self._starts[0], self._ends[-1]))
            raise InvalidParameter(
                f"{which} {what} lies {range_said(self.line, low, high)}, so that nothing is to "
                f"be estimated: they go from {' to '.join(ends)}."
            )
        return chosen

    def cdf(self, level: float) -> Distribution:
        """The share of people up to each value; of very many, up to some."""
        every = np.unique(self._ends)
        places = every[:: -(-len(every) // PLACES)]
        places = places if places[-1] == every[-1] else np.append(places, every[-1])
        step = max(1, NUMBERS // len(self.frequencies))
        some = (places[start : start + step, None] for start in range(0, len(places), step))
        found = [self._sums((self._ends <= place).astype(np.float64), level) for place in some]
        shares, low, high, _ = np.concatenate(found, axis=1)
        return Distribution(places, shares, low, high)

    def quantile(self, q: float, level: float) -> Quantity:
        """Where a share q of the people lies below.

        The interval holds all places at which neither the share up to there is significantly below
        q, nor the share up to the place before it significantly above: two tests at one place, so
        that it holds at this level without a band over all places.
        """
        require_share("a quantile", q)
        known = self.cdf(level)
        starts = np.append(self._starts.min(), known.places[:-1])
        before = np.append(0.0, known.low[:-1])
        possible = np.flatnonzero((known.high >= q) & (before <= q))
        first, last = (possible[0], possible[-1]) if len(possible) else (0, len(starts) - 1)
        if isinstance(self.domain, Bins):
            low, value = starts[first], place_of(known.places, known.shares, q, starts)
        else:
            low, value = known.places[first], place_of(known.places, known.shares, q)
        high = known.places[last]
        value = np.clip(value, low, high)
        return Quantity(float(value), float(low), float(high), said=self._said)

    def _sums(
        self, rows: FloatArray, level: float, least: float = 0.0, most: float = 1.0
    ) -> FloatArray:
        """Of weighted sums, a row of weights each: values, ends of intervals, deviations.

        The sums lie between `least` and `most`. An estimate beyond has the interval of the end that
        it is beyond, for what is left of its own might be nothing, as if it were certain.
        """
        require_share("level", level)
        if rows.shape[1] < len(self.frequencies):
            found = np.array([self._ratio(row, level) for row in rows]).T
            found[1:3] = np.clip(found[1:3], least, most)
            return found
        usual = rows.mean(axis=1)
        apart = rows - usual[:, None]
        values, std = usual + apart @ self.frequencies, np.sqrt(self._variances(apart))
        below = above = -NormalDist().inv_cdf((1 - level) / 2) * std
        if self.guaranteed:
            sure = [self.noise.surely(row, 1 - level) for row in apart]
            if None in sure:
                raise InvalidData(
                    "A guaranteed interval of a mean, a quantile or a share needs a protocol that "
                    "says how likely each report is, such as sw, grr or pgr."
                )
            below, above = np.array(sure).T
        low, high = np.minimum(values, most) - above, np.maximum(values, least) + below
        return np.array([values, *np.clip((low, high), least, most), std])

    def _ratio(self, weights: FloatArray, level: float) -> tuple[float, float, float, float]:
        """The mean of weights among those who have a place on the line."""
        if self.guaranteed:
            raise InvalidData(
                "Among those who answered, an interval is not guaranteed: leave `guaranteed` out."
            )
        start, width = float(weights.min()), float(np.ptp(weights))
        if width == 0:  # all of those who have one
            return start, start, start, 0.0
        part, whole = np.append((weights - start) / width, 0), np.append(np.ones_like(weights), 0)
        v, w, both = self._variances(np.array([part, whole, part + whole])).tolist()
        spread = np.array([[v, (both - v - w) / 2], [(both - v - w) / 2, w]])
        z = NormalDist().inv_cdf((1 + level) / 2)
        inside, there = float(part @ self.frequencies), float(whole @ self.frequencies)
        if there <= z * sqrt(w):
            raise InvalidData("Too few people to tell: it may be that nobody gave an answer.")
        value, ends = inside / there, fieller(inside, there, spread, z)
        std = sqrt(max(v - 2 * value * spread[0, 1] + value**2 * w, 0.0)) / there
        value, low, high = (start + width * one for one in (value, *ends))
        return value, low, high, width * std

    def _variances(self, rows: FloatArray) -> FloatArray:
        variances = self.noise.of_queries(rows, self.frequencies)
        if variances is None:
            raise InvalidData(
                "A mean, a quantile or a share needs a protocol that says how the errors of "
                "different values hang together, such as sw, grr, oue, olh, ss or pgr."
            )
        return variances

    @cached_property
    def line(self) -> Domain:
        """What the values are that have a place on the line; codes are whole numbers."""
        known = self.domain
        return Integers(len(self.frequencies)) if known is None else replace(known, other=None)

    @property
    def _said(self) -> Callable[[float], str]:
        return partial(self.line.said, number="{:.4g}".format)

    @cached_property
    def _middles(self) -> FloatArray:
        line = self.line.line
        return np.arange(self.line.d, dtype=np.float64) if line is None else line

    @property
    def _starts(self) -> FloatArray:
        return np.array(self.domain.edges[:-1]) if isinstance(self.domain, Bins) else self._middles

    @cached_property
    def _ends(self) -> FloatArray:
        return np.array(self.domain.edges[1:]) if isinstance(self.domain, Bins) else self._middles

    def _from(self, place: float) -> BoolArray:
        """Which values are there or beyond; a bin only if it begins there, not inside of it."""
        edges = np.unique(np.append(self._starts, self._ends))
        nearest = float(edges[np.argmin(np.abs(edges - place))]) if isfinite(place) else place
        if abs(nearest - place) <= min(CLOSE * abs(place), np.diff(edges).min() / 100):
            place = nearest  # people copy what was printed
        inside = (self._starts < place) & (place < self._ends)
        if isinstance(self.domain, Bins) and inside.any():
            found = (float(ends[inside][0]) for ends in (self._starts, self._ends))
            ends = [end for end in found if isfinite(end)]
            raise InvalidParameter(
                f"{self.line.said(place)} lies inside a bin, and a share is known at the edges of "
                f"bins only: take {' or '.join(map(self.line.said, ends))}."
            )
        return self._starts >= place


def range_said(domain: Domain, low: Place | None, high: Place | None) -> str:
    """Which people lie there, in words.

    >>> range_said(Integers(90), 18, None), range_said(Integers(90), "18", 65)
    ('from 18 on', 'from 18 to 65')
    """
    start, end = ("" if at is None else domain.said(domain.point(at)) for at in (low, high))
    if not end:
        return f"from {start} on"
    return f"from {start} to {end}" if start else f"below {end}"


def place_of(
    places: FloatArray, shares: FloatArray, q: float, starts: FloatArray | None = None
) -> float:
    """The first place up to which a share q lies; between `starts` and places, in proportion.

    Shares that fall are made to rise by isotonic regression: the largest so far is where noise was
    large.

    >>> place_of(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.6, 1.0]), 0.5)
    2.0
    >>> place_of(np.array([1.0, 2.0]), np.array([0.5, 1.0]), 0.75, np.array([0.0, 1.0]))
    1.5
    """
    if (shares[1:] < shares[:-1]).any():
        from scipy.optimize import isotonic_regression

        shares = isotonic_regression(shares).x
    i = min(int(np.searchsorted(shares, q)), len(places) - 1)
    if starts is None or not np.isfinite(places[i] - starts[i]):
        return float(places[i])
    before = float(shares[i - 1]) if i else 0.0
    part = (q - before) / max(float(shares[i]) - before, 1e-300)
    return float(starts[i] + min(max(part, 0.0), 1.0) * (places[i] - starts[i]))


def fieller(part: float, whole: float, spread: FloatArray, z: float) -> tuple[float, float]:
    """Ends, within [0, 1], of the shares θ where part - θ whole is within z deviations of 0.

    >>> fieller(0.2, 0.5, np.diag([1e-4, 1e-4]), 1.96)
    (0.35..., 0.44...)
    """
    a = whole**2 - z**2 * spread[1, 1]
    b = part * whole - z**2 * spread[0, 1]
    c = part**2 - z**2 * spread[0, 0]
    inside = b * b - a * c
    if a > 0 and inside >= 0:
        root = inside**0.5
        ends = np.clip([(b - root) / a, (b + root) / a], 0.0, 1.0)
        return float(ends[0]), float(ends[1])
    if a > 0:  # rounding: a single point
        return (float(np.clip(b / a, 0, 1)),) * 2
    # outside two roots, or everywhere: what of [0, 1] fits
    grid = np.linspace(0, 1, 1001)
    fits = grid[a * grid**2 - 2 * b * grid + c <= 0]
    return (float(fits[0]), float(fits[-1])) if len(fits) else (0.0, 1.0)
