"""How well the order of all values is kept, and how well the most frequent ones are found.

Values with equal estimates share their ranks.
"""

from dataclasses import dataclass
from math import log2
from typing import ClassVar, Literal, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import require, settle_numbers, whole
from ldp3.metrics.base import Metric


@final
@dataclass(frozen=True)
class Kendall(Metric):
    r"""Kendall's τ-b: pairs of values in the right order against pairs in the wrong one.

    $$τ_b = \frac{C - D}{\sqrt{(P - T_f)(P - T_{\tilde f})}},$$

    of all $P$ pairs $C$ agree and $D$ disagree; $T$ are tied in the truth or in the estimate.
    Between -1 and 1, and 1 at the truth, or if all values are equally frequent, so that nothing can
    be ordered wrongly; 0 where all estimates are equal. A method that sets many
    values to zero ties them, which may raise or lower it: compare with `none`.

    >>> round(Kendall()(np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.1, 0.5])), 3)
    -0.333

    References
    ----------
    Kendall. *The treatment of ties in ranking problems.* Biometrika, 1945.
    """

    aliases: ClassVar[tuple[str, ...]] = ("tau", "tau-b", "kendall tau")
    better: ClassVar[Literal["lower", "higher"]] = "higher"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        from scipy.stats import kendalltau

        if np.ptp(truth) == 0 or np.ptp(frequencies) == 0:
            return float(np.ptp(truth) == 0)
        return float(kendalltau(truth, frequencies, variant="b").statistic)


@final
@dataclass(frozen=True)
class Spearman(Metric):
    r"""Spearman's ρ: the correlation of the ranks, where equal values share theirs.

    $$ρ = \frac{\mathrm{Cov}(r(f), r(\tilde f))}
             {\sqrt{\mathrm{Var}(r(f))\,\mathrm{Var}(r(\tilde f))}}.$$

    Between -1 and 1, and 1 at the truth, or if all values are equally frequent; 0 where all
    estimates are equal.

    >>> Spearman()(np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.1, 0.5]))
    -0.5

    References
    ----------
    Spearman. *The proof and measurement of association between two things.* American Journal of
    Psychology, 1904.
    """

    aliases: ClassVar[tuple[str, ...]] = ("rho", "spearman rho")
    better: ClassVar[Literal["lower", "higher"]] = "higher"

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        from scipy.stats import rankdata

        ranks = np.stack([rankdata(truth), rankdata(frequencies)])
        if np.ptp(ranks, axis=1).min() == 0:
            return float(np.ptp(ranks[0]) == 0)
        a, b = ranks - ranks.mean(axis=1, keepdims=True)
        return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


@dataclass(frozen=True)
class Ranking(Metric):
    """A metric of the `k` values with the highest estimates.

    Parameters
    ----------
    k
        How many values are looked at; all, if there are fewer.
    """

    better: ClassVar[Literal["lower", "higher"]] = "higher"

    k: int = 10

    def __post_init__(self) -> None:
        settle_numbers(self)
        require(whole(self.k, 1), self, "k must be an integer of at least 1", self.k)


@final
@dataclass(frozen=True)
class TopK(Ranking):
    r"""Precision at $k$: the share of the $k$ highest estimates that are truly among the top $k$.

    $$\frac1k \big|\{v : \tilde f_v \text{ among the } k \text{ highest}\} \cap
      \{v : f_v \ge f_{(k)}\}\big|.$$

    Between 0 and 1, and 1 at the truth. Where estimates tie for the last places, the expectation
    over a random choice among them: no credit for the order of the labels.

    >>> TopK(k=2)(np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.1, 0.5]))
    0.5
    """

    unit: ClassVar[str] = "share of the top k"
    title: ClassVar[str] = "Top-k"
    aliases: ClassVar[tuple[str, ...]] = ("precision", "precision at k", "top-k precision")

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        k = min(self.k, len(truth))
        right = truth >= np.partition(truth, -k)[-k]
        threshold = np.partition(frequencies, -k)[-k]
        above, tied = frequencies > threshold, frequencies == threshold
        places = k - np.count_nonzero(above)
        return float((np.count_nonzero(right & above) + places * right[tied].mean()) / k)


@final
@dataclass(frozen=True)
class NDCG(Ranking):
    r"""Normalised discounted cumulative gain of the $k$ highest estimates.

    $$\frac{\sum_{i=1}^k f_{r(i)} / \log_2(i+1)}{\sum_{i=1}^k f_{(i)} / \log_2(i+1)},$$

    with $r(i)$ the value with the $i$-th highest estimate and $f_{(i)}$ the $i$-th highest truth;
    negative truths gain nothing. Between 0 and 1, and 1 at the truth, or if nothing can be gained.
    Equal estimates share the gain of their places equally.

    >>> round(NDCG(k=2)(np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.5, 0.1])), 3)
    0.893

    References
    ----------
    Järvelin, Kekäläinen. *Cumulated gain-based evaluation of IR techniques.* ACM Transactions on
    Information Systems, 2002.
    """

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        gain = np.maximum(truth, 0)
        discount = np.zeros(len(gain))
        # one by one: NumPy's logarithm differs from processor to processor in the last bit
        discount[: self.k] = [1 / log2(i + 2) for i in range(min(self.k, len(gain)))]
        best = (np.sort(gain)[::-1] * discount).sum()
        if best == 0:
            return 1.0
        _, group = np.unique(-frequencies, return_inverse=True)  # ranks, ties in one group
        members = np.bincount(group)
        shared = np.bincount(np.sort(group), weights=discount) / members
        return float(min((gain * shared[group]).sum() / best, 1.0))
