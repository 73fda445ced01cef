"""What a run will cost, from one small cell of each protocol."""

import sys
import time
from dataclasses import dataclass

from ldp3.experiment.cells import Block, Cell
from ldp3.experiment.lab import Lab
from ldp3.experiment.tasks import run_block
from ldp3.progress import available_cores
from ldp3.randomness import stream

ROW = 150  # bytes of one row of the table while it is put together, measured


@dataclass(frozen=True)
class Forecast:
    """Expected processor time in seconds for each protocol, threads, and memory in bytes."""

    seconds: dict[str, float]
    threads: int
    memory: int

    @property
    def elapsed(self) -> float:
        """If the threads have a core each."""
        return sum(self.seconds.values()) / self.threads


def forecast(lab: Lab, threads: int | None = None) -> Forecast:
    """Time one cell of each dataset and protocol, at the middle ε, and multiply."""
    ex, count = lab.experiment, available_cores() if threads is None else max(threads, 1)
    middle = ex.epsilons[(len(ex.epsilons) - 1) // 2]
    seconds = dict.fromkeys((c.spec for c in ex.protocols), 0.0)
    chunk = 0
    for cell in (c for c in lab.cells if c.epsilon == middle):
        seconds[cell.protocol] += len(ex.epsilons) * ex.repeats * _cell_seconds(lab, cell)
        if lab.way(cell) == "users":
            chunk = max(chunk, _chunk_bytes(lab, cell))
    vectors = {"scores": 0, "means": 2, "estimates": 2 + ex.repeats}[ex.keep]
    frequencies = sum(lab.datasets[c.dataset].d for c in lab.cells) * len(ex.methods) * vectors
    rows = ex.size * len(ex.methods) * len(ex.metrics)
    memory = _resident() + (count - 1) * chunk + 8 * frequencies + ROW * rows
    return Forecast(seconds, count, memory)


def _cell_seconds(lab: Lab, cell: Cell) -> float:
    """A cell that runs by users is timed on one chunk.

    The second of two runs counts, because the first may compile.
    """
    lab.tally(cell, range(1))
    began = time.thread_time()
    part = lab.tally(cell, range(1))
    collected = (time.thread_time() - began) * lab.chunks(cell)
    block = Block(cell, 1)
    run_block(lab, block, None, part)
    return collected + run_block(lab, block, None, part).seconds


def _chunk_bytes(lab: Lab, cell: Cell) -> int:
    """The reports of one chunk, and as much again for the randomness they come from."""
    oracle, n = lab.oracle(cell), lab.datasets[cell.dataset].n
    few = min(oracle.chunk_size, 1000, n)
    reports = oracle.perturb(lab.users(cell, 0, few), stream(0, "forecast"))
    return 2 * reports.nbytes * min(oracle.chunk_size, n) // few


def _resident() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
