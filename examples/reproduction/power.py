"""What the variance does to Power: the protocol's own, and the one in the paper's published code.

The code at https://github.com/alrzakh/LDPcube (ldpcube.py, commit 8c911c3) computes the variance of
an estimated frequency from ε, the domain size and the population, but hands the histogram to what
expects the users: the population becomes |D|, the domain size the number of different counts. Power
then multiplies by n, not n². Together n·Var is too small by |D|. SS is spared: it gets GRR's
formula, itself too large, so that little is missing.
"""

from dataclasses import replace
from math import exp, sqrt

import numpy as np

import ldp3
from examples.reproduction import page, paper, shapes, theory
from examples.reproduction.data import Files, original
from examples.reproduction.tables import MILLI
from ldp3.arrays import FloatArray
from ldp3.people import Dataset
from ldp3.postprocessing.normalising import NormSub
from ldp3.postprocessing.power import _exponent
from ldp3.types import Estimate

WINDOW, FLOOR = 25_000, 1e-32
UNDERFLOW = sqrt(2 * 745.14)  # standard deviations at which exp(-z²/2) is 0 in double precision


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


def floored_power(estimate: Estimate, variance: float) -> FloatArray:
    """Power whose likelihood, within 25,000 counts of the estimate, is 10⁻³² where it underflows.

    So the published code avoids 0/0. Where the variance is right it changes nothing. Where it is
    much too small, a negative estimate is so far from every count that the floor far away outweighs
    the likelihood nearby, and a value that nobody holds gets thousands of counts.
    """
    counts, n = estimate.n * estimate.frequencies, estimate.n
    x = np.arange(1, min(n, int(max(counts.max(), 0)) + WINDOW) + 1, dtype=np.float64)
    prior = x ** -_exponent(float(counts.mean()), n)
    sums = np.concatenate([[0], prior.cumsum()]), np.concatenate([[0], (prior * x).cumsum()])
    sigma = sqrt(n * variance)

    def mean(c: float) -> float:
        """Posterior mean: the likelihood where it is a number, the floor in the rest."""
        low, high = max(0, int(c) - WINDOW), min(len(x), int(c) + WINDOW)
        if high <= low:  # no count is near: the floor is everywhere
            low, high = 0, len(x)
        a, b = (int(np.clip(c + s * UNDERFLOW * sigma, low, high)) for s in (-1, 1))
        weights = np.exp(-(((c - x[a:b]) / sigma) ** 2) / 2)
        weights[weights == 0] = FLOOR
        weights *= prior[a:b]
        mass, moment = (FLOOR * (s[a] - s[low] + s[high] - s[b]) for s in sums)
        return float((weights @ x[a:b] + moment) / (weights.sum() + mass))

    return np.array([mean(c) for c in counts]) / n


def _floored(data: Dataset, protocol: str, variance: float, repeats: int) -> list[float]:
    """The mae of floored Power, × 10⁻³: as it is; after Norm-Sub; after a loose one.

    The published Norm-Sub stops as soon as nothing is negative and the sum is within 1 of its
    target. That is close enough for counts; frequencies pass as they are.
    """
    oracle = theory.pure(protocol, paper.EPSILON, data.d)
    errors = []
    for repeat in range(repeats):
        tally = oracle.simulate(data.histogram, ldp3.stream(0, "floored", protocol, repeat))
        estimate = oracle.estimate(tally)
        f = floored_power(estimate, variance)
        strict = NormSub().refine(replace(estimate, frequencies=f))
        loose = f if abs(f.sum() - 1) <= 1 and (f >= 0).all() else strict
        errors.append([np.abs(g - data.frequencies).mean() for g in (f, strict, loose)])
    return [MILLI * float(mean) for mean in np.mean(errors, axis=0)]


def compare(files: Files, repeats: int, floored: int) -> str:
    """Power and PowerNS as printed, and under each explanation: on the data, or on a shape."""
    details, distances = [], []
    for table in paper.TABLES:
        data, name = _data(table, files, repeats)
        columns = _columns(data, repeats, floored)
        details.append(
            f"**{table.title}** on {page.read(name)} (MAE × 10⁻³; printed · measured):\n\n"
            + _detail(table, columns)
        )
        distances.append(_distances(table, name, columns))
    head = ["table", "data", "the six other columns", *(f"{m}: {e}" for m, e in EXPLANATIONS)]
    return "\n\n".join([
        "Root mean square distance from the printed column, over the six protocols:",
        page.table(head, distances), *details,
    ])  # fmt: skip


def _data(table: paper.Table, files: Files, repeats: int) -> tuple[Dataset, str]:
    """The paper's own data, or the shape whose other columns come closest to the printed ones."""
    data = original(table.name, files)
    if data is not None:
        return data, data.name
    fitted = shapes.fit(table, min(repeats, 40))
    return ldp3.load(fitted.spec), f"`{fitted.spec}`"


EXPLANATIONS = (
    ("power", "right variance"),
    ("power", "published variance"),
    ("power", "… and floor"),
    ("power_ns", "right variance"),
    ("power_ns", "published variance"),
    ("power_ns", "… and floor"),
    ("power_ns", "… and loose sum"),
)
Columns = dict[tuple[str, str, str], float]  # protocol, method, explanation → mae


def _columns(data: Dataset, repeats: int, floored: int) -> Columns:
    """Every method under every explanation; those the paper prints are `fitted`."""
    found: Columns = {}
    for protocol in paper.PROTOCOLS:
        v = published_variance(protocol, paper.EPSILON, data)
        published: list[object] = [f"power(variance={v!r})", f"power_ns(variance={v!r})"]
        plain = [*shapes.FITTED[1:], "power", "power_ns", *published]
        means = _means(data, protocol, plain, repeats)
        keys = [*((m, "fitted") for m in shapes.FITTED), EXPLANATIONS[0], EXPLANATIONS[3],
                EXPLANATIONS[1], EXPLANATIONS[4]]  # fmt: skip
        means += _floored(data, protocol, v, floored)
        keys += [EXPLANATIONS[2], EXPLANATIONS[5], EXPLANATIONS[6]]
        found |= {(protocol, *key): mean for key, mean in zip(keys, means, strict=True)}
    return found


def _means(data: Dataset, protocol: str, methods: list[object], repeats: int) -> list[float]:
    """The mae of none and of each method, × 10⁻³."""
    results = ldp3.benchmark(data, paper.EPSILON, protocol, methods, "mae", repeats=repeats)
    return [MILLI * mean for mean in results.summary()["mean"]]


def _detail(table: paper.Table, columns: Columns) -> str:
    def printed(protocol: str, method: str) -> str:
        return f"{table.cells[protocol, method]:.2f}"

    head = ["protocol", *shapes.FITTED, "Power: printed · right · published · … and floor",
            "PowerNS: printed · right · published · … and floor · … and loose sum"]  # fmt: skip
    rows = [
        [p, *(f"{printed(p, m)} · {columns[p, m, 'fitted']:.2f}" for m in shapes.FITTED)]
        + [
            " · ".join(
                [printed(p, m), *(f"{columns[p, k, e]:.2f}" for k, e in EXPLANATIONS if k == m)]
            )
            for m in ("power", "power_ns")
        ]
        for p in paper.PROTOCOLS
    ]  # fmt: skip
    return page.table(head, rows)


def _distances(table: paper.Table, name: str, columns: Columns) -> list[str]:
    def distance(*keys: tuple[str, str]) -> str:
        means = {(p, m): columns[p, m, e] for p in paper.PROTOCOLS for m, e in keys}
        return f"{shapes.rms(table, means):.1%}"

    return [table.name, name, distance(*((m, "fitted") for m in shapes.FITTED)),
            *(distance(key) for key in EXPLANATIONS)]  # fmt: skip
