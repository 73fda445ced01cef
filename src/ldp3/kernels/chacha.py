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

from ldp3.kernels.caching import seal_cache

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
    k0, k1, k2, k3 = (
        key[0],
        key[1],
        key[2],
        key[3],
    )  # read once: `out` might alias it, for all LLVM knows
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
