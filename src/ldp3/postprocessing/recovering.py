"""Methods that try to undo what fake users did: LDPRecover, Subtract, RSN."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, as_distribution
from ldp3.errors import require, settle_numbers, whole
from ldp3.postprocessing.base import PostProcessor, fill
from ldp3.types import Estimate, Oracle


@final
@dataclass(frozen=True)
class LDPRecover(PostProcessor):
    r"""Take the expected estimate of fake users out, then project onto distributions.

    With $D_1$ the values whose estimate is positive, fake users are taken to have

    $$f^Y_v = \frac{1 - qd}{(p-q)|D_1|} \text{ for } v \in D_1, \text{ else } 0, \qquad
      f' = \text{Norm-Sub}\left((1+η)\hat f - η f^Y\right).$$

    As $f^Y$ is the same for all of $D_1$, this is Norm-Sub of $(1+η)\hat f$ wherever
    $(1+η)\sum_{D_1} \hat f_v \ge 1$: a sharper Norm-Sub, which knows nothing of the attack.

    Parameters
    ----------
    eta
        Fake users for each honest one, as the server suspects; ≥ 0.

    Examples
    --------
    >>> from ldp3.noise import Support
    >>> f = np.array([0.7, 0.4, -0.1])
    >>> LDPRecover(eta=0.0)(Estimate.of(f, n=100, noise=Support(0.5, 0.25))).round(3)
    array([0.65, 0.35, 0.  ])

    References
    ----------
    Sun et al. *LDPRecover: recovering frequencies from poisoning attacks against local
    differential privacy.* ICDE 2024.
    """

    distribution: ClassVar[bool] = True
    needs: ClassVar[str] = "p and q"
    instead: ClassVar[str] = "norm_sub, unless reports may be fake"

    eta: float = 0.2

    def __post_init__(self) -> None:
        settle_numbers(self)
        sound = isinstance(self.eta, int | float) and 0 <= self.eta < np.inf
        require(sound and not isinstance(self.eta, bool), self, "eta must be at least 0", self.eta)

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None

    def refine(self, estimate: Estimate) -> FloatArray:
        f, support = estimate.frequencies, estimate.support
        assert support is not None
        positive = f > 0
        seems = (1 - support.q * estimate.d) / (support.p - support.q) / max(positive.sum(), 1)
        return fill((1 + self.eta) * f - self.eta * seems * positive, np.ones(estimate.d))


@final
@dataclass(frozen=True)
class Subtract(PostProcessor):
    r"""Take fake users out whose targets and number are known, as `ldp3 inspect` suspects them.

    Of $n$ reports a share $β$ is taken to be fake and to support $h$ of the $r$ targets each, all
    where a report can support so many; other values as often as honest reports of nobody's do:

    $$f'_v = \frac{\hat f_v - β f^Y_v}{1 - β}, \qquad
      f^Y_v = \frac{h/r - q}{p - q} \text{ for targets, else } 0.$$

    Parameters
    ----------
    targets
        Codes of the values that were raised, such as ``(3, 17)``.
    share
        Share of fake reports, in [0, 1).

    Examples
    --------
    >>> from ldp3.noise import Support
    >>> raised = Estimate.of(np.array([0.5, 0.3, 0.2]), n=100, noise=Support(0.5, 0.25))
    >>> Subtract(targets=(0,), share=0.1)(raised).round(3)
    array([0.222, 0.333, 0.222])

    References
    ----------
    Sun et al. *LDPRecover: recovering frequencies from poisoning attacks against local
    differential privacy.* ICDE 2024, with known targets.
    """

    needs: ClassVar[str] = "p and q"
    instead: ClassVar[str] = "none, which it is unless targets are named"

    targets: tuple[int, ...] = ()
    share: float = 0.0

    def __post_init__(self) -> None:
        settle_numbers(self)
        codes = isinstance(self.targets, tuple) and all(whole(t, 0) for t in self.targets)
        require(codes, self, "targets must be codes such as (3, 17)", self.targets)
        number = isinstance(self.share, int | float) and not isinstance(self.share, bool)
        require(
            number and 0 <= self.share < 1, self, "share must be at least 0 and below 1", self.share
        )

    def applies(self, oracle: Oracle) -> bool:
        return oracle.support is not None

    def refine(self, estimate: Estimate) -> FloatArray:
        support, codes = estimate.support, sorted(set(self.targets))
        assert support is not None
        known = not codes or codes[-1] < estimate.d
        require(known, self, f"targets must be below {estimate.d}", self.targets)
        seems = np.zeros(estimate.d)
        if codes:
            hits = min(support.size or len(codes), len(codes)) / len(codes)
            seems[codes] = (hits - support.q) / (support.p - support.q)
        return (estimate.frequencies - self.share * seems) / (1 - self.share)


@final
@dataclass(frozen=True)
class RSN(PostProcessor):
    r"""Robust segment normalisation: only small estimates pay for the negative ones.

    All are shifted alike to sum to one, $g_v = \hat f_v + (1 - \sum_u \hat f_u)/d$; negative ones
    become zero, and the mass that this adds is taken from the smallest positive ones, one after the
    other:

    $$f'_v = \min\{\max(1 - \sum_{u : g_u > g_v} \max(g_u, 0),\, 0),\; \max(g_v, 0)\},$$

    equal ones sharing what is left. Large estimates stay as they were: fake users cannot use the
    normalisation to raise theirs.

    Examples
    --------
    >>> RSN()(Estimate.of(np.array([0.7, 0.4, 0.1, -0.2]), n=100, noise=0.01)).round(3)
    array([0.7, 0.3, 0. , 0. ])

    References
    ----------
    Li, Li, Wang, Sun. *Mitigating data poisoning attacks to local differential privacy.* CCS 2025,
    as their code does it.
    """

    distribution: ClassVar[bool] = True
    keeps_order: ClassVar[bool] = True

    def refine(self, estimate: Estimate) -> FloatArray:
        f = estimate.frequencies
        shifted = f + (1 - f.sum()) / len(f)
        kept = np.maximum(shifted, 0)
        levels, group, members = np.unique(-kept, return_inverse=True, return_counts=True)
        mass = -levels * members
        share = np.clip(
            1 - (np.cumsum(mass) - mass), 0, mass
        )  # the largest first, until all is used
        return as_distribution((share / members)[group])
