"""Untargeted: displace everything as far as one report can."""

from dataclasses import dataclass
from typing import final

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.attacks.base import Attack
from ldp3.attacks.crafting import crafted, family, random_reports, repeated
from ldp3.errors import require, whole
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@final
@dataclass(frozen=True, eq=False)
class Flood(Attack):
    r"""All fake users send one and the same report, the one that displaces most.

    A report that supports $s$ values displaces the estimates by
    $β[s(1-q) + (d-s)q]/(p-q)$ in ℓ1, up to the honest part: most for $s = d$ where $q < 1/2$ and a
    report can have any size (unary encodings); else a random one, or the largest that is found.

    Parameters
    ----------
    effort
        How many reports are looked through where sizes differ and none can be made to order.

    References
    ----------
    Cheu, Smith, Ullman. *Manipulation attacks in local differential privacy.* IEEE S&P 2021.
    """

    effort: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        require(whole(self.effort, 1), self, "effort must be an integer > 0", self.effort)

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return np.repeat(self._one(oracle, rng), m, axis=0)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        return repeated(oracle, self._one(oracle, rng), np.array([m]))

    def rates(self, oracle: PureOracle) -> FloatArray | None:
        if family(oracle) == "free":
            return np.full(oracle.d, float(oracle.q < 0.5))
        if oracle.support_size is not None:  # any of them is as likely
            return np.full(oracle.d, oracle.support_size / oracle.d)
        return None

    def _one(self, oracle: PureOracle, rng: np.random.Generator) -> Reports:
        if family(oracle) == "free":
            return crafted(oracle, np.full((1, oracle.d), oracle.q < 0.5))
        if oracle.support_size is not None:
            return random_reports(oracle, 1, rng)
        seen = random_reports(oracle, self.effort, rng)
        size = oracle.sizes(seen)
        best = np.argmax(size if oracle.q < 0.5 else -size)
        return seen[best : best + 1]
