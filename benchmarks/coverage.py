"""`python -m benchmarks.coverage`: how often confidence intervals hold, the table of the docs.

Zipf data, simulated collections; each value by itself, and all of them at once; in parentheses what
the normal (score) interval does on the same estimates.
"""

import numpy as np

import ldp3
from ldp3.arrays import FloatArray
from ldp3.noise import Noise, PureNoise

REPEATS, LEVEL = 400, 0.95
CELLS = (
    ("grr", 1_000, 10_000, 1.0), ("grr", 10_000, 10_000, 1.0), ("oue", 1_000, 1_000, 5.0),
    ("olh", 1_000, 1_000, 4.0), ("ss", 1_000, 1_000, 4.0), ("grr", 10_000, 1_000, 5.0),
    ("oue", 100, 100_000, 1.0), ("olh", 1_000, 1_000_000, 1.0),
)  # fmt: skip


def coverage(protocol: str, d: int, n: int, epsilon: float) -> tuple[list[str], float]:
    """Shares of values and of collections that are covered, and how much wider ours is."""
    oracle, rng = ldp3.oracle(protocol, epsilon, d), ldp3.stream(0, "coverage", protocol, d, n)
    weights = 1 / np.arange(1, d + 1) ** 1.1
    histogram = rng.multinomial(n, weights / weights.sum())
    tallies = [oracle.simulate(histogram, rng) for _ in range(REPEATS)]
    found = np.concatenate([oracle.estimate(tally).frequencies for tally in tallies])
    noise = oracle.estimate(tallies[0]).noise
    shares, widths = [], []
    for alpha in (1 - LEVEL, (1 - LEVEL) / d):
        said = []
        for law in (PureNoise, Noise):
            low, high = np.clip(law.interval(noise, found, 1 - alpha), 0, 1)
            said.append(_covered(low, high, histogram / n, all_at_once=alpha < 1 - LEVEL))
            widths.append(np.median(high - low))
        shares.append(f"{said[0]:.1%} ({said[1]:.1%})")
    return shares, widths[0] / widths[1] - 1


def _covered(low: FloatArray, high: FloatArray, truth: FloatArray, *, all_at_once: bool) -> float:
    inside = ((low.reshape(REPEATS, -1) <= truth + 1e-12)
              & (truth - 1e-12 <= high.reshape(REPEATS, -1)))  # fmt: skip
    return float(inside.all(axis=1).mean() if all_at_once else inside.mean())


if __name__ == "__main__":
    print("| | each value | all at once | wider by |\n|---|---|---|---|")
    for cell in CELLS:
        protocol, d, n, epsilon = cell
        (each, together), wider = coverage(*cell)
        name = f"{protocol}, d = {d:,}, n = {n:,}, ε = {epsilon:g}"
        print(f"| {name} | {each} | {together} | {wider:.1%} |", flush=True)
