"""Inner loops as LLVM code, for what a loop in Python cannot say: ChaCha20, and local hashing.

Written out in Python, Numba does not run ChaCha20 on all vector lanes and is eight times slower. In
local hashing, for all that LLVM knows, what a loop stores might be what it loads, so it loads
everything again; and Numba multiplies 16-bit numbers in lanes of 64 bits.

Imported when the first kernel runs, because it needs Numba to be defined at all.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ldp3.kernels.compile import seal_cache
from ldp3.kernels.hashing import HIGHS, ROW

VECTOR = 512  # bits
VECTORS = 8 * ROW // VECTOR  # in a row of the table
_WORD, _PIECE, _PRODUCT = ir.IntType(64), ir.IntType(16), ir.IntType(32)
ROUNDS = 20
_QUARTERS = [
    *((i, 4 + i, 8 + i, 12 + i) for i in range(4)),
    *((i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)),
]


@intrinsic  # type: ignore[untyped-decorator]
def block(typingctx: Any, state: Any) -> Any:  # noqa: ARG001
    """The ChaCha20 block function on a tuple of sixteen 32-bit words."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        word = ir.IntType(32)
        start = [builder.extract_value(args[0], i) for i in range(16)]
        x = list(start)
        for a, b, c, d in _QUARTERS * (ROUNDS // 2):
            for to, add, mix, left in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[to] = builder.add(x[to], x[add])
                y = builder.xor(x[mix], x[to])
                x[mix] = builder.or_(builder.shl(y, word(left)), builder.lshr(y, word(32 - left)))
        out = ir.Constant(args[0].type, ir.Undefined)
        for i in range(16):
            out = builder.insert_value(out, builder.add(x[i], start[i]), i)
        return out

    return state(state), codegen


def _expand(key: NDArray[np.uint32], counter: np.uint64, out: NDArray[np.uint32]) -> None:
    u32, u64 = np.uint32, np.uint64
    # read once: `out` might alias it, for all LLVM knows
    k0, k1, k2, k3 = key[0], key[1], key[2], key[3]
    k4, k5, k6, k7 = key[4], key[5], key[6], key[7]
    for b in range(out.shape[1]):
        c = counter + u64(b)
        # "expand 32-byte k", the key, a 64-bit counter, a nonce of zero
        x: Any = block(
            (
                u32(0x61707865), u32(0x3320646E), u32(0x79622D32), u32(0x6B206574),
                k0, k1, k2, k3, k4, k5, k6, k7,
                u32(c & u64(0xFFFFFFFF)), u32(c >> u64(32)), u32(0), u32(0),
            )
        )  # fmt: skip
        # written out: a loop over the tuple would keep LLVM from running blocks side by side
        out[0, b], out[1, b], out[2, b], out[3, b] = x[0], x[1], x[2], x[3]
        out[4, b], out[5, b], out[6, b], out[7, b] = x[4], x[5], x[6], x[7]
        out[8, b], out[9, b], out[10, b], out[11, b] = x[8], x[9], x[10], x[11]
        out[12, b], out[13, b], out[14, b], out[15, b] = x[12], x[13], x[14], x[15]


try:
    expand = numba.njit(nogil=True, cache=True)(_expand)
    seal_cache(expand)
except RuntimeError:  # no folder to cache in
    expand = numba.njit(nogil=True)(_expand)


@intrinsic  # type: ignore[untyped-decorator]
def _count_matches(
    typingctx: Any,  # noqa: ARG001
    table: Any,
    own: Any,
    g: Any,
    size: Any,
    high: Any,
    counts: Any,
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, cells, sums = (_data(context, builder, signature, args, i) for i in (0, 1, 5))
        _, _, cell_count, size, high, _ = args
        width = signature.args[0].dtype.bitwidth
        vector = ir.VectorType(ir.IntType(width), VECTOR // width)
        modulus = _splat(builder, builder.trunc(cell_count, vector.element), vector)
        second, third = builder.add(size, high), builder.add(builder.mul(size, _WORD(2)), high)

        def load(base: Any, row: Any, j: int) -> Any:
            at = builder.add(
                builder.mul(row, _WORD(VECTORS * vector.count)), _WORD(j * vector.count)
            )
            return _load(builder, base, at, vector)

        def count(subtract: Callable[..., Any]) -> None:
            wanted = [
                [
                    subtract(builder, load(cells, _WORD(0), j), load(rows, row, j), modulus)
                    for j in range(VECTORS)
                ]
                for row in (builder.add(second, _WORD(k)) for k in range(HIGHS))
            ]
            # Entries low + high of the third table, of this `low` and all but the last `high`: the
            # next `low` needs all but the first of them.
            window = [[cgutils.alloca_once(builder, vector) for _ in wanted[0]] for _ in wanted[1:]]
            for k, slots in enumerate(window):
                for j, slot in enumerate(slots):
                    builder.store(load(rows, builder.add(third, _WORD(k)), j), slot)
            with cgutils.for_range(builder, size) as loop:
                last = builder.add(builder.add(third, _WORD(HIGHS - 1)), loop.index)
                hits = [_WORD(0)] * HIGHS
                for j in range(VECTORS):
                    low = load(rows, loop.index, j)
                    entries = [*(builder.load(slots[j]) for slots in window), load(rows, last, j)]
                    for slots, entry in zip(window, entries[1:], strict=True):
                        builder.store(entry, slots[j])
                    for k, entry in enumerate(entries):
                        rest = subtract(builder, wanted[k][j], entry, modulus)
                        equal = builder.icmp_unsigned("==", low, rest)
                        hits[k] = builder.add(hits[k], _ones(builder, equal))
                for k in range(HIGHS):
                    value = builder.add(builder.mul(builder.add(high, _WORD(k)), size), loop.index)
                    place = builder.gep(sums, [value])
                    builder.store(builder.add(builder.load(place), hits[k]), place)

        few = builder.icmp_unsigned("<=", cell_count, _WORD(2 ** (width - 1)))
        with builder.if_else(few) as (then, otherwise):
            with then:
                count(_subtract_few)
            with otherwise:
                count(_subtract)
        return context.get_dummy_value()

    return types.void(table, own, g, size, high, counts), codegen


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def count_matches(
    table: NDArray[Any], own: NDArray[Any], g: int, size: int, high: int, counts: NDArray[Any]
) -> None:
    """Count the users who support the values of rows `high` to `high + 3`.

    These are the columns where A[low] + B[high] + C[low + high] is the own cell, modulo g.
    """
    _count_matches(table, own, g, size, high, counts)


@intrinsic  # type: ignore[untyped-decorator]
def _fill_four(
    typingctx: Any,  # noqa: ARG001
    seeds: Any,
    offset: Any,
    factors: Any,
    table: Any,
    row: Any,
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        users, cells, rows = (_data(context, builder, signature, args, i) for i in (0, 2, 3))
        words = ir.VectorType(_WORD, VECTOR // 64)
        step = _splat(builder, args[1], words)

        def word(first: int) -> Any:
            """The entries of eight users, four to a word."""
            seeds = _load(builder, users, _WORD(first), words)
            mixed = _mix(builder, builder.add(seeds, step))
            return _scale(builder, mixed, cells)

        def shift(x: Any, bits: int) -> Any:
            by = ir.Constant(words, [abs(bits)] * words.count)
            return builder.shl(x, by) if bits > 0 else builder.lshr(x, by)

        def joined(x: Any, y: Any, bits: int, mask: int) -> tuple[Any, Any]:
            """The lower parts of pairs of numbers side by side, and the upper ones."""
            low = ir.Constant(words, [mask] * words.count)
            high = ir.Constant(words, [mask ^ 2**64 - 1] * words.count)
            lower = builder.or_(builder.and_(x, low), shift(builder.and_(y, low), bits))
            upper = builder.or_(shift(builder.and_(x, high), -bits), builder.and_(y, high))
            return lower, upper

        for m in range(0, 16, words.count):
            # two users share the pieces of a word; then 4 × 4 pieces are transposed
            x = [builder.or_(word(m + 16 * i), shift(word(m + 16 * i + 64), 8)) for i in range(4)]
            a, c = joined(x[0], x[2], 32, 2**32 - 1)
            b, d = joined(x[1], x[3], 32, 2**32 - 1)
            four = *joined(a, b, 16, 0x0000FFFF0000FFFF), *joined(c, d, 16, 0x0000FFFF0000FFFF)
            for k, entries in enumerate(four):
                at = builder.add(
                    builder.mul(builder.add(args[4], _WORD(k)), _WORD(VECTORS * VECTOR // 8)),
                    _WORD(8 * m),
                )
                place = builder.bitcast(builder.gep(rows, [at]), words.as_pointer())
                builder.store(entries, place, align=1)
        return context.get_dummy_value()

    return types.void(seeds, offset, factors, table, row), codegen


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def fill_four(
    seeds: NDArray[np.uint64],
    offset: np.uint64,
    factors: NDArray[np.uint16],
    table: NDArray[np.uint8],
    row: int,
) -> None:
    """Fill four rows of the table, from the four pieces of one word of each of 128 users.

    The seed of the user in column 8m + 2i + j stands at place m + 16i + 64j. `factors` are 32
    times g: only if it loads them does LLVM see that the products of pieces have an instruction.
    """
    _fill_four(seeds, offset, factors, table, row)


def _mix(builder: Any, z: Any) -> Any:
    # splitmix64's finaliser (Steele, Lea, Flood 2014)
    for bits, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        z = builder.xor(z, builder.lshr(z, ir.Constant(z.type, [bits] * z.type.count)))
        z = builder.mul(z, ir.Constant(z.type, [factor] * z.type.count))
    return z


def _scale(builder: Any, words: Any, factors: Any) -> Any:
    # the upper halves of the products of 16-bit pieces
    lanes = VECTOR // 16
    pieces, wide = ir.VectorType(_PIECE, lanes), ir.VectorType(_PRODUCT, lanes)
    x = builder.zext(builder.bitcast(words, pieces), wide)
    y = builder.zext(_load(builder, factors, _WORD(0), pieces), wide)
    high = builder.lshr(builder.mul(x, y), ir.Constant(wide, [16] * lanes))
    return builder.bitcast(builder.trunc(high, pieces), words.type)


def _subtract(builder: Any, a: Any, b: Any, g: Any) -> Any:
    # a - b modulo g
    difference = builder.sub(a, b)
    borrow = builder.icmp_unsigned("<", a, b)
    return builder.select(borrow, builder.add(difference, g), difference)


def _subtract_few(builder: Any, a: Any, b: Any, g: Any) -> Any:
    # the same, faster, where 2g - 1 does not wrap: below zero it wraps to something huge
    difference = builder.sub(a, b)
    again = builder.add(difference, g)
    return builder.select(builder.icmp_unsigned("<", difference, again), difference, again)


def _ones(builder: Any, equal: Any) -> Any:
    lanes = equal.type.count
    ones = builder.ctpop(builder.bitcast(equal, ir.IntType(lanes)))
    return ones if lanes == _WORD.width else builder.zext(ones, _WORD)


def _splat(builder: Any, number: Any, vector: Any) -> Any:
    empty = ir.Constant(vector, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(_PRODUCT, vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(empty, number, _PRODUCT(0)), empty, zeros)


def _load(builder: Any, base: Any, at: Any, vector: Any) -> Any:
    pointer = builder.bitcast(builder.gep(base, [at]), vector.as_pointer())
    return builder.load(pointer, align=vector.element.width // 8)


def _data(context: Any, builder: Any, signature: Any, args: Any, i: int) -> Any:
    return context.make_array(signature.args[i])(context, builder, args[i]).data
