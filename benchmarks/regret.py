"""Can the forecast be believed? Regret and coverage of recommendations on data nobody tuned on.

    python -m benchmarks.regret [--cells N] [--numbers] [--counts FILE …] [--ordered-counts FILE …]

From each dataset small samples are drawn and `recommend` asked for one ε and three metrics (EMD
too, where values are ordered). What is best on the dataset itself, scaled to as many users, is
found by exact simulation of everything, with the luck of the raw noise taken out; then it and what
was recommended are compared in other collections, so that no luck counts.
With --numbers the datasets are those of `benchmarks.numbers`, and the metrics those of an order.
Printed for each question: *regret*, how much more error the recommended one makes than the best
there is; how much more than the best of no post-processing and Norm-Sub; whether the stated
interval holds the true error. Populations with exact ties (uniform, steps) are summed up apart.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl

import ldp3
from benchmarks.numbers import shapes
from ldp3.arrays import apportion
from ldp3.domain import Integers, Labels
from ldp3.noise import PureNoise
from ldp3.people import Dataset
from ldp3.recommendation.contest import CONTROLS, controlled, raw_errors
from ldp3.recommendation.requirements import with_designs

METRICS = ["l1", "l2", "kl"]
SEARCH, COMPARE = 40, 300  # repeats: the best of many in few may be luck, so it is run again
SAMPLES, TIMES, EPSILONS = (500, 1_500, 5_000), (10, 100, 10_000), (0.5, 1.0, 2.0, 4.0)
SPECS = [
    "zipf(s=1.3, d=24, n=1_000_000)",
    "zipf(s=0.7, d=80, n=1_000_000)",
    "geometric(p=0.12, d=40, n=1_000_000)",
    "gaussian(d=64, n=1_000_000)",
    "bimodal(d=100, n=1_000_000)",
]
TIED = ["uniform(d=32, n=1_000_000)", "steps(d=60, n=1_000_000)"]
BASE = "none", "norm_sub"
NUMBERS, BINS = ["emd", "ks", "mean", "quantile(q=0.5)"], (32, 100)


def datasets(given: argparse.Namespace) -> list[Dataset]:
    """Ours, random ones, and a person's own."""
    if given.numbers:
        return [Dataset(f"{name}, d={d}", Integers(d, ordered=True), apportion(law, 10**9))
                for d in BINS for name, law in shapes(d) if given.only in name]  # fmt: skip
    made = [ldp3.load(spec) for spec in (*SPECS, *TIED)]
    rng = np.random.default_rng(20261116)
    for alpha, d in ((0.3, 20), (1.0, 50), (3.0, 12)):
        frequencies = rng.dirichlet(np.full(d, alpha))
        made.append(_named(f"dirichlet({alpha}, d={d})", frequencies))
    for sigma, d in ((1.0, 30), (2.0, 150)):
        made.append(_named(f"lognormal({sigma}, d={d})", rng.lognormal(0, sigma, d)))
    made += [ldp3.load(path, counts=True) for path in given.counts]
    made += [ldp3.load(path, counts=True, ordered=True) for path in given.ordered_counts]
    return [data for data in made if given.only in data.name]


def _named(name: str, weights: object) -> Dataset:
    counts = apportion(np.asarray(weights), 10**9)
    return Dataset(name, Labels([f"v{i}" for i in range(len(counts))]), counts)


def questions(data: Dataset, cell: int, numbers: bool) -> Iterator[dict[str, object]]:
    """One row for each metric; the cell says how large the sample is, the population, and ε."""
    every = list(product(SAMPLES, TIMES, EPSILONS))
    rng = ldp3.stream(cell, "regret", data.name)
    people, times, epsilon = every[int(rng.integers(len(every)))]
    metrics = NUMBERS if numbers else [*METRICS, *(["emd"] if data.ordered else [])]
    few = replace(data, histogram=rng.multinomial(people, data.frequencies), values=None)
    began = time.process_time()
    found = ldp3.recommend(few, epsilon, metrics=metrics, population=people * times, seed=cell)
    seconds = (time.process_time() - began) / len(metrics)
    truth = data.scaled(people * times)
    search = true_errors(truth, epsilon, metrics, with_designs("all", few), "all", SEARCH, 98)
    for answer in found.answers:
        errors = {(p, m): error for (u, p, m), error in search.items() if u == answer.metric}
        ours = answer.best.protocol, answer.best.method
        usual = {pair: error for pair, error in errors.items() if pair[1] in BASE}
        best, base = (min(some, key=lambda pair: some[pair]) for some in (errors, usual))
        true, least, plain = (
            true_errors(truth, epsilon, [answer.metric], [p], [m], COMPARE, 99)[answer.metric, p, m]
            for p, m in (ours, best, base)
        )
        stated = answer.best.error
        yield {
            "data": data.name, "people": people, "times": times, "epsilon": epsilon,
            "metric": answer.metric, "recommended": ours, "best": best,
            "regret": _more(true, least), "over_base": _more(true, plain),
            "true": true, "low": stated.low, "high": stated.high,
            "holds": stated.low <= true <= stated.high, "too_rosy": true > stated.high,
            "tied": len(answer.tied), "seconds": seconds,
            "ties": data.name.startswith(("uniform", "steps")),
        }  # fmt: skip


def _more(error: float, other: float) -> float:
    """How much more it is, as a share; a median in bins may have no error at all."""
    return error / other - 1 if other else 0.0 if not error else np.inf


def true_errors(
    data: Dataset,
    epsilon: float,
    metrics: Sequence[str],
    protocols: object,
    methods: object,
    repeats: int,
    seed: int,
) -> dict[tuple[str, str, str], float]:
    """By metric, protocol and method."""
    asked = list(dict.fromkeys([*metrics, *CONTROLS]))
    run = ldp3.benchmark(data, epsilon, protocols, methods, asked, repeats=repeats, seed=seed)
    found: dict[tuple[str, str, str], float] = {}
    for (protocol,), part in run.table.group_by("protocol", maintain_order=True):
        support = ldp3.oracle(str(protocol), epsilon, data.d).support
        values = {
            (str(m), str(u)): frame.sort("repeat")["value"].to_numpy()[None]
            for (m, u), frame in part.group_by("method", "metric")
        }
        if support is None:
            found |= {(u, str(protocol), m): float(v.mean()) for (m, u), v in values.items()}
            continue
        known = raw_errors(PureNoise.of(support, data.n).variance(data.frequencies))
        off = np.stack([values["none", u] for u in CONTROLS], axis=-1) / known - 1
        for (m, u), v in values.items():
            scale = np.array([known[CONTROLS.index(u)]]) if u in CONTROLS else None
            found[u, str(protocol), m] = float(controlled(v, off, np.zeros(1, int), scale).mean())
    return found


def summed_up(rows: Sequence[dict[str, object]]) -> None:
    """By metric, with and without ties."""
    table = pl.DataFrame(rows)
    with pl.Config(tbl_cols=-1, tbl_rows=-1, tbl_width_chars=160, float_precision=3):
        for ties, part in table.group_by("ties", maintain_order=True):
            print("populations with exact ties" if ties[0] else "populations without ties")
            print(
                part.group_by("metric", maintain_order=True).agg(
                    questions=pl.len(),
                    interval_holds=pl.col("holds").mean(),
                    too_rosy=pl.col("too_rosy").mean(),
                    mean_regret=pl.col("regret").mean(),
                    worst_regret=pl.col("regret").max(),
                    worse_than_base=(pl.col("over_base") > 0.05).mean(),
                    worst_over_base=pl.col("over_base").max(),
                    tied=pl.col("tied").median(),
                    seconds=pl.col("seconds").mean(),
                )
            )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=3, help="samples of each dataset")
    parser.add_argument("--first", type=int, default=0, help="which of them comes first")
    parser.add_argument("--counts", nargs="*", default=[])
    parser.add_argument("--ordered-counts", nargs="*", default=[])
    parser.add_argument("--numbers", action="store_true", help="numbers, and metrics of an order")
    parser.add_argument("--only", default="")
    given = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for cell in range(given.first, given.first + given.cells):
        for data in datasets(given):
            for row in questions(data, cell, given.numbers):
                rows.append(row)
                print(row, flush=True)
        summed_up(rows)


if __name__ == "__main__":
    main()
