"""An estimate to be published: it does not betray ε by the lattice that its numbers lie on."""

from math import ceil, expm1, log10

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.collection.estimates import CollectionEstimate
from ldp3.collection.plan import Plan
from ldp3.errors import LDPError
from ldp3.printing import columns, wrapped
from ldp3.protocols.base import build_oracle

LOWEST = 0.1  # ε from which on rounding hides it


def safely(found: CollectionEstimate, plan: Plan) -> CollectionEstimate:
    """What may be published: labels and rounded frequencies, after the method, and nothing of ε.

    Standard deviations and intervals give ε away directly, so do the protocol's parameters and the
    identifier, which is a digest of all of them.
    """
    n = int(str(found.about["n"]))
    step = safe_step(n, plan)
    numbers = rounded(found.table["processed"].to_numpy(), step)
    table = pl.DataFrame({"label": found.table["label"], "frequency": numbers})
    said = (
        f"Rounded to {step:g}, whatever ε is: its digits do not tell ε to third parties, if it is "
        f"at least {LOWEST:g}. Clients know it."
    )
    kept = {name: found.about[name] for name in ("collection", "n", "method")}
    return Published(table, {**kept, "step": step, "remarks": [said]})


class Published(CollectionEstimate):
    """An estimate without anything that tells ε."""

    def text(self, width: int | None = None) -> str:
        rows = [[label, str(frequency)] for label, frequency in self.ranked.rows()]
        prose = [wrapped(str(remark), width) for remark in self.about["remarks"]]  # type: ignore[attr-defined]
        table = columns([["value", "frequency"], *rows], "lr", width)
        return "\n\n".join([wrapped(self.title(), width), table, *prose]) + "\n"

    def title(self) -> str:
        about = self.about
        return f"{about['collection']}: {about['n']:,} reports, after {about['method']}"


def safe_step(n: int, plan: Plan) -> float:
    r"""A power of ten coarser than the protocol's lattice, $1/(n(p-q))$, at every ε ≥ 0.1.

    It depends on n, d and the protocol alone. Of a lattice of step $\ell$ that is rounded to $s$ a
    trace of $\ell/(πs)$ is left, which $(πs/\ell)^2$ values or fewer do not show.

    >>> safe_step(1_000_000, Plan("colours", "oue", 1.0, 100))
    0.0001
    """
    return float(10.0 ** ceil(round(log10(_coarsest(plan) / n), 9)))


def _coarsest(plan: Plan) -> float:
    """$1/(p-q)$ at the lowest ε; that of GRR where the protocol does not know it."""
    try:
        lowest = build_oracle(plan.protocol, *plan.modules, epsilon=LOWEST, d=plan.d).support
    except LDPError:  # parameters that it cannot have there
        lowest = None
    return 1 + plan.d / expm1(LOWEST) if lowest is None else 1 / (lowest.p - lowest.q)


def rounded(frequencies: FloatArray, step: float) -> FloatArray:
    """The nearest multiples of a power of ten, written with as many digits."""
    digits = max(0, round(-log10(step)))
    return np.round(np.rint(frequencies / step) * step, digits) + 0.0
