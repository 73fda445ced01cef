"""What was measured: some repeats of a cell at a time, and all of them together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.results.axes import Cell

_HIGH, _LOW = 2.0**20, 2.0**40  # of a sum of frequencies: whole parts, and parts of these


@dataclass(frozen=True)
class Block:
    """Some repeats of one cell: from its own up to `stop`."""

    cell: Cell
    stop: int

    def __len__(self) -> int:
        return self.stop - self.cell.repeat

    @property
    def cells(self) -> list[Cell]:
        """One for each repeat."""
        return [replace(self.cell, repeat=r) for r in range(self.cell.repeat, self.stop)]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a block measured.

    Parameters
    ----------
    block
        Which repeats of which cell.
    values
        Scores by repeat, method and metric; NaN where a method was not asked for.
    sums
        Frequencies added over the repeats by method and value, as whole numbers (`exact_sums`).
    estimates
        The frequencies themselves by repeat, method and value, where they are kept.
    seconds
        Processor time it took.
    limits
        Scores of the separable oracle by repeat, kind (free, a distribution) and metric; NaN where
        there are none.
    """

    block: Block
    values: FloatArray
    sums: IntArray | None
    estimates: FloatArray | None
    seconds: float
    limits: FloatArray


class Measured:
    """What blocks have measured so far; sums over repeats are added up as they come in."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []  # without their sums
        self.sums: dict[Cell, IntArray] = {}  # by the first repeat of a cell
        self.summed = True  # all of it: a run that kept scores only may have begun
        self.cells: set[Cell] = set()

    def add(self, outcome: Outcome) -> None:
        """Take in a block."""
        self.summed &= outcome.sums is not None
        if outcome.sums is not None:
            cell = outcome.block.cell.first
            known = self.sums.get(cell)
            self.sums[cell] = outcome.sums if known is None else known + outcome.sums
        self.outcomes.append(replace(outcome, sums=None))
        self.cells.update(outcome.block.cells)

    def by_cell(self) -> dict[Cell, list[Outcome]]:
        """The outcomes of each cell in the order of their repeats."""
        found: dict[Cell, list[Outcome]] = {}
        for outcome in sorted(self.outcomes, key=lambda o: o.block.cell.repeat):
            found.setdefault(outcome.block.cell.first, []).append(outcome)
        return found

    def joined(self) -> Iterator[Outcome]:
        """Each cell as one block, where all of its repeats are there."""
        for cell, parts in self.by_cell().items():
            kept = [part.estimates for part in parts if part.estimates is not None]
            yield Outcome(
                Block(cell, parts[-1].block.stop),
                np.concatenate([part.values for part in parts]),
                self.sums[cell] if self.summed else None,
                np.concatenate(kept) if kept else None,
                sum(part.seconds for part in parts),
                np.concatenate([part.limits for part in parts]),
            )


def exact_sums(frequencies: Sequence[FloatArray]) -> IntArray:
    """Sums as whole numbers of two sizes: the same however the terms are ordered and grouped."""
    scaled = np.nan_to_num(np.stack(frequencies)) * _HIGH
    high = np.floor(scaled)
    low = np.floor((scaled - high) * _LOW)
    return _carried(np.stack([high, low]).astype(np.int64).sum(axis=1))


def from_sums(sums: IntArray) -> FloatArray:
    """The sums as numbers again."""
    high, low = _carried(sums)
    return (high + low / _LOW) / _HIGH


def _carried(sums: IntArray) -> IntArray:
    """The one way to write such sums: what the small parts have too much goes to the large."""
    carry = sums[1] // int(_LOW)
    return np.stack([sums[0] + carry, sums[1] - carry * int(_LOW)])
