r"""Stochastic butterflies: random vectors, and their products with the users' own ones.

User after user would draw a vector $u$ and look at $\langle u, v \rangle$. Of the users only their
numbers matter who share the digits of $u$ drawn so far, the digits of $v$ still to come, and a sum.
Digit by digit, these groups are split at random, and those that have become alike are put together,
as in a fast Fourier transform. The cost does not grow with the number of users.
"""

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import binomial
from ldp3.kernels.source import Key, Source, open_source


@njit
def orthogonal(
    users: IntArray, add: IntArray, multiply: IntArray, zero: bool, key: Key
) -> IntArray:
    """How often each vector is drawn, if `users[v]` users draw a uniform one orthogonal to v.

    Vectors are numbers to the base q, whose digits add and multiply by tables; the vector 0 is
    among the drawn ones if `zero`. The sum is what the digits to come must add to the product.
    """
    q, rests, prefixes = len(add), users.size, 1
    source = open_source(key)
    minus = np.empty(q, np.int64)
    for z in range(q):
        minus[z] = np.argmax(add[z] == 0)
    weights, split = np.empty(q), np.empty(q, np.int64)
    groups = np.zeros((users.size, q), np.int64)  # by prefix of u and rest of v, and by sum
    for v in range(users.size):
        groups[v, 0] = users[v]
    while rests > 1:
        rests //= q
        after = np.zeros((users.size, q), np.int64)
        for prefix in range(prefixes):
            barred = prefix == 0 and not zero  # zeros so far, which must not go on to the end
            for digit in range(q):
                for rest in range(rests):
                    for owed in range(q):
                        some = groups[(prefix * q + digit) * rests + rest, owed]
                        if some == 0:
                            continue
                        # how many ways each next digit of u leaves, as a share of the most
                        for x in range(q):
                            weights[x] = rest != 0 or multiply[x, digit] == owed
                        if barred and owed == 0:
                            weights[0] -= 1.0 / (rests / q if rest != 0 else rests)
                        _split(some, weights, split, source)
                        for x in range(q):
                            left = add[owed, minus[multiply[x, digit]]]
                            after[(prefix * q + x) * rests + rest, left] += split[x]
        groups = after
        prefixes *= q
    return groups[:, 0].copy()


@njit
def _split(users: int, weights: FloatArray, split: IntArray, source: Source) -> None:
    """Users fall into cells in proportion to the weights."""
    total, last = 0.0, 0
    for x in range(weights.size):
        total += weights[x]
        if weights[x] > 0.0:
            last = x
    for x in range(weights.size):
        if x == last:  # all that are left, whatever rounding says
            split[x] = users
            users = 0
        elif weights[x] > 0.0 and users > 0:
            split[x] = binomial(users, min(1.0, weights[x] / total), source)
            users -= split[x]
            total -= weights[x]
        else:
            split[x] = 0


@njit
def products(users: IntArray, key: Key) -> IntArray:
    """How often each vector of bits other than 0 is drawn, by its product with the user's own.

    `users[v]` users with vector v draw a uniform one; shape `(vectors, 2)`.
    """
    rests, prefixes = users.size, 1
    source = open_source(key)
    groups = np.zeros((users.size, 2), np.int64)  # by prefix of u and rest of v, and by sum
    for v in range(users.size):
        groups[v, 0] = users[v]
    while rests > 1:
        # zeros so far: of 2^m - 1 vectors that are left, 2^(m-1) begin with a one
        rests //= 2
        after = np.zeros((users.size, 2), np.int64)
        for prefix in range(prefixes):
            share = rests / (2 * rests - 1.0) if prefix == 0 else 0.5
            for digit in range(2):
                for rest in range(rests):
                    for parity in range(2):
                        some = groups[(prefix * 2 + digit) * rests + rest, parity]
                        ones = binomial(some, share, source)
                        after[prefix * 2 * rests + rest, parity] += some - ones
                        after[(prefix * 2 + 1) * rests + rest, parity ^ digit] += ones
        groups = after
        prefixes *= 2
    return groups
