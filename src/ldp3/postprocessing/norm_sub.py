"""Norm-Sub: the nearest distribution."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.types import Estimate


@final
@dataclass(frozen=True)
class NormSub(PostProcessor):
    r"""Subtract one number from every frequency and cut at zero, so that they sum to one.

    $$f'_v = \max(\hat f_v - δ, 0) \quad\text{with } δ \text{ such that } \sum_v f'_v = 1,$$

    which is the Euclidean projection onto the simplex. Costs $O(d \log d)$; no parameters.

    Examples
    --------
    >>> NormSub()(Estimate.of(np.array([0.75, 0.5, -0.25]), n=100, noise=0.01))
    array([0.625, 0.375, 0.   ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "Norm-Sub"
    keeps_order: ClassVar[bool] = True
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return fill(estimate.frequencies, np.ones(estimate.d))
