r"""How many repeats, where nobody asks for a number: as many as the question needs.

All combinations get 10 repeats, then 20, 40, … At each of these *looks* the ties are determined
(`results.ties`), every look paying its share of α. The run is over when in every question nothing
but what gives the same numbers is tied with the best, or at the ceiling. The ceiling follows from
d, n and the grid by a table of what things cost, never from a clock: the same seed gives the same
table on any machine.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from ldp3.attacks.targets import TargetShare
from ldp3.experiment.cells import Cell, Outcome
from ldp3.experiment.grid import MOST_CELLS, REPEATS, Experiment
from ldp3.experiment.lab import Lab
from ldp3.results import ties

BUDGET = 5.0  # seconds of one core, for each dataset and ε, as the table below counts them
MOST = 640  # repeats: seven looks
# Seconds, for any protocol and any method: typical, not exact. What is fixed, and per value.
DRAWN = 200e-6, 4e-6  # a tally by exact simulation
REFINED = 200e-6, 3e-6  # one method, scored
USER = 1e-6, 4e-9  # perturbed and counted


def built(ex: Experiment) -> Lab:
    """The lab of an experiment, with the ceiling for its repeats if nobody asked for a number."""
    lab = Lab(ex)
    return lab if ex.repeats_asked else Lab(replace(ex, repeats=ceiling(lab)))


def ceiling(lab: Lab) -> int:
    """The last look that the budget allows; the first one is always taken."""
    tables = len(lab.datasets) * len(lab.experiment.epsilons)
    once = sum(seconds(lab, cell) for cell in lab.cells)
    allowed = min(BUDGET * tables / once, MOST, MOST_CELLS / len(lab.cells))
    return REPEATS * 2 ** max(int(np.log2(max(allowed / REPEATS, 1))), 0)


def seconds(lab: Lab, cell: Cell) -> float:
    """What one repeat of a cell costs, by the table."""
    data, methods = lab.datasets[cell.dataset], int(lab.applies(cell).sum())
    if lab.way(cell) == "users":
        tally = data.n * (USER[0] + USER[1] * data.d)
    else:
        tally = DRAWN[0] + DRAWN[1] * data.d
    return tally + methods * (REFINED[0] + REFINED[1] * data.d)


class Looks:
    """Looks at all combinations alike until every question is settled."""

    def __init__(self, lab: Lab) -> None:
        most = lab.experiment.repeats
        self.lab = lab
        self.looks = [REPEATS * 2**k for k in range((most // REPEATS).bit_length())]
        shape = most, len(lab.methods), len(lab.experiment.metrics)
        self._values = {cell: np.full(shape, np.nan) for cell in lab.cells}

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
        cells: dict[tuple[str, float, str], list[Cell]] = {}
        for cell in self.lab.cells:
            cells.setdefault((cell.dataset, cell.epsilon, cell.attack), []).append(cell)
        named = enumerate(self.lab.experiment.metrics)  # what targets hold is neither good nor bad
        metrics = [u for u, choice in named if not isinstance(choice.thing, TargetShare)]
        return product(cells.values(), metrics)

    def _settled(self, cells: list[Cell], metric: int, repeats: int) -> bool:
        """Whether nothing but what gives the same numbers is tied with the best."""
        runs = {
            (cell.protocol, self.lab.experiment.methods[m].spec): self._values[cell][
                :repeats, m, metric
            ]
            for cell in cells
            for m in np.flatnonzero(self.lab.applies(cell))
        }
        better = self.lab.metrics[cells[0].dataset][metric].better
        first = ties.leader({pair: float(v.mean()) for pair, v in runs.items()}, better)
        return ties.ties(runs, better, looks=len(self.looks)) <= ties.alike(runs, first)
