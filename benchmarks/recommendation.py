"""What a recommendation costs: processor time, as a ratio to a fixed kernel, and its own forecast.

    python -m benchmarks.recommendation [--values 16 100 1000 30000]

The kernel sorts ten million numbers. `--dry-run` promises a time; how far it was off is printed.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

import ldp3
from ldp3.experiment.schedule import forecast
from ldp3.experiment.simulator import Simulator
from ldp3.recommendation.contest import looks_of
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.recommend import entered
from ldp3.recommendation.requirements import Requirements, Threat

USERS, PEOPLE = 1_000_000, 5_000


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def kernel() -> float:
    numbers = np.random.default_rng(0).random(10**7)
    return min(seconds(lambda: np.sort(numbers)) for _ in range(3))


def promised(sample: ldp3.Dataset) -> tuple[float, float]:
    """Of `--dry-run`: the least and the most processor time."""
    asked = "all", "all", "l1", USERS, Requirements(), 0, (), Threat()
    _, ex, _ = entered(sample, 1.0, *asked)
    simulator = Simulator(replace(ex, repeats=1, repeats_asked=True, limit=False))
    one = sum(forecast(simulator, 1).seconds.values())
    many, (looks, afforded) = len(Populations(sample, sample.n, 0).world_of), looks_of(ex)
    return many * looks[0] * one, many * afforded * one


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", nargs="*", type=int, default=[16, 100, 1000, 30_000])
    given = parser.parse_args(arguments)
    ldp3.recommend("zipf(d=16, n=1_000)", population=USERS)  # compiles
    unit = kernel()
    print(f"kernel {unit:.2f} s")
    for d in given.values:
        sample = ldp3.load(f"zipf(d={d}, n={PEOPLE})")
        low, high = promised(sample)
        took = seconds(lambda sample=sample: ldp3.recommend(sample, population=USERS))  # type: ignore[misc]
        ratio = took / unit
        print(f"d = {d:,}: {took:.1f} s, {ratio:.0f} × kernel, promised {low:.1f} to {high:.1f} s")


if __name__ == "__main__":
    main()
