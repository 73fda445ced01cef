"""Tabulation hashing in Z_g: the cell of a value, and how many reports support each value.

The function that a seed names is $H_s(v) = A_s[v \\bmod 2^a] + B_s[\\lfloor v / 2^a \\rfloor]
\\pmod g$, with table entries from splitmix64 of the seed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import IntArray, WordArray
from ldp3.kernels.compile import compiled_in, njit

LANES = 64  # users side by side in one vector of bytes
USERS = 4 * LANES  # users per pass: four comparisons for each visit to a counter
_WORD = 2**64 - 1
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def cell(seed: int, value: int, low_bits: int, g: int) -> int:
    """The cell of `value` under the function that `seed` names: the definition."""
    size = 1 << low_bits
    low, high = value & (size - 1), size + (value >> low_bits)
    return (_plain_entry(seed, low, g) + _plain_entry(seed, high, g)) % g


def _plain_entry(seed: int, index: int, g: int) -> int:
    """Entry `index` of the seed's table; up to 2¹⁶ cells, one mixed word gives two entries."""
    if g <= 2**16:
        word = _plain_mix(seed + (index // 2 + 1) * int(_GOLDEN))
        half = word & 0xFFFFFFFF if index % 2 else word >> 32
        return half * g >> 32
    return _plain_mix(seed + (index + 1) * int(_GOLDEN)) * g >> 64


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
    counts = np.zeros(d, dtype=np.int64)
    # the narrowest counters that hold a cell number and one more that no cell has
    narrow = np.min_scalar_type(g)
    seeds = np.ascontiguousarray(seeds)
    _count_supports(seeds, cells.astype(narrow), low_bits, np.uint64(g), counts)
    return counts


@njit
def _mix(z: np.uint64) -> np.uint64:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit
def _scale(word: np.uint64, g: np.uint64) -> np.uint64:
    # the upper 32 bits of a word to [0, g); the other half serves the next entry
    g &= np.uint64(0xFFFFFFFF)  # says that 32 × 32 bits suffice, three times as fast as 64 × 64
    return ((word >> np.uint64(32)) * g) >> np.uint64(32)


@njit
def _scale_whole(word: np.uint64, g: np.uint64) -> np.uint64:
    # all 64 bits of a word to [0, g): the high word of a 64 × 32 bit product
    low = ((word & np.uint64(0xFFFFFFFF)) * g) >> np.uint64(32)
    return ((word >> np.uint64(32)) * g + low) >> np.uint64(32)


@njit
def _entry(seed: np.uint64, index: np.uint64, g: np.uint64) -> np.uint64:
    # Up to 2¹⁶ cells a word gives two table entries; more would not be uniform from 32 bits.
    one = np.uint64(1)
    if g <= np.uint64(65536):
        word = _mix(seed + ((index >> one) + one) * _GOLDEN)
        return _scale(word << ((index & one) * np.uint64(32)), g)
    return _scale_whole(_mix(seed + (index + one) * _GOLDEN), g)


@njit
def _cells(
    seeds: WordArray, codes: NDArray[np.uint32], low_bits: int, g: np.uint64
) -> NDArray[np.uint32]:
    cells = np.empty(codes.size, dtype=np.uint32)
    size = np.uint64(1) << np.uint64(low_bits)
    for i in range(codes.size):
        v = np.uint64(codes[i])
        cell = _entry(seeds[i], v & (size - np.uint64(1)), g)
        cell += _entry(seeds[i], size + (v >> np.uint64(low_bits)), g)
        cells[i] = min(cell, cell - g)  # modulo g: below zero wraps to something huge
    return cells


@njit
def _count_supports(
    seeds: WordArray, cells: NDArray[Any], low_bits: int, g: np.uint64, counts: IntArray
) -> None:
    # H(v) = cell means A[low] = cell - B[high]: with users across the lanes, a value costs one
    # comparison of bytes for 64 users at a time, and the tables are made once per user.
    narrow = cells.dtype.type
    size, d = 1 << low_bits, counts.size
    highs = (d + size - 1) >> low_bits
    table = np.empty((size + highs + (size + highs) % 2, USERS), cells.dtype)
    target = np.empty(USERS, cells.dtype)
    inside = np.zeros((highs * size, LANES), cells.dtype)
    seed, word = np.zeros(USERS, np.uint64), np.empty(USERS, np.uint64)
    own = np.zeros(USERS, cells.dtype)
    passes, full, none = 0, np.iinfo(cells.dtype).max // 4, narrow(g)
    for start in range(0, seeds.size, USERS):
        m = min(USERS, seeds.size - start)
        for u in range(m):
            seed[u], own[u] = seeds[start + u], cells[start + u]
        _fill_tables(seed, g, word, table)
        for high in range(highs):
            for u in range(USERS):
                b = table[size + high, u]
                difference = narrow(own[u] - b)
                target[u] = difference if own[u] >= b else narrow(difference + none)
            if m < USERS:
                target[m:] = none  # a lane without a user matches no cell
            count_equal(table, target, size, inside, high * size)
        passes += 1
        if passes == full or start + USERS >= seeds.size:  # before a narrow counter overflows
            for v in range(d):
                supports = np.uint32(0)
                for u in range(LANES):
                    supports = np.uint32(supports + np.uint32(inside[v, u]))
                counts[v] += np.int64(supports)
            inside[:] = 0
            passes = 0


@compiled_in("ldp3.kernels.comparing")
def count_equal(
    table: NDArray[Any], target: NDArray[Any], size: int, counters: NDArray[Any], first: int
) -> None:
    """Add to row `first + i` of the counters where row i of the table, i < size, is the target."""


@njit
def _fill_tables(seed: WordArray, g: np.uint64, word: WordArray, table: NDArray[Any]) -> None:
    # `_entry` for all indices and users, two entries at a time where one word gives both; words
    # are made in a loop of their own, or LLVM would run too many side by side for its registers
    narrow = table.dtype.type
    for index in range(0, table.shape[0], 2):
        if g <= np.uint64(65536):
            offset = np.uint64(index // 2 + 1) * _GOLDEN
            for u in range(USERS):
                word[u] = _mix(seed[u] + offset)
            for u in range(USERS):
                table[index, u] = narrow(_scale(word[u], g))
            for u in range(USERS):
                table[index + 1, u] = narrow(_scale(word[u] << np.uint64(32), g))
        else:
            first, second = np.uint64(index + 1) * _GOLDEN, np.uint64(index + 2) * _GOLDEN
            for u in range(USERS):
                table[index, u] = narrow(_scale_whole(_mix(seed[u] + first), g))
                table[index + 1, u] = narrow(_scale_whole(_mix(seed[u] + second), g))
