"""Distances between two vectors of frequencies."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.metrics.base import Metric
from ldp3.types import FloatArray


@final
@dataclass(frozen=True)
class L1(Metric):
    r"""Manhattan distance: $$\sum_v |\tilde f_v - f_v|.$$ At least 0, and 0 only at the truth.

    >>> L1()(np.array([0.5, 0.5]), np.array([0.75, 0.5]))
    0.25
    """

    aliases: ClassVar[tuple[str, ...]] = ("manhattan", "l1 distance", "ℓ1")

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        """$\\sum_v |\\tilde f_v - f_v|$."""
        return float(np.abs(frequencies - truth).sum())
