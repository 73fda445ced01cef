"""What a run will cost, from one small cell of each protocol."""

import sys
import time
from dataclasses import dataclass

from ldp3.bench import Bench, run_block
from ldp3.engine import available_cores

from ldp3.experiment import Block
from ldp3.protocols.base import users_between
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


def forecast(at: Bench, threads: int | None = None) -> Forecast:
    """Time one cell of each protocol, at the middle ε, and multiply.

    A cell that runs by users is timed on one chunk; the second of two runs counts, because the
    first may compile.
    """
    ex, count = at.experiment, available_cores() if threads is None else max(threads, 1)
    middle = (len(ex.epsilons) - 1) // 2
    cells = len(ex.epsilons) * ex.repeats
    seconds, batch = {}, 0
    for p, choice in enumerate(ex.protocols):
        block, chunks = Block(middle, p, 0, 1), at.chunks(p, middle)
        part = at.total(block, 0, range(1))
        began = time.thread_time()
        part = at.total(block, 0, range(1))
        collected = (time.thread_time() - began) * chunks
        finished = run_block(at, block, part)
        finished = run_block(at, block, part)
        seconds[choice.spec] = cells * (collected + finished.seconds)
        if at.way(p) == "users":
            batch = max(batch, _batch_bytes(at, block))
    vectors = ex.repeats if ex.keep else min(ex.repeats, 64)
    held = len(ex.protocols) * len(ex.epsilons) * len(ex.methods) * vectors * ex.data.d * 8
    rows = ex.cells * len(ex.methods) * len(ex.metrics) * ROW
    return Forecast(seconds, count, _resident() + (count - 1) * batch + held + rows)


def _batch_bytes(at: Bench, block: Block) -> int:
    """The reports of one chunk, and as much again for the randomness they come from."""
    oracle = at.oracles[block.protocol][block.epsilon]
    few = min(oracle.batch, 1000, at.experiment.data.n)
    reports = oracle.perturb(users_between(at.ends, 0, few), stream(0, "forecast"))
    return 2 * reports.nbytes * min(oracle.batch, at.experiment.data.n) // few


def _resident() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
