"""Random input attack: honest randomisation of a lie."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.attacks.base import Attack
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@final
@dataclass(frozen=True, eq=False)
class RIA(Attack):
    r"""Claim a random target and randomise it as an honest client does: $G = β(1 - f_T)$.

    No server can see it, and no protocol can prevent it: the ceiling of lying alone.

    References
    ----------
    Cao, Jia, Gong. *Data poisoning attacks to local differential privacy protocols.* USENIX
    Security 2021, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("random input attack",)

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return oracle.perturb(rng.choice(np.array(self.targets), size=m), rng)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        claimed = np.zeros(oracle.d, dtype=np.int64)
        r = len(self.targets)
        claimed[list(self.targets)] = rng.multinomial(m, np.full(r, 1 / r))
        return oracle.simulate(claimed, rng) if m else oracle.empty

    def rates(self, oracle: PureOracle) -> FloatArray:
        rates = np.full(oracle.d, oracle.q)
        rates[list(self.targets)] += (oracle.p - oracle.q) / len(self.targets)
        return rates
