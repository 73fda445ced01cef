"""The engine: what it adds to the kernels, what a second thread gives, and exact simulation."""

import time
from typing import Any

import ldp3
from benchmarks.timing import best, peak_megabytes
from ldp3.people import Dataset
from ldp3.protocols.base import users

PAPER = ("grr", "rappor", "oue", "blh", "olh", "ss")


def zipf(d: int, n: int) -> Dataset:
    return ldp3.load(f"zipf(s=1.1, d={d}, n={n})")


def in_users_mode(name: str, d: int = 128, n: int = 50_000_000) -> dict[str, Any]:
    """The same users by the bare kernels, by the engine on one thread, and on two."""
    data, oracle = zipf(d, n), ldp3.oracle(name, 1.0, d)

    def kernels() -> None:
        tally = oracle.empty
        for chunk, values in enumerate(users(data.histogram, oracle.chunk_size)):
            tally += oracle.aggregate(oracle.perturb(values, ldp3.stream(0, chunk)))

    def engine(threads: int) -> None:
        ldp3.benchmark(data, 1.0, name, "none", "l1", repeats=2, threads=threads, simulate="users")

    # turn by turn, so that a noisy machine is equally unkind to all three
    times: dict[str, list[float]] = {"kernels": [], "one": [], "two": []}
    for _ in range(3):
        times["kernels"].append(2 * best(kernels, rounds=1))
        times["one"].append(best(lambda: engine(1), rounds=1))
        times["two"].append(best(lambda: engine(2), rounds=1))
    bare, one, two = (min(times[key]) for key in ("kernels", "one", "two"))
    return {
        "protocol": name, "d": d, "users": 2 * n,
        "kernels_ns": bare / n / 2 * 1e9, "engine_ns": one / n / 2 * 1e9,
        "engine_over_kernels": one / bare, "one_thread_over_two": one / two,
        "peak_mb": peak_megabytes(),
    }  # fmt: skip


def experiment(n: int = 1_000_000, repeats: int = 10, threads: int = 2) -> dict[str, Any]:
    """The paper's whole experiment: six protocols, seven methods and none, exact simulation."""
    data = zipf(128, n)

    def work() -> None:
        ldp3.benchmark(data, 1.0, "paper", "paper", "l1", repeats=repeats, threads=threads)

    seconds = best(work, rounds=1 if repeats > 100 else 5)
    return {"n": n, "repeats": repeats, "seconds": seconds, "peak_mb": peak_megabytes()}


def exact_subset_selection(d: int, n: int = 1_000_000) -> dict[str, Any]:
    """One draw of the counts of SS."""
    data, oracle = zipf(d, n), ldp3.oracle("ss", 1.0, d)
    rng = ldp3.stream(0)
    seconds = best(lambda: oracle.simulate(data.histogram, rng), rounds=9)
    return {"d": d, "n": n, "milliseconds": seconds * 1e3, "peak_mb": peak_megabytes()}


def growth(name: str, d: int, n: int) -> dict[str, Any]:
    """Nanoseconds per user of the kernels, for a plot of cost against n and d."""
    data, oracle = zipf(d, n), ldp3.oracle(name, 1.0, d)

    def work() -> None:
        began = time.perf_counter()
        for chunk, values in enumerate(users(data.histogram, oracle.chunk_size)):
            oracle.aggregate(oracle.perturb(values, ldp3.stream(0, chunk)))
            if time.perf_counter() - began > 20:
                raise TimeoutError(f"{name} at d={d}, n={n}")

    seconds = best(work, rounds=2)
    return {"protocol": name, "d": d, "n": n, "seconds": seconds, "peak_mb": peak_megabytes()}
