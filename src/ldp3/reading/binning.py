"""Numbers and dates into bins, and two coordinates into the cells of a grid."""

import re

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidParameter
from ldp3.reading.columns import COORDINATES
from ldp3.reading.edges import day, edges_of, number_of_bins, ranges, spread
from ldp3.reading.missing import plural
from ldp3.reading.numbers import as_numbers
from ldp3.reading.options import MOST_VALUES, Reading
from ldp3.reading.ranges import half_open, range_labels
from ldp3.reading.users import COUNT, VALUE, Users
from ldp3.types import Dataset


def bin_numbers(users: Users, reading: Reading) -> Dataset:
    """Users per bin of a column of numbers or dates; the labels are half-open ranges."""
    chosen = number_of_bins(reading.bins)
    users, (line,) = as_numbers(users, (VALUE,), reading)
    (within,) = ranges(reading.within, "`bins`", [line])
    users, edges = edges_of(users, line, reading.bins, within)
    closed = chosen is not None and within is None
    equal = chosen is not None and chosen[0] == "equal" and not line.dates
    dates = [day(edge) for edge in edges] if line.dates else None
    labels = half_open(dates, closed) if dates else range_labels(edges.tolist(), closed)
    code = _cell(VALUE, edges, equal, closed)
    return _count_cells(users, code, labels, (edges[:-1] + edges[1:]) / 2, reading)


def grid_cells(users: Users, reading: Reading) -> Dataset:
    """Users per cell of a grid, row by row from the smallest coordinates: r0c0, r0c1, …"""
    shape = grid_shape(reading.grid)
    users, lines = as_numbers(users, COORDINATES, reading)
    within = ranges(reading.within, "`grid`", lines)
    code = pl.lit(0)
    for name, size, line, given in zip(COORDINATES, shape, lines, within, strict=True):
        edges = np.linspace(*(given or spread(users, line)), size + 1)
        code = code * size + _cell(name, edges, True, given is None)
    labels = [f"r{row}c{column}" for row in range(shape[0]) for column in range(shape[1])]
    return _count_cells(users, code, labels, None, reading)


def grid_shape(grid: str | None) -> tuple[int, int]:
    """``"15x20"`` → 15 rows, 20 columns."""
    match = re.fullmatch(r"\s*(\d+)\s*[x×X]\s*(\d+)\s*", str(grid))
    if not match or not 2 <= int(match[1]) * int(match[2]) <= MOST_VALUES:
        raise InvalidParameter(f"`grid`: rows x columns, such as 15x15, got {grid!r}.")
    return int(match[1]), int(match[2])


def _cell(name: str, edges: FloatArray, equal: bool, closed: bool) -> pl.Expr:
    """Number of the bin, null outside; the upper end belongs to the last bin if `closed`."""
    column, (low, *inner, high) = pl.col(name), edges.tolist()
    inside = (column >= low) & ((column <= high) if closed else (column < high))
    if equal:  # in this order a whole number on an edge stays there
        size = len(edges) - 1
        code = ((column - low) * size / (high - low)).floor().clip(0, size - 1)
    else:
        code = pl.lit(pl.Series(inner, dtype=pl.Float64)).search_sorted(column, side="right")
    return pl.when(inside).then(code.cast(pl.Int64))


def _count_cells(
    users: Users, code: pl.Expr, labels: list[str], positions: FloatArray | None, reading: Reading
) -> Dataset:
    kept = [pl.col(COUNT)] if COUNT in users.schema() else [pl.lit(1).alias(COUNT)]
    coded = users.frame.select(code.alias(VALUE), *kept)
    counted = users.collect(coded.group_by(VALUE).agg(pl.col(COUNT).cast(pl.Int64).sum()))
    outside = int(counted.filter(pl.col(VALUE).is_null())[COUNT].sum())
    if outside:
        users = users.noting(f"{plural(outside, 'user')} outside the range left out.")
    counted = counted.drop_nulls(VALUE)
    histogram = np.zeros(len(labels), dtype=np.int64)
    histogram[counted[VALUE].to_numpy()] = counted[COUNT].to_numpy()
    if not histogram.any():
        raise users.error("no user lies inside the range.")
    values = None
    if reading.keep_values:
        each = users.collect(coded).drop_nulls(VALUE)
        values = np.repeat(each[VALUE].to_numpy(), each[COUNT].to_numpy())
    ordered = positions is not None or reading.ordered
    return Dataset(users.name, histogram, labels, positions, values, users.notes, ordered)
