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
from ldp3.experiment.cells import Block
from ldp3.experiment.executors import workers
from ldp3.experiment.grid import experiment
from ldp3.experiment.lab import Lab
from ldp3.experiment.tasks import run_block, run_bundle
from ldp3.progress import Progress

WORKERS = 2


def blocks(lab: Lab) -> list[Block]:
    return schedule.blocks(lab, 0, lab.experiment.repeats, ())


def half(lab: Lab, part: int) -> float:
    """Every other block, in a row; the processor time that it took."""
    began = time.process_time()
    run_bundle(lab, [(run_block, block) for block in blocks(lab)[part::WORKERS]])
    return time.process_time() - began


def without_scheduler(client: distributed.Client, lab: Lab) -> None:
    addresses = list(client.nthreads())
    halves = [
        client.submit(half, lab, part, workers=[address], pure=False)
        for part, address in enumerate(addresses)
    ]
    client.gather(halves)


def with_scheduler(client: distributed.Client, lab: Lab) -> None:
    silent, todo = Progress(), blocks(lab)
    with workers(client, None, lab, silent) as staff:
        assert sum(1 for _ in schedule.outcomes(lab, staff, todo, None, silent)) == len(todo)


def timed(client: distributed.Client, work: Callable[..., None], lab: Lab) -> tuple[float, float]:
    """Seconds on the wall, and of all processors."""
    before = sum(client.run(time.process_time).values()) + time.process_time()
    began = time.perf_counter()
    work(client, lab)
    wall = time.perf_counter() - began
    return wall, sum(client.run(time.process_time).values()) + time.process_time() - before


def measure(repeats: int = 1_000, rounds: int = 5) -> dict[str, Any]:
    lab = Lab(experiment([load("flights")], 1.0, "paper", "paper", repeats=repeats))
    small = Lab(experiment([load("flights")], 1.0, "paper", "paper", repeats=20))
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
            bare.append(timed(client, without_scheduler, lab))
            dask.append(timed(client, with_scheduler, lab))
    (bare_wall, bare_work), (dask_wall, dask_work) = (
        zip(*bare, strict=True),
        zip(*dask, strict=True),
    )
    return {
        "cells": lab.experiment.size,
        "blocks": len(blocks(lab)),
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
