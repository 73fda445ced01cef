"""Exact draws inside kernels: uniform, binomial and hypergeometric numbers, and sums of subsets.

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
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.kernels.numerics import exp_of, log_factorials
from ldp3.kernels.source import Key, WordSource, next_word, open_source, uniform

BINOMIAL_TIME = 10  # single users that are placed in the time of one binomial draw

_SINGLE = 16  # users who are placed one by one
# log n! minus Stirling's formula, where the series is not yet accurate
_STIRLING = np.array(
    [0.0] + [lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.5 * log(2 * pi) for n in range(1, 16)]
)


@njit
def below(word: np.uint64, size: np.uint64, source: WordSource) -> np.int64:
    """A uniform number below `size` ≤ 2³² from a word, or more if need be (Lemire 2019)."""
    low = np.uint64(0xFFFFFFFF)
    product = (word >> np.uint64(32)) * size
    if product & low < size:
        uneven = (low + np.uint64(1) - size) % size
        while product & low < uneven:
            product = (next_word(source) >> np.uint64(32)) * size
    return np.int64(product >> np.uint64(32))


@njit
def binomial(
    n: int,
    p: float,
    source: WordSource,
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
    source: WordSource,
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


@njit
def scatter(
    users: int,
    places: NDArray[np.uint32],
    shift: int,
    counts: IntArray,
    source: WordSource,
) -> None:
    """Put users at places that are drawn uniformly, each moved back by `shift` around the ring.

    One by one or place by place, whichever is less work.
    """
    around, left = counts.size, places.size
    if users < BINOMIAL_TIME * left:
        for _ in range(users):
            place = np.int64(places[below(next_word(source), np.uint64(left), source)]) - shift
            counts[place if place >= 0 else place + around] += 1
        return
    for i in range(places.size):
        some = binomial(users, 1.0 / left, source)
        place = np.int64(places[i]) - shift
        counts[place if place >= 0 else place + around] += some
        users -= some
        left -= 1


@njit
def subset_counts(own: IntArray, blind: int, k: int, key: Key) -> IntArray:
    """How often each value is named by random subsets.

    `blind` users name `k` of all values; `own[v]` users name `k - 1` values other than `v`, and
    their own value is not counted. Cost does not grow with the number of people.

    The domain is halved again and again. Of the users of a block only the numbers matter: how many
    hold a uniform r-subset of it (`free`), and how many have their own value somewhere in it and a
    uniform r-subset of the rest (`tied`). How many of a user's r fall into the left half is
    hypergeometric, and which tied users have their own value there is so too.
    """
    d = own.size
    source = open_source(key)
    waiting = np.empty(_SINGLE)
    logs = log_factorials(d)
    before = np.zeros(d + 1, np.int64)
    for v in range(d):
        before[v + 1] = before[v] + own[v]
    # the block from `edge[i]` to `edge[i + 1]` keeps its class r at position edge[i] + i + r
    edges = np.array([0, d])
    free, tied = np.zeros(2 * d, np.int64), np.zeros(2 * d, np.int64)
    free[k], tied[k - 1] = blind, before[d]
    while edges.size <= d:
        finer = np.empty(2 * edges.size, np.int64)
        new_free, new_tied = np.zeros(2 * d, np.int64), np.zeros(2 * d, np.int64)
        count = 0
        for i in range(edges.size - 1):
            low, high = edges[i], edges[i + 1]
            m, classes, left = high - low, low + i, low + count
            finer[count] = low
            if m == 1:
                for r in range(2):
                    new_free[left + r], new_tied[left + r] = free[classes + r], tied[classes + r]
                count += 1
                continue
            a = m // 2
            right = low + a + count + 1
            finer[count + 1] = low + a
            count += 2
            users, own_left = before[high] - before[low], before[low + a] - before[low]
            for r in range(min(k, m) + 1):
                _split(free[classes + r], m, a, r, new_free[left:], new_free[right:], logs,
                       source, waiting)  # fmt: skip
                some = tied[classes + r]
                if some > 0:
                    lefts = hypergeometric(some, users - some, own_left, source)
                    users -= some
                    own_left -= lefts
                    _split(lefts, m - 1, a - 1, r, new_tied[left:], new_free[right:], logs,
                           source, waiting)  # fmt: skip
                    _split(some - lefts, m - 1, a, r, new_free[left:], new_tied[right:], logs,
                           source, waiting)  # fmt: skip
        finer[count] = d
        edges, free, tied = finer[: count + 1], new_free, new_tied
    counts = np.empty(d, np.int64)
    for v in range(d):
        counts[v] = free[2 * v + 1]
    return counts


@njit
def _split(
    users: int,
    m: int,
    a: int,
    r: int,
    left: IntArray,
    right: IntArray,
    logs: FloatArray,
    source: WordSource,
    waiting: FloatArray,
) -> None:
    # Each user holds r of m values, j of them among the first a: a multinomial over
    # hypergeometric cells, visited from the mode outwards until all users are placed: many by a
    # binomial draw per cell, the last few by a uniform draw each.
    if users == 0:
        return
    low, high = max(0, r - (m - a)), min(r, a)
    mode = min(max((r + 1) * (a + 1) // (m + 2), low), high)
    up, down = mode, mode - 1
    ways = logs[a] - logs[mode] - logs[a - mode]
    ways += logs[m - a] - logs[r - mode] - logs[m - a - r + mode]
    up_mass = exp_of(ways - logs[m] + logs[r] + logs[m - r])
    down_mass = up_mass * mode * (m - a - r + mode) / ((a - mode + 1.0) * (r - mode + 1.0))
    mass, few = 1.0, False
    while users > 0:
        if not few and users <= _SINGLE:
            few = True
            for i in range(users):
                waiting[i] = uniform(next_word(source)) * mass
        if down < low or (up <= high and up_mass >= down_mass):
            j, share = up, up_mass
            up += 1
            up_mass *= (a - j) * (r - j) / ((j + 1.0) * (m - a - r + j + 1.0))
        else:
            j, share = down, down_mass
            down -= 1
            down_mass *= j * (m - a - r + j) / ((a - j + 1.0) * (r - j + 1.0))
        if up > high and down < low:
            placed = users
        elif few:
            kept = 0
            for i in range(users):
                if waiting[i] >= share:
                    waiting[kept] = waiting[i] - share
                    kept += 1
            placed = users - kept
        else:
            placed = binomial(users, min(1.0, share / mass), source)
        mass = max(mass - share, 1e-300)
        left[j] += placed
        right[r - j] += placed
        users -= placed
