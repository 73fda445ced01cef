"""Methods that look at one value at a time: none, Base-Pos, Base-Cut."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate


@final
@dataclass(frozen=True)
class NONE(PostProcessor):
    r"""No post-processing: $f'_v = \hat f_v$, the only method here that is unbiased.

    Frequencies may be negative and need not sum to one. In capitals because `None` is taken.

    Examples
    --------
    >>> NONE()(Estimate.of(np.array([0.75, 0.5, -0.25]), n=100, noise=0.01))
    array([ 0.75,  0.5 , -0.25])
    """

    aliases: ClassVar[tuple[str, ...]] = ("w/o PP", "without", "raw", "base")
    takes_covariance: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return estimate.frequencies.copy()


@final
@dataclass(frozen=True)
class BasePos(PostProcessor):
    r"""Negative estimates become zero: $f'_v = \max(\hat f_v, 0)$.

    Rare values come out too high, so the sum is usually above one. Costs $O(d)$; no parameters.

    Examples
    --------
    >>> BasePos()(Estimate.of(np.array([0.75, 0.5, -0.25]), n=100, noise=0.01))
    array([0.75, 0.5 , 0.  ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "Base-Pos"
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return np.maximum(estimate.frequencies, 0)


@final
@dataclass(frozen=True)
class BaseCut(PostProcessor):
    r"""What noise alone could have produced becomes zero.

    $$f'_v = \hat f_v \text{ if } \hat f_v \ge \max(0, Φ^{-1}(1 - 2/d))\,σ, \text{ else } 0,$$

    with $σ^2$ the variance of a value that nobody holds: about two such values stay. For finding
    the frequent values, not for sums over many. Costs $O(d)$; no parameters.

    Examples
    --------
    >>> f = np.array([0.75, 0.2, 0.1, -0.05])  # Φ⁻¹(1/2) = 0 at d=4: the threshold is zero
    >>> BaseCut()(Estimate.of(f, n=100, noise=0.01))
    array([0.75, 0.2 , 0.1 , 0.  ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "Base-Cut"
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        threshold = -NormalDist().inv_cdf(min(2 / estimate.d, 0.5)) * np.sqrt(estimate.noise.base)
        positive = np.maximum(estimate.frequencies, 0)
        return np.where(positive >= threshold, positive, 0.0)
