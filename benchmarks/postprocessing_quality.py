"""How close every method comes to the limit and to the best of the others.

    python -m benchmarks.postprocessing_quality
    python -m benchmarks.postprocessing_quality --tuned adult.csv --held-out retail.dat:256

Prints the Markdown tables of docs/postprocessing.md. A file may end in `:256`, transactions of
which the 256 most frequent items are kept, or in `:counts`, a table of labels and counts. Each cell
is a dataset, an ε and a protocol, with as many repeats as it takes until twice the standard error
of the ratio of multiscale to the best is below 1 %, or `--most`. "Best distribution" is the best of
those others that always answer one.

The best of the others is chosen on one half of the repeats and compared with on the other half, so
that luck does not favour it; methods share the estimates, so ratios are paired. The limit is the
error of the separable oracle (see ldp3.experiment.limit), and of the same made to sum to one. Cells
where it knows nearly everything (less than 2 % of the unprocessed error) have no ratio to it.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

import ldp3
from ldp3.arrays import FloatArray
from ldp3.experiment.limit import SeparableOracle
from ldp3.noise import PureNoise
from ldp3.printing import markdown_table
from ldp3.results import names
from ldp3.types import Dataset

OWN = ["multiscale", "multiscale_ordered"]
SHELF = ["none", "norm_sub", "power_ns", "npmle", "norm_cut", "norm_mul", "base_cut", "norm"]
DISTRIBUTIONS = ["norm_sub", "power_ns", "npmle", "norm_cut", "norm_mul"]
ROWS = ["multiscale", "npmle", "power_ns", "norm_sub", "norm_cut", "norm_mul", "base_cut", "none"]
SUMS = ["multiscale_ordered", "multiscale", "norm_cut", "norm", "norm_sub", "npmle"]
# What the constants of multiscale were chosen on; files with --tuned
TUNED = [
    "flights",
    "zipf(s=1.1, d=1024, n=1_000_000)",
    "zipf(s=1.1, d=1024, n=1_000_000_000)",
    "zipf(s=0.5, d=128, n=1_000_000)",
    "geometric(p=0.05, d=128, n=1_000_000)",
    "gaussian(d=1024, n=1_000_000)",
    "uniform(d=128, n=1_000_000)",
    "spike(share=0.5, d=128, n=1_000_000)",
    "spike(share=0.1, d=512, n=1_000_000)",
    "spike(share=0.95, d=64, n=100_000)",
    "steps(steps=4, ratio=0.5, d=128, n=1_000_000)",
]
# What nobody looked at while choosing them; files with --held-out
HELD_OUT = [
    "zipf(s=2.0, d=256, n=300_000)",
    "zipf(s=0.8, d=512, n=10_000_000)",
    "geometric(p=0.01, d=512, n=2_000_000)",
    "gaussian(d=100, n=200_000)",
    "uniform(d=1000, n=5_000_000)",
    "spike(share=0.3, d=256, n=500_000)",
    "steps(steps=8, ratio=0.7, d=256, n=1_000_000)",
]
ORDERED = ("geometric", "gaussian", "steps")  # shapes whose order means something, and --ordered
KNOWN = 0.02  # of the error without post-processing: less, and the limit knows everything


@dataclass(frozen=True)
class Measured:
    """Errors in one cell by repeat, method (own, shelf, two limits) and metric."""

    data: str
    errors: FloatArray
    metrics: list[str]

    def of(self, method: str, metric: str) -> FloatArray:
        index = [*OWN, *SHELF, "limit", "distribution"].index(method)
        return self.errors[:, index, self.metrics.index(metric)]

    def to_best(
        self, method: str, metric: str, shelf: Sequence[str] = SHELF
    ) -> tuple[float, float]:
        """Ratio to the best of the others, and its standard error."""
        rivals = [m for m in [*shelf, "multiscale"] if m != method]
        mine, others = self.of(method, metric), {m: self.of(m, metric) for m in rivals}
        own, best = np.empty(0), np.empty(0)
        for half in (0, 1):
            first = min(others, key=lambda m: others[m][half::2].mean())
            own, best = (
                np.append(own, mine[1 - half :: 2]),
                np.append(best, others[first][1 - half :: 2]),
            )
        ratio = own.mean() / best.mean()
        return ratio, (own - ratio * best).std(ddof=1) / best.mean() / len(own) ** 0.5

    def to_limit(self, method: str, metric: str, limit: str) -> float | None:
        least = self.of(limit, metric).mean()
        known = least < KNOWN * self.of("none", metric).mean()
        return None if known else float(self.of(method, metric).mean() / least)


def measure(data: Dataset, protocol: str, epsilon: float, fewest: int, most: int) -> Measured:
    metrics = ["l1", "l2", *(["emd", "ks", "range_query"] if data.ordered else [])]
    compare = [ldp3.metric(m).for_data(data) for m in metrics]
    oracle, methods = ldp3.oracle(protocol, epsilon, data.d), map(ldp3.postprocess, [*OWN, *SHELF])
    built = list(methods)
    assert oracle.support is not None
    limit = SeparableOracle(data.histogram, PureNoise.of(oracle.support, data.n))
    rows: list[FloatArray] = []
    while True:
        rng = ldp3.stream(0, "quality", protocol, float(epsilon).hex(), data.digest, len(rows))
        estimate = oracle.estimate(oracle.simulate(data.histogram, rng))
        scores = [[m(data.frequencies, f) for m in compare] for f in (b(estimate) for b in built)]
        rows.append(np.array([*scores, *limit.scores(estimate, data.frequencies, compare)]))
        if len(rows) < fewest or len(rows) % 8:
            continue
        cell = Measured(data.name, np.array(rows), metrics)
        if len(rows) >= most or all(2 * cell.to_best(OWN[0], m)[1] < 0.01 for m in ("l1", "l2")):
            return cell


def quality(cells: list[Measured], metric: str) -> str:
    """One row per method: ratios to the limits, and to the best of the others."""
    limits = ["× limit", "worst", "× distribution", "worst"]
    rivals = ["× best", "worst", "≤ 2 %", "× best distribution", "worst", "≤ 2 %"]
    rows = [[names.metric(metric), *limits, *rivals]]
    for method in ROWS:
        columns = []
        for limit in ("limit", "distribution"):
            times = [x for c in cells if (x := c.to_limit(method, metric, limit)) is not None]
            columns += [f"{np.mean(times):.3f}", f"{max(times):.2f}"]
        for shelf in (SHELF, DISTRIBUTIONS):
            best = [c.to_best(method, metric, shelf)[0] for c in cells]
            within = f"{np.mean(np.array(best) <= 1.02):.0%}"
            columns += [_mean(best), f"{max(best):.2f}", within]
        rows.append([names.method(method), *columns])
    return markdown_table(rows, "lr")


def by_data(cells: list[Measured]) -> str:
    """One row per dataset: multiscale against the best of the others."""
    rows = [["data", "ℓ1 × best", "worst", "≤ 2 %", "ℓ2 × best", "worst", "≤ 2 %"]]
    for data in dict.fromkeys(c.data for c in cells):
        row = [f"`{data}`"]
        for metric in ("l1", "l2"):
            best = [c.to_best(OWN[0], metric)[0] for c in cells if c.data == data]
            row += [_mean(best), f"{max(best):.2f}", f"{np.mean(np.array(best) <= 1.02):.0%}"]
        rows.append(row)
    return markdown_table(rows, "lr")


def sums(cells: list[Measured]) -> str:
    """Ordered domains: ratios to the best of all methods, for what sums over ranges."""
    rows = [["", *(f"{m}, worst" for m in ("EMD", "KS", "Range query", "ℓ1", "ℓ2"))]]
    ordered = [c for c in cells if "emd" in c.metrics]
    for method in SUMS:
        row = [names.method(method)]
        for metric in ("emd", "ks", "range_query", "l1", "l2"):
            best = [c.to_best(method, metric)[0] for c in ordered]
            row.append(f"{_mean(best)}, {max(best):.2f}")
        rows.append(row)
    return markdown_table(rows, "lr")


def _mean(ratios: list[float]) -> str:
    return f"{np.exp(np.log(ratios).mean()):.3f}"


def load(spec: str, ordered: bool) -> Dataset:
    path, _, kind = spec.rpartition(":")
    if kind == "counts":
        data = ldp3.load(path, counts=True)
    elif kind.isdigit():
        data = ldp3.load(path, top=int(kind), input_format="transactions")
    else:
        data = ldp3.load(spec)
    shape = data.name.partition("(")[0] in ORDERED
    return replace(data, domain=replace(data.domain, ordered=ordered or shape))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tuned", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--ordered", nargs="*", default=[], metavar="FILE", help="of these files")
    parser.add_argument("--protocols", nargs="*", default=["oue", "ss", "grr"])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--fewest", type=int, default=32)
    parser.add_argument("--most", type=int, default=128)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    groups = {"Tuned on": [*TUNED, *options.tuned], "Held out": [*HELD_OUT, *options.held_out]}
    every: list[Measured] = []
    for title, specs in groups.items():
        datasets = [load(spec, spec in options.ordered) for spec in specs]
        grid = product(datasets, options.protocols, options.epsilons)
        one = partial(measure, fewest=options.fewest, most=options.most)
        with ProcessPoolExecutor(options.processes) as pool:
            cells = list(pool.map(one, *zip(*grid, strict=True)))
        every += cells
        sharp = np.mean([2 * c.to_best(OWN[0], m)[1] < 0.01 for c in cells for m in ("l1", "l2")])
        limited = sum(c.to_limit("none", "l2", "limit") is not None for c in cells)
        print(f"\n### {title}: {len(datasets)} datasets, {len(cells)} cells\n")
        print(
            f"{limited} cells have a ratio to the limit. Twice the standard error of the ratio to"
        )
        print(f"the best is below 1 % in {sharp:.0%} of cells and metrics.\n")
        for metric in ("l1", "l2"):
            print(quality(cells, metric) + "\n", flush=True)
        print(by_data(cells), flush=True)
    print("\n### Ordered domains\n\n" + sums(every))


if __name__ == "__main__":
    main()
