"""Time against threads on data of the paper's sizes, and against the published peers."""

import os
import platform
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import ldp3
from benchmarks import users
from examples.reproduction import figures, page, paper

THREADS = (1, 2, 4, 8)
Seconds = dict[str, dict[str, dict[int, float]]]  # data → protocol → threads → time


def report(
    shrink: int, rounds: int, repeats: int, peers: bool, folder: Path | None
) -> dict[str, str]:
    """Seconds for 10 repeats of every protocol, every user perturbed; nanoseconds beside peers."""
    missing = [m for m in ("multi_freq_ldpy", "pure_ldp") if peers and find_spec(m) is None]
    if missing:
        raise SystemExit(f"--peers needs {' and '.join(missing)}: install them, or leave it out.")
    seconds = _against_threads(shrink, rounds, repeats)
    if folder:
        figures.threads(seconds, folder / "threads.svg")
    blocks = {"threads": f"{_machine()} The fastest of {rounds} rounds.\n\n{_table(seconds)}"}
    if peers:
        best = "The fastest of 7 rounds of ours and 2 of theirs."
        blocks["peers"] = f"{_machine()} {best}\n\n{_peers()}"
    return blocks


def _against_threads(shrink: int, rounds: int, repeats: int) -> Seconds:
    seconds: Seconds = {}
    for table in paper.TABLES:
        # the work does not depend on which value a user holds, so any shape will do
        data = ldp3.load(f"zipf(d={table.d}, n={table.n // shrink})")

        def run(protocol: str, threads: int, repeats: int, data: object = data) -> None:
            ldp3.benchmark(
                data, paper.EPSILON, protocol, "paper", "mae",
                repeats=repeats, threads=threads, simulate="users",
            )  # fmt: skip

        label = f"size of {table.name}: n = {data.n:,}, d = {data.d}"
        for protocol in paper.PROTOCOLS:
            run(protocol, 1, 1)  # compiles
            seconds.setdefault(label, {})[protocol] = _rounds(
                lambda t, p=protocol: run(p, t, repeats), rounds  # type: ignore[misc]
            )  # fmt: skip
    return seconds


def _rounds(work: Callable[[int], None], rounds: int) -> dict[int, float]:
    """The fastest round for each number of threads; they take turns, as machines have moods."""
    times = dict.fromkeys(THREADS, float("inf"))
    for _ in range(rounds):
        for threads in THREADS:
            began = time.perf_counter()
            work(threads)
            times[threads] = min(times[threads], time.perf_counter() - began)
    return times


def _table(seconds: Seconds) -> str:
    cores = max(t for t in THREADS if t <= (os.cpu_count() or 1))
    rows = [
        [data, protocol, *(f"{s:.2f}" for s in times.values()),
         f"{times[1] / times[cores]:.1f} ×"]
        for data, protocols in seconds.items()
        for protocol, times in protocols.items()
    ]  # fmt: skip
    head = [
        "data",
        "protocol",
        *(f"{t} thread{'s' * (t > 1)}, s" for t in THREADS),
        f"1 against {cores}",
    ]
    return page.table(head, rows)


def _peers() -> str:
    """Nanoseconds per user, perturb and aggregate, one core: `benchmarks/users.py`."""
    rows = []
    for table in paper.TABLES:
        for protocol in paper.PROTOCOLS:
            row = users.measure(protocol, table.d)
            peers = row["peers_ns"]
            rows.append([
                f"{table.d}", protocol, f"{row['ours_ns']:.1f}",
                *(f"{peers[name]:,.0f}" if name in peers else "–"
                  for name in ("multi-freq-ldpy", "pure-ldp")),
                f"{row['ratio']:,.0f} ×",
            ])  # fmt: skip
    head = ["d", "protocol", "ours, ns per user", "multi-freq-ldpy", "pure-ldp",
            "ours against the faster"]  # fmt: skip
    return page.table(head, rows)


def _machine() -> str:
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    load = f", load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"Machine: {names[0] if names else platform.processor()}, {os.cpu_count()} cores{load}; "
        f"Python {platform.python_version()}."
    )
