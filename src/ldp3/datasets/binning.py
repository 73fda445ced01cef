"""Numbers into bins, and two coordinates into the cells of a grid."""

import re
from dataclasses import replace

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.datasets.base import MOST_VALUES, Reading
from ldp3.datasets.columns import COORDINATES
from ldp3.datasets.counting import maybe_header, plural, without_missing
from ldp3.datasets.ranges import range_labels
from ldp3.datasets.users import COUNT, VALUE, Users
from ldp3.errors import InvalidParameter
from ldp3.types import Dataset


def bin_numbers(users: Users, reading: Reading) -> Dataset:
    """Users per bin of a numeric column; the labels are half-open ranges."""
    users = _numbers(users, (VALUE,), reading)
    (within,) = _ranges(reading.within, "`bins`", 1)
    edges = _edges(users, VALUE, reading.bins, within)
    equal = _size(reading.bins) is not None
    closed = equal and within is None
    labels = range_labels(edges.tolist(), closed)
    code = _cell(VALUE, edges, equal, closed)
    return _count_cells(users, code, labels, (edges[:-1] + edges[1:]) / 2, reading)


def grid_cells(users: Users, reading: Reading) -> Dataset:
    """Users per cell of a grid, row by row from the smallest coordinates: r0c0, r0c1, …"""
    rows, columns = grid_shape(reading.grid)
    users = _numbers(users, COORDINATES, reading)
    within = _ranges(reading.within, "`grid`", 2)
    code = pl.lit(0)
    for name, size, given in zip(COORDINATES, (rows, columns), within, strict=True):
        edges = _edges(users, name, size, given)
        code = code * size + _cell(name, edges, True, given is None)
    labels = [f"r{row}c{column}" for row in range(rows) for column in range(columns)]
    return _count_cells(users, code, labels, None, reading)


def grid_shape(grid: str | None) -> tuple[int, int]:
    """``"15x20"`` → 15 rows, 20 columns."""
    match = re.fullmatch(r"\s*(\d+)\s*[x×X]\s*(\d+)\s*", str(grid))
    if not match or not 2 <= int(match[1]) * int(match[2]) <= MOST_VALUES:
        raise InvalidParameter(f"`grid`: rows x columns, such as 15x15, got {grid!r}.")
    return int(match[1]), int(match[2])


def _size(bins: str | int | None) -> int | None:
    return int(text) if (text := str(bins).strip()).isdecimal() else None


def _edges(
    users: Users, name: str, bins: str | int | None, within: tuple[float, float] | None
) -> FloatArray:
    """Edges of the bins: as given, or of equal width over the range."""
    size = _size(bins)
    if size is None:
        edges = np.array(_floats(str(bins), ",", "`bins`", "a number of bins or rising edges"))
        if within or len(edges) < 3 or not (np.diff(edges) > 0).all():
            raise InvalidParameter(
                f"`bins`: three or more rising edges, such as 0,18,65,120, without `within`, "
                f"got {bins!r}."
            )
        return edges
    if not 1 <= size <= MOST_VALUES or (name == VALUE and size < 2):
        raise InvalidParameter(f"`bins`: a number of at least 2, got {bins!r}.")
    if within is None:
        column = pl.col(name)
        low, high = users.collect(
            users.frame.select(column.min().alias("low"), column.max().alias("high"))
        ).row(0)
        if low is None or low == high:
            held = "holds no users" if low is None else f"every user holds {low:g}"
            raise users.error(f"{held}; at least two different values are needed.")
    else:
        low, high = within
    return np.linspace(low, high, size + 1)


def _ranges(within: str | None, option: str, number: int) -> list[tuple[float, float]] | list[None]:
    if within is None:
        return [None] * number
    form = ",".join(["low:high"] * number)
    parts = within.split(",")
    ranges = [_floats(part, ":", "`within`", f"{form} for {option}") for part in parts]
    if len(parts) != number or any(len(r) != 2 or not r[0] < r[1] for r in ranges):
        raise InvalidParameter(f"`within`: {form} for {option}, got {within!r}.")
    return [(low, high) for low, high in ranges]


def _floats(text: str, separator: str, option: str, form: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(separator)]
    except ValueError:
        numbers = [np.nan]
    if not np.isfinite(numbers).all():
        raise InvalidParameter(f"{option}: {form}, got {text!r}.")
    return numbers


def _numbers(users: Users, names: tuple[str, ...], reading: Reading) -> Users:
    """The rows with their columns as numbers, those without a value left out as asked."""
    for name in names:
        _require_numbers(users, name)
    kept = [pl.col(COUNT)] if COUNT in users.schema() else []
    users = users.selecting(*(_number(users, name) for name in names), *kept)
    empty = pl.any_horizontal(pl.col(*names).is_null())
    missing = users.collect(users.frame.select(empty.sum())).item()
    users = without_missing(users, missing, reading, empty)
    return replace(users, frame=users.frame.filter(~empty)) if missing else users


def _require_numbers(users: Users, name: str) -> None:
    dtype = users.schema()[name]
    if not (dtype.is_numeric() or dtype == pl.String):
        raise users.error(f"values of type {dtype} are no numbers to cut.")
    given = pl.col(name).str.strip_chars().replace("", None) if dtype == pl.String else pl.col(name)
    wrong = given.is_not_null() & ~_number(users, name).is_finite().fill_null(dtype.is_numeric())
    if users.collect(users.frame.select(wrong.any())).item():
        column = users.selecting(given.alias(VALUE), wrong.alias("wrong"))
        place, value = column.first_where(pl.col("wrong"))
        raise users.error(f"{place}: {value!r} is not a number{maybe_header(users, place)}.")


def _number(users: Users, name: str) -> pl.Expr:
    """A column as numbers; text that is none, and NaN, are null."""
    column = pl.col(name)
    if users.schema()[name] == pl.String:
        column = column.str.strip_chars()
    return column.cast(pl.Float64, strict=False).fill_nan(None)


def _cell(name: str, edges: FloatArray, equal: bool, closed: bool) -> pl.Expr:
    """Number of the bin, null outside; the upper end belongs to the last bin if `closed`."""
    column, (low, *inner, high) = pl.col(name), edges.tolist()
    inside = (column >= low) & ((column <= high) if closed else (column < high))
    if equal:  # in this order a whole number on an edge stays there
        size = len(edges) - 1
        code = ((column - low) * size / (high - low)).floor().clip(0, size - 1)
    else:
        code = pl.sum_horizontal(column >= edge for edge in inner)
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
    return Dataset(users.name, histogram, labels, positions, values, users.notes)
