"""Numbers and dates into bins, and two coordinates into the cells of a grid."""

import re
from collections.abc import Sequence
from math import inf

import numpy as np
import polars as pl

from ldp3.domain import Bins, Grid
from ldp3.edges import equal_edges
from ldp3.errors import InvalidParameter
from ldp3.reading.columns import COORDINATES
from ldp3.reading.edges import edges_of, number_of_bins, ranges, spread
from ldp3.reading.missing import plural
from ldp3.reading.numbers import as_numbers
from ldp3.reading.options import MOST_VALUES, Reading
from ldp3.reading.users import COUNT, VALUE, Users
from ldp3.types import Dataset


def bin_numbers(users: Users, reading: Reading) -> Dataset:
    """Users per bin of a column of numbers or dates; the labels are half-open ranges."""
    chosen = number_of_bins(reading.bins)
    users, (line,) = as_numbers(users, (VALUE,), reading)
    (within,) = ranges(reading.within, "`bins`", [line])
    users, edges = edges_of(users, line, reading.bins, within)
    closed = chosen is not None and within is None
    domain = Bins(edges.tolist(), closed, line.dates, name=users.title or VALUE)
    return _count_cells(users, cell(domain, VALUE), domain, reading)


def grid_cells(users: Users, reading: Reading) -> Dataset:
    """Users per cell of a grid, row by row from the smallest coordinates: r0c0, r0c1, …"""
    shape = grid_shape(reading.grid)
    users, lines = as_numbers(users, COORDINATES, reading)
    within = ranges(reading.within, "`grid`", lines)
    rows, columns = (
        equal_edges(*(given or spread(users, line)), size)
        for size, line, given in zip(shape, lines, within, strict=True)
    )
    domain = Grid(rows, columns, reading.within is None, name=users.title or VALUE)
    return _count_cells(users, cell(domain, *COORDINATES), domain, reading)


def cell(domain: Bins | Grid, *columns: str) -> pl.Expr:
    """The code of the numbers in a column, or of the pairs in two; null outside."""
    if isinstance(domain, Bins):
        return _bin(pl.col(*columns), domain.edges, domain.closed)
    first, second = map(pl.col, columns)
    row = _bin(first, domain.rows, domain.closed)
    return row * domain.shape[1] + _bin(second, domain.columns, domain.closed)


def grid_shape(grid: str | None) -> tuple[int, int]:
    """``"15x20"`` → 15 rows, 20 columns."""
    match = re.fullmatch(r"\s*(\d+)\s*[x×X]\s*(\d+)\s*", str(grid))
    if not match or not 2 <= int(match[1]) * int(match[2]) <= MOST_VALUES:
        raise InvalidParameter(f"`grid`: rows x columns, such as 15x15, got {grid!r}.")
    return int(match[1]), int(match[2])


def _bin(column: pl.Expr, edges: Sequence[float], closed: bool) -> pl.Expr:
    """What `bin_of` says of each number; null outside."""
    low, *inner, high = edges
    below = (column <= high) if closed or high == inf else (column < high)
    code = pl.lit(pl.Series(inner, dtype=pl.Float64)).search_sorted(column, side="right")
    return pl.when((column >= low) & below).then(code.cast(pl.Int64))


def _count_cells(users: Users, code: pl.Expr, domain: Bins | Grid, reading: Reading) -> Dataset:
    kept = [pl.col(COUNT)] if COUNT in users.schema() else [pl.lit(1).alias(COUNT)]
    coded = users.frame.select(code.alias(VALUE), *kept)
    counted = users.collect(coded.group_by(VALUE).agg(pl.col(COUNT).cast(pl.Int64).sum()))
    outside = int(counted.filter(pl.col(VALUE).is_null())[COUNT].sum())
    if outside:
        users = users.noting(f"{plural(outside, 'user')} outside the range left out.")
    counted = counted.drop_nulls(VALUE)
    histogram = np.zeros(domain.d, dtype=np.int64)
    histogram[counted[VALUE].to_numpy()] = counted[COUNT].to_numpy()
    if not histogram.any():
        raise users.error("no user lies inside the range.")
    values = None
    if reading.keep_values:
        each = users.collect(coded).drop_nulls(VALUE)
        values = np.repeat(each[VALUE].to_numpy(), each[COUNT].to_numpy())
    if reading.ordered:
        domain = domain.in_order()
    return Dataset(users.name, domain, histogram, values, users.notes)
