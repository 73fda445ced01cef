"""How fast a server counts reports: from memory on one core, and from files on all of them.

    python benchmarks/collection.py [reports]

`ratio` is the time from wire bytes to counts over the time of the protocol's own `aggregate` on
reports that are decoded and known to be valid: what checking and decoding cost. Each figure is the
best of five runs, after one that compiles.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

import ldp3
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.client import Client
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.reports import ReportFormat, write_reports
from ldp3.errors import InvalidValue
from ldp3.progress import available_cores

FILES: dict[str, ReportFormat] = {
    "bin": "raw",
    "parquet": "parquet",
    "arrow": "arrow",
    "jsonl": "jsonl",
}
STEP = 2**18


def best(run: Callable[[], object], times: int = 5) -> float:
    """Seconds of the fastest run, after one that warms up."""
    seconds = []
    run()
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def from_memory(plan: Plan, n: int) -> tuple[np.ndarray, float, float]:
    """The reports' bytes, and seconds from bytes and from valid reports to counts."""
    rng = ldp3.stream(0, plan.protocol)
    reports = plan.oracle.perturb(rng.integers(0, plan.d, size=n), rng)
    rows = plan.wire.encode(reports)
    data = rows.tobytes()
    size = STEP * plan.report_bytes

    def add() -> None:
        server = Aggregator(plan)
        for start in range(0, len(data), size):
            server.add(memoryview(data)[start : start + size])
        assert server.n == n

    def bare() -> None:
        for start in range(0, n, STEP):
            plan.oracle.aggregate(reports[start : start + STEP])

    return rows, best(add), best(bare)


def from_file(plan: Plan, path: Path, n: int) -> float:
    """Seconds from a file, in the page cache, to counts on all cores."""

    def add() -> None:
        server = Aggregator(plan)
        server.add_files([path])
        assert server.n == n

    return best(add, 3)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    print(f"{n:,} reports, d = 128, ε = 1; memory: one core; files: {available_cores()} cores\n")
    print("           memory                   million reports/s (bytes a report)")
    print("           ns    M/s  ratio  " + "".join(f"{name:>16}" for name in FILES))
    for spec in deployable():
        plan = Plan("benchmark", 128, spec, 1.0)
        rows, wire, bare = from_memory(plan, n)
        line = f"{spec:<7}{wire / n * 1e9:6.1f} {n / wire / 1e6:6.1f} {wire / bare:6.1f}  "
        for ending, format in FILES.items():
            some = rows if format != "jsonl" else rows[: n // 4]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"reports.{ending}"
                steps = range(0, len(some), STEP)
                write_reports(path, format, ((some[s : s + STEP], None) for s in steps))
                rate = len(some) / from_file(plan, path, len(some)) / 1e6
                line += f"{rate:8.1f} ({path.stat().st_size / len(some):5.1f})"
        print(line, flush=True)
    print("\none report of a client at d = 2²⁰, and a value outside 200,000 labels")
    for spec in deployable():
        client = Client(Plan("benchmark", 2**20, spec, 1.0))
        print(f"{spec:<7}{best(lambda: client.report(5)) * 1e3:8.2f} ms")  # noqa: B023
    labels = tuple(f"label {i}" for i in range(200_000))
    plan = Plan("benchmark", labels, "olh", 1.0)
    print(f"outside{best(lambda: outside(plan)) * 1e3:8.2f} ms")


def outside(plan: Plan) -> None:
    with suppress(InvalidValue):
        plan.code("no label")


if __name__ == "__main__":
    main()
