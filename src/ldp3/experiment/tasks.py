"""Tasks: functions on plain data, so that any executor can run them; and who runs them.

They blame a plug-in where it fails: a traceback does not travel between processes.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldp3.arrays import BoolArray
from ldp3.experiment.cells import Block, Outcome, exact_sums
from ldp3.experiment.lab import Lab, kept_lab
from ldp3.plugins import blaming
from ldp3.types import Tally


@dataclass(frozen=True)
class Workers:
    """An executor, how tasks get at the lab there, and how many can run at a time.

    The number may change while they work. Small tasks go in bundles of `bundle` seconds.
    """

    executor: Executor
    lab: Any
    count: Callable[[], int]
    bundle: float = 0.0


@blaming()
def run_block(
    lab: Lab | str,
    block: Block,
    wanted: BoolArray | None = None,
    tally: Tally | None = None,
    spent: float = 0.0,
) -> Outcome:
    """All cells of a block; `tally` is that of its one cell, if tasks made it before."""
    kept, began = kept_lab(lab), time.thread_time()
    keep, chunks = kept.experiment.keep, range(kept.chunks(block.cell))
    frequencies, limits = [], []
    for cell in block.cells:
        found = kept.estimate(cell, kept.tally(cell, chunks) if tally is None else tally)
        frequencies.append(kept.frequencies(cell, found, wanted))
        limits.append(kept.limits(cell, found))
    return Outcome(
        block,
        np.array([kept.scores(block.cell, f) for f in frequencies]),
        None if keep == "scores" else exact_sums(frequencies),
        np.array(frequencies) if keep == "estimates" else None,
        time.thread_time() - began + spent,
        np.array(limits),
    )


@blaming()
def run_chunks(lab: Lab | str, block: Block, start: int, stop: int) -> tuple[Tally, float]:
    """The tally of some chunks of a block's one cell, and the processor time."""
    kept, began = kept_lab(lab), time.thread_time()
    tally = kept.tally(block.cell, range(start, stop))
    return tally, time.thread_time() - began


def run_bundle(lab: Lab | str, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Several tasks as one: each a function of the above and what it takes besides the lab."""
    return [function(lab, *arguments) for function, *arguments in calls]
