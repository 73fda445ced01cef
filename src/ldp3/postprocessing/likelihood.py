"""Maximum likelihood over all distributions: the approximate one, GRR's, and the product form."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, as_distribution
from ldp3.errors import InvalidData
from ldp3.kernels.numerics import find_root
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.postprocessing.expectation import CHANNEL, Likelihood, climb
from ldp3.types import Estimate, Oracle

P_AND_Q = "support probabilities p and q"


@final
@dataclass(frozen=True)
class MLEApx(PostProcessor):
    r"""The most likely distribution if the noise were normal; also called MLE-Apx.

    $$\min_{f'} \sum_v \frac{(f'_v - \hat f_v)^2}{\mathrm{Var}(f'_v)}
      \quad\text{over all distributions, with}\quad
      n\,\mathrm{Var}(f) = \frac{q(1-q)}{(p-q)^2} + \frac{f(1-p-q)}{p-q}.$$

    The variance is linear in $f$, so the optimum is $f'_v = \max(\hat f_v + t\,u_v, 0)$ with
    $u_v ∝ \mathrm{Var}(\hat f_v)$ and one number $t$: Norm-Sub where $p + q = 1$. Costs
    $O(d \log d)$; no parameters; needs an oracle with $p$ and $q$.

    Examples
    --------
    >>> from ldp3.noise import Support
    >>> f = np.array([1.0, 0.5, -0.5])
    >>> MLEApx()(Estimate.of(f, n=100, noise=Support(0.5, 0.25))).round(3)
    array([0.733, 0.267, 0.   ])

    References
    ----------
    Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. *Locally differentially private frequency estimation
    with consistency.* NDSS 2020, §4.
    """

    title: ClassVar[str] = "MLE-Apx"
    distribution: ClassVar[bool] = True
    needs: ClassVar[str] = P_AND_Q

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None

    def refine(self, estimate: Estimate) -> FloatArray:
        p, q, share = _support(estimate)
        # of f̂, times n (p - q)²: pq + share (1 - p - q), written so that nothing cancels
        variance = (1 - share) * p * q + share * (1 - p) * (1 - q)
        least = 1e-12 * variance.max() or 1.0  # with p = 1 some are 0, or all
        return fill((share - q) / (p - q), np.maximum(variance, least))


@final
@dataclass(frozen=True)
class MLE(PostProcessor):
    r"""The most likely distribution where a report supports one value only, as in GRR: exact.

    $$\max_{f'} \sum_v C_v \log(q + f'_v (p-q)) \quad\text{over all distributions.}$$

    The optimum is $f'_v = \max(\hat f_v + t\,C_v, 0)$ with one number $t$. Costs $O(d \log d)$;
    no parameters.

    Examples
    --------
    >>> from ldp3.noise import Support
    >>> f = np.array([1.0, 0.5, -0.5])
    >>> GRR_like = Estimate.of(f, n=100, noise=Support(0.5, 0.25, 1))
    >>> MLE()(GRR_like).round(3)
    array([0.714, 0.286, 0.   ])

    References
    ----------
    Kairouz, Bonawitz, Ramage. *Discrete distribution estimation under local privacy.* ICML 2016.
    """

    distribution: ClassVar[bool] = True
    needs: ClassVar[str] = P_AND_Q + ", and reports that support exactly one value"

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None and oracle.support.size == 1

    def refine(self, estimate: Estimate) -> FloatArray:
        p, q, share = _support(estimate)
        return fill((share - q) / (p - q), share) if share.any() else as_distribution(share)


@final
@dataclass(frozen=True)
class EM(PostProcessor):
    r"""The most likely distribution given the counts, where expectation–maximisation ends.

    $$\max_{f'} \sum_v C_v \log s_v + (n - C_v) \log(1 - s_v), \qquad s_v = q + f'_v (p-q),$$

    over all distributions: the counts taken as independent binomials. Where a report supports
    exactly one value the likelihood is multinomial and the answer that of `MLE`. The optimum
    solves $f'_v = \hat f_v + t\,s_v(1 - s_v)$, or is 0, for one number $t$: a quadratic per value
    and a root, found to rounding instead of climbed to. Costs $O(d)$ per step of the root finder;
    no parameters. Where an oracle has no $p$ and $q$ but a channel, as `sw`, the likelihood of its
    reports is climbed by EM until no distribution can have more of it than by 1 in its logarithm,
    which is far below chance; rough where neighbours are hard to tell apart.

    Examples
    --------
    >>> from ldp3.noise import Support
    >>> f = np.array([1.0, 0.5, -0.5])
    >>> EM()(Estimate.of(f, n=100, noise=Support(0.5, 0.25))).round(3)
    array([0.734, 0.266, 0.   ])

    References
    ----------
    Dempster, Laird, Rubin. *Maximum likelihood from incomplete data via the EM algorithm.*
    Journal of the Royal Statistical Society B, 1977.
    """

    aliases: ClassVar[tuple[str, ...]] = ("expectation maximisation", "expectation maximization")
    distribution: ClassVar[bool] = True
    takes_covariance: ClassVar[bool] = True
    needs: ClassVar[str] = f"{P_AND_Q}, or {CHANNEL}"

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None or oracle.channel is not None

    def refine(self, estimate: Estimate) -> FloatArray:
        if estimate.support is None:
            return climb(Likelihood.of(estimate), estimate.d)
        if MLE().applies(estimate):
            return MLE().refine(estimate)
        p, q, share = _support(estimate)
        return _binomial_mle((share - q) / (p - q), p, q)


def _support(estimate: Estimate) -> tuple[float, float, FloatArray]:
    """p, q, and the share of reports that support each value; no counts lie outside [0, 1]."""
    support = estimate.support
    if support is None or not 0 <= support.q < support.p <= 1:
        raise InvalidData(f"Maximum likelihood needs 0 ≤ q < p ≤ 1, got {support}.")
    p, q = support.p, support.q
    return p, q, np.clip(q + estimate.frequencies * (p - q), 0, 1)


def _binomial_mle(f: FloatArray, p: float, q: float) -> FloatArray:
    gap = p - q

    def shifted(t: float) -> FloatArray:
        # f' = f + t s(1-s), s = q + gap f': the root with 0 <= s <= 1, in the form that cancels
        # no digits
        c, b, a = f + t * q * (1 - q), 1 - t * gap * (1 - 2 * q), t * gap**2
        root = np.sqrt(np.maximum(b**2 + 4 * a * c, 0))
        return np.maximum((root - b) / (2 * a) if b < 0 else 2 * c / (b + root), 0)

    # the t that brings a value to the mean 1/d; all values are on one side of it at either end
    mean = q + gap / len(f)
    through_mean = (1 / len(f) - f) / max(mean * (1 - mean), np.finfo(float).tiny)
    low, high = through_mean.min(), through_mean.max()
    if shifted(low).sum() >= 1 or shifted(high).sum() <= 1:  # all estimates equal, but for rounding
        return as_distribution(shifted(low if shifted(low).sum() >= 1 else high))
    step = 4 * np.finfo(float).eps * (high - low)
    t = find_root(lambda t: shifted(t).sum() - 1, low, high, within=step)
    return as_distribution(shifted(t))
