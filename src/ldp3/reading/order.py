"""The order of labels: as numbers, as dates, else as text; and whether it means something."""

from typing import Literal

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.reading.options import Reading

LABEL = "label"
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f")
DAY = 86_400_000_000  # microseconds
Kind = Literal["whole", "decimals", "dates"]


def sort_key(labels: pl.Series) -> tuple[Kind, pl.Series] | None:
    """What the labels are, and themselves as numbers or points in time; None for other texts."""
    for dtype in (pl.Int64, pl.Float64):
        key = labels.cast(dtype, strict=False)
        if key.is_not_null().all() and key.is_finite().all():
            return "whole" if (key == key.round()).all() else "decimals", key
    for pattern in DATES:
        key = labels.str.to_datetime(pattern, strict=False)
        if key.is_not_null().all():
            return "dates", key
    return None


def positions(labels: pl.Series) -> FloatArray | None:
    """Where the labels lie on a line: numbers as they are, dates in days, if in rising order."""
    found = sort_key(labels)
    if found is None:
        return None
    kind, key = found
    if kind == "dates":
        key = key.dt.epoch("us") / DAY
    line = key.cast(pl.Float64).to_numpy()
    return line if (np.diff(line) >= 0).all() else None


def arranged(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of their labels: as numbers, as dates, else as text."""
    found = sort_key(table[LABEL])
    if found is None:
        return table.sort(LABEL)
    return table.with_columns(found[1].alias("key")).sort("key", LABEL).drop("key")


def order_of(
    labels: pl.Series, line: FloatArray | None, reading: Reading
) -> tuple[bool, tuple[str, ...]]:
    """Whether the order of a domain means something, and what a person should know of that."""
    if reading.ordered:
        return True, ()
    found = sort_key(labels)
    if line is None or found is None:
        return False, ()
    if found[0] != "whole":
        return True, ()
    note = "Whole numbers are read as labels, such as ids; `ordered` if their order has a meaning."
    return False, (note,)
