"""Exact draws of counts inside kernels: binomial and hypergeometric.

NumPy's samplers cannot be called from a kernel, and its hypergeometric one stops at 10⁹. Here one
accurate log-probability (Loader's saddle-point form) serves both samplers up to 10¹².

References
----------
Hörmann. *The generation of binomial random variates.* J. Stat. Comput. Simul. 46, 1993 (BTRS).
Stadlober. *The ratio of uniforms approach for generating discrete random variates.* J. Comput.
Appl. Math. 31, 1990 (HRUA). Loader. *Fast and accurate computation of binomial probabilities.*
Bell Labs technical report, 2000.
"""

from math import lgamma, log, pi

import numpy as np

from ldp3.kernels.compile import njit
from ldp3.kernels.source import Source, next_word, uniform

# log n! minus Stirling's formula, where the series is not yet accurate
_STIRLING = np.array(
    [0.0] + [lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.5 * log(2 * pi) for n in range(1, 16)]
)


@njit
def binomial(
    n: int,
    p: float,
    source: Source,
) -> int:
    """Successes in `n` trials."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - binomial(n, 1.0 - p, source)
    if n * p < 10.0:  # inversion
        odds = p / (1.0 - p)
        nothing = np.exp(n * np.log1p(-p))
        while True:
            u, mass, k = uniform(next_word(source)), nothing, 0
            while u > mass and k <= min(n, 200):
                u -= mass
                k += 1
                mass *= odds * (n - k + 1) / k
            if k <= min(n, 200):  # else rounding ate the tail: draw again
                return k
    spread = np.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, squeeze = n * p + 0.5, 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    while True:
        v = uniform(next_word(source))
        u = uniform(next_word(source)) - 0.5
        edge = 0.5 - abs(u)
        k = np.floor((2.0 * a / edge + b) * u + centre)
        if edge >= 0.07 and v <= squeeze:  # nearly always
            return int(k)
        if 0 <= k <= n:
            gain = log_binomial(k, n, p) - log_binomial(np.floor((n + 1) * p), n, p)
            if np.log(v * alpha / (a / (edge * edge) + b)) <= gain:
                return int(k)


@njit
def hypergeometric(
    good: int,
    bad: int,
    draws: int,
    source: Source,
) -> int:
    """Good ones among `draws` without replacement."""
    total = good + bad
    few, small = min(draws, total - draws), min(good, bad)  # by symmetry, the smaller ones
    if min(few, small) <= 10:  # one by one
        steps, wanted, left, k = min(few, small), max(few, small), total, 0
        for _ in range(steps):
            if uniform(next_word(source)) * left < wanted:
                wanted -= 1
                k += 1
            left -= 1
    else:
        share = small / total
        variance = (total - few) * (few * share * (1.0 - share)) / (total - 1.0)
        centre, scale = few * share + 0.5, np.sqrt(variance + 0.5)
        height = 1.7155277699214135 * scale + 0.8989161620588988
        mode = np.floor((few + 1.0) * (small + 1.0) / (total + 2.0))
        top = log_hypergeometric(mode, small, total - small, few)
        end = min(min(few, small) + 1.0, np.floor(centre + 16.0 * scale))
        while True:
            u = uniform(next_word(source))
            v = uniform(next_word(source))
            x = centre + height * (v - 0.5) / u
            if x < 0.0 or x >= end:
                continue
            gain = log_hypergeometric(np.floor(x), small, total - small, few) - top
            if u * (4.0 - u) - 3.0 <= gain or 2.0 * np.log(u) <= gain:
                k = int(np.floor(x))
                break
    if few < draws:  # what is left behind, rather than what is drawn
        k = small - k
    return draws - k if good > bad else k


@njit
def log_hypergeometric(k: float, good: float, bad: float, draws: float) -> float:
    """Log-probability of `k` good ones among `draws`, as a ratio of three binomial ones."""
    p = draws / (good + bad)
    if p >= 1.0:
        return 0.0
    both = log_binomial(k, good, p) + log_binomial(draws - k, bad, p)
    return both - log_binomial(draws, good + bad, p)


@njit
def log_binomial(k: float, n: float, p: float) -> float:
    """Log-probability of `k` successes in `n` trials, to full precision for any n."""
    if k == 0.0:
        return n * np.log1p(-p)
    if k == n:
        return n * np.log(p)
    error = _stirling(n) - _stirling(k) - _stirling(n - k)
    deviance = _deviance(k, n * p) + _deviance(n - k, n * (1.0 - p))
    return error - deviance + 0.5 * np.log(n / (2.0 * np.pi * k * (n - k)))


@njit
def _stirling(n: float) -> float:
    if n < 16.0:
        return _STIRLING[int(n)]
    nn = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / nn) / nn) / nn) / n


@njit
def _deviance(x: float, mean: float) -> float:
    # x log(x / mean) + mean - x without cancellation
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * np.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total, term, j = (x - mean) * v, 2.0 * x * v, 1
    while True:
        term *= v * v
        more = total + term / (2 * j + 1)
        if more == total:
            return more
        total = more
        j += 1
