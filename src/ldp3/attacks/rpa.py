"""Random perturbed-value attack."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.attacks.base import Attack
from ldp3.attacks.crafting import every_report, family, listed, random_reports, rates_of
from ldp3.kernels.sampling import subset_counts
from ldp3.kernels.source import key_of
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally


@final
@dataclass(frozen=True, eq=False)
class RPA(Attack):
    r"""Send any report, each as likely as any other: noise, without a look at the targets.

    With $s$ the share of values that a random report supports ($1/d$ for GRR, $1/2$ for unary
    encodings, $k/d$ for subset selection, $1/g$ for local hashing),
    $G = β[r(s - q)/(p - q) - f_T]$.

    References
    ----------
    Cao, Jia, Gong. *Data poisoning attacks to local differential privacy protocols.* USENIX
    Security 2021, §4.
    """

    aliases: ClassVar[tuple[str, ...]] = ("random perturbed-value attack",)

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return random_reports(oracle, m, rng)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        d = oracle.d
        match family(oracle):
            case "one":
                return Tally(rng.multinomial(m, np.full(d, 1 / d)), m)
            case "free":
                return Tally(rng.binomial(m, 0.5, size=d), m)
            case "subset":
                none = np.zeros(d, dtype=np.int64)
                return Tally(subset_counts(none, m, oracle.support_size or 1, key_of(rng)), m)
            case "hash":
                return Tally(rng.binomial(m, oracle.q, size=d), m)
        return super().tally(oracle, m, rng)

    def rates(self, oracle: PureOracle) -> FloatArray | None:
        known = {"one": 1 / oracle.d, "free": 0.5, "hash": oracle.q}
        kind = family(oracle)
        if kind == "subset":
            assert oracle.support_size is not None
            return np.full(oracle.d, oracle.support_size / oracle.d)
        if kind == "search":
            return rates_of(oracle, every_report(oracle)) if listed(oracle) else None
        return np.full(oracle.d, known[kind])
