"""How well the order of all values is kept; values with equal estimates share their ranks."""

from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np

from ldp3.arrays import FloatArray
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
