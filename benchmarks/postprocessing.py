"""Cost of every post-processing method and metric, in milliseconds of processor time (median)."""

import argparse
from collections.abc import Callable
from functools import partial
from time import thread_time

import numpy as np

import ldp3
from ldp3.kinds import find
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor


def cost(call: Callable[[], object], repeats: int) -> float:
    call()  # compile and import what is needed
    times = []
    for _ in range(repeats):
        start = thread_time()
        call()
        times.append(thread_time() - start)
    return float(np.median(times)) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--domains", type=int, nargs="+", default=[105, 1024])
    parser.add_argument("--users", type=int, nargs="+", default=[10**3, 10**6, 10**9, 10**12])
    parser.add_argument("--repeats", type=int, default=51)
    parser.add_argument("--methods", nargs="+", default=sorted(find(PostProcessor)))
    options = parser.parse_args()
    cases = [(d, n) for d in options.domains for n in options.users]
    datasets = [ldp3.load(f"zipf(s=1.1, d={d}, n={n})") for d, n in cases]
    print("| | " + " | ".join(f"d={d}, n={n:.0e}" for d, n in cases) + " |")
    print("|---" * (len(cases) + 1) + "|")
    for name in options.methods:
        row = []
        for data in datasets:
            method = ldp3.postprocess(name)
            oracle = ldp3.oracle("grr" if name == "mle" else "oue", 1.0, data.d)
            est = oracle.estimate(oracle.simulate(data.histogram, ldp3.stream(0)))
            row.append(cost(partial(method, est), options.repeats))
        print(f"| {name} | " + " | ".join(f"{t:.3f}" for t in row) + " |", flush=True)
    for name in sorted(find(Metric)):
        row = []
        for data in datasets:
            metric, truth = ldp3.metric(name).for_data(data), data.frequencies
            row.append(cost(partial(metric, truth, truth[::-1]), options.repeats))
        print(f"| {name} | " + " | ".join(f"{t:.3f}" for t in row) + " |", flush=True)


if __name__ == "__main__":
    main()
