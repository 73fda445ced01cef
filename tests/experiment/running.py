"""The outcomes of an experiment one by one, for tests that look inside a run."""

from collections.abc import Collection, Generator, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Any

from ldp3.experiment import schedule
from ldp3.experiment.cells import Cell, Measured, Outcome
from ldp3.experiment.collect import collect
from ldp3.experiment.executors import workers
from ldp3.experiment.grid import experiment
from ldp3.experiment.lab import Lab
from ldp3.progress import Progress
from ldp3.results.table import Results
from ldp3.types import Dataset


def lab(data: Dataset | Sequence[Dataset], *grid: Any, **options: Any) -> Lab:
    datasets = [data] if isinstance(data, Dataset) else data
    return Lab(experiment(datasets, *grid, **options))


def outcomes(
    lab: Lab,
    executor: Executor | str | None = None,
    threads: int | None = None,
    done: Collection[Cell] = (),
    progress: Progress | None = None,
) -> Generator[Outcome, None, None]:
    progress = progress or Progress()
    todo = schedule.blocks(lab, 0, lab.experiment.repeats, done)
    with (
        workers(executor, threads, lab, progress) as staff,
        closing(schedule.outcomes(lab, staff, todo, None, progress)) as running,
    ):
        yield from running


def collected(lab: Lab, some: Iterable[Outcome]) -> Results:
    measured = Measured()
    for outcome in some:
        measured.add(outcome)
    return collect(lab, measured, {})


def cells_of(some: Collection[Outcome]) -> set[Cell]:
    return {cell for outcome in some for cell in outcome.block.cells}
