"""Draws the pictures of the site and the README: `python docs/draw.py` (needs Chromium)."""

import subprocess
from math import exp
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "ldp3"
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of what draws)
from PIL import Image  # noqa: E402

import ldp3  # noqa: E402

FIGURES = Path(__file__).parent / "figures"
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#666666"  # Okabe and Ito: told apart by everybody


GALLERY = (
    "heatmap-l1-1",
    "error-by-method-l1",
    "error-by-protocol-l1",
    "frequencies-1",
    "size-l1-1",
)


def one_report() -> None:
    """How likely each report of GRR is, for two people with different values."""
    oracle = ldp3.oracle("grr", epsilon=1.0, d=4)
    lie = (1 - oracle.p) / 3
    values = ("chess", "golf", "judo", "yoga")
    figure, axes = plt.subplots(figsize=(6.5, 2.8), layout="constrained")
    for i, (held, colour) in enumerate((("chess", BLUE), ("golf", ORANGE))):
        heights = [oracle.p if v == held else lie for v in values]
        places = np.arange(4) + 0.38 * (i - 0.5)
        axes.bar(places, heights, width=0.36, color=colour, label=f"who holds “{held}”")
    axes.set_xticks(range(4), [f"“{v}”" for v in values])
    axes.set(xlabel="report", ylabel="probability")
    axes.legend(frameon=False)
    save(figure, "one-report")


def the_crowd() -> None:
    """Truth, estimate and interval of the most frequent destinations."""
    data = ldp3.load("flights")
    oracle = ldp3.oracle("oue", epsilon=1.0, d=data.d)
    estimate = oracle.estimate(oracle.simulate(data.histogram, ldp3.stream(1)))
    low, high = estimate.confidence_interval(0.95)
    order = np.argsort(-data.histogram)[:40]
    truth, guess = (data.histogram / data.n)[order], estimate.frequencies[order]
    figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
    bars = np.abs(np.stack([low[order] - guess, high[order] - guess]))
    axes.errorbar(range(40), guess, bars, fmt="o", color=BLUE, ms=3, lw=1, label="estimate, 95 %")
    axes.step(range(40), truth, where="mid", color=ORANGE, label="truth")
    axes.axhline(0, color=GREY, lw=0.5)
    axes.set_xticks([])
    axes.set(xlabel="the forty most frequent destinations", ylabel="share of flights")
    axes.legend(frameon=False)
    save(figure, "the-crowd")


def odds() -> None:
    """What somebody can believe at most after one report, by what they believed before."""
    epsilons = np.linspace(0, 8, 161)
    figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
    for before, colour in ((0.5, BLUE), (0.1, ORANGE), (0.01, GREY)):
        after = before / (1 - before) * np.exp(epsilons)
        axes.plot(epsilons, after / (1 + after), color=colour, label=f"{before:.0%} before")
    for marked in (1, 4, 8):
        axes.axvline(marked, color=GREY, lw=0.5, ls=":")
        label = f"×{exp(marked):,.0f}" if marked > 1 else "×2.7"
        axes.annotate(label, (marked - 0.05, 0.5), ha="right")
    axes.set(xlabel="ε of one report", ylabel="believed at most", ylim=(0, 1), xlim=(0, 8))
    axes.legend(frameon=False, loc="lower right")
    save(figure, "odds")


def results() -> None:
    """The figures of a run, and the upper part of its page, as a browser shows it."""
    with TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "shot.png"
        found = ldp3.benchmark("flights", epsilons=[1, 0.5, 2, 4], repeats=40)
        ldp3.report(found, page)
        ldp3.plot(found, Path(folder) / "figures")
        for name in GALLERY:
            copy(Path(folder) / "figures" / f"{name}.svg", FIGURES / "gallery")
        window = ["--window-size=1100,1000", "--virtual-time-budget=8000", f"--screenshot={shot}"]
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        subprocess.run(["chromium", *quiet, *window, str(page)], check=True, capture_output=True)
        Image.open(shot).quantize(128).save(FIGURES / "report.png", optimize=True)


def shuffled() -> None:
    """Central ε of mixed reports, from above and as an attack shows it."""
    figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
    people = [10**k for k in range(3, 9)]
    for local, colour in ((1.0, BLUE), (4.0, ORANGE)):
        for spec, style in (("grr", "-"), ("ss", "--")):
            oracle = ldp3.oracle(spec, epsilon=local, d=128)
            found = [oracle.shuffled(n, 1e-9) for n in people]
            label = f"{spec.upper()}, local ε = {local:g}"
            axes.plot(people, [one.epsilon for one in found], style, color=colour, label=label)
            axes.plot(people, [one.lower for one in found], ".", color=colour)
    axes.set(xscale="log", yscale="log", xlabel="reports that are mixed", ylabel="central ε")
    axes.legend(frameon=False)
    save(figure, "shuffled")


def several_attributes() -> None:
    """A table of two attributes of five: the truth, unbiased, and after Interactions."""
    from ldp3.schemes.attributes import Groups

    sizes, rng = (8, 6, 4, 3, 2), ldp3.stream(5, "attributes")
    kinds = [rng.dirichlet(np.full(d, 0.6), size=4) for d in sizes]  # of four kinds of people
    of = rng.integers(4, size=50_000)
    records = np.stack(
        [(kind[of].cumsum(axis=1) < rng.random((len(of), 1))).sum(axis=1) for kind in kinds], axis=1
    )
    distinct, counts = np.unique(records, axis=0, return_counts=True)
    scheme = Groups(1.0, int(np.prod(sizes)), sizes)
    tables = scheme.tables(scheme.simulate_records(distinct, counts, rng))
    truth = np.zeros(sizes[:2])
    np.add.at(truth, (records[:, 0], records[:, 1]), 1 / len(records))
    shown = {
        "truth": truth,
        "unbiased": tables[0, 1].frequencies,
        "Interactions": ldp3.postprocess("interactions")(tables)[0, 1],
    }
    figure, panels = plt.subplots(1, 3, figsize=(6.5, 2.6), layout="constrained", sharey=True)
    for axes, (name, table) in zip(panels, shown.items(), strict=True):
        cells = np.asarray(table).reshape(sizes[:2]).T
        image = axes.imshow(cells, cmap="RdBu", vmin=-truth.max(), vmax=truth.max())
        axes.set(title=name, xlabel="age", xticks=[], yticks=[])
    panels[0].set_ylabel("page")
    figure.colorbar(image, ax=panels, label="share of people", shrink=0.8)
    save(figure, "attributes")


def save(figure: plt.Figure, name: str) -> None:
    """As SVG without a date, so that the same data give the same file."""
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    for picture in (one_report, the_crowd, odds, shuffled, several_attributes, results):
        picture()
