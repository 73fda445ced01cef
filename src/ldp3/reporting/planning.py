"""A figure for who plans a collection: the error against users, for several ε."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ldp3.errors import InvalidParameter, as_path
from ldp3.recommendation.sentences import number
from ldp3.reporting import figures, palette
from ldp3.sizing.size import Size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AROUND = 0.25, 0.5, 1.0, 2.0, 4.0  # times the ε of the answer
LABELS = {"value": "± percentage points", "l1": "ℓ1"}
REACH, POINTS = 30, 9  # users: times and parts of those of the answer


def draw(found: Size, path: str | Path) -> None:
    """Write the figure to an .svg, .pdf or .png file."""
    from matplotlib import style

    file = figure_path(path)
    with style.context(["default", figures.STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        figures.save(_figure(found), {file.suffix[1:]: file})


def figure_path(path: str | Path) -> Path:
    """The path of a figure, by its ending."""
    file = as_path(path, "a figure")
    if file.suffix[1:] not in figures.METADATA:
        raise InvalidParameter(f"A figure is .svg, .pdf or .png, got {str(file)!r}.")
    return file


def _figure(found: Size) -> "Figure":
    from matplotlib.figure import Figure

    best, figure = found.best, Figure(figsize=(3.4, 2.4))
    axes = figure.add_subplot()
    users = np.unique(np.geomspace(best.users / REACH, best.users * REACH, POINTS).astype(int) + 1)
    scale = 1 if found.goal == "l1" else 100
    budgets = [times * best.epsilon for times in AROUND if times * best.epsilon <= 20]
    dashes = palette.cycled(palette.DASHES, len(budgets))
    for epsilon, colour, dash in zip(budgets, palette.COLOURS, dashes, strict=False):
        errors = [scale * found.least_error(epsilon, int(n)) or np.nan for n in users]
        line = "-" if dash[1] == 0 else (0, dash)
        axes.plot(users, errors, color=colour, linestyle=line, label=f"ε = {epsilon:.3g}")
    axes.plot([best.users], [scale * best.error], "ko", markersize=3)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: number(y))
    axes.grid(linewidth=0.3, color="#d0d0d0")
    axes.set_xlabel(f"users, d = {found.d:,}")
    axes.set_ylabel(LABELS.get(found.goal, "wrong orders, %"))
    axes.legend(frameon=False)
    return figure
