"""One inner loop as LLVM code, with its operands held in vector registers.

For all that LLVM knows, the counters that a loop in Python stores might be the targets that it
loads, so it loads them again for every value: twice the time. Imported when first needed.
"""

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

LANES = 64


@intrinsic  # type: ignore[untyped-decorator]
def _count_equal(
    typingctx: Any,  # noqa: ARG001
    table: Any,
    target: Any,
    size: Any,
    counters: Any,
    first: Any,
) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array_types = signature.args[0], signature.args[1], signature.args[3]
        arrays = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(array_types, (args[0], args[1], args[3]), strict=True)
        ]
        rows, targets, sums = arrays
        width = signature.args[0].dtype.bitwidth
        vector = ir.VectorType(ir.IntType(width), LANES)

        def lane(base: Any, index: Any) -> Any:
            return builder.bitcast(builder.gep(base, [index]), vector.as_pointer())

        word = args[2].type
        wanted = [builder.load(lane(targets, word(LANES * j)), align=width // 8) for j in range(4)]
        with cgutils.for_range(builder, args[2]) as loop:
            place = lane(sums, builder.mul(builder.add(args[4], loop.index), word(LANES)))
            row = builder.mul(loop.index, word(4 * LANES))
            total = builder.load(place, align=width // 8)
            for j in range(4):
                have = builder.load(lane(rows, builder.add(row, word(LANES * j))), align=width // 8)
                equal = builder.icmp_unsigned("==", have, wanted[j])
                total = builder.sub(total, builder.sext(equal, vector))  # true is -1
            builder.store(total, place, align=width // 8)
        return context.get_dummy_value()

    return types.void(table, target, size, counters, first), codegen


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def count_equal(
    table: NDArray[Any], target: NDArray[Any], size: int, counters: NDArray[Any], first: int
) -> None:
    """Add to row `first + i` of the counters where row i of the table, i < size, is the target."""
    _count_equal(table, target, size, counters, first)
