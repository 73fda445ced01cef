r"""How likely a support count is, and which numbers of holders it leaves possible.

Where $K$ of $n$ users hold a value, a pure oracle's count of it is a sum of two binomials,

$$C \sim \mathrm{Bin}(K, p) + \mathrm{Bin}(n - K, q), \qquad
  \log \mathrm{E}\,e^{sC} = \kappa(s) = K \log(1 - p + p e^s) + (n - K) \log(1 - q + q e^s),$$

whatever the protocol, for users report independently. A tail of it is an integral along any line
$s = t + i\theta$ with $t > 0$, which the trapezoidal rule gives to seven digits with a few dozen
points where the line passes near the saddle point $\kappa'(t) = c$:

$$P(C \ge c) = \frac{1}{2\pi} \int_{-\pi}^{\pi} \frac{e^{\kappa(s) - sc}}{1 - e^{-s}}\,d\theta.$$

So tails are right where counts are far from normal: few reports, many values, large ε.

References
----------
Daniels. *Tail probability approximations.* International Statistical Review, 1987 (the integral).
Clopper, Pearson. *The use of confidence or fiducial limits illustrated in the case of the
binomial.* Biometrika, 1934 (limits from tails).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray

Counts = IntArray | FloatArray
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
