"""`python -m benchmarks.dask_overhead`: what Dask adds to the paper's sweep on two local workers.

The same blocks are run once by the scheduler and once by the bare worker processes, each of which
goes through its half without asking anybody. Both in the same workers, turn by turn, so that
a noisy machine is equally unkind to both; of the ratios of each round, the median counts. Processor
time is of all processes together (client, scheduler, workers): it depends less on who else uses the
machine.
"""

import sys
import time
from collections.abc import Callable
from operator import truediv
from statistics import median
from typing import Any

import distributed

from ldp3.datasets.loading import load
from ldp3.experiment import schedule
from ldp3.experiment.executors import workers
from ldp3.experiment.grid import experiment
from ldp3.experiment.outcomes import Block
from ldp3.experiment.schedule import Task, run_tasks
from ldp3.experiment.simulator import Simulator
from ldp3.progress import Progress

WORKERS = 2


def blocks(simulator: Simulator) -> list[Block]:
    return schedule.blocks(simulator, 0, simulator.experiment.repeats, ())


def half(simulator: Simulator, part: int) -> float:
    """Every other block, in a row; the processor time that it took."""
    began = time.process_time()
    run_tasks(simulator, [Task(block) for block in blocks(simulator)[part::WORKERS]])
    return time.process_time() - began


def without_scheduler(client: distributed.Client, simulator: Simulator) -> None:
    addresses = list(client.nthreads())
    halves = [
        client.submit(half, simulator, part, workers=[address], pure=False)
        for part, address in enumerate(addresses)
    ]
    client.gather(halves)


def with_scheduler(client: distributed.Client, simulator: Simulator) -> None:
    silent, todo = Progress(), blocks(simulator)
    with workers(client, None, simulator, silent) as staff:
        assert sum(1 for _ in schedule.outcomes(simulator, staff, todo, None, silent)) == len(todo)


def timed(
    client: distributed.Client, work: Callable[..., None], simulator: Simulator
) -> tuple[float, float]:
    """Seconds on the wall, and of all processors."""
    before = sum(client.run(time.process_time).values()) + time.process_time()
    began = time.perf_counter()
    work(client, simulator)
    wall = time.perf_counter() - began
    return wall, sum(client.run(time.process_time).values()) + time.process_time() - before


def measure(repeats: int = 1_000, rounds: int = 5) -> dict[str, Any]:
    simulator = Simulator(experiment([load("flights")], 1.0, "paper", "paper", repeats=repeats))
    small = Simulator(experiment([load("flights")], 1.0, "paper", "paper", repeats=20))
    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        without_scheduler(client, small)  # compiles
        bare, dask = [], []
        for _ in range(rounds):
            bare.append(timed(client, without_scheduler, simulator))
            dask.append(timed(client, with_scheduler, simulator))
    (bare_wall, bare_work), (dask_wall, dask_work) = (
        zip(*bare, strict=True),
        zip(*dask, strict=True),
    )
    return {
        "cells": simulator.experiment.size,
        "blocks": len(blocks(simulator)),
        "workers": WORKERS,
        "bare_seconds": median(bare_wall),
        "dask_seconds": median(dask_wall),
        "dask_over_bare": median(map(truediv, dask_wall, bare_wall)),
        "bare_processor_seconds": median(bare_work),
        "dask_processor_seconds": median(dask_work),
        "dask_over_bare_processor": median(map(truediv, dask_work, bare_work)),
    }


if __name__ == "__main__":
    for key, value in measure(*map(int, sys.argv[1:])).items():
        print(f"{key:<26} {value:.4g}")
