"""The figures themselves, drawn by Matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ldp3 import kinds
from ldp3.arrays import BoolArray, FloatArray
from ldp3.recommendation.sentences import number
from ldp3.reporting import palette
from ldp3.reporting.findings import Findings
from ldp3.reporting.frequencies import Frequencies
from ldp3.results.names import written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 3.4  # inches: one of two columns
MARKERS = ("o", "s", "^", "D", "P", "v", ">")


def heat(found: Findings, metric: str, epsilon: float) -> "Figure":
    """The mean of every protocol and method."""
    sheet = found.sheets[metric, epsilon]
    pairs = [[sheet.means.get((p, m), np.nan) for m in sheet.methods] for p in sheet.protocols]
    means = np.array(pairs)
    figure, axes = _axes(0.22 * len(sheet.protocols) + 0.5, max(WIDTH, 0.42 * len(sheet.methods)))
    alike = sheet.tied | sheet.firsts
    tied = np.array([[(p, m) in alike for m in sheet.methods] for p in sheet.protocols])
    shade = shades(means, sheet.better, tied)
    axes.imshow(shade, cmap="viridis", aspect="auto", vmin=0, vmax=1)
    for (row, column), mean in np.ndenumerate(means):
        if np.isnan(mean):
            continue
        pair = sheet.protocols[row], sheet.methods[column]
        mark = "*" if pair in sheet.firsts else "≈" if pair in sheet.tied else ""
        text = sheet.number(*pair).partition(" ± ")[0] + mark
        weight = "bold" if pair in sheet.row_best else "normal"
        colour = "black" if shade[row, column] > 0.55 else "white"
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color=colour,
                  fontweight=weight)  # fmt: skip
    methods, protocols = _read("methods", sheet.methods), _read("protocols", sheet.protocols)
    axes.set_xticks(range(len(methods)), methods, rotation=35, ha="left")
    axes.set_yticks(range(len(protocols)), protocols)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    factor = f", in units of {10.0**sheet.exponent:g}" if sheet.exponent else ""
    axes.set_xlabel(f"{_metric(metric)} at ε = {epsilon:g}{factor}")
    return figure


def shades(means: FloatArray, better: str, tied: BoolArray | None = None) -> FloatArray:
    """1 for the best and what is tied with it; of the others, the best as a share of their error.

    Where there is no ratio: from 1 at the best through ½ at the median towards 0.
    """
    if np.nanmin(means) > 0:
        shade = np.nanmin(means) / means if better == "lower" else means / np.nanmax(means)
    else:
        best = np.nanmin(means) if better == "lower" else np.nanmax(means)
        far = np.abs(means - best)
        middle = float(np.nanmedian(far)) or 1.0
        shade = middle / (middle + far)
    return np.asarray(shade if tied is None else np.where(tied, 1.0, shade))


def error(found: Findings, metric: str, by: str) -> "Figure":
    """The mean against ε with its confidence band, on the best protocol or with the best method.

    Best is what leads at the strictest ε.
    """
    leader = found.candidates(metric, next(e for m, e in sorted(found.sheets) if m == metric))[0]
    other = "protocol" if by == "method" else "method"
    rows = found.combinations.filter(pl.col(other) == getattr(leader, other), metric=metric)
    figure, axes = _axes(2.2)
    for name, style in _styles(found.methods if by == "method" else found.protocols):
        line = rows.filter(pl.col(by) == name).sort("epsilon")
        if line.is_empty():
            continue
        (label,) = _read(f"{by}s", [name])
        axes.plot(line["epsilon"], line["mean"], label=label, **style)
        if line["low"].null_count() == 0:
            axes.fill_between(line["epsilon"], line["low"], line["high"], alpha=0.15,
                              color=style["color"], linewidth=0)  # fmt: skip
    _scale(axes, rows["mean"].to_list())
    _epsilon_axis(axes, found.epsilons)
    (fixed,) = _read(f"{other}s", [getattr(leader, other)])
    axes.set_ylabel(f"{_metric(metric)}, {fixed}")
    _legend(axes)
    return figure


def wins(found: Findings, metric: str) -> "Figure":
    """How often each method is the best on the same estimate: against ε, or as bars."""
    epsilons = [e for e in found.epsilons if (metric, e) in found.sheets]
    rates = {m: [found.sheets[metric, e].wins.get(m, 0.0) for e in epsilons] for m in found.methods}
    if len(epsilons) > 1:
        figure, axes = _axes(2.0)
        for name, style in _styles(found.methods):
            (label,) = _read("methods", [name])
            axes.plot(epsilons, rates[name], label=label, **style)
        _epsilon_axis(axes, epsilons)
        axes.set_ylabel(f"share of wins ({_metric(metric)})")
        axes.yaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
        _legend(axes)
        return figure
    figure, axes = _axes(0.16 * len(found.methods) + 0.45)
    places = range(len(found.methods))
    values = [rates[m][0] for m in found.methods]
    bars = axes.barh(places, values, color=palette.colours(found.methods), height=0.7)
    axes.bar_label(bars, [f"{v:.0%}" for v in values], padding=2, fontsize=6.5)
    axes.set_yticks(places, _read("methods", found.methods))
    axes.invert_yaxis()
    axes.set_xlim(0, max(values) * 1.12)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.set_xlabel(f"share of wins ({_metric(metric)}, ε = {epsilons[0]:g})")
    return figure


def sizes(found: Findings, metric: str, epsilon: float) -> "Figure":
    """Error against the size of a report: without post-processing (hollow) and at its best."""
    rows = found.sizes(metric, epsilon)
    styles = dict(_styles(found.protocols))
    figure, axes = _axes(2.0)
    for row in rows:
        style = {**styles[row["protocol"]], "linestyle": "none"}
        if row["raw"] is not None:
            axes.plot(
                [row["position"]] * 2, [row["best"], row["raw"]], color=style["color"], lw=0.8
            )
            axes.plot(row["position"], row["raw"], markerfacecolor="white", **style)
        (label,) = _read("protocols", [row["protocol"]])
        axes.plot(row["position"], row["best"], label=label, **style)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: number(x))
    _scale(axes, [v for row in rows for v in (row["best"], row["raw"]) if v is not None])
    axes.set_xlabel("bits per report")
    axes.set_ylabel(f"{_metric(metric)} at ε = {epsilon:g}")
    _legend(axes)
    return figure


def frequencies(found: Findings, given: Frequencies, epsilon: float) -> "Figure":
    """True frequencies, and the leader's estimates before and after post-processing."""
    leader = found.candidates(found.metrics[0], epsilon)[0]
    figure, axes = _axes(2.0)
    places = np.arange(len(given.labels))
    axes.bar(places, given.truth, color="#c3cad2", width=0.8, label="truth")
    (protocol,), (after,) = _read("protocols", [leader.protocol]), _read("methods", [leader.method])
    series = {"before": ("none", "D", palette.COLOURS[1]),
              after: (leader.method, "o", palette.COLOURS[0])}  # fmt: skip
    for name, (method, marker, colour) in series.items():
        values = given.means.get((epsilon, leader.protocol, method))
        if values is not None and (name == "before" or method != "none"):
            axes.plot(places, values, marker, color=colour, markersize=2.2, label=name)
    labels = [label if len(label) <= 16 else label[:15] + "…" for label in given.labels]
    axes.set_xticks(places, labels, rotation=90, fontsize=5.5)
    axes.set_xlim(-0.7, len(places) - 0.3)
    axes.axhline(0, color="black", linewidth=0.5)
    axes.set_ylabel(f"frequency ({protocol}, ε = {epsilon:g})")
    axes.legend(frameon=False)
    return figure


def _read(several: str, names: Sequence[str]) -> list[str]:
    """Names as the literature writes them."""
    kind = kinds.every_kind()[several]
    return [written(kind, name) for name in names]


def _metric(name: str) -> str:
    return _read("metrics", [name])[0]


def _axes(height: float, width: float = WIDTH) -> tuple["Figure", "Axes"]:
    from matplotlib.figure import Figure  # no pyplot: no windows, no global state

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _styles(names: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Colour, marker and dashes of each line."""
    parts = zip(names, palette.colours(names), palette.cycled(MARKERS, len(names)),
                palette.cycled(palette.DASHES, len(names)), strict=True)  # fmt: skip
    return [
        (name, {"color": c, "marker": m, "linestyle": "-" if d[1] == 0 else (0, d)})
        for name, c, m, d in parts
    ]


def _scale(axes: "Axes", values: list[float]) -> None:
    """Logarithmic where numbers are far apart."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if min(values) > 0 and max(values) > 4 * min(values):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(lambda y, _: number(y))
    axes.grid(axis="y", linewidth=0.3, color="#d0d0d0")


def _epsilon_axis(axes: "Axes", epsilons: list[float]) -> None:
    if epsilons[-1] >= 8 * epsilons[0]:
        axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{e:g}" for e in epsilons], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("ε")


def _legend(axes: "Axes") -> None:
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0),
                columnspacing=1.0, handlelength=2.2)  # fmt: skip
