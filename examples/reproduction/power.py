"""What the variance does to Power: the protocol's own, and the one in the paper's published code.

The code at https://github.com/alrzakh/LDPcube (commit 8c911c3) computes the variance of an estimate
from ε, a domain size and a population size, but is handed the histogram where it expects the
users: the population becomes |D|, the domain size the number of different counts. Then it
multiplies by the true n where n² belongs. The two together leave n·Var too small by |D|, but for
SS, which gets GRR's formula (itself ε·d instead of ε + d), so that little is missing.
"""

from dataclasses import dataclass
from math import exp
from typing import Literal, final

import numpy as np

import ldp3
from examples.reproduction import page, paper
from examples.reproduction.data import Files, of_table
from examples.reproduction.tables import MILLI
from ldp3.postprocessing.base import PostProcessor
from ldp3.postprocessing.power import _exponent
from ldp3.types import Dataset, Estimate, FloatArray

WINDOW, FLOOR = 25_000, 1e-32


def published_variance(protocol: str, epsilon: float, data: Dataset) -> float:
    """n·Var as the published code has it, for `power(variance=…)`."""
    e, half = exp(epsilon), exp(epsilon / 2)
    grr = (e * len(set(data.histogram.tolist())) - 2) / (e - 1) ** 2
    formula = {
        "grr": grr,
        "ss": grr,
        "rappor": half / (half - 1) ** 2,
        "oue": 4 * e / (e - 1) ** 2,
        "olh": 4 * e / (e - 1) ** 2,
        "blh": (e + 1) ** 2 / (e - 1) ** 2,
    }
    return formula[protocol] / data.d


@final
@dataclass(frozen=True)
class FlooredPower(PostProcessor):
    """Power whose likelihood, within 25,000 counts of the estimate, is 10⁻³² where it underflows.

    So the published code avoids 0/0. With a sound variance no estimate is that far from every
    count; with one that is much too small a negative estimate is, and then the floor, not the
    likelihood, decides.
    """

    variance: float

    def refine(self, estimate: Estimate) -> FloatArray:
        n, counts = estimate.n, estimate.n * estimate.frequencies
        x = np.arange(1, n + 1, dtype=np.float64)
        prior = x ** -_exponent(float(counts.mean()), n)
        means = [self._mean(c, x, prior, n * self.variance) for c in counts]
        return np.array(means) / n

    def _mean(self, c: float, x: FloatArray, prior: FloatArray, variance: float) -> float:
        low, high = max(0, int(c) - WINDOW), min(len(x), int(c) + WINDOW)
        near = slice(low, high) if high > low else slice(None)
        likelihood = np.exp(-((c - x[near]) ** 2) / (2 * variance))
        likelihood[likelihood == 0] = FLOOR
        weights = likelihood * prior[near]
        return float(weights @ x[near] / weights.sum())


@final
@dataclass(frozen=True)
class LooseNormSub(PostProcessor):
    """Norm-Sub that is content with a sum within 1 of the target: right for counts.

    The published code asks so of frequencies, too, where it lets any non-negative result pass.
    """

    after: PostProcessor

    def refine(self, estimate: Estimate) -> FloatArray:
        f = self.after(estimate)
        while abs(f.sum() - 1) > 1 or (f < 0).any():
            f = np.maximum(f, 0)
            f = np.where(f > 0, f + (1 - f.sum()) / np.count_nonzero(f), f)
        return f


Column = Literal["none", "norm_sub", "power", "power_ns"]


def compare(files: Files, repeats: int, floored: int) -> str:
    """Power and PowerNS: printed, with the right variance, with the published one, floored."""
    return "\n\n".join(_one(table, files, repeats, floored) for table in paper.TABLES)


def _one(table: paper.Table, files: Files, repeats: int, floored: int) -> str:
    data = of_table(table, files)
    rows = []
    for protocol in paper.PROTOCOLS:
        right = ldp3.oracle(protocol, paper.EPSILON, data.d).variance(1)  # type: ignore[attr-defined]
        wrong = published_variance(protocol, paper.EPSILON, data)
        specs = ["power", "power_ns", f"power(variance={wrong!r})", f"power_ns(variance={wrong!r})"]
        sound = _means(data, protocol, ["norm_sub", *specs], repeats)
        plain = FlooredPower(wrong)
        low = _means(data, protocol, [plain, LooseNormSub(plain)], floored)
        cells = table.cells
        rows.append([
            protocol, f"{right:.2f}", f"{wrong:.3f}",
            f"{cells[protocol, 'none']:.2f} · {sound[0]:.2f}",
            f"{cells[protocol, 'norm_sub']:.2f} · {sound[1]:.2f}",
            f"{cells[protocol, 'power']:.2f} / {cells[protocol, 'power_ns']:.2f}",
            f"{sound[2]:.2f} / {sound[3]:.2f}",
            f"{sound[4]:.2f} / {sound[5]:.2f}",
            f"{low[1]:.2f} / {low[2]:.2f}",
        ])  # fmt: skip
    head = ["protocol", "n·Var, right", "n·Var, published code", "none: printed · ours",
            "norm_sub: printed · ours", "Power / PowerNS: printed", "right variance",
            "published variance", "and floored"]  # fmt: skip
    about = (
        f"**{table.title}**, measured on: {data.name} (mae × 10⁻³, {repeats:,} repeats; "
        f"the last column {floored})."
    )
    return f"{about}\n\n{page.table(head, rows)}"


def _means(data: Dataset, protocol: str, methods: list[object], repeats: int) -> list[float]:
    """The mae of none and of each method, × 10⁻³."""
    results = ldp3.benchmark(data, paper.EPSILON, protocol, methods, "mae", repeats=repeats)
    return [MILLI * mean for mean in results.summary()["mean"]]
