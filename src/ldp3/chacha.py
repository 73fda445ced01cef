"""ChaCha20 as LLVM code, so that a loop over blocks runs on all vector lanes.

Written out in Python, Numba does not vectorise it and is eight times slower. Imported only when
the first kernel runs, because it needs Numba to be defined at all.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

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
    for b in range(out.shape[1]):
        c = counter + u64(b)
        # "expand 32-byte k", the key, a 64-bit counter, a nonce of zero
        x: Any = block(
            (
                u32(0x61707865), u32(0x3320646E), u32(0x79622D32), u32(0x6B206574),
                key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
                u32(c & u64(0xFFFFFFFF)), u32(c >> u64(32)), u32(0), u32(0),
            )
        )  # fmt: skip
        for i in range(16):
            out[i, b] = x[i]


try:
    expand = numba.njit(nogil=True, cache=True)(_expand)
except RuntimeError:  # no folder to cache in
    expand = numba.njit(nogil=True)(_expand)
