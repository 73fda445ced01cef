"""From the outcomes of blocks to results: arrays in, one long table out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray, IntArray
from ldp3.experiment.outcomes import Measured, Outcome, from_sums
from ldp3.experiment.simulator import Simulator
from ldp3.people import Dataset
from ldp3.results.axes import PLACE, SCHEMA, Cell
from ldp3.results.table import Results


def tabulated(simulator: Simulator, measured: Measured, about: Mapping[str, Any]) -> Results:
    """The results of the blocks that ran; `about` goes into the manifest."""
    ex, by_cell = simulator.experiment, measured.by_cell()
    ran = {cell: by_cell[cell] for cell in simulator.cells if cell in by_cell}
    metrics = simulator.metrics[ex.datasets[0].name]
    seconds = dict.fromkeys((c.spec for c in ex.protocols), 0.0)
    for cell, parts in ran.items():
        seconds[cell.protocol] += sum(part.seconds for part in parts)
    manifest = {
        **ex.identity,
        "better": {c.spec: m.better for c, m in zip(ex.metrics, metrics, strict=True)},
        "seconds": seconds,
        "notes": [*_data_notes(ex.datasets), *simulator.notes],
        **about,
    }
    return Results(
        table=_stacked([_scores(simulator, *group) for group in ran.items()]).select(
            pl.col(name).cast(kind) for name, kind in SCHEMA.items()
        ),
        manifest=manifest,
        datasets=dict(simulator.datasets),
        means=None
        if ex.keep == "scores" or not measured.summed
        else _stacked([_means(simulator, *group, measured.sums) for group in ran.items()]),
        estimates=_stacked([_estimates(simulator, *group) for group in ran.items()])
        if ex.keep == "estimates"
        else None,
    )


def _data_notes(datasets: Sequence[Dataset]) -> list[str]:
    """What a person should know of the data; of which, where there are several."""
    of = {data.name: f"{data.name}: " if len(datasets) > 1 else "" for data in datasets}
    return [of[data.name] + note for data in datasets for note in data.notes]


def _scores(simulator: Simulator, cell: Cell, parts: Sequence[Outcome]) -> pl.DataFrame:
    ex, data = simulator.experiment, simulator.datasets[cell.dataset]
    values = np.concatenate([part.values for part in parts]).transpose(1, 2, 0)
    limits = np.concatenate([part.limits for part in parts])
    method, metric, place = np.nonzero(~np.isnan(values))
    return _placed(cell).join(
        pl.DataFrame(
            {
                "n": pl.repeat(data.n, len(place), dtype=pl.Int64, eager=True),
                "d": pl.repeat(data.d, len(place), dtype=pl.Int64, eager=True),
                "simulate": pl.repeat(simulator.way(cell), len(place), eager=True),
                "method": pl.Series([c.spec for c in ex.methods])[method],
                "metric": pl.Series([c.spec for c in ex.metrics])[metric],
                "repeat": _repeats(parts)[place],
                "value": values[method, metric, place],
                "limit": pl.Series(limits[place, 0, metric]).fill_nan(None),
                "distribution_limit": pl.Series(limits[place, 1, metric]).fill_nan(None),
            }
        ),
        how="cross",
    )


def _means(
    simulator: Simulator, cell: Cell, parts: Sequence[Outcome], sums: Mapping[Cell, IntArray]
) -> pl.DataFrame:
    counts = sum((~np.isnan(part.values[:, :, 0])).sum(axis=0) for part in parts)
    there = np.flatnonzero(counts)
    frequencies = from_sums(sums[cell])[there] / np.asarray(counts)[there, None]
    return _vectors(simulator, cell, there, frequencies)


def _estimates(simulator: Simulator, cell: Cell, parts: Sequence[Outcome]) -> pl.DataFrame:
    kept = np.concatenate([part.estimates for part in parts if part.estimates is not None])
    method, place = np.nonzero(~np.isnan(kept[:, :, 0]).T)
    repeat = pl.Series("repeat", _repeats(parts)[place])
    return _vectors(simulator, cell, method, kept[place, method]).insert_column(
        len(PLACE) + 1, repeat
    )


def _vectors(simulator: Simulator, cell: Cell, method: IntArray, rows: FloatArray) -> pl.DataFrame:
    specs = pl.Series([c.spec for c in simulator.experiment.methods])
    frequencies = pl.Series(rows, dtype=pl.Array(pl.Float64, rows.shape[1]))
    frame = pl.DataFrame({"method": specs[method], "frequencies": frequencies.arr.to_list()})
    return _placed(cell).join(frame, how="cross")


def _placed(cell: Cell) -> pl.DataFrame:
    """One row with the axes of a cell, but for the repeat."""
    return pl.DataFrame({name: [getattr(cell, name)] for name in PLACE})


def _repeats(parts: Sequence[Outcome]) -> IntArray:
    return np.concatenate([np.arange(p.block.cell.repeat, p.block.stop) for p in parts])


def _stacked(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
