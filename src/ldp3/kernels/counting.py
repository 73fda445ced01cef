"""How often each number occurs, and where randomly placed users fall."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import IntArray
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import binomial
from ldp3.kernels.source import Source, next_word

FEW = 2**14  # numbers that fit into the first cache four times
BINOMIAL = 10  # single users that are placed in the time of one binomial draw


def histogram(numbers: NDArray[Any], size: int) -> IntArray:
    """How often each number below `size` occurs."""
    return _few(numbers, size).sum(axis=0) if size <= FEW else _many(numbers, size)


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


@njit
def below(word: np.uint64, size: np.uint64, source: Source) -> np.int64:
    """A uniform number below `size` ≤ 2³² from a word, or more if need be (Lemire 2019)."""
    low = np.uint64(0xFFFFFFFF)
    product = (word >> np.uint64(32)) * size
    if product & low < size:
        uneven = (low + np.uint64(1) - size) % size
        while product & low < uneven:
            product = (next_word(source) >> np.uint64(32)) * size
    return np.int64(product >> np.uint64(32))


@njit
def scatter(
    users: int,
    places: NDArray[np.uint32],
    shift: int,
    counts: IntArray,
    source: Source,
) -> None:
    """Put users at places that are drawn uniformly, each moved back by `shift` around the ring.

    One by one or place by place, whichever is less work.
    """
    around, left = counts.size, places.size
    if users < BINOMIAL * left:
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
