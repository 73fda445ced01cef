"""my_method: one line on what it does."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldp3 import Estimate, PostProcessor
from ldp3.arrays import FloatArray, as_distribution


@dataclass(frozen=True)
class MyMethod(PostProcessor):
    r"""One line on MyMethod: which problem it solves.

    $$f'_v ∝ \max(\hat f_v - t σ, 0),$$

    with $σ^2$ the variance of a value that nobody holds. The result is a distribution. Costs
    $O(d)$. Say here what it guarantees and when to use it.

    Parameters
    ----------
    t
        How many standard deviations of noise are taken off.

    Examples
    --------
    >>> MyMethod()(Estimate.of(np.array([0.75, 0.5, -0.25]), n=100, noise=0.0625))
    array([0.66666667, 0.33333333, 0.        ])

    References
    ----------
    Authors. *Title.* Venue, year, section.
    """

    distribution: ClassVar[bool] = True  # the result is at least 0 and sums to 1
    keeps_order: ClassVar[bool] = True  # of equal noise, a higher estimate never ends below

    t: float = 1.0

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies - self.t * np.sqrt(estimate.noise.base))
