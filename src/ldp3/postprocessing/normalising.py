"""Methods that make frequencies sum to one in a single step: Norm, Norm-Mul, Norm-Cut, Norm-Sub."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, as_distribution
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.types import Estimate


@final
@dataclass(frozen=True)
class Norm(PostProcessor):
    r"""Add one number to every frequency, so that they sum to one.

    $$f'_v = \hat f_v + \frac{1 - \sum_u \hat f_u}{d}.$$

    Frequencies may stay negative. Costs $O(d)$; no parameters.

    Examples
    --------
    >>> Norm()(Estimate.of(np.array([0.75, 0.5, 0.5]), n=100, noise=0.01))
    array([0.5 , 0.25, 0.25])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    takes_covariance: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        f = estimate.frequencies
        return f + (1 - f.sum()) / estimate.d


@final
@dataclass(frozen=True)
class NormMul(PostProcessor):
    r"""Negative estimates become zero, the others are multiplied by one number to sum to one.

    $$f'_v = \frac{\max(\hat f_v, 0)}{\sum_u \max(\hat f_u, 0)}.$$

    Frequent values come out too low. The uniform distribution if no estimate is positive. Costs
    $O(d)$; no parameters.

    Examples
    --------
    >>> NormMul()(Estimate.of(np.array([0.75, 0.5, -0.25]), n=100, noise=0.01))
    array([0.6, 0.4, 0. ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "Norm-Mul"
    keeps_order: ClassVar[bool] = True
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        return as_distribution(estimate.frequencies)


@final
@dataclass(frozen=True)
class NormCut(PostProcessor):
    r"""Keep the largest estimates, just enough of them to sum to one; the rest becomes zero.

    $$f'_v \propto \hat f_v \text{ if } \hat f_v \ge θ, \text{ else } 0, \qquad
      θ = \max\{\hat f_u : \sum_{\hat f_v \ge \hat f_u} \hat f_v \ge 1\}.$$

    Every positive estimate stays if they never sum to one; equal estimates stay or go together;
    what stays is rescaled to sum to one exactly. The uniform distribution if no estimate is
    positive. Costs $O(d \log d)$; no parameters.

    Examples
    --------
    >>> NormCut()(Estimate.of(np.array([0.75, 0.5, 0.25, -0.5]), n=100, noise=0.01))
    array([0.6, 0.4, 0. , 0. ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "Norm-Cut"
    keeps_order: ClassVar[bool] = True
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        f = np.maximum(estimate.frequencies, 0)
        top = np.sort(f)[::-1]
        enough = int(np.searchsorted(top.cumsum(), 1))  # how many are kept before the last one
        threshold = top[min(enough, len(f) - 1)]
        return as_distribution(np.where(f >= threshold, f, 0.0))


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
