"""OLH's support counting against hand-written AVX-512 in C, on the same arrays.

`aggregate` also validates the reports and takes the records apart.
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import ldp3
from benchmarks.timing import best
from ldp3.kernels.hashing import HIGHS, _count_supports
from ldp3.protocols.local_hashing import OLH

USERS = 65_536


def library() -> ctypes.CDLL | None:
    """The C loop, if this machine has a compiler and AVX-512."""
    flags = Path("/proc/cpuinfo")
    if not flags.exists() or "avx512bw" not in flags.read_text():
        return None
    target = Path(tempfile.mkdtemp()) / "support_counting.so"
    source = Path(__file__).with_name("support_counting.c")
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(target), str(source)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ctypes.CDLL(str(target))


def measure(d: int) -> dict[str, Any]:
    """Nanoseconds per user of our kernel and of the C loop, and their ratio."""
    oracle = OLH(epsilon=1.0, d=d)
    reports = oracle.perturb(np.arange(USERS) % d, ldp3.stream(0))
    seeds = np.ascontiguousarray(reports["seed"])
    cells = reports["cell"].astype(np.uint8)
    counts = np.zeros(d + (HIGHS << oracle.low_bits), dtype=np.int64)

    def kernel() -> None:
        _count_supports(seeds, cells, oracle.low_bits, np.uint64(oracle.g), d)

    ours = best(kernel, rounds=30) / USERS * 1e9
    whole = best(lambda: oracle.aggregate(reports), rounds=30) / USERS * 1e9
    row: dict[str, Any] = {"d": d, "kernel_ns": ours, "aggregate_ns": whole}
    if (c := library()) is None:
        return {**row, "note": "no C compiler with AVX-512 here: no yardstick"}

    def by_c(out: Any = None) -> None:
        into = counts if out is None else out
        c.count_supports(
            ctypes.c_void_p(seeds.ctypes.data),
            ctypes.c_void_p(cells.ctypes.data),
            ctypes.c_size_t(USERS),
            ctypes.c_int(oracle.low_bits),
            ctypes.c_uint64(oracle.g),
            ctypes.c_size_t(d),
            ctypes.c_void_p(into.ctypes.data),
        )

    check = np.zeros_like(counts)
    by_c(check)
    assert (check[:d] == oracle.aggregate(reports).total).all(), (
        "the yardstick counts something else"
    )
    in_c = best(by_c, rounds=30) / USERS * 1e9
    return {**row, "c_ns": in_c, "times_c": ours / in_c}
