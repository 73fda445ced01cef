"""What an earlier run left in its output: more repeats of the same grid are the same run.

A table holds every score bit by bit. A folder also holds, beside the mean frequencies, their sums
before the division, in whole numbers. So repeats can be added, and the output becomes that of a run
that asked for all of them at once.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray, IntArray
from ldp3.errors import InvalidParameter, whole
from ldp3.experiment.cells import Block, Cell, Measured, Outcome, exact_sums
from ldp3.experiment.collect import collect
from ldp3.experiment.grid import REPEATS
from ldp3.experiment.lab import Lab
from ldp3.results.axes import LIMITS
from ldp3.results.table import Results, load_results


def goes_on(before: Mapping[str, Any], now: Mapping[str, Any], output: Path) -> bool:
    """Whether a run asks for repeats that a finished one of the same grid does not have.

    Where nobody asks for a number, the first look is enough: a finished run has been looked at.
    """
    there = before.get("repeats")
    if not whole(there, 1):
        raise InvalidParameter(
            f"{str(output)!r} does not say how many repeats it holds: choose another `output`, or "
            f"start over with `fresh`."
        )
    return bool((now["repeats"] if now["repeats_asked"] else REPEATS) > there)


def may_go_on(before: Mapping[str, Any], now: Mapping[str, Any], output: Path) -> None:
    """Refuse to end a stopped run before the repeats that it was to have: some would be lost."""
    there, chosen = before["repeats"], not before.get("repeats_asked", True)
    wanted = now["repeats"] if now["repeats_asked"] or chosen else REPEATS
    if wanted >= there:
        return
    what = f"{there} repeats" if not chosen else f"up to {there} repeats, as many as it needs"
    how = "with as many or more `repeats`" if not chosen else "without `repeats`, or with as many"
    raise InvalidParameter(
        f"{str(output)!r} holds part of a run of {what}: go on {how}, or start over with `fresh`."
    )


def planned(run: Mapping[str, Any]) -> object:
    """The repeats that a run was to have at most, where it may have needed less."""
    looks = run.get("looks")
    return looks[-1] if isinstance(looks, list) and looks else run["repeats"]


def first_repeats(lab: Lab, output: Path) -> Results:
    """The first repeats in the output of a longer run, as many as the lab's."""
    measured = Measured()
    for outcome in blocks(lab, output, lab.experiment.repeats):
        measured.add(outcome)
    return collect(lab, measured, {})


def blocks(lab: Lab, output: Path, stop: int) -> Iterator[Outcome]:
    """The repeats up to `stop` of a finished output, each cell as one block."""
    there = load_results(output)
    scores, means, estimates = map(_by_cell, (there.table, there.means, there.estimates))
    if stop != there.manifest["repeats"]:
        means = {}  # they are of all repeats
    spent = there.manifest.get("seconds")
    for cell in lab.cells:
        values = _values(lab, cell, scores.get(cell), stop)
        if values is None:
            raise InvalidParameter(
                f"{str(output)!r} is not the table of its manifest: {cell.protocol} at "
                f"ε={cell.epsilon:g} is incomplete. Choose another `output`, or start over with "
                f"`fresh`."
            )
        every = _estimates(lab, cell, estimates.get(cell), stop)
        sums = _sums(lab, cell, means.get(cell)) if every is None else exact_sums(list(every))
        limits, seconds = _limits(lab, scores[cell], stop), _seconds(lab, cell, spent)
        yield Outcome(Block(cell, stop), values, sums, every, seconds, limits)


def _by_cell(frame: pl.DataFrame | None) -> dict[Cell, pl.DataFrame]:
    if frame is None:
        return {}
    axes = ["dataset", "epsilon", "attack", "protocol"]
    parts = frame.partition_by(axes, as_dict=True, maintain_order=True)
    return {Cell(*place): part for place, part in parts.items()}


def _values(lab: Lab, cell: Cell, part: pl.DataFrame | None, stop: int) -> FloatArray | None:
    """Scores by repeat, method and metric; None if there are more or fewer."""
    if part is None:
        return None
    part = part.filter(pl.col("repeat") < stop)
    metrics = [c.spec for c in lab.experiment.metrics]
    values = np.full((stop, len(lab.methods), len(metrics)), np.nan)
    place = part["repeat"].to_numpy(), _methods(lab, part), _places(part["metric"], metrics)
    if min(axis.min(initial=0) for axis in place) < 0:  # not of this grid
        return None
    values[place] = part["value"].to_numpy()
    there = np.broadcast_to(lab.applies(cell)[:, None], values.shape)
    right = len(part) == there.sum() and (np.isnan(values) != there).all()
    return values if right else None


def _limits(lab: Lab, part: pl.DataFrame, stop: int) -> FloatArray:
    """Scores of the separable oracle by repeat, kind and metric, which all methods share."""
    part = part.filter(pl.col("repeat") < stop)
    metrics = [c.spec for c in lab.experiment.metrics]
    limits = np.full((stop, len(LIMITS), len(metrics)), np.nan)
    repeat, metric = part["repeat"].to_numpy(), _places(part["metric"], metrics)
    for kind, name in enumerate(LIMITS):
        limits[repeat, kind, metric] = part[name].fill_null(np.nan).to_numpy()
    return limits


def _estimates(lab: Lab, cell: Cell, part: pl.DataFrame | None, stop: int) -> FloatArray | None:
    """Frequencies by repeat, method and value, where all were kept."""
    if part is None:
        return None
    part = part.filter(pl.col("repeat") < stop)
    rows = _rows(lab, cell, part, "frequencies", stop, lab.datasets[cell.dataset].d)
    if rows is None:
        return None
    every = np.full((stop, len(lab.methods), rows.shape[1]), np.nan)
    every[part["repeat"].to_numpy(), _methods(lab, part)] = rows
    return every


def _sums(lab: Lab, cell: Cell, part: pl.DataFrame | None) -> IntArray | None:
    """Sums over all repeats, as `exact_sums` gives them, where they were kept."""
    d = lab.datasets[cell.dataset].d
    rows = None if part is None else _rows(lab, cell, part, "sums", 1, 2 * d)
    if part is None or rows is None:
        return None
    sums = np.zeros((2, len(lab.methods), d), dtype=np.int64)
    sums[:, _methods(lab, part)] = rows.reshape(-1, 2, d).swapaxes(0, 1)
    return sums


def _rows(lab: Lab, cell: Cell, part: pl.DataFrame, column: str, repeats: int, size: int) -> Any:
    """A column of lists as an array; None unless there are as many as the grid has."""
    if column not in part.columns or len(part) != repeats * lab.applies(cell).sum():
        return None
    if (part[column].list.len() != size).any() or _methods(lab, part).min(initial=0) < 0:
        return None
    return part[column].list.to_array(size).to_numpy()


def _methods(lab: Lab, part: pl.DataFrame) -> IntArray:
    return _places(part["method"], [c.spec for c in lab.experiment.methods])


def _places(names: pl.Series, specs: list[str]) -> IntArray:
    """Where each name stands among the specs, -1 if it does not."""
    places = {spec: place for place, spec in enumerate(specs)}
    return np.array([places.get(name, -1) for name in names], dtype=np.int64)


def _seconds(lab: Lab, cell: Cell, spent: object) -> float:
    """A cell's share of the processor time that its protocol took."""
    seconds = spent.get(cell.protocol) if isinstance(spent, dict) else None
    cells = sum(other.protocol == cell.protocol for other in lab.cells)
    return seconds / cells if isinstance(seconds, float) else 0.0
