"""How close every method comes to the limit and to the best of the others.

    python -m benchmarks.postprocessing_quality
    python -m benchmarks.postprocessing_quality --tuned adult.csv --held-out retail.dat:256

Prints the Markdown tables of docs/postprocessing.md. A file may end in `:256`, transactions of
which the 256 most frequent items are kept, or in `:counts`, a table of labels and counts. Each cell
is a dataset, an ε and a protocol, with as many repeats as it takes until twice the standard error
of the ratio of multiscale to the best is below 1 %, or `--most`; large domains have fewer. "Best
distribution" is the best of those others that always answer one.

The best of the others is chosen on one half of the repeats and compared with on the other half, so
that luck does not favour it; methods share the estimates, so ratios are paired. The limit is the
error of the separable oracle (see ldp3.experiment.limit), and of the same made to sum to one. Cells
in which its ℓ1 is not above 0.02 have no ratios: everybody is near the truth there.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

import ldp3
from ldp3.arrays import FloatArray
from ldp3.domain import Integers
from ldp3.experiment.limit import SeparableOracle
from ldp3.noise import PureNoise
from ldp3.people import Dataset
from ldp3.printing import markdown_table
from ldp3.results import names

MADE = {"l1": "completed", "kl": "completed_mean", "hellinger": "completed_root"}
OWN = ["multiscale", "multiscale_ordered", *MADE.values()]
SHELF = ["none", "norm_sub", "power_ns", "npmle", "norm_cut", "norm_mul", "base_cut", "norm"]
DISTRIBUTIONS = ["norm_sub", "power_ns", "npmle", "norm_cut", "norm_mul"]
ROWS = ["multiscale", "npmle", "power_ns", "norm_sub", "norm_cut", "norm_mul", "base_cut", "none"]
SUMS = ["multiscale_ordered", "multiscale", "norm_cut", "norm", "norm_sub", "npmle"]
METRICS = ["l1", "l2", *list(MADE)[1:]]
# What constants were chosen on, or kinds of it; files with --tuned
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
# Large domains: PGR, whose reports are short; kinds of data that were looked at, and others
LARGE = [
    "zipf(s=1.1, d=16384, n=1_000_000)",
    "zipf(s=1.1, d=16384, n=100_000_000)",
    "geometric(p=0.01, d=16384, n=1_000_000)",
    "uniform(d=16384, n=1_000_000)",
]
LARGE_HELD_OUT = [
    f"{shape}:{d}:{n}"
    for d, n in ((16_384, 10**6), (65_536, 10**7))
    for shape in ("mandelbrot", "log-uniform", "gamma", "log-series", "exponential")
]
MILLION = ["zipf(s=1.1, d=1048576, n=100_000_000)", "mandelbrot:1048576:100000000",
           "gamma:1048576:100000000", "log-series:1048576:100000000"]  # fmt: skip
ORDERED = ("geometric", "gaussian", "steps")  # shapes whose order means something, and --ordered
KNOWN = 0.02  # ℓ1 of the limit: less, and everybody is near the truth
SEEN = 3.0  # standard deviations from which on a value is visible
WITHIN = 1.03  # times the best of the others


@dataclass(frozen=True)
class Measured:
    """Errors in one cell by repeat, method (own, shelf, two limits) and metric."""

    name: str
    data: str
    errors: FloatArray
    metrics: list[str]
    seen: float  # the most frequent value, in standard deviations of the noise

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

    @property
    def told_apart(self) -> bool:
        """Whether ratios say something."""
        return float(self.of("limit", "l1").mean()) > KNOWN

    def to(self, other: str, method: str, metric: str) -> float:
        return float(self.of(method, metric).mean() / self.of(other, metric).mean())


def measure(data: Dataset, protocol: str, epsilon: float, fewest: int, most: int) -> Measured:
    metrics = [*METRICS, *(["emd", "ks", "range_query"] if data.ordered else [])]
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
        if len(rows) < fewest or len(rows) % 2:
            continue
        seen = float(data.frequencies.max() / np.sqrt(estimate.noise.floor))
        cell = Measured(
            f"{data.name} {protocol} ε={epsilon:g}", data.name, np.array(rows), metrics, seen
        )
        if len(rows) >= most or all(2 * cell.to_best(OWN[0], m)[1] < 0.01 for m in ("l1", "l2")):
            return cell


def quality(cells: list[Measured], metric: str) -> str:
    """One row per method: ratios to the limits, to the best of the others, to multiscale."""
    columns = ["× limit", "worst", "× best", "worst", "≤ 3 %"]
    columns += ["× best distribution", "worst", "≤ 3 %", "× Multi-scale", "worst"]
    rows = [[names.metric(metric), *columns]]
    others = ROWS if metric in ("l1", "l2") else ROWS[:4]  # zeros cost the rest dearly
    for method in [MADE[metric], *others] if metric in MADE else others:
        times = [c.to("limit", method, metric) for c in cells]
        row = [names.method(method), *_mean_and_worst(times)]
        for shelf in (SHELF, DISTRIBUTIONS):
            best = [c.to_best(method, metric, shelf)[0] for c in cells]
            row += [*_mean_and_worst(best), _within(best)]
        rows.append(row + _mean_and_worst([c.to("multiscale", method, metric) for c in cells]))
    return markdown_table(rows, "lr")


def by_data(cells: list[Measured]) -> str:
    """One row per dataset: completed in ℓ1 and multiscale in ℓ2 against the best of the others."""
    rows = [["data", "ℓ1 × best", "worst", "≤ 3 %", "× Multi-scale", "ℓ2 × best", "worst", "≤ 3 %"]]
    for data in dict.fromkeys(c.data for c in cells):
        own, row = [c for c in cells if c.data == data], [f"`{data}`"]
        for metric, method in (("l1", MADE["l1"]), ("l2", OWN[0])):
            best = [c.to_best(method, metric)[0] for c in own]
            row += [*_mean_and_worst(best), _within(best)]
            row += [_mean([c.to(OWN[0], method, metric) for c in own])] if metric == "l1" else []
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


def _mean_and_worst(ratios: list[float]) -> list[str]:
    return [_mean(ratios), f"{max(ratios):.2f}"]


def _within(ratios: list[float]) -> str:
    return f"{np.mean(np.array(ratios) <= WITHIN):.0%}"


def shape(spec: str) -> Dataset:
    """Data of kinds that nobody looked at: `name:d:n`."""
    name, d, n = spec.split(":")[0], *map(int, spec.split(":")[1:])
    rng, rank = ldp3.stream(0, "quality", name, d), np.arange(1.0, d + 1)
    shapes: dict[str, Callable[[], FloatArray]] = {
        "mandelbrot": lambda: (rank + 20) ** -1.4,
        "log-uniform": lambda: 10 ** rng.uniform(-4, 0, d),
        "gamma": lambda: rng.gamma(0.25, size=d),
        "log-series": lambda: (1 - 10 / d) ** rank / rank,
        "exponential": lambda: rng.exponential(size=d),
    }
    f = shapes[name]()
    return Dataset(f"{name}(d={d}, n={n})", Integers(d), rng.multinomial(n, f / f.sum()))


def _summary(cells: list[Measured]) -> str:
    if not cells:
        return "no cells."
    best = {c.name: c.to_best(MADE["l1"], "l1")[0] for c in cells}
    worst = max(best, key=lambda name: best[name])
    ratios = list(best.values())
    return (
        f"{_mean(ratios)} × best, within 3 % in {_within(ratios)} of {len(cells)} cells, at worst "
        f"{best[worst]:.2f} (`{worst}`)."
    )


def _left(cells: list[Measured]) -> str:
    rest = [c for c in cells if not c.told_apart]
    errors = {m: np.mean([c.of(m, "l1").mean() for c in rest]) for m in (MADE["l1"], *ROWS[:4])}
    return ", ".join(f"{names.method(m)} {e:.3f}" for m, e in errors.items()) if rest else "none"


def load(spec: str, ordered: bool) -> Dataset:
    path, _, kind = spec.rpartition(":")
    if spec.count(":") == 2:
        return shape(spec)
    if kind == "counts":
        data = ldp3.load(path, counts=True)
    elif kind.isdigit():
        data = ldp3.load(path, top=int(kind), input_format="transactions")
    else:
        data = ldp3.load(spec)
    along = data.name.partition("(")[0] in ORDERED
    return replace(data, domain=replace(data.domain, ordered=ordered or along))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tuned", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--held-out", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--large-held-out", nargs="*", default=[], metavar="FILE")
    parser.add_argument("--ordered", nargs="*", default=[], metavar="FILE", help="of these files")
    parser.add_argument("--protocols", nargs="*", default=["oue", "ss", "grr"])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--fewest", type=int, default=32)
    parser.add_argument("--most", type=int, default=128)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    usual = options.protocols, options.epsilons, options.fewest, options.most
    few = min(4, options.most)
    groups = {
        "Tuned on": ([*TUNED, *options.tuned], *usual),
        "Held out": ([*HELD_OUT, *options.held_out], *usual),
        "Large domains, of kinds that were looked at": (LARGE, ["pgr"], [0.5, 1.0, 4.0], few, few),
        "Large domains, held out": (
            [*LARGE_HELD_OUT, *options.large_held_out],
            ["pgr"],
            [0.5, 1.0, 4.0],
            few,
            few,
        ),
        "A million values": (MILLION, ["pgr"], [1.0], 2, 2),
    }
    every: list[Measured] = []
    for title, (specs, protocols, epsilons, fewest, most) in groups.items():
        datasets = [load(spec, spec in options.ordered) for spec in specs]
        grid = product(datasets, protocols, epsilons)
        one = partial(measure, fewest=fewest, most=most)
        with ProcessPoolExecutor(options.processes) as pool:
            cells = list(pool.map(one, *zip(*grid, strict=True)))
        every += cells
        told = [c for c in cells if c.told_apart]
        hidden = [c for c in told if c.seen < SEEN]
        print(f"\n### {title}: {len(datasets)} datasets, {len(cells)} cells\n")
        print(
            f"{len(told)} cells have ratios; in {len(hidden)} of them nothing is visible.", end=" "
        )
        print(f"ℓ1 in the others, on average: {_left(cells)}.\n")
        for metric in METRICS:
            print(quality(told, metric) + "\n", flush=True)
        print(by_data(told), flush=True)
        for what, some in (
            ("something", [c for c in told if c.seen >= SEEN]),
            ("nothing", hidden),
        ):
            print(f"\nWhere {what} is visible, Completed in ℓ1: {_summary(some)}", flush=True)
    print("\n### Ordered domains\n\n" + sums(every))


if __name__ == "__main__":
    main()
