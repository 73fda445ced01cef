"""How everything here is timed: the best of several rounds, in one process, on the same work."""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    """Seconds of the fastest round, after one that compiles and warms up."""
    work()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def peak_megabytes() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 / (1024 if sys.platform == "darwin" else 1)
