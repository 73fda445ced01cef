"""How many frequencies the intervals of an estimate hold, before and after post-processing.

    python -m benchmarks.interval_coverage adult.csv bms.csv kosarak.csv

Prints the Markdown table of docs/postprocessing.md: for each dataset and protocol, over ε and
repeats, the share of values inside the 95 % confidence interval of the unbiased estimate, inside
the credible interval of multiscale, the lowest of these at one ε, the share among the twentieth of
the values that is most frequent, and how wide credible intervals are next to the others.
"""

import argparse

import numpy as np

import ldp3
from ldp3.arrays import FloatArray
from ldp3.people import Dataset
from ldp3.printing import markdown_table
from ldp3.results import names

EPSILONS = [0.25, 0.5, 1.0, 2.0, 4.0]
PROTOCOLS = ["oue", "grr"]
HEADS = ["data", "protocol", "confidence", "credible", "at worst", "of the frequent", "width"]


def measure(data: Dataset, protocol: str, epsilon: float, repeats: int) -> FloatArray:
    """Coverage by confidence, by credibility, of the frequent values; and the ratio of widths."""
    oracle, method = ldp3.oracle(protocol, epsilon, data.d), ldp3.postprocess("multiscale")
    f, frequent = data.frequencies, np.argsort(-data.histogram)[: max(data.d // 20, 1)]
    rows = []
    for repeat in range(repeats):
        rng = ldp3.stream(0, "coverage", protocol, float(epsilon).hex(), data.digest, repeat)
        estimate = oracle.estimate(oracle.simulate(data.histogram, rng))
        believed = method.interval(estimate)
        assert believed is not None
        (low, high), (start, stop) = estimate.confidence_interval(), believed
        inside = (start <= f) & (f <= stop)
        width = (stop - start).mean() / (high - low).mean()
        rows.append(
            [((low <= f) & (f <= high)).mean(), inside.mean(), inside[frequent].mean(), width]
        )
    return np.mean(rows, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    table = [HEADS]
    for data in map(ldp3.load, ["flights", *options.files]):
        for protocol in PROTOCOLS:
            cells = np.array([measure(data, protocol, e, options.repeats) for e in EPSILONS])
            confident, credible, frequent, width = cells.mean(axis=0)
            shares = confident, credible, cells[:, 1].min(), frequent, width
            table.append([data.name, names.protocol(protocol), *(f"{x:.3f}" for x in shares)])
    print(markdown_table(table, "llr"))


if __name__ == "__main__":
    main()
