"""From Enter to the first table: whole commands beside what they must import.

In processor time, which other programs do not take, and by the least of several rounds. Every
command and the imports that it is compared with take turns.
"""

import os
import resource
import subprocess
import sys
import tempfile
from typing import Any

IMPORTS = "import numpy, polars, numba"  # what anything like this waits for
ONE_KERNEL = f"{IMPORTS}; from ldp3.kernels.numerics import log; log(numpy.ones(1))"


def command(*words: str) -> dict[str, Any]:
    """A whole command, from a warm cache, beside its largest imports."""
    return {"command": " ".join(["ldp3", *words]), **_beside_imports("-m", "ldp3", *words)}


def one_kernel() -> dict[str, Any]:
    """The least that a program waits for that runs one kernel from the cache."""
    return {"command": "one kernel", **_beside_imports("-c", ONE_KERNEL)}


def first(*words: str) -> dict[str, Any]:
    """A command that finds no kernel in the cache and compiles what it needs."""
    with tempfile.TemporaryDirectory() as empty:
        seconds = _processor_seconds("-m", "ldp3", *words, NUMBA_CACHE_DIR=empty)
    return {
        "command": " ".join(["ldp3", *words]) + ", the first time",
        "processor_seconds": seconds,
    }


def _beside_imports(*words: str, rounds: int = 15) -> dict[str, float]:
    pairs = [(_processor_seconds(*words), _processor_seconds("-c", IMPORTS)) for _ in range(rounds)]
    seconds, imports = map(min, zip(*pairs, strict=True))
    return {"processor_seconds": seconds, "times_imports": seconds / imports}


def _processor_seconds(*words: str, **more: str) -> float:
    """The user's and the system's, of a new interpreter that may keep what it has compiled."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *words], check=True, capture_output=True, env={**inherited, **more}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
