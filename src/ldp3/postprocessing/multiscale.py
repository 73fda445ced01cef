"""Multiscale: posterior means under a prior of atoms and tents at all scales."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import require
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.normalising import NormSub
from ldp3.postprocessing.posterior import Posterior
from ldp3.types import Estimate


@final
@dataclass(frozen=True)
class Multiscale(PostProcessor):
    r"""Posterior means under a prior that is fitted at all scales, then Norm-Sub.

    The frequencies are taken as draws from one unknown prior, as in `npmle`, but the prior is a sum
    $\sum_c w_c K_c$ of atoms on a grid and of tents of half-width 1, 4, 16, … standard deviations
    of the noise. With $N_c$ the expected number of values of part $c$ given the estimates,

    $$w_c \leftarrow e^{ψ(N_c + b_c)}, \qquad f'_v = E_w[θ \mid \hat f_v],$$

    where $e^{ψ(N)} ≈ N - ½$ lets a part that explains less than a value die: lone values end in
    wide tents and are shrunk little, crowds in atoms or narrow tents and are shrunk fully. The
    $b_c$ sum to ¼, a background for sizes that nobody has seen. A distribution. No parameters.
    Deterministic: a fixed number of steps from a fixed start, not the optimum of a convex problem.
    Costs about $O(d)$ per step, and grows slowly with $n$.

    Examples
    --------
    >>> f = np.array([0.31, 0.28, 0.12, 0.12, 0.09, 0.08])
    >>> Multiscale()(Estimate.of(f, n=1000, noise=0.0004)).round(3)
    array([0.293, 0.293, 0.103, 0.103, 0.103, 0.103])

    References
    ----------
    Robbins. *An empirical Bayes approach to statistics.* Berkeley Symposium on Mathematical
    Statistics and Probability, 1956.
    Bishop. *Pattern recognition and machine learning.* Springer 2006, §10.2 (the factor
    $e^{ψ(N)}$ of variational Bayes, here under a Dirichlet prior whose parameters go to zero).
    """

    title: ClassVar[str] = "Multi-scale"
    distribution: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        mean, _ = Posterior.of(estimate).moments()
        return NormSub().refine(replace(estimate, frequencies=mean))

    def interval(
        self, estimate: Estimate, level: float = 0.95
    ) -> tuple[FloatArray, FloatArray] | None:
        """Credible intervals under the fitted prior, which hold the frequencies of the method.

        They say where a frequency lies if it is one like the others. Over all values of a dataset
        about `level` of them are right (see docs/postprocessing.md for how many were); for one
        value in particular, an unusual one most of all, nothing is promised. That is what
        `Estimate.confidence_interval` is for.
        """
        require(0 < level < 1, self, "level must be between 0 and 1", level)
        posterior, refined = Posterior.of(estimate), self(estimate)
        low, high = posterior.interval(level)
        return np.minimum(low, refined), np.maximum(high, refined)


@final
@dataclass(frozen=True)
class MultiscaleOrdered(PostProcessor):
    r"""Multi-scale, plus the pattern along the order of the domain that is left in its residuals.

    For numbers, dates and bins, whose neighbours resemble each other, and for sums over ranges. The
    residuals $r = \hat f - m$ of the posterior means $m$ go through a discrete cosine transform,
    whose coefficients are shrunk block by block (positive-part James–Stein, blocks $B$ = 1, 2–3,
    4–7, …):

    $$f' = m + \mathrm{DCT}^{-1}(λ_B\, c_B), \qquad
      λ_B = \max\left(0,\; 1 - \frac{(|B| + \sqrt{2|B|})\, s^2}{\|c_B\|^2}\right),$$

    with $s^2$ the mean of the noise less the posterior variance, then Norm-Sub. A block that could
    be noise is left out, so an order that means nothing costs little; but the result depends on the
    order, so this is not for labels without one. A distribution. No parameters. Costs what
    `multiscale` costs.

    Examples
    --------
    >>> f = np.array([0.29, 0.28, 0.17, 0.14, 0.08, 0.04])
    >>> MultiscaleOrdered()(Estimate.of(f, n=1000, noise=0.01)).round(3)
    array([0.232, 0.221, 0.173, 0.149, 0.12 , 0.105])

    References
    ----------
    Cai. *Adaptive wavelet estimation: a block thresholding and oracle inequality approach.* Annals
    of Statistics, 1999 (blocks; here on cosines).
    """

    title: ClassVar[str] = "Multi-scale ordered"
    distribution: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        from scipy.fft import dct, idct

        posterior = Posterior.of(estimate)
        mean, variance = posterior.moments()
        noise = posterior.base + posterior.slope * np.clip(mean, 0, 1)
        c = dct(posterior.seen - mean, norm="ortho")
        _shrink(c, float(np.maximum(noise - variance, 0).mean()))
        return NormSub().refine(replace(estimate, frequencies=mean + idct(c, norm="ortho")))


def _shrink(c: FloatArray, noise: float) -> None:
    """Keep of each block of coefficients what noise does not explain; of the sum, nothing."""
    c[0] = 0.0
    low = 1
    while low < len(c):
        block = c[low : 2 * low]
        energy, need = float((block**2).sum()), (len(block) + sqrt(2 * len(block))) * noise
        block *= 1 - need / energy if energy > need else 0.0
        low *= 2
