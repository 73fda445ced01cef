r"""What is known of the error of an estimate, besides that its mean is zero.

A support count is a sum of two binomials, whose tails are in `tails`.

Of other sums of independent terms, Bernstein's inequality is known for every n: where one user's
term lies at most $b$ above its mean, and $V$ is the variance of the sum,

$$P(S - \mathrm{E} S > \sqrt{2 V λ} + b λ / 3) \le e^{-λ}.$$

Where what reports add has a known law for each value, Chernoff's bound is nearer (`sure_of`).

References
----------
Boucheron, Lugosi, Massart. *Concentration inequalities.* 2013, §2.2 (Chernoff), Theorem 2.10
(Bernstein).
"""

from dataclasses import dataclass
from math import log
from statistics import NormalDist
from typing import Protocol, Self, runtime_checkable

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Total
from ldp3.errors import InvalidData, as_floats
from ldp3.tails import at_least, at_least_p, at_most, fewest, most

COUNTS = 128  # different ones whose limits are computed; those of more follow from these


class Channel(Protocol):
    """Probability of each report given each value, as a matrix that nobody writes down.

    Frequencies and weights may come several at once, a row each, and so do the answers.
    """

    def forward(self, frequencies: FloatArray) -> FloatArray:
        """The distribution of reports, if these are the frequencies."""

    def backward(self, weights: FloatArray) -> FloatArray:
        """For each value, the mean of the reports' weights under its own reports."""

    def counts(self, total: Total) -> IntArray:
        """How often each report was sent: by default what the tally holds."""
        return total


@runtime_checkable
class LinearChannel(Channel, Protocol):
    """One that also says what a report adds to an unbiased estimate."""

    def scores(self, weights: FloatArray) -> FloatArray:
        """What each report adds to the unbiased estimate of a weighted sum of frequencies.

        So that `backward` of the scores gives the weights.
        """


@dataclass(frozen=True)
class Support:
    """How the reports of a pure oracle support values.

    Parameters
    ----------
    p, q
        Probability that a report supports the user's own value, and any other one.
    size
        How many values each report supports, where that number is fixed (1 for GRR, k for SS).
    both
        Probability that it supports two given values, if one of them is the own and if none is;
        where these are all there is to know.
    """

    p: float
    q: float
    size: int | None = None
    both: tuple[float, float] | None = None


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

    @property
    def steps(self) -> tuple[FloatArray, FloatArray]:
        """At most so far one report takes an estimate below and above its mean; 0 if not known."""
        return np.zeros(1), np.zeros(1)

    @property
    def guaranteed(self) -> bool:
        """Whether intervals hold for every n, and not only nearly, for many reports."""
        return bool(np.all(np.maximum(*self.steps) > 0))

    @property
    def correlated(self) -> bool:
        """Whether errors of different values hang together too much to be taken alone."""
        return False

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates, if these are the frequencies."""
        return np.maximum(self.base + frequencies * self.slope, 0)

    def of_query(self, weights: FloatArray, frequencies: FloatArray) -> float | None:
        """Variance of the weighted sum of the estimates, if these are the frequencies.

        None where it is not known how the errors of different values hang together.
        """
        found = self.of_queries(weights[None], frequencies)
        return None if found is None else float(found[0])

    def of_queries(
        self,
        rows: FloatArray,  # noqa: ARG002
        frequencies: FloatArray,  # noqa: ARG002
    ) -> FloatArray | None:
        """The same of several sums, a row of weights each.

        Estimates may stand for the frequencies, for they enter linearly. But estimates of few
        reports lie far outside of what frequencies can be, and a variance far below: it is never
        less than if all people held one value, the one for which it is least.
        """
        return None

    def surely(
        self,
        weights: FloatArray,  # noqa: ARG002
        alpha: float,  # noqa: ARG002
    ) -> tuple[float, float] | None:
        """At most so far below and above its mean the estimate of a weighted sum is.

        But for a probability of `alpha`, for every number of reports and whoever holds what; None
        where nothing is known.
        """
        return None

    def most_variance(self, frequencies: FloatArray, alpha: float) -> FloatArray:
        """What the variance exceeds with probability `alpha` at the most, given the estimates."""
        return np.maximum(*map(self.variance, self.interval(frequencies, 1 - alpha)))

    def interval(self, frequencies: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of the score interval for each frequency, each with this level.

        The frequencies $f$ that lie within $z$ of *their* standard deviations of the estimate. The
        noise is taken as normal, so this holds nearly: less the fewer the reports, the more the
        values and the larger ε.

        References
        ----------
        Wilson. *Probable inference, the law of succession, and statistical inference.* Journal of
        the American Statistical Association, 1927.
        """
        z = -NormalDist().inv_cdf((1 - level) / 2)
        return _score(frequencies, z, self.variance(frequencies), self.slope)

    def farthest(self, frequencies: FloatArray, level: float) -> float:
        r"""How far off the farthest estimate is at most, with probability `level` or more.

        If these are the frequencies: the $b$ where the probabilities of being off by more than $b$
        add up to $1 - \mathrm{level}$ over the values.
        """
        high = float(np.sqrt(self.variance(frequencies).max()))
        while self._missed(frequencies, high) > 1 - level:
            high *= 2
        low = 0.0
        while high - low > 1e-5 * high:
            middle = (low + high) / 2
            missed = self._missed(frequencies, middle) > 1 - level
            low, high = (middle, high) if missed else (low, middle)
        return high

    def _missed(self, frequencies: FloatArray, bound: float) -> float:
        """How many estimates are off by more, in the mean."""
        from scipy.special import ndtr  # no client asks

        variances = np.broadcast_to(self.variance(frequencies), frequencies.shape)
        return float(2 * ndtr(-bound / np.sqrt(np.maximum(variances, 1e-300))).sum())


def _score(
    frequencies: FloatArray, z: float, variance: FloatArray, slope: float | FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""The roots of $(\hat f - f)^2 = z^2 (\mathrm{variance} + (f - \hat f)\,s)$."""
    centre = frequencies + z**2 * slope / 2
    half = z * np.sqrt(np.maximum(variance, 0) + (z * slope / 2) ** 2)
    return centre - half, centre + half


@dataclass(frozen=True, eq=False)
class BoundedNoise(Noise):
    """The noise of a sum of bounded terms, one for each user, whose variances are known.

    Parameters
    ----------
    below, above
        At most so far one report takes an estimate below and above its mean.
    """

    below: float | FloatArray = 0.0
    above: float | FloatArray = 0.0

    @property
    def steps(self) -> tuple[FloatArray, FloatArray]:
        return np.asarray(self.below), np.asarray(self.above)

    def worst(self, alpha: float, d: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Variance of a value that nobody holds, and its slope, whatever the others hold.

        At least with probability 1 - `alpha`, where reports tell what others hold.
        """
        return np.asarray(self.base), np.asarray(self.slope)

    def most_variance(self, frequencies: FloatArray, alpha: float) -> FloatArray:
        base, slope = self.worst(alpha / 2, len(frequencies))
        low, high = self.interval(frequencies, 1 - alpha / 2)
        return np.maximum(base + slope * np.clip(np.where(slope > 0, high, low), 0, 1), 0)

    def interval(self, frequencies: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends (low, high) of an interval for each frequency, by Bernstein's inequality.

        It holds with probability `level` or more, whatever n, d and ε and whatever others hold.
        """
        unknown = (1 - level) / 20  # of what others hold
        base, slope = self.worst(unknown, len(frequencies))
        rare = log(2 / (1 - level - unknown))
        down, up = frequencies - self.above * rare / 3, frequencies + self.below * rare / 3
        z = (2 * rare) ** 0.5
        return (
            _score(down, z, base + slope * down, slope)[0],
            _score(up, z, base + slope * up, slope)[1],
        )

    def _missed(self, frequencies: FloatArray, bound: float) -> float:
        variance = self.variance(frequencies)
        over, under = (variance + step * bound / 3 for step in self.steps)
        off = np.exp(-(bound**2) / 2 / over) + np.exp(-(bound**2) / 2 / under)
        return float(np.broadcast_to(off, frequencies.shape).sum())


@dataclass(frozen=True, eq=False)
class PureNoise(Noise):
    r"""The noise of a pure oracle, from the law of its support counts.

    $$\mathrm{base} = \frac{q(1-q)}{n(p-q)^2}, \qquad s = \frac{1-p-q}{n(p-q)}.$$
    """

    support: Support = Support(1.0, 0.0)
    n: int = 1
    channel: LinearChannel | None = None

    @classmethod
    def of(cls, support: Support, n: int, channel: LinearChannel | None = None) -> Self:
        """The noise of `n` reports.

        >>> PureNoise.of(Support(p=0.5, q=0.25), n=300).floor
        0.01
        """
        p, q = support.p, support.q
        base, slope = q * (1 - q) / (n * (p - q) ** 2), (1 - p - q) / (n * (p - q))
        return cls(base, slope, support, n, channel)

    def of_queries(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray | None:
        r"""From the channel, or from how often two values are supported together.

        With $s_{uv}$ of that for one report, the covariance is linear in $f_u + f_v$, so that its
        double sum is one of single sums:

        $$\mathrm{Cov} = \frac{s_{uv} - q^2 - q(p-q)(f_u + f_v)}{n(p-q)^2}.$$
        """
        if self.channel is not None:
            shares = self.channel.forward(frequencies)
            return of_channel(self.channel, rows, frequencies, shares) / self.n
        if self.support.both is None:
            return None
        p, q, (own, other) = self.support.p, self.support.q, self.support.both
        scale = self.n * (p - q) ** 2
        even, tilt = (other - q**2) / scale, 2 * (own - other - q * (p - q)) / scale
        total, square = rows.sum(axis=1), rows**2
        nobody = (self.base - even) * square.sum(axis=1) + even * total**2
        held = (self.slope - tilt) * square + tilt * total[:, None] * rows
        return np.maximum(nobody + np.maximum(held @ frequencies, held.min(axis=1)), 0)

    def surely(self, weights: FloatArray, alpha: float) -> tuple[float, float] | None:
        return None if self.channel is None else sure_of(self.channel, weights, self.n, alpha)

    @property
    def steps(self) -> tuple[FloatArray, FloatArray]:
        scale = self.n * (self.support.p - self.support.q)
        return np.asarray(self.support.p / scale), np.asarray((1 - self.support.q) / scale)

    def below_zero(self, frequencies: FloatArray) -> FloatArray:
        """How likely honest reports support a value so rarely, for each, whoever holds what.

        Even a value that nobody holds is supported by a binomial number of them, any other one
        more often. Over all d values, the least of these is to be taken d times.
        """
        counts = np.floor(self._counts(frequencies) + self._slack)
        return at_least_p(self.n - np.clip(counts, 0, self.n), self.n, 1 - self.support.q)

    @property
    def _slack(self) -> float:
        """Counts are whole, but for rounding."""
        return 1e-6 + 1e-12 * self.n

    def _counts(self, frequencies: FloatArray) -> FloatArray:
        return self.n * (self.support.q + frequencies * (self.support.p - self.support.q))

    def interval(self, frequencies: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of Clopper and Pearson's interval for each frequency.

        All numbers of holders, of the n users who reported, under which neither tail of the
        count's own law is $(1 - \mathrm{level})/2$ or less. It holds with
        probability `level` or more, whatever n, d and ε.
        """
        counts, slack = self._counts(frequencies), self._slack
        ends = []
        for end, whole in enumerate((np.floor(counts + slack), np.ceil(counts - slack))):
            some, place = np.unique(np.clip(whole, 0, self.n), return_inverse=True)
            ends.append(self._limit(some, level, end)[place.reshape(-1)])
        return ends[0], ends[1]

    def _missed(self, frequencies: FloatArray, bound: float) -> float:
        p, q, n = self.support.p, self.support.q, self.n
        holders, times = np.unique(np.round(frequencies * n), return_counts=True)
        some = _spread(holders, n)  # of many, one stands for all up to the next
        times = np.add.reduceat(times, some)
        holders = holders[some if p + q > 1 else np.append(some[1:] - 1, len(holders) - 1)]
        mean, away = holders * p + (n - holders) * q, n * (p - q) * bound * (1 + 1e-12)
        over = at_least(np.floor(mean + away) + 1, holders, n, p, q)
        under = at_most(np.ceil(mean - away) - 1, holders, n, p, q)
        return float((times * (over + under)).sum())

    def _limit(self, counts: FloatArray, level: float, end: int) -> FloatArray:
        """The lower or the upper end for each of these counts, which ascend.

        Of many counts, some: between these, what sets their ends apart from those of the score
        interval changes little, so the larger of two such differences is taken, and one holder.
        """
        p, q, n = self.support.p, self.support.q, self.n
        score = np.clip(super().interval((counts / n - q) / (p - q), level)[end], 0, 1)
        chosen = _spread(counts, n)
        limit = most if end else fewest
        exact = limit(counts[chosen].astype(np.int64), n, p, q, (1 - level) / 2) / n
        apart, every = exact - score[chosen], np.arange(len(counts))
        after = np.searchsorted(chosen, every)
        between = chosen[after] != every
        sign = 1 if end else -1
        outer = sign * np.maximum(sign * apart[after - between], sign * apart[after])
        return np.clip(score + outer + sign * between / n, 0, 1)


def of_channel(
    channel: LinearChannel, rows: FloatArray, frequencies: FloatArray, shares: FloatArray
) -> FloatArray:
    """Variance of what one report adds to weighted sums, given what its user holds.

    The mean square of its score, less that of what the score is in the mean, which is the weight of
    the user's value; at least what it is for the value where it is least.
    """
    scores, square = channel.scores(rows) ** 2, rows**2
    least = (channel.backward(scores) - square).min(axis=1)
    return np.maximum(scores @ shares - square @ frequencies, np.maximum(least, 0))


def sure_of(
    channel: LinearChannel, weights: FloatArray, n: int, alpha: float
) -> tuple[float, float]:
    r"""How far below and above its mean a weighted sum of frequencies is estimated, at most.

    Reports add independent, bounded scores $s(Y)$ with the mean $w_v$ of their user's value. By
    Chernoff's bound, for every $t > 0$ and whoever holds what, the sum is off by more than

    $$\frac1t \Big(\max_v \log \mathrm{E}\big[e^{t (s(Y) - w_v)} \mid v\big]
      + \frac{\log(2/α)}{n}\Big)$$

    with a probability of α/2 at most, either way. The least of these is taken.
    """
    from scipy.optimize import minimize_scalar

    scores, rare = channel.scores(weights), log(2 / alpha) / n
    largest = float(np.abs(scores).max())

    def off(exponent: float, sign: int) -> float:
        t = float(np.exp(exponent))
        grown = channel.backward(np.expm1(sign * t * scores))
        return float((np.log1p(grown) - sign * t * weights).max() + rare) / t

    if largest == 0:
        return 0.0, 0.0
    ends = float(np.log(1e-8 / largest)), float(np.log(100 / largest))
    below, above = (float(minimize_scalar(off, bounds=ends, args=(sign,), method="bounded").fun)
                    for sign in (-1, 1))  # fmt: skip
    return below, above


def _spread(counts: FloatArray, n: int) -> IntArray:
    """Indices of all counts, or of some of many: the last, and one in every sixth of their σ."""
    if len(counts) <= COUNTS:
        return np.arange(len(counts))
    # on this scale every count has the same σ, that of a binomial count
    scale = 12 * np.sqrt(n) * np.arcsin(np.sqrt(counts / n))
    _, firsts = np.unique(np.floor(scale), return_index=True)
    return np.union1d(firsts, len(counts) - 1)
