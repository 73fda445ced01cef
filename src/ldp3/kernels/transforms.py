r"""Histograms, their fast transforms in exact whole numbers, and stochastic butterflies.

A butterfly draws random vectors, and their products with the users' own ones. User after user would
draw a vector $u$ and look at $\langle u, v \rangle$. Of the users only their numbers matter who
share the digits of $u$ drawn so far, the digits of $v$ still to come, and a sum. Digit by digit,
these groups are split at random, and those that have become alike are put together, as in a fast
Fourier transform. The cost does not grow with the number of people.
"""

from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.errors import LDPError
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import binomial
from ldp3.kernels.source import Key, WordSource, open_source

_CACHED = 2**14  # numbers that fit into the first cache four times
_FEW = 2**21  # numbers that are always transformed at once
SAFE = 0.25  # rounding errors up to this cannot make one whole number another one


def histogram(numbers: NDArray[Any], size: int) -> IntArray:
    """How often each number below `size` occurs."""
    return _few(numbers, size).sum(axis=0) if size <= _CACHED else _many(numbers, size)


def places(numbers: NDArray[Any], size: int) -> list[IntArray]:
    """Where each number below `size` stands, in order.

    >>> [place.tolist() for place in places(np.array([2, 0, 2]), 3)]
    [[1], [], [0, 2]]
    """
    ends = np.cumsum(histogram(numbers, size))
    return np.split(_sorted(numbers, np.append(0, ends[:-1])), ends[:-1])


@njit
def gather(rows: NDArray[np.uint8], places: IntArray, start: int, stop: int) -> NDArray[np.uint8]:
    """The bytes from `start` to `stop` of the rows at these places: NumPy is slow at short rows."""
    found = np.empty((places.size, stop - start), dtype=np.uint8)
    for i in range(places.size):
        for byte in range(stop - start):
            found[i, byte] = rows[places[i], start + byte]
    return found


@njit
def scatter(
    rows: NDArray[np.uint8], places: IntArray, start: int, given: NDArray[np.uint8]
) -> None:
    """Write bytes into the rows at these places, from `start` on."""
    for i in range(places.size):
        for byte in range(given.shape[1]):
            rows[places[i], start + byte] = given[i, byte]


@njit
def _sorted(numbers: NDArray[Any], starts: IntArray) -> IntArray:
    order = np.empty(numbers.size, dtype=np.int64)
    for i in range(numbers.size):
        order[starts[numbers[i]]] = i
        starts[numbers[i]] += 1
    return order


@njit
def _few(numbers: NDArray[Any], size: int) -> IntArray:
    # four tables, so that equal neighbours do not wait for each other
    counts = np.zeros((4, size), dtype=np.int64)
    for i in range(numbers.size):
        counts[i & 3, numbers[i]] += 1
    return counts


@njit
def _many(numbers: NDArray[Any], size: int) -> IntArray:
    counts = np.zeros(size, dtype=np.int64)
    for i in range(numbers.size):
        counts[numbers[i]] += 1
    return counts


def correlation(counts: IntArray, members: BoolArray, size: int) -> IntArray:
    r"""$T_v = \sum_u y_u\,[(u + v) \bmod K \in D]$ for v < `size`, in whole numbers.

    By real FFTs of a smooth length, for as many counts at a time as there are results to be had, so
    that memory does not grow with $K$. Their error is bounded before they are made: for vectors of
    norms $‖x‖$ and $‖y‖$ and a length $N$ it is below $32 \log_2 N \cdot 2^{-53} ‖x‖ ‖y‖$
    (Percival's bound with a factor of two to spare for the radices 3 and 5, and for adding up).
    Counts too large for that are taken in several pieces of their binary digits. All results are
    then seen to be near whole numbers.

    References
    ----------
    Percival. *Rapid multiplication modulo the sum and difference of highly composite numbers.*
    Mathematics of Computation, 2003.
    """
    points, inside = len(counts), int(np.count_nonzero(members))
    around = np.concatenate([members, members[: size - 1]])  # once around and on
    per_norm = 32 * log2(2 * len(around)) * 2.0**-53 * float(np.count_nonzero(around)) ** 0.5
    mean = int(counts.sum()) // points
    away = counts - mean
    digits = max(1, int(log2(SAFE / per_norm / points**0.5)))  # of a piece
    pieces = [away] if _norm(away) * per_norm < SAFE else _pieces(away, digits)
    total: IntArray = np.full(size, mean * inside, dtype=np.int64)
    for place, piece in enumerate(pieces):
        total += _correlated(piece, around, size) * 2 ** (digits * place)
    return total


def _correlated(piece: IntArray, around: BoolArray, size: int) -> IntArray:
    step = -(-len(piece) // -(-len(piece) // max(size, _FEW)))
    length = smooth(step + size - 1)
    product = np.zeros(length // 2 + 1, dtype=np.complex128)
    for start in range(0, len(piece), step):
        spectrum = np.fft.rfft(piece[start : start + step], length)
        np.conj(spectrum, out=spectrum)
        spectrum *= np.fft.rfft(around[start : start + step + size - 1], length)
        product += spectrum
    exact = np.fft.irfft(product, length)[:size]
    near = np.rint(exact)
    if np.abs(exact - near).max(initial=0.0) > SAFE:
        raise LDPError(
            "The rounding of an FFT is larger than its bound: do not trust this machine."
        )
    return near.astype(np.int64)


def _norm(numbers: IntArray) -> float:
    return float(np.sqrt(np.square(numbers.astype(np.float64)).sum()))


def _pieces(numbers: IntArray, digits: int) -> list[IntArray]:
    """Numbers as sums of pieces times powers of 2^digits; all but the last are not negative."""
    pieces = []
    while np.abs(numbers).max() >> digits:
        pieces.append(numbers & ((1 << digits) - 1))
        numbers = numbers >> digits
    return [*pieces, numbers]


def smooth(least: int) -> int:
    """The first number from `least` on without prime factors above 5: FFTs are fast there.

    >>> smooth(1023)
    1024
    """
    best = 1 << (least - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-least // three)
            best = min(best, three << (rest - 1).bit_length())
            three *= 3
        five *= 5
    return best


def walsh_hadamard(numbers: IntArray, order: int) -> IntArray:
    r"""$\sum_y (-1)^{\langle i, y \rangle} x_y$ in each block of `order`, a power of two."""
    total = np.array(numbers, dtype=np.int64)
    _walsh_hadamard(total, order)
    return total


@njit
def _walsh_hadamard(total: IntArray, order: int) -> None:
    half = 1
    while half < order:
        for start in range(0, total.size, 2 * half):
            for i in range(start, start + half):
                one, other = total[i], total[i + half]
                total[i], total[i + half] = one + other, one - other
        half *= 2


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
def _split(users: int, weights: FloatArray, split: IntArray, source: WordSource) -> None:
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
