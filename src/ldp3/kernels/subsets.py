"""How often random subsets name each value, without drawing a single subset."""

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.kernels.elementary import exp_of, log_factorials
from ldp3.kernels.sampling import binomial, hypergeometric
from ldp3.kernels.source import Key, Source, next_word, open_source, uniform

_FEW = 16


@njit
def subset_counts(own: IntArray, blind: int, k: int, key: Key) -> IntArray:
    """How often each value is named by random subsets.

    `blind` users name `k` of all values; `own[v]` users name `k - 1` values other than `v`, and
    their own value is not counted. Cost does not grow with the number of users.

    The domain is halved again and again. Of the users of a block only the numbers matter: how many
    hold a uniform r-subset of it (`free`), and how many have their own value somewhere in it and a
    uniform r-subset of the rest (`tied`). How many of a user's r fall into the left half is
    hypergeometric, and which tied users have their own value there is so too.
    """
    d = own.size
    source = open_source(key)
    waiting = np.empty(_FEW)
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
    source: Source,
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
        if not few and users <= _FEW:
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
