"""The page's two figures, as small SVG files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from examples.reproduction.page import read

COLOURS = (
    "#808080", "#d55e00", "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#7b68c8",
    "#117733", "#aa4466",
)  # fmt: skip
MARKERS = ("x", "v", "o", "s", "^", "P", "D", "*", "<", ">")


def losses(table: pl.DataFrame, path: Path, rules: Sequence[str]) -> None:
    """What each rule loses in the median cell, and in one of ten, against ε."""
    figure, panels = _figure(2, width=7.2, height=3.2)
    for axes, share, title in zip(
        panels, (0.5, 0.9), ("median cell", "one cell of ten"), strict=True
    ):
        for i, rule in enumerate(rules):
            cells = table.filter(pl.col("rules").list.contains(rule), pl.col("loss").is_finite())
            loss = (pl.col("loss").clip(lower_bound=0) * 100).quantile(share)
            line = cells.group_by("epsilon").agg(loss).sort("epsilon")
            axes.plot(
                line["epsilon"],
                line["loss"],
                color=COLOURS[i],
                marker=MARKERS[i],
                label=read(rule),
            )
        axes.set_title(title, fontsize=8)
        axes.set(xscale="log", yscale="symlog", xlabel="ε", ylim=(0, None))
        ticks = sorted(table["epsilon"].unique())
        axes.set_xticks(ticks, [f"{e:g}" for e in ticks])
        marks = [0, 1, 3, 10, 30, 100, 300, 1000, 3000]
        axes.set_yticks(marks, [f"{mark:,}" for mark in marks])
        axes.minorticks_off()
    panels[0].set_ylabel("loss against the best combination, %")
    panels[1].legend(frameon=False, bbox_to_anchor=(1.02, 1), loc="upper left")
    _save(figure, path)


def threads(seconds: Mapping[str, Mapping[str, Mapping[int, float]]], path: Path) -> None:
    """Time against threads, one panel per dataset, one line per protocol."""
    figure, panels = _figure(len(seconds), width=7.2, height=2.6)
    for axes, (data, protocols) in zip(panels, seconds.items(), strict=True):
        for i, (protocol, times) in enumerate(protocols.items()):
            axes.plot(
                list(times), list(times.values()), color=COLOURS[i + 1], marker=MARKERS[i + 1],
                label=read(protocol),
            )  # fmt: skip
        axes.set(xscale="log", yscale="log", xlabel="threads")
        axes.set_title(read(data).replace(": ", "\n"), fontsize=8)
        axes.set_xticks(list(times), [str(t) for t in times])
        axes.minorticks_off()
    marks = [0.03, 0.1, 0.3, 1, 3]
    panels[0].set_yticks(marks, [f"{mark:g}" for mark in marks])
    panels[0].set_ylabel("seconds")
    panels[-1].legend(frameon=False, bbox_to_anchor=(1.02, 1), loc="upper left")
    _save(figure, path)


def _figure(columns: int, width: float, height: float) -> tuple[Any, Sequence[Any]]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        panels = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
    return figure, list(panels)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import rc_context

    path.parent.mkdir(parents=True, exist_ok=True)
    # the same numbers give the same file: no date, no random names
    with rc_context({"svg.hashsalt": "ldp3", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None, "Creator": None})
