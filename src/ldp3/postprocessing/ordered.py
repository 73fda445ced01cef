"""Methods for unbiased frequencies over values in order, by their sums: no channel is needed."""

from dataclasses import dataclass
from math import ceil, log2
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, as_distribution
from ldp3.errors import InvalidData
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate, Oracle

ASKED = 16  # differences of a level whose variance is computed, at the most


@final
@dataclass(frozen=True)
class Isotonic(PostProcessor):
    r"""The nearest cumulated distribution that rises from 0 to 1.

    $$\min_{F'} \sum_v (F'_v - \hat F_v)^2, \qquad 0 \le F'_1 \le F'_2 \le \dots \le F'_d = 1,
      \qquad \hat F_v = \sum_{u \le v} \hat f_u,$$

    where what the estimates lack of one is first given to all alike. Sums over neighbours have less
    noise than frequencies where a protocol goes by an order, and this leaves them nearly unbiased;
    single frequencies end in spikes between zeros. A distribution. No parameters; $O(d)$ by pooling
    neighbours that fall. For values whose order means something.

    Examples
    --------
    >>> Isotonic()(Estimate.of(np.array([0.5, 0.4, -0.2, 0.3]), n=100, noise=0.01)).round(2)
    array([0.5, 0.3, 0. , 0.2])

    References
    ----------
    Barlow, Bartholomew, Bremner, Brunk. *Statistical inference under order restrictions.* 1972
    (pooling adjacent violators). Hay, Rastogi, Miklau, Suciu. *Boosting the accuracy of
    differentially private histograms through consistency.* PVLDB 2010 (of noisy counts).
    """

    title: ClassVar[str] = "Isotonic CDF"
    aliases: ClassVar[tuple[str, ...]] = ("isotonic cdf",)
    distribution: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True
    takes_covariance: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        from scipy.optimize import isotonic_regression

        f = estimate.frequencies
        until = np.cumsum(f + (1 - f.sum()) / estimate.d)[:-1]
        rising = np.clip(isotonic_regression(until).x, 0, 1)
        return as_distribution(np.diff(rising, prepend=0.0, append=1.0))


@final
@dataclass(frozen=True)
class Haar(PostProcessor):
    r"""Shrinkage by level: differences between neighbouring parts of the line, level by level.

    The values are halved again and again. What the left half of a part holds more than its size
    says, $c$, is estimated without bias. The $m$ differences of one level shrink together, by how
    far they rise above their noise $\sum \mathrm{Var}(c)$, which the protocol says exactly,

    $$c \leftarrow c \Big(1 - \big(1 + \sqrt{2/m}\big)
      \frac{\sum \mathrm{Var}(c)}{\sum c^2}\Big)_+ ,$$

    (a difference that is alone without the root), and from the top down none may exceed what its
    part holds. Coarse levels stay as they are, fine ones vanish where they are noise. A
    distribution. No parameters; $O(d \log d)$. For values whose order means something.

    Examples
    --------
    >>> from ldp3 import oracle, stream
    >>> grr = oracle("grr", epsilon=2.0, d=4)
    >>> Haar()(grr.estimate(grr.simulate(np.array([900, 900, 100, 100]), stream(0)))).round(2)
    array([0.44, 0.44, 0.06, 0.06])

    References
    ----------
    James, Stein. *Estimation with quadratic loss.* Berkeley Symposium, 1961. Xiao, Wang, Gehrke.
    *Differential privacy via wavelet transforms.* ICDE 2010 (the levels).
    """

    aliases: ClassVar[tuple[str, ...]] = ("haar shrinkage",)
    distribution: ClassVar[bool] = True
    needs_order: ClassVar[bool] = True
    takes_covariance: ClassVar[bool] = True
    needs: ClassVar[str] = "a covariance of its errors, as sw, grr, oue, olh, ss and pgr have"

    def applies(self, oracle: Oracle) -> bool:
        known = oracle.support is not None and oracle.support.both is not None
        return known or oracle.channel is not None or oracle.correlated

    def refine(self, estimate: Estimate) -> FloatArray:
        d, f = estimate.d, estimate.frequencies
        until = np.append(0.0, np.cumsum(f + (1 - f.sum()) / d))
        masses = np.ones(1)
        for level in range(ceil(log2(d))):
            edges = np.arange(2 ** (level + 1) + 1) * d // 2 ** (level + 1)
            left, right = np.diff(edges).reshape(-1, 2).T
            lean = (left - right) / np.maximum(left + right, 1)  # of even frequencies
            own, other = np.diff(until[edges]).reshape(-1, 2).T
            apart = np.where(np.minimum(left, right) > 0, own - other - lean * (own + other), 0.0)
            shrunk = apart * self._kept(estimate, apart, edges, np.flatnonzero(left * right))
            apart = np.clip(lean * masses + shrunk, -masses, masses)
            masses = np.stack([masses + apart, masses - apart], axis=1).reshape(-1) / 2
        return as_distribution(masses[np.diff(edges) > 0])

    def _kept(
        self, estimate: Estimate, apart: FloatArray, edges: IntArray, parts: IntArray
    ) -> float:
        """Which share of the differences of a level is not noise."""
        if not apart.any():
            return 0.0
        asked = parts[:: -(-len(parts) // ASKED)]
        rows = np.zeros((len(asked), estimate.d))
        for part, weights in zip(asked, rows, strict=True):
            start, middle, end = edges[2 * part : 2 * part + 3]
            lean = (2 * middle - start - end) / (end - start)
            weights[start:middle], weights[middle:end] = 1 - lean, -1 - lean
        found = estimate.noise.of_queries(rows, estimate.frequencies)
        if found is None:
            raise InvalidData(f"{type(self).__name__}: the protocol must have {self.needs}.")
        m, noise = len(parts), float(np.mean(found)) * len(parts)
        cautious = 1 + (2 / m) ** 0.5 if m > 1 else 1.0
        return float(max(0.0, 1 - cautious * noise / np.square(apart).sum()))
