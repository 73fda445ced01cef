"""The outcomes of an experiment one by one, for tests that look inside a run."""

from collections.abc import Collection, Generator, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Any

from ldp3.experiment import schedule
from ldp3.experiment.executors import workers
from ldp3.experiment.grid import experiment
from ldp3.experiment.outcomes import Measured, Outcome
from ldp3.experiment.simulator import Simulator
from ldp3.experiment.tabulation import tabulated
from ldp3.people import Dataset
from ldp3.progress import Progress
from ldp3.results.axes import Cell
from ldp3.results.table import Results


def simulator(data: Dataset | Sequence[Dataset], *grid: Any, **options: Any) -> Simulator:
    datasets = [data] if isinstance(data, Dataset) else data
    return Simulator(experiment(datasets, *grid, **options))


def outcomes(
    simulator: Simulator,
    executor: Executor | str | None = None,
    threads: int | None = None,
    done: Collection[Cell] = (),
    progress: Progress | None = None,
) -> Generator[Outcome, None, None]:
    progress = progress or Progress()
    todo = schedule.blocks(simulator, 0, simulator.experiment.repeats, done)
    with (
        workers(executor, threads, simulator, progress) as staff,
        closing(schedule.outcomes(simulator, staff, todo, None, progress)) as running,
    ):
        yield from running


def collected(simulator: Simulator, some: Iterable[Outcome]) -> Results:
    measured = Measured()
    for outcome in some:
        measured.add(outcome)
    return tabulated(simulator, measured, {})


def cells_of(some: Collection[Outcome]) -> set[Cell]:
    return {cell for outcome in some for cell in outcome.block.cells}
