"""Adaptive attack: fake values from a law of the attacker's own, sent without randomising."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.attacks.base import Attack
from ldp3.attacks.crafting import (
    best_reports,
    crafted,
    crafted_for,
    crafted_with,
    family,
    random_nonces,
)
from ldp3.errors import require, whole
from ldp3.kernels.bits import random_subsets
from ldp3.kernels.sampling import subset_counts
from ldp3.kernels.source import key_of
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@final
@dataclass(frozen=True, eq=False)
class AAA(Attack):
    r"""Draw values from a random law of the attacker's own and send their encodings as they are.

    The law is drawn anew for every collection, uniformly from all laws over the domain
    (Dirichlet). A report supports its value for certain, and of the others as few as its form
    allows: none (GRR, unary), $k - 1$ (subset selection), those in the same cell (local hashing).

    Parameters
    ----------
    effort
        How many reports a fake user looks through for one that supports its value.

    References
    ----------
    Sun et al. *LDPRecover: recovering frequencies from poisoning attacks against local
    differential privacy.* ICDE 2024.
    """

    aliases: ClassVar[tuple[str, ...]] = ("adaptive attack",)

    effort: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        require(whole(self.effort, 1), self, "effort must be an integer > 0", self.effort)

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return self._encoded(oracle, rng.choice(oracle.d, size=m, p=_law(oracle.d, rng)), rng)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        held = rng.multinomial(m, _law(oracle.d, rng))
        match family(oracle):
            case "one" | "free":
                return Tally(held, m)
            case "subset":
                others = subset_counts(held, 0, oracle.support_size or 1, key_of(rng))
                return Tally(held + others, m)
            case "hash":
                return Tally(held + rng.binomial(m - held, oracle.q), m)
        values = np.repeat(np.arange(oracle.d), held)
        return oracle.aggregate(self._encoded(oracle, values, rng))

    def rates(self, oracle: PureOracle) -> FloatArray | None:
        other = {"one": 0.0, "free": 0.0, "hash": oracle.q}
        if family(oracle) == "subset":
            return np.full(oracle.d, (oracle.support_size or 0) / oracle.d)
        rest = other.get(family(oracle))
        return None if rest is None else np.full(oracle.d, (1 + (oracle.d - 1) * rest) / oracle.d)

    def _encoded(self, oracle: PureOracle, values: IntArray, rng: np.random.Generator) -> Reports:
        m, d = len(values), oracle.d
        match family(oracle):
            case "one" | "free":
                return crafted_for(oracle, values)
            case "subset":
                members = np.eye(d, dtype=bool)[values]
                size = (oracle.support_size or 0) - 1
                shuffled = random_subsets(m, np.arange(d - 1), size, d - 1, rng)
                members[~members] = shuffled.reshape(-1)  # row by row, the own value left out
                return crafted(oracle, members)
            case "hash":
                return crafted_with(oracle, random_nonces(oracle, m, rng), values)
        held, users = np.unique(values, return_counts=True)
        found = [best_reports(oracle, held[i : i + 1], users[i], self.effort, rng)
                 for i in range(len(held))]  # fmt: skip
        return rng.permutation(np.concatenate([oracle.perturb(values[:0], rng), *found]))


def _law(d: int, rng: np.random.Generator) -> FloatArray:
    return rng.dirichlet(np.ones(d))
