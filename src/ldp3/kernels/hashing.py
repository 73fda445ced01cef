"""Tabulation hashing in Z_g: the cell of a value, and how many reports support each value.

The function that a seed names is $H_s(v) = A_s[l] + B_s[h] + C_s[l + h] \\pmod g$ with
$l = v \\bmod 2^a$ and $h = \\lfloor v / 2^a \\rfloor$: tabulation with one derived character. Of up
to five values, always one has a table entry of its own, so their cells are independent and uniform
if the entries are. Those come from splitmix64 of the seed.

References
----------
Thorup, Zhang. *Tabulation-based 5-independent hashing with applications to linear probing and
second moment estimation.* SIAM Journal on Computing, 2012.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import IntArray, WordArray
from ldp3.kernels.compile import compiled_in, njit

ROW = 128  # bytes that hold one table entry of all users of a pass: one byte each, if g < 256
HIGHS = 4  # rows of values that are counted at a time, as many as registers hold
_WORD = 2**64 - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def cell(seed: int, value: int, low_bits: int, g: int) -> int:
    """The cell of `value` under the function that `seed` names: the definition."""
    size = 1 << low_bits
    low, high = value & (size - 1), value >> low_bits
    places = low, size + high, 2 * size + low + high
    return sum(_plain_entry(seed, place, g) for place in places) % g


def _plain_entry(seed: int, index: int, g: int) -> int:
    """Entry `index` of the seed's table: a piece of a mixed word, scaled to [0, g).

    The larger g, the more bits it takes: cells differ in probability by at most one piece.
    """
    bits = 16 if g < 2**8 else 32 if g < 2**16 else 64
    word = _plain_mix(seed + (index * bits // 64 + 1) * int(_GOLDEN))
    return (word >> index * bits % 64 & (1 << bits) - 1) * g >> bits


def _plain_mix(z: int) -> int:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    z &= _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31


def cells(seeds: WordArray, codes: NDArray[np.uint32], low_bits: int, g: int) -> NDArray[np.uint32]:
    """The cell of each user's code under the function that the user's seed names."""
    return _cells(np.ascontiguousarray(seeds), codes, low_bits, np.uint64(g))


def support_counts(
    seeds: WordArray, cells: NDArray[np.uint32], low_bits: int, g: int, d: int
) -> IntArray:
    """How many reports name the cell of each value below `d`."""
    # the narrowest numbers that hold a cell and one more that no cell has
    narrow = np.min_scalar_type(g)
    seeds = np.ascontiguousarray(seeds)
    return _count_supports(seeds, cells.astype(narrow), low_bits, np.uint64(g), d)


@njit
def _mix(z: np.uint64) -> np.uint64:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def _scale(piece: np.uint64, g: np.uint64) -> np.uint64:
    # a piece of 32 bits to [0, g); both masks say that 32 × 32 bits suffice, three times as fast
    half = np.uint64(0xFFFFFFFF)
    return ((piece & half) * (g & half)) >> np.uint64(32)


@njit
def _scale_whole(word: np.uint64, g: np.uint64) -> np.uint64:
    # all 64 bits of a word to [0, g): the high word of a 64 × 32 bit product
    low = ((word & np.uint64(0xFFFFFFFF)) * g) >> np.uint64(32)
    return ((word >> np.uint64(32)) * g + low) >> np.uint64(32)


@njit
def _entry(seed: np.uint64, index: np.uint64, g: np.uint64) -> np.uint64:
    one = np.uint64(1)
    if g < np.uint64(256):
        word = _mix(seed + ((index >> np.uint64(2)) + one) * _GOLDEN)
        piece = (word >> ((index & np.uint64(3)) << np.uint64(4))) & np.uint64(0xFFFF)
        return (piece * g) >> np.uint64(16)
    if g < np.uint64(65536):
        word = _mix(seed + ((index >> one) + one) * _GOLDEN)
        return _scale(word >> ((index & one) << np.uint64(5)), g)
    return _scale_whole(_mix(seed + (index + one) * _GOLDEN), g)


@njit
def _cells(
    seeds: WordArray, codes: NDArray[np.uint32], low_bits: int, g: np.uint64
) -> NDArray[np.uint32]:
    cells = np.empty(codes.size, dtype=np.uint32)
    size = np.uint64(1) << np.uint64(low_bits)
    for i in range(codes.size):
        v = np.uint64(codes[i])
        low, high = v & (size - np.uint64(1)), v >> np.uint64(low_bits)
        cell = _entry(seeds[i], low, g) + _entry(seeds[i], size + high, g)
        cell = min(cell, cell - g)  # modulo g: below zero wraps to something huge
        cell += _entry(seeds[i], np.uint64(2) * size + low + high, g)
        cells[i] = min(cell, cell - g)
    return cells


@njit
def _count_supports(
    seeds: WordArray, cells: NDArray[Any], low_bits: int, g: np.uint64, d: int
) -> IntArray:
    # H(v) = cell means A[low] = cell - B[high] - C[low + high]: with users across the lanes, a
    # value costs one comparison of bytes for 64 users at a time, and the tables are made once per
    # user. Lanes without a user hold a number in A that no cell has.
    users, size = ROW // cells.itemsize, 1 << low_bits
    highs = (d + size - 1) >> low_bits
    counts = np.zeros((highs + HIGHS) * size, np.int64)
    table = np.empty((4 * size + HIGHS, users), cells.dtype)
    own, seed = np.zeros(users, cells.dtype), np.zeros(users, np.uint64)
    word, factors = np.empty(users, np.uint64), np.full(32, g, np.uint16)
    for start in range(0, seeds.size, users):
        m = min(users, seeds.size - start)
        for u in range(m):
            own[u] = cells[start + u]
        _take(seeds[start : start + m], cells.itemsize == 1, seed)
        for first, stop in ((0, size + highs), (2 * size, 3 * size + highs)):
            if cells.itemsize == 1:
                for row in range(first // 4 * 4, stop, 4):
                    fill_four(seed, np.uint64(row // 4 + 1) * _GOLDEN, factors, table, row)
            else:
                _fill_tables(seed, g, word, table, first, stop)
        if m < users:
            table[:size, m:] = g
        for high in range(0, highs, HIGHS):
            count_matches(table, own, g, size, high, counts)
    return counts[:d]


@compiled_in("ldp3.kernels.llvm")
def count_matches(
    table: NDArray[Any], own: NDArray[Any], g: np.uint64, size: int, high: int, counts: IntArray
) -> None:
    """Count the users who support the values of rows `high` to `high + 3`."""


@compiled_in("ldp3.kernels.llvm")
def fill_four(
    seeds: WordArray,
    offset: np.uint64,
    factors: NDArray[np.uint16],
    table: NDArray[np.uint8],
    row: int,
) -> None:
    """Fill four rows of the table, from the four pieces of one word of each of 128 users."""


@njit
def _take(seeds: WordArray, shuffled: bool, out: WordArray) -> None:
    # in the order that `fill_four` wants, or as they are
    if not shuffled:
        for u in range(seeds.size):
            out[u] = seeds[u]
    elif seeds.size < ROW:
        for u in range(seeds.size):
            out[64 * (u % 2) + 16 * (u // 2 % 4) + u // 8] = seeds[u]
    else:  # the same, in a loop that LLVM can run side by side
        for j in range(2):
            for i in range(4):
                for m in range(ROW // 8):
                    out[64 * j + 16 * i + m] = seeds[8 * m + 2 * i + j]


@njit
def _fill_tables(
    seed: WordArray, g: np.uint64, word: WordArray, table: NDArray[Any], first: int, stop: int
) -> None:
    # `_entry` for rows `first` to `stop` and perhaps one more, and for all users; words are made in
    # a loop of their own, or LLVM would run too many side by side for its registers
    narrow, users, half = table.dtype.type, seed.size, np.uint64(32)
    if g < np.uint64(65536):
        for row in range(first, stop, 2):
            offset = np.uint64(row // 2 + 1) * _GOLDEN
            for u in range(users):
                word[u] = _mix(seed[u] + offset)
            for u in range(users):
                table[row, u] = narrow(_scale(word[u], g))
            for u in range(users):
                table[row + 1, u] = narrow(_scale(word[u] >> half, g))
    else:
        for row in range(first, stop):
            offset = np.uint64(row + 1) * _GOLDEN
            for u in range(users):
                table[row, u] = narrow(_scale_whole(_mix(seed[u] + offset), g))
