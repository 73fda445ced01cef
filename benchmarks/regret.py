"""Regret of recommendations: how much more error the recommended makes than the best there is.

    python -m benchmarks.regret [--counts FILE …] [--only NAME …]

From each dataset a small sample is drawn and `recommend` asked for three ε and three metrics. What
is best on the dataset itself, scaled to as many users, is found in a few repeats of everything;
then it and what was recommended are compared in many other repeats, so that no luck counts.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

import ldp3
from ldp3.types import Dataset

EPSILONS, METRICS = [0.5, 1.0, 3.0], ["l1", "l2", "kl"]
PROTOCOLS = "paper"
SEARCH, COMPARE = 30, 400  # repeats
CASES = [  # dataset, people in the sample, users to answer for
    ("flights", 2_000, 330_000),
    ("zipf(s=1.1, d=100, n=1_000_000)", 3_000, 100_000),
    ("zipf(s=2, d=50, n=1_000_000)", 1_000, 20_000),
    ("uniform(d=64, n=1_000_000)", 1_000, 100_000),
    ("gaussian(d=100, n=1_000_000)", 3_000, 200_000),
    ("geometric(p=0.1, d=60, n=1_000_000)", 2_000, 50_000),
    ("steps(d=100, n=1_000_000)", 2_000, 100_000),
]
YOURS = 5_000, 200_000  # people and users for a file of values and counts


def sample(data: Dataset, people: int) -> Dataset:
    rng = ldp3.stream(0, "held out", data.name)
    histogram = rng.multinomial(people, data.frequencies)
    return replace(data, histogram=histogram, values=None)


def regrets(data: Dataset, people: int, users: int) -> Iterator[dict[str, object]]:
    """One row for each ε and metric."""
    few, truth = sample(data, people), data.scaled(users)
    answers = ldp3.recommend(few, EPSILONS, PROTOCOLS, metrics=METRICS, population=users).answers
    found = ldp3.benchmark(truth, EPSILONS, PROTOCOLS, "all", METRICS, repeats=SEARCH, seed=7).table
    for answer in answers:
        cell = (pl.col("epsilon") == answer.epsilon) & (pl.col("metric") == answer.metric)
        means = found.filter(cell).group_by("protocol", "method").agg(pl.col("value").mean())
        best, ours = means.sort("value").row(0)[:2], (answer.best.protocol, answer.best.method)
        errors = [_error(truth, answer.epsilon, answer.metric, pair) for pair in (ours, best)]
        yield {
            "data": data.name,
            "epsilon": answer.epsilon,
            "metric": answer.metric,
            "recommended": " with ".join(ours),
            "best": " with ".join(best),
            "tied": len(answer.tied),
            "regret": errors[0] / errors[1] - 1,
        }


def _error(data: Dataset, epsilon: float, metric: str, pair: Sequence[str]) -> float:
    protocol, method = pair
    run = ldp3.benchmark(data, epsilon, protocol, method, metric, repeats=COMPARE, seed=8)
    return float(run.table.filter(method=method)["value"].to_numpy().mean())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", default=[name for name, *_ in CASES])
    given = parser.parse_args(arguments)
    cases = [
        (ldp3.load(name), people, users) for name, people, users in CASES if name in given.only
    ]
    cases += [(ldp3.load(path, counts=True), *YOURS) for path in given.counts]
    rows = []
    for data, people, users in cases:
        began = time.monotonic()
        for row in regrets(data, people, users):
            rows.append(row)
            print(row, flush=True)
        print(f"{time.monotonic() - began:.0f} s", flush=True)
    found = np.array([row["regret"] for row in rows], dtype=float)
    print(f"{len(found)} cells: mean {found.mean():.2%}, worst {found.max():.1%}, "
          f"above 5 %: {(found > 0.05).mean():.0%}")  # fmt: skip


if __name__ == "__main__":
    main()
