"""Recommendations: what they cost, and how well they foresee the error from a small sample.

`python -m benchmarks.recommendation` prints both.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import ldp3
from ldp3.recommendation.populations import Populations
from ldp3.types import Dataset

METHODS = ["norm_sub", "power_ns"]
CASES = [  # population, users, people in the sample
    ("zipf(s=1.2, d=1024, n=10_000_000)", 5_000_000, 2_000),
    ("uniform(d=256, n=1_000_000)", 1_000_000, 1_000),
    ("flights", 5_000_000, 2_000),
]
SAMPLES, DRAWS, REPEATS = 12, 8, 8


def sample(data: Dataset, people: int, *key: int) -> Dataset:
    histogram = ldp3.stream(0, "people", *key).multinomial(people, data.frequencies)
    return replace(data, histogram=histogram)


def errors(data: Dataset, seed: int, repeats: int = REPEATS) -> np.ndarray:
    """Mean ℓ1 of each method after OUE at ε = 1."""
    table = ldp3.benchmark(data, 1.0, "oue", METHODS, repeats=repeats, seed=seed).table
    return np.array([table.filter(method=m)["value"].mean() for m in METHODS])


def foresight() -> Iterator[dict[str, object]]:
    """The error on the truth, on samples as they are, on resamples, and on drawn populations."""
    for spec, users, people in CASES:
        truth = ldp3.load(spec)
        seen: dict[str, list[np.ndarray]] = {"sample": [], "resamples": [], "drawn": []}
        for i in range(SAMPLES):
            one = sample(truth, people, i)
            seen["sample"].append(errors(one.scaled(users), i, DRAWS * REPEATS))
            drawn = Populations(one, users, seed=i)
            for b in range(DRAWS):
                again = sample(one, people, i, b).scaled(users)
                seen["resamples"].append(errors(again, DRAWS * i + b))
                seen["drawn"].append(errors(drawn.draw(b), DRAWS * i + b))
        real = errors(truth.scaled(users), 0, 200)
        for m, method in enumerate(METHODS):
            means = {name: float(np.mean([e[m] for e in found])) for name, found in seen.items()}
            yield {"data": spec, "method": method, "truth": float(real[m]), **means}


def cost() -> Iterator[dict[str, object]]:
    """Seconds of a recommendation at ε = 1 for ℓ1 and five million users."""
    flights = ldp3.load("flights")
    cases = {
        "flights": flights,
        "2,000 flights": sample(flights, 2_000),
        "d = 1024, 20,000 people": ldp3.load("zipf(d=1024, n=20_000)"),
    }
    ldp3.recommend(flights, population=5_000_000)  # compiles
    for name, data in cases.items():
        began, spent = time.monotonic(), time.process_time()
        answer = ldp3.recommend(data, population=5_000_000).answers[0]
        yield {
            "data": name,
            "best": answer.best.name,
            "tied": len(answer.tied),
            "reason": answer.reason,
            "seconds": round(time.monotonic() - began, 1),
            "of processor": round(time.process_time() - spent, 1),
        }


if __name__ == "__main__":
    for row in (*cost(), *foresight()):
        print(row, flush=True)
