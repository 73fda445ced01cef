"""Shapes whose errors are those that the paper prints.

The paper's data are not ours to print, but its tables say something about them: how much clipping
and normalising help tells how many values are rare. Of two families with one parameter each we
take the member whose errors come closest to the printed ones, over all protocols and all methods
*but* Power and PowerNS; what those two do on it is then a prediction.
"""

from dataclasses import dataclass

import numpy as np

import ldp3
from examples.reproduction import paper
from examples.reproduction.tables import MILLI

FITTED = ("none", "base_pos", "norm", "norm_cut", "norm_mul", "norm_sub")
FAMILIES = {
    "zipf(s={})": np.arange(0.5, 1.81, 0.05),
    "geometric(p={})": np.arange(0.01, 0.08, 0.003),
}


@dataclass(frozen=True)
class Fit:
    """A shape, and how far its errors are from the printed ones (root mean square, relative)."""

    spec: str
    distance: float


def fit(table: paper.Table, repeats: int) -> Fit:
    """The member of the families that comes closest to a table."""
    sizes = f", d={table.d}, n={table.n})"
    specs = [
        family.format(f"{x:.4g}")[:-1] + sizes for family, grid in FAMILIES.items() for x in grid
    ]
    return min((Fit(s, _distance(s, table, repeats)) for s in specs), key=lambda f: f.distance)


def _distance(spec: str, table: paper.Table, repeats: int) -> float:
    results = ldp3.benchmark(
        spec, paper.EPSILON, list(paper.PROTOCOLS), list(FITTED), "mae", repeats=repeats
    )
    return rms(table, {(r["protocol"], r["method"]): MILLI * r["mean"]
                       for r in results.summary().to_dicts()})  # fmt: skip


def rms(table: paper.Table, means: dict[tuple[str, str], float]) -> float:
    """Root mean square of measured / printed − 1."""
    return float(np.sqrt(np.mean([(m / table.cells[k] - 1) ** 2 for k, m in means.items()])))
