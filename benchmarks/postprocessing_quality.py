"""How every method does against the others: the tables of docs/postprocessing.md.

    python benchmarks/postprocessing_quality.py
    python benchmarks/postprocessing_quality.py --transactions retail.dat:256 kosarak.dat:128

Prints Markdown: a table per metric, the mean over repeats of each method's error in percent of that
without post-processing, the best method of each row in bold.
"""

import argparse

import numpy as np

import ldp3
from ldp3.types import Dataset

METHODS = [
    "none",
    "norm_sub",
    "power_ns",
    "mle_apx",
    "em",
    "npmle",
    "norm_cut",
    "norm_mul",
    "base_cut",
]
SYNTHETIC = [
    "zipf(s=1.1, d=1024, n=1_000_000)",
    "zipf(s=1.1, d=1024, n=1_000_000_000)",
    "zipf(s=0.5, d=128, n=1_000_000)",
    "geometric(p=0.05, d=128, n=1_000_000)",
    "gaussian(d=1024, n=1_000_000)",
    "uniform(d=128, n=1_000_000)",
    "spike(share=0.5, d=128, n=1_000_000)",
    "steps(steps=4, ratio=0.5, d=128, n=1_000_000)",
]
EPSILONS = [0.5, 1.0, 2.0]


def errors(data: Dataset, protocol: str, epsilon: float, metric: str, repeats: int) -> list[float]:
    oracle, compare = ldp3.oracle(protocol, epsilon, data.d), ldp3.metric(metric).for_data(data)
    sums = np.zeros(len(METHODS))
    for repeat in range(repeats):
        rng = ldp3.stream(0, "quality", protocol, float(epsilon).hex(), data.d, data.n, repeat)
        estimate = oracle.estimate(oracle.simulate(data.histogram, rng))
        sums += [compare(data.frequencies, ldp3.postprocess(m)(estimate)) for m in METHODS]
    return list(sums / repeats)


def table(datasets: list[Dataset], protocol: str, metric: str, repeats: int) -> None:
    print(f"\n`{metric}`, `{protocol}`, {repeats} repeats\n")
    print("| data | n | d | ε | none | " + " | ".join(METHODS[1:]) + " |")
    print("|---" * (len(METHODS) + 4) + "|")
    for data in datasets:
        for epsilon in EPSILONS:
            none, *others = errors(data, protocol, epsilon, metric, repeats)
            shown = [f"{100 * e / none:.1f}" for e in others]
            best = int(np.argmin(others))
            shown[best] = f"**{shown[best]}**"
            start = f"| {data.name.split('(')[0]} | {data.n:.3g} | {data.d} | {epsilon:g} "
            print(start + f"| {none:.3g} | " + " | ".join(shown) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--transactions", nargs="*", default=[], metavar="FILE:TOP")
    parser.add_argument("--protocol", default="oue")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    datasets = [ldp3.load(spec) for spec in ("flights", *SYNTHETIC)]
    for argument in options.transactions:
        path, _, top = argument.rpartition(":")
        datasets.append(ldp3.load(path, top=int(top), input_format="transactions"))
    for metric in ("l1", "l2"):
        table(datasets, options.protocol, metric, options.repeats)


if __name__ == "__main__":
    main()
