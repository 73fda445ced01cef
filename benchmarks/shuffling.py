"""What a shuffler adds, beside the public code of 2021: the central ε, and the time to find it.

    python -m benchmarks.shuffling [computeamplification.py]

The file is that of https://github.com/apple/ml-shuffling-amplification (Feldman, McMillan, Talwar,
FOCS 2021), which is not ours to copy: fetch it yourself. It knows only ε₀ and is asked as in its
own example, with steps of 100 and ten halvings; `numeric` and `closed form` are its upper bounds.
Times are milliseconds of one core, the best of three runs.
"""

import importlib.util
import sys
import time
from collections.abc import Callable
from math import exp
from typing import Any

import ldp3
from ldp3.shuffling import Blanket

DELTA, D = 1e-6, 128
SETTINGS = [(local, n) for local in (0.5, 1.0, 2.0, 4.0) for n in (10_000, 1_000_000)]


def code_of_2021(path: str) -> Any:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location("computeamplification", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """An answer, and the milliseconds that its core was at work."""
    times = []
    for _ in range(3):
        began = time.process_time()
        answer = work()
        times.append(1e3 * (time.process_time() - began))
    return answer, min(times)


def row(local: float, n: int, theirs: Any) -> list[str]:
    """One setting, as its line of the table."""
    oracles = [ldp3.oracle(spec, epsilon=local, d=D) for spec in ("grr", "ss")]
    blankets = [Blanket.generic(exp(local)), *(each.blanket for each in oracles)]
    ours = [timed(lambda blanket=each: blanket.epsilon(n, DELTA)) for each in blankets]  # type: ignore[misc]
    found = [f"{epsilon:.3g}" for epsilon, _ in ours]
    cells = [f"{local:g}", f"{n:,}", *found, f"{max(taken for _, taken in ours):.0f}"]
    if theirs is None:
        return [*cells, "", "", ""]
    numeric, taken = timed(lambda: theirs.numericalanalysis(n, local, DELTA, 10, 100, True))
    closed = theirs.closedformanalysis(n, local, DELTA)
    return [*cells, f"{numeric:.3g}", f"{closed:.3g}", f"{taken:,.0f}"]


if __name__ == "__main__":
    module = code_of_2021(sys.argv[1]) if len(sys.argv) > 1 else None
    head = ["local ε", "reports", "any protocol", "GRR", "SS", "ms", "numeric", "closed form", "ms"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for setting in SETTINGS:
        print(f"| {' | '.join(row(*setting, module))} |", flush=True)
