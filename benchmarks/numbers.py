"""What numbers cost: the tables and the figure of docs/numbers.md and of Adaptive EM.

    python -m benchmarks.numbers [get against methods goals figure]

Each prints a table in Markdown; `figure` draws docs/figures/numbers.svg.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

import ldp3
from ldp3.arrays import FloatArray, IntArray
from ldp3.questions import place_of

FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "numbers.svg"
SIZES, EPSILONS = (10_000, 100_000, 1_000_000), (0.5, 1.0, 2.0)
RIVALS = (
    ("pgr", "multiscale_ordered"),
    ("sw", "adaptive_em"),
    ("resolutions", "isotonic"),
    ("resolutions", "haar"),
    ("resolutions(wave=0.5)", "adaptive_em"),
)
REPEATS = 20


def delays() -> tuple[IntArray, FloatArray]:
    """From −45 to 315 minutes in bins of five, later ones clipped; and the edges."""
    data = ldp3.load("delays")
    histogram = data.histogram[:72].copy()
    histogram[-1] += data.histogram[72:].sum()
    return histogram, np.linspace(-45.0, 315.0, 73)


def shapes(d: int) -> Iterator[tuple[str, FloatArray]]:
    """Histograms on which nothing was tuned; one of them is real."""
    x = (np.arange(d) + 0.5) / d
    ages = np.exp(-(((x - 0.38) / 0.22) ** 2)) + 0.5 * np.exp(-(((x - 0.75) / 0.08) ** 2))
    yield "ages, heaped at tens", ages * np.where(np.arange(d) % max(d // 10, 1) == 0, 4, 1)
    yield "waiting times", np.exp(-8 * x)
    hours = np.sum([a * np.exp(-(((x - m) / s) ** 2)) for a, m, s in
                ((1, 0.33, 0.03), (0.7, 0.52, 0.05), (1.2, 0.74, 0.06))], axis=0)  # fmt: skip
    yield "hours, three peaks", hours + 0.02
    incomes = np.exp(-((np.log(x / 0.18) / 0.7) ** 2) / 2) / x
    yield "incomes", np.where(np.arange(d) % max(d // 25, 1) == 0, 3, 1) * incomes
    stars = np.full(d, 0.05 / d)
    stars[(np.linspace(0, 1, 11)[1:] * (d - 1)).astype(int)] = np.arange(1, 11) ** 1.5 / 200
    yield "ratings, ten spikes", stars
    real = ldp3.load("delays").histogram
    yield "delays", np.interp((np.arange(d) + 0.5) / d * 90, np.arange(90), real[:90]) + 1e-9


def processed(protocol: str, method: str, epsilon: float, histogram: IntArray, key: object
              ) -> tuple[ldp3.Estimate, FloatArray]:  # fmt: skip
    oracle = ldp3.oracle(protocol, epsilon=epsilon, d=len(histogram))
    tally = oracle.simulate(histogram, ldp3.stream(0, "numbers", protocol, str(key)))
    estimate = oracle.estimate(tally)
    return estimate, ldp3.postprocess(method)(estimate)


def quantile(f: FloatArray, q: float, edges: FloatArray) -> float:
    return place_of(edges[1:], np.cumsum(f), q, edges[:-1])


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells: str) -> None:
    row(*cells)
    row(*["---"] * len(cells))


def figures(number: float) -> str:
    return f"{number:.2g}" if number < 100 else f"{number:.0f}"


def get() -> None:
    """Mean, median and 90 % of delays, in minutes."""
    histogram, edges = delays()
    middles = (edges[1:] + edges[:-1]) / 2
    ways = [way for way in RIVALS if way[1] == "adaptive_em"]
    head("n", "ε", *(f"{p}: {what}" for p, _ in ways for what in ("mean", "median", "90 %")))
    for n in SIZES:
        people = ldp3.Dataset("d", ldp3.Bins(edges.tolist()), histogram).scaled(n).histogram
        truth = people / n
        for epsilon in EPSILONS:
            cells: list[str] = []
            for protocol, method in ways:
                off: list[list[float]] = []
                for run in range(REPEATS):
                    found, f = processed(protocol, method, epsilon, people, (n, epsilon, run))
                    mean = ldp3.Estimate(found.frequencies, found.tally, found.noise, found.channel,
                                         ldp3.Bins(edges.tolist())).mean()  # fmt: skip
                    places = [abs(quantile(f, q, edges) - quantile(truth, q, edges))
                              for q in (0.5, 0.9)]  # fmt: skip
                    half, true = (mean.high - mean.low) / 2, float(truth @ middles)
                    off.append([abs(mean.value - true), half, *places])
                mine = np.mean(off, axis=0)
                cells.append(f"{figures(mine[0])}, ± {figures(mine[1])}")
                cells += map(figures, mine[2:])
            row(f"{n:,}", f"{epsilon:g}", *cells)


def against() -> None:
    """EMD and error of the mean on all delays, in minutes, at ε = 1."""
    data = ldp3.load("delays")
    ways = [*RIVALS, ("pgr", "norm_sub"), ("oue", "multiscale_ordered"), ("oue", "norm_sub")]
    head("protocol", "method", "EMD", "mean off by")
    line, truth = np.asarray(data.positions), data.frequencies
    for protocol, method in ways:
        off = []
        for run in range(2 * REPEATS):
            found, f = processed(protocol, method, 1.0, data.histogram, run)
            emd = float(np.abs(np.cumsum(f - truth)[:-1]) @ np.diff(line))
            g = found.frequencies
            mean = float((g + (1 - g.sum()) / len(g)) @ line)
            off.append([emd, abs(mean - truth @ line)])
        row(protocol, method, *map(figures, np.mean(off, axis=0)))


def compared(ways: Sequence[tuple[str, str]], cells: Sequence[tuple[int, float, int]], repeats: int,
             what: Callable[[FloatArray, FloatArray], float]) -> None:  # fmt: skip
    """Geometric means over the shapes, × 1000 of the range."""
    head("d, ε, n", *(f"{protocol}, {method}" for protocol, method in ways))
    for d, epsilon, n in cells:
        told = []
        for protocol, method in ways:
            logs = []
            for name, law in shapes(d):
                people = ldp3.stream(1, name, n).multinomial(n, law / law.sum())
                for run in range(repeats):
                    key = name, d, epsilon, n, run
                    f = processed(protocol, method, epsilon, people, key)[1]
                    logs.append(np.log(max(what(people / n, f), 1e-6)))
            told.append(figures(1000 * float(np.exp(np.mean(logs)))))
        row(f"{d}, {epsilon:g}, {n:,}", *told)


def emd(truth: FloatArray, f: FloatArray) -> float:
    return float(np.abs(np.cumsum(f - truth)).mean())


def farthest(truth: FloatArray, f: FloatArray) -> float:
    """Mean error of the nine deciles, by the share of people that lies between."""
    until, edges = np.cumsum(truth), np.arange(len(f) + 1.0)
    deciles = [quantile(f, q, edges) for q in np.arange(0.1, 0.95, 0.1)]
    return float(np.mean(np.abs(np.interp(deciles, edges, np.append(0.0, until))
                                - np.arange(0.1, 0.95, 0.1))))  # fmt: skip


def methods() -> None:
    """Adaptive EM beside other methods and protocols: EMD."""
    ways = [("pgr", "multiscale_ordered"), *(("sw", m) for m in ("em", "ems", "adaptive_em"))]
    cells = [(64, 1.0, 10**5), (256, 1.0, 10**4), (256, 1.0, 10**5), (256, 1.0, 10**6),
             (256, 4.0, 10**5), (1024, 1.0, 10**5)]  # fmt: skip
    compared(ways, cells, 1, emd)


def goals() -> None:
    """Which protocol for which goal: EMD, then how far off deciles are."""
    cells = [(256, e, n) for e in EPSILONS for n in SIZES] + [(256, 1.0, 10**7)]
    for what in (emd, farthest):
        print(f"\n{what.__name__}")
        compared(RIVALS, cells, 2, what)


def figure() -> None:
    """Delays of 50,000 people at ε = 1: asked as categories, and as numbers."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ldp3"
    import matplotlib.pyplot as plt

    data = ldp3.load("delays").scaled(50_000)
    edges = np.append(data.positions, data.positions[-1] + 5)  # type: ignore[index,arg-type]
    asked = (("oue", "norm_sub", "as categories: OUE, Norm-Sub"),
             ("sw", "adaptive_em", "as numbers: SW, Adaptive EM"))  # fmt: skip
    truth = data.frequencies
    drawn, axes = plt.subplots(2, 2, figsize=(7, 4), sharex=True, sharey="row",
                               layout="constrained")  # fmt: skip
    for column, (protocol, method, title) in enumerate(asked):
        f = processed(protocol, method, 1.0, data.histogram, "figure")[1]
        for part, known_, guess in zip(axes[:, column], (truth, np.cumsum(truth)),
                                       (f, np.cumsum(f)), strict=True):  # fmt: skip
            part.stairs(known_, edges, color="#E69F00", fill=True, alpha=0.6, label="truth")
            part.stairs(guess, edges, color="#0072B2", lw=1.3, label="estimate")
        axes[0, column].set_title(title, fontsize=10)
        axes[0, column].set(xlim=(-45, 600), ylim=(0, 0.15))
        axes[1, column].set_xlabel("minutes late")
    axes[0, 0].set_ylabel("share of people")
    axes[1, 0].set_ylabel("share up to there")
    axes[0, 1].legend(frameon=False)
    drawn.savefig(FIGURE, metadata={"Date": None})


SECTIONS = {each.__name__: each for each in (get, against, methods, goals, figure)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS])
    for name in parser.parse_args(arguments).sections or SECTIONS:
        print(f"\n{name}: {SECTIONS[name].__doc__}\n")
        SECTIONS[name]()


if __name__ == "__main__":
    main()
