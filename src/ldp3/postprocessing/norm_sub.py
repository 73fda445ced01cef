"""Norm-Sub: the nearest distribution."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate, FloatArray


@final
@dataclass(frozen=True)
class NormSub(PostProcessor):
    r"""Subtract one number from every frequency and cut at zero, so that they sum to one.

    $$f'_v = \max(\hat f_v - δ, 0) \quad\text{with } δ \text{ such that } \sum_v f'_v = 1,$$

    which is the Euclidean projection onto the simplex. Costs $O(d \log d)$; no parameters.

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("Norm-Sub",)

    def __call__(self, estimate: Estimate) -> FloatArray:
        f = estimate.frequencies - estimate.frequencies.max()  # same δ, but for the shift
        top = np.sort(f)[::-1]
        excess = (top.cumsum() - 1) / np.arange(1, len(f) + 1)  # δ if only the top i survive
        return np.maximum(f - excess[(top > excess).sum() - 1], 0)
