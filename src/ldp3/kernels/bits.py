"""Sets of values as packed bits: bit `v mod 64` of word `v // 64` of a row says that `v` is in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, IntArray, Reports, WordArray
from ldp3.kernels.compile import njit


def width(d: int) -> int:
    """Words per row."""
    return -(-d // 64)


def contains(rows: WordArray, value: int) -> BoolArray:
    """Which rows hold `value`."""
    return (rows[:, value // 64] >> np.uint64(value % 64)) & np.uint64(1) == 1


def well_formed(rows: NDArray[Any], d: int) -> BoolArray:
    """Which rows hold values below `d` only; none if they are not packed bits at all."""
    if rows.dtype != np.uint64 or rows.ndim != 2 or rows.shape[1] != width(d):
        return np.zeros(len(rows), dtype=bool)
    return rows[:, -1] <= last_word(d)


def last_word(d: int) -> np.uint64:
    """The bits of the last word that stand for values."""
    return np.uint64(2 ** ((d - 1) % 64 + 1) - 1)


def number(members: BoolArray) -> int:
    """A set of values as a whole number: bit v says that v is in.

    >>> number(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(members, bitorder="little").tobytes(), "little")


def packed(members: BoolArray) -> WordArray:
    """Sets of values, shape `(n, d)`, as rows."""
    n, d = members.shape
    wide = np.zeros((n, 64 * width(d)), dtype=bool)
    wide[:, :d] = members
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def random_subsets(
    n: int, values: IntArray, size: IntArray | int, d: int, rng: np.random.Generator
) -> BoolArray:
    """For each of `n` rows a uniform subset of `values` with its size, as members of `[0, d)`."""
    order = np.argsort(rng.random((n, len(values))), axis=1)
    taken = np.argsort(order, axis=1) < np.broadcast_to(size, (n,))[:, None]
    members = np.zeros((n, d), dtype=bool)
    members[:, values] = taken
    return members


def count(rows: Reports, d: int) -> IntArray:
    """How many rows hold each value."""
    counts = np.zeros(width(d) * 64, dtype=np.int64)
    _count(np.ascontiguousarray(rows), counts)
    return counts[:d]


def sizes(rows: WordArray) -> IntArray:
    """How many values each row holds."""
    return _sizes(np.ascontiguousarray(rows))


@njit
def ones(word: np.uint64) -> np.int64:
    """How many bits of a word are 1."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit
def parity(word: np.uint64) -> np.uint64:
    """Whether an odd number of bits of a word are 1."""
    for shift in (32, 16, 8, 4, 2, 1):
        word ^= word >> np.uint64(shift)
    return word & np.uint64(1)


@njit
def _sizes(rows: WordArray) -> IntArray:
    sizes = np.zeros(rows.shape[0], np.int64)
    for i in range(rows.shape[0]):
        for w in range(rows.shape[1]):
            sizes[i] += ones(rows[i, w])
    return sizes


@njit
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    # 64 full adders at once: carries and sums
    either = a ^ b
    return (a & b) | (either & c), either ^ c


@njit
def _count(rows: WordArray, counts: IntArray) -> None:
    # Positional population count by carry-save adders (Harley and Seal): sixteen rows are added
    # to bit planes of weight 1, 2, 4, 8 and give one carry of weight 16, which ripples on.
    # Narrow rows are taken several at a time, so that a row fills vector registers.
    n, words = rows.shape
    together = 1
    while together * words < 16:
        together *= 2
    wide, planes = together * words, 16
    flat = rows.reshape(-1)
    plane = np.zeros((planes, wide), np.uint64)
    carry = np.zeros(wide, np.uint64)
    blocks = n // (together * 16)
    since = 0
    for block in range(blocks):
        r = flat[block * 16 * wide : (block + 1) * 16 * wide]
        for j in range(wide):
            one, two, four, eight = plane[0, j], plane[1, j], plane[2, j], plane[3, j]
            two_a, one = _add(one, r[j], r[j + wide])
            two_b, one = _add(one, r[j + 2 * wide], r[j + 3 * wide])
            four_a, two = _add(two, two_a, two_b)
            two_a, one = _add(one, r[j + 4 * wide], r[j + 5 * wide])
            two_b, one = _add(one, r[j + 6 * wide], r[j + 7 * wide])
            four_b, two = _add(two, two_a, two_b)
            eight_a, four = _add(four, four_a, four_b)
            two_a, one = _add(one, r[j + 8 * wide], r[j + 9 * wide])
            two_b, one = _add(one, r[j + 10 * wide], r[j + 11 * wide])
            four_a, two = _add(two, two_a, two_b)
            two_a, one = _add(one, r[j + 12 * wide], r[j + 13 * wide])
            two_b, one = _add(one, r[j + 14 * wide], r[j + 15 * wide])
            four_b, two = _add(two, two_a, two_b)
            eight_b, four = _add(four, four_a, four_b)
            carry[j], eight = _add(eight, eight_a, eight_b)
            plane[0, j], plane[1, j], plane[2, j], plane[3, j] = one, two, four, eight
        level = 4
        while level < planes:
            some = np.uint64(0)
            for j in range(wide):
                old = plane[level, j]
                plane[level, j] = old ^ carry[j]
                carry[j] &= old
                some |= carry[j]
            level += 1
            if some == np.uint64(0):
                break
        since += 16
        if since == 65520 or block == blocks - 1:  # before the highest plane overflows
            for level in range(planes):
                for j in range(wide):
                    bits = plane[level, j]
                    start = (j % words) * 64
                    for b in range(64):
                        counts[start + b] += (
                            np.int64((bits >> np.uint64(b)) & np.uint64(1)) << level
                        )
                    plane[level, j] = np.uint64(0)
            since = 0
    for i in range(blocks * 16 * together, n):
        for w in range(words):
            for b in range(64):
                counts[64 * w + b] += np.int64((rows[i, w] >> np.uint64(b)) & np.uint64(1))
