r"""What is known of the error of an estimate, besides that its mean is zero.

The second half says how likely a support count is, and which numbers of holders it leaves possible.

Where $K$ of $n$ users hold a value, a pure oracle's count of it is a sum of two binomials,

$$C \sim \mathrm{Bin}(K, p) + \mathrm{Bin}(n - K, q), \qquad
  \log \mathrm{E}\,e^{sC} = \kappa(s) = K \log(1 - p + p e^s) + (n - K) \log(1 - q + q e^s),$$

whatever the protocol, for users report independently. A tail of it is an integral along any line
$s = t + i\theta$ with $t > 0$, which the trapezoidal rule gives to seven digits with a few dozen
points where the line passes near the saddle point $\kappa'(t) = c$:

$$P(C \ge c) = \frac{1}{2\pi} \int_{-\pi}^{\pi} \frac{e^{\kappa(s) - sc}}{1 - e^{-s}}\,d\theta.$$

So tails are right where counts are far from normal: few reports, many values, large ε.

Of other sums of independent terms, Bernstein's inequality is known for every n: where one user's
term lies at most $b$ above its mean, and $V$ is the variance of the sum,

$$P(S - \mathrm{E} S > \sqrt{2 V λ} + b λ / 3) \le e^{-λ}.$$

Where what reports add has a known law for each value, Chernoff's bound is nearer (`sure_of`).

References
----------
Boucheron, Lugosi, Massart. *Concentration inequalities.* 2013, §2.2 (Chernoff), Theorem 2.10
(Bernstein).
Daniels. *Tail probability approximations.* International Statistical Review, 1987 (the integral).
Clopper, Pearson. *The use of confidence or fiducial limits illustrated in the case of the
binomial.* Biometrika, 1934 (limits from tails).
"""

from dataclasses import dataclass
from math import log
from statistics import NormalDist
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Total
from ldp3.errors import InvalidData, as_floats

Counts = IntArray | FloatArray
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

    def of_query(
        self,
        weights: FloatArray,  # noqa: ARG002
        frequencies: FloatArray,  # noqa: ARG002
    ) -> float | None:
        """Variance of the weighted sum of the estimates, if these are the frequencies.

        None where it is not known how the errors of different values hang together.
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

    def of_query(self, weights: FloatArray, frequencies: FloatArray) -> float | None:
        r"""From the channel, or from how often two values are supported together.

        With $s_{uv}$ of that for one report, the covariance is linear in $f_u + f_v$, so that its
        double sum is one of single sums:

        $$\mathrm{Cov} = \frac{s_{uv} - q^2 - q(p-q)(f_u + f_v)}{n(p-q)^2}.$$
        """
        if self.channel is not None:
            shares = self.channel.forward(frequencies)
            return of_channel(self.channel, weights, frequencies, shares) / self.n
        if self.support.both is None:
            return None
        p, q, (own, other) = self.support.p, self.support.q, self.support.both
        even, tilt = other - q**2, own - other - q * (p - q)
        total, square, held = weights.sum(), weights**2, float(weights @ frequencies)
        apart = even * (total**2 - square.sum()) + 2 * tilt * (total * held - square @ frequencies)
        each = square @ (self.base + frequencies * self.slope)
        return max(float(each + apart / (self.n * (p - q) ** 2)), 0.0)

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
    channel: LinearChannel, weights: FloatArray, frequencies: FloatArray, shares: FloatArray
) -> float:
    """Variance of what one report adds to a weighted sum, given what its user holds.

    The mean square of its score, less that of what the score is in the mean, which is the weight of
    the user's value. Linear in the frequencies, so that unbiased ones may stand for them.
    """
    spread = shares @ channel.scores(weights) ** 2 - frequencies @ weights**2
    return max(float(spread), 0.0)


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


POINTS = 24  # of the integral, on one side of the real line
REACH = 8.0  # how far it goes out, in units of one over the standard deviation of the count
STEEPEST = 200.0  # largest |t|: there, the tail of a count of 0 or n is its probability


def at_least(counts: Counts, holders: Counts, n: int | IntArray, p: float, q: float) -> FloatArray:
    """Probability of at least so many supports, if so many of `n` users hold the value.

    >>> at_least(np.array([1]), np.array([1]), 2, p=0.5, q=0.25)
    array([0.625])
    """
    p, q = min(p, 1 - 2**-53), max(q, 1e-30)  # off 1 and 0, by less than anybody can tell
    k, c = np.asarray(holders, np.float64), np.asarray(counts, np.float64)
    far = c > k * p + (n - k) * q
    # on the near side of the mean, one less the other tail, which begins at the count before
    side, c = np.where(far, 1, -1), np.where(far, c, c - 1)
    inside = (c >= 0) & (c <= n)
    tail = np.clip(_integral(np.clip(c, 0, n), k, n, p, q, side), 0, 1) * inside
    return np.where(far, tail, 1 - tail)


def at_most(counts: Counts, holders: Counts, n: int | IntArray, p: float, q: float) -> FloatArray:
    """Probability of at most so many supports: of at least so many reports without it."""
    return at_least(n - counts, n - holders, n, 1 - q, 1 - p)


def fewest(counts: IntArray, n: int | IntArray, p: float, q: float, alpha: float) -> IntArray:
    r"""The fewest holders that leave $P(C \ge c)$ above `alpha`: Clopper and Pearson's limit.

    The true number is below with probability `alpha` at the most, for every n, p and q.
    """
    low, high = np.zeros(counts.shape, np.int64), np.full(counts.shape, n, np.int64)
    while (low < high).any():
        middle = low + (high - low) // 2
        enough = at_least(counts, middle, n, p, q) > alpha
        low, high = (
            np.where(enough, low, np.minimum(middle + 1, high)),
            np.where(enough, middle, high),
        )
    return low


def most(counts: IntArray, n: int | IntArray, p: float, q: float, alpha: float) -> IntArray:
    r"""The most holders that leave $P(C \le c)$ above `alpha`: `fewest` of those who do not hold.

    Who does not hold the value leaves it unsupported with probability $1 - q > 1 - p$.
    """
    return n - fewest(n - counts, n, 1 - q, 1 - p, alpha)


def _integral(
    c: FloatArray, k: FloatArray, n: int | IntArray, p: float, q: float, side: IntArray
) -> FloatArray:
    from scipy.special import log1p  # NumPy's rounds 1 + z first, which n people would notice

    saddle, spread = _saddle(c, k, n, p, q)
    t = side * np.clip(np.abs(saddle), np.minimum(1 / spread, 0.5), STEEPEST)
    step = np.minimum(np.pi, REACH / spread) / POINTS
    s = t[..., None] + 1j * step[..., None] * np.arange(POINTS + 1)
    rise = np.expm1(s)
    exponent = k[..., None] * log1p(p * rise) + (n - k)[..., None] * log1p(q * rise)
    value = np.exp(exponent - s * c[..., None]) / -np.expm1(-side[..., None] * s)
    value[..., [0, -1]] /= 2  # the other half of the line is the mirror image of this one
    return np.asarray(value.real.sum(axis=-1) * step / np.pi)


def _saddle(
    c: FloatArray, k: FloatArray, n: int | IntArray, p: float, q: float
) -> tuple[FloatArray, FloatArray]:
    """Where κ' is the count, and the standard deviation of the count tilted to there."""
    own, other = (1 - p) / p, (1 - q) / q
    # κ'(t) = k u/(own + u) + (n - k) u/(other + u) with u = exp(t): a quadratic in u
    a, half, product = n - c, (k * other + (n - k) * own - c * (own + other)) / 2, c * own * other
    root = np.sqrt(half**2 + a * product)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(half > 0, product / (half + root), (root - half) / a)
    u = np.clip(np.nan_to_num(u, nan=1.0), np.exp(-STEEPEST), np.exp(STEEPEST))
    first, second = u / (own + u), u / (other + u)
    variance = k * first * (1 - first) + (n - k) * second * (1 - second)
    return np.log(u), np.sqrt(np.maximum(variance, 1e-12))


def binomial_p(
    successes: NDArray[Any] | np.integer[Any] | int,
    trials: NDArray[Any] | int,
    p: float | FloatArray,
) -> FloatArray:
    """Exact two-sided p-values of counts that should be Binomial(trials, p)."""
    k, n = (np.asarray(x, dtype=np.float64) for x in (successes, trials))
    low, high = at_least_p(n - k, n, 1 - np.asarray(p)), at_least_p(k, n, p)
    return np.minimum(1.0, 2 * np.minimum(low, high))


def at_least_p(
    successes: NDArray[Any] | int, trials: NDArray[Any] | int, p: float | FloatArray
) -> FloatArray:
    """Exact p-values, against more: how likely Binomial(trials, p) is to reach these counts."""
    from scipy.special import betainc

    k, n = (np.asarray(x, dtype=np.float64) for x in (successes, trials))
    reached = betainc(np.maximum(k, 1), np.maximum(n - k, 0) + 1, p)
    return np.where(k > 0, np.where(k > n, 0.0, reached), 1.0)
