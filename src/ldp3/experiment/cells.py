"""One collection, and what was measured of it.

A *cell* is one collection: dataset × ε × attack × protocol × repeat. Every method and every metric
is applied to the cell's one estimate, so methods compare paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ldp3.arrays import FloatArray, IntArray

NO_ATTACK = "none"
_HIGH, _LOW = 2.0**20, 2.0**40  # of a sum of frequencies: whole parts, and parts of these


@dataclass(frozen=True)
class Cell:
    """One collection, by the names that tables give it."""

    dataset: str
    epsilon: float
    attack: str
    protocol: str
    repeat: int = 0

    @property
    def first(self) -> "Cell":
        """Its first repeat, which stands for all."""
        return replace(self, repeat=0)


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
    """

    block: Block
    values: FloatArray
    sums: IntArray | None
    estimates: FloatArray | None
    seconds: float


def exact_sums(frequencies: Sequence[FloatArray]) -> IntArray:
    """Sums as whole numbers of two sizes: the same however the terms are ordered and grouped."""
    scaled = np.stack(frequencies) * _HIGH
    high = np.floor(np.nan_to_num(scaled))
    low = np.floor((np.nan_to_num(scaled) - high) * _LOW)
    return np.stack([high.sum(axis=0), low.sum(axis=0)]).astype(np.int64)


def from_sums(sums: IntArray) -> FloatArray:
    """The sums as numbers again."""
    return (sums[0] + sums[1] / _LOW) / _HIGH
