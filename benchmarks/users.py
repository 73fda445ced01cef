"""User mode: perturb and aggregate every user, one core, ours against the peers from PyPI.

ε = 1, Zipf data, chunks of 65,536 users, reports materialised between `perturb` and `aggregate`.
The peers do the same work on fewer users, because they take thousands of times as long.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ldp3
from benchmarks.timing import best, peak_megabytes

EPSILON, CHUNK = 1.0, 65_536
GOALS = {  # nanoseconds per user, at d=128 and d=1024, on a machine with AVX-512
    "grr": (5, 5),
    "rappor": (45, 300),
    "oue": (45, 300),
    "blh": (20, 45),
    "olh": (20, 45),
    "ss": (60, 170),
    "pgr": (15, 15),
    "hrr": (15, 15),
}


def zipf(d: int, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    weights = 1 / np.arange(1, d + 1) ** 1.1
    return ldp3.stream(0, "zipf", d).choice(d, n, p=weights / weights.sum())


def ours(name: str, d: int, n: int) -> float:
    """Nanoseconds per user."""
    oracle, values = ldp3.oracle(name, EPSILON, d), zipf(d, n)

    def work() -> None:
        tally = oracle.empty
        for start in range(0, n, CHUNK):
            rng = ldp3.stream(0, name, start)
            tally += oracle.aggregate(oracle.perturb(values[start : start + CHUNK], rng))

    return best(work, rounds=7) / n * 1e9


def multi_freq_ldpy(name: str, d: int) -> Callable[[list[int]], Any] | None:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    def run(client: Callable[[int], Any], server: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda values: server([client(v) for v in values])

    e = EPSILON
    return {
        "grr": run(lambda v: GRR.GRR_Client(v, d, e), lambda r: GRR.GRR_Aggregator_MI(r, d, e)),
        "rappor": run(
            lambda v: UE.UE_Client(v, d, e, optimal=False),
            lambda r: UE.UE_Aggregator_MI(r, e, optimal=False),
        ),
        "oue": run(lambda v: UE.UE_Client(v, d, e), lambda r: UE.UE_Aggregator_MI(r, e)),
        "blh": run(
            lambda v: LH.LH_Client(v, d, e, optimal=False),
            lambda r: LH.LH_Aggregator_MI(r, d, e, optimal=False),
        ),
        "olh": run(lambda v: LH.LH_Client(v, d, e), lambda r: LH.LH_Aggregator_MI(r, d, e)),
        "ss": run(lambda v: SS.SS_Client(v, d, e), lambda r: SS.SS_Aggregator_MI(r, d, e)),
    }.get(name)


def pure_ldp(name: str, d: int) -> Callable[[list[int]], Any] | None:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    make: dict[str, Callable[[], tuple[Any, Any]]] = {
        "grr": lambda: (DEClient(EPSILON, d), DEServer(EPSILON, d)),
        "rappor": lambda: (UEClient(EPSILON, d), UEServer(EPSILON, d)),
        "oue": lambda: (UEClient(EPSILON, d, use_oue=True), UEServer(EPSILON, d, use_oue=True)),
        "blh": lambda: (LHClient(EPSILON, d), LHServer(EPSILON, d)),
        "olh": lambda: (LHClient(EPSILON, d, use_olh=True), LHServer(EPSILON, d, use_olh=True)),
    }
    if name not in make:
        return None

    def work(values: list[int]) -> Any:
        client, server = make[name]()
        for value in values:
            server.aggregate(client.privatise(value + 1))  # its values count from 1
        return server.estimate_all(range(1, d + 1), suppress_warnings=True)

    return work


def measure(name: str, d: int, n: int = 1_000_000, *, peers: bool = True) -> dict[str, Any]:
    """One row of the table."""
    row: dict[str, Any] = {"protocol": name, "d": d, "users": n, "ours_ns": ours(name, d, n)}
    row["peak_mb"] = peak_megabytes()
    row["goal_ns"] = GOALS[name][0 if d <= 128 else 1]
    if peers:
        row["peers_ns"] = {}
        few = 1_000 if name in ("blh", "olh") else 20_000
        values = [int(v) for v in zipf(d, few)]
        for library, make in (("multi-freq-ldpy", multi_freq_ldpy), ("pure-ldp", pure_ldp)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                work = make(name, d)
                if work is not None:
                    seconds = best(partial(work, values), rounds=2)
                    row["peers_ns"][library] = seconds / few * 1e9
        row["ratio"] = min(row["peers_ns"].values()) / row["ours_ns"]
    return row
