"""my_metric: one line on what it measures."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ldp3 import Metric
from ldp3.arrays import FloatArray


@dataclass(frozen=True)
class MyMetric(Metric):
    r"""One line on MyMetric: $$\frac1d \sum_v \sqrt{|\tilde f_v - f_v|}.$$

    At least 0, and 0 only at the truth. Say here what happens on zeros and negative numbers.

    >>> MyMetric()(np.array([0.5, 0.5]), np.array([0.75, 0.25]))
    0.5

    References
    ----------
    Authors. *Title.* Venue, year, section.
    """

    better: ClassVar[Literal["lower", "higher"]] = "lower"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.sqrt(np.abs(frequencies - truth)).mean())
