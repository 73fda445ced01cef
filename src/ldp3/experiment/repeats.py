r"""How many repeats: as asked, or as many as the question needs; and when a run may go on.

Where nobody asks for a number, all combinations get 10 repeats, then 20, 40, … At each of these
*looks* the ties are determined (`results.ties`), every look paying its share of α. The run is over
when in every question nothing but what gives the same numbers is tied with the best, or at the
ceiling. The ceiling follows from d, n and the grid, never from a clock: the same seed gives the
same table on any machine.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ldp3.attacks.targets import TargetShare
from ldp3.errors import InvalidParameter, whole
from ldp3.experiment.grid import MOST_CELLS, REPEATS, Experiment
from ldp3.experiment.outcomes import Outcome
from ldp3.experiment.simulator import Simulator
from ldp3.people import Marginals
from ldp3.results import ties
from ldp3.results.axes import Cell, without

MOST_REPEATS = 640  # seven looks
WORK = 1_600_000  # frequencies to work out, for each dataset and ε: some seconds of one core
OVERHEAD = 64  # frequencies that could be worked out while a method or a protocol begins
JOINING = 4  # times as long a table takes as an estimate: it is joined from groups
USERS = 3  # who are perturbed and counted in the time of one frequency


def prepared(ex: Experiment) -> Simulator:
    """What runs an experiment, with a ceiling for its repeats if nobody asked for a number."""
    simulator = Simulator(ex)
    if ex.repeats_asked:
        return simulator
    return Simulator(replace(ex, repeats=ceiling(simulator)))


def ceiling(simulator: Simulator) -> int:
    """The last look that the work allows; the first one is always taken."""
    tables = len(simulator.datasets) * len(simulator.experiment.epsilons)
    once = sum(work(simulator, cell) for cell in simulator.cells)
    allowed = min(WORK * tables / once, MOST_REPEATS, MOST_CELLS / len(simulator.cells))
    return REPEATS * 2 ** max(int(np.log2(max(allowed / REPEATS, 1))), 0)


def work(simulator: Simulator, cell: Cell) -> int:
    """Frequencies to work out in one repeat of a cell: its own and each method's, and its users."""
    data, methods = simulator.datasets[cell.dataset], int(simulator.applies(cell).sum())
    users = data.n if simulator.way(cell) == "users" else 0
    each = OVERHEAD + data.d
    if isinstance(data, Marginals):  # a method works out all tables of one and two attributes
        k = len(data.people.sizes)
        each = JOINING * OVERHEAD * (k + k * (k - 1) // 2)
    return (1 + methods) * each + users // USERS


class UntilSettled:
    """Looks at all combinations alike until every question is settled."""

    def __init__(self, simulator: Simulator) -> None:
        most = simulator.experiment.repeats
        self.simulator = simulator
        self.looks = [REPEATS * 2**k for k in range((most // REPEATS).bit_length())]
        shape = most, len(simulator.methods), len(simulator.experiment.metrics)
        self._values = {cell: np.full(shape, np.nan) for cell in simulator.cells}

    def hear(self, outcome: Outcome) -> None:
        """Keep the scores of a block."""
        cell = outcome.block.cell
        self._values[cell.first][cell.repeat : outcome.block.stop] = outcome.values

    def wanted(self) -> None:
        """Everything, alike."""

    def over(self, repeats: int) -> bool:
        """Look at the first so many repeats; whether every question is settled."""
        return all(self._settled(*asked, repeats) for asked in self._questions())

    def _questions(self) -> Iterator[tuple[list[Cell], int]]:
        """The cells that are compared by one metric, and which."""
        cells: dict[tuple[Any, ...], list[Cell]] = {}
        for cell in self.simulator.cells:
            cells.setdefault(without(cell, "protocol", "repeat"), []).append(cell)
        named = enumerate(self.simulator.experiment.metrics)
        # what targets hold is neither good nor bad
        metrics = [u for u, choice in named if not isinstance(choice.thing, TargetShare)]
        return product(cells.values(), metrics)

    def _settled(self, cells: list[Cell], metric: int, repeats: int) -> bool:
        """Whether nothing but what gives the same numbers is tied with the best."""
        methods = self.simulator.experiment.methods
        runs = {
            (cell.protocol, methods[m].spec): self._values[cell][:repeats, m, metric]
            for cell in cells
            for m in np.flatnonzero(self.simulator.applies(cell))
        }
        better = self.simulator.metrics[cells[0].dataset][metric].better
        first = ties.leader({pair: float(v.mean()) for pair, v in runs.items()}, better)
        return ties.ties(runs, better, looks=len(self.looks)) <= ties.alike(runs, first)


def asks_for_more(before: Mapping[str, Any], now: Mapping[str, Any], output: Path) -> bool:
    """Whether a run asks for repeats that a finished one of the same grid does not have.

    Where nobody asks for a number, the first look is enough: a finished run has been looked at.
    """
    there = before.get("repeats")
    if not whole(there, 1):
        raise InvalidParameter(
            f"{str(output)!r} does not say how many repeats it holds: choose another `output`, or "
            f"start over with `fresh`."
        )
    return bool((now["repeats"] if now["repeats_asked"] else REPEATS) > there)


def require_no_shorter(before: Mapping[str, Any], now: Mapping[str, Any], output: Path) -> None:
    """Refuse to end a stopped run before the repeats that it was to have: some would be lost."""
    there, chosen = before["repeats"], not before.get("repeats_asked", True)
    wanted = now["repeats"] if now["repeats_asked"] or chosen else REPEATS
    if wanted >= there:
        return
    what = f"{there} repeats" if not chosen else f"up to {there} repeats, as many as it needs"
    how = "with as many or more `repeats`" if not chosen else "without `repeats`, or with as many"
    raise InvalidParameter(
        f"{str(output)!r} holds part of a run of {what}: go on {how}, or start over with `fresh`."
    )
