"""Numbers and dates into bins, and two coordinates into the cells of a grid.

The edges are the definition: they make the domain, and the domain says where a number belongs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf

import numpy as np
import polars as pl

from ldp3.domain import Bins, Grid
from ldp3.edges import DAY, Edges, as_edges, day, days_in, equal_edges, log_edges, number_in
from ldp3.errors import InvalidParameter
from ldp3.people import Dataset
from ldp3.printing import plural
from ldp3.reading.counting import DATES, maybe_header
from ldp3.reading.options import BINS, Cut, NumberOrDate, Reading
from ldp3.reading.users import (
    COORDINATES,
    COUNT,
    VALUE,
    Users,
    missing_texts,
    stripped,
    without_missing,
    without_texts,
)

LOOK = 1_000  # values that say whether a column of text holds dates
AS_DATES = ", as dates like 2013-02-01"
Ends = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """What a column holds: its smallest and largest number, whether they are days, and whole."""

    low: float | None
    high: float | None
    dates: bool
    whole: bool


def bin_numbers(users: Users, reading: Reading) -> Dataset:
    """Users per bin of a column of numbers or dates; the labels are half-open ranges."""
    users, (line,) = as_numbers(users, (VALUE,), reading)
    (within,) = _ranges(reading, [line])
    if isinstance(reading.bins, Cut):
        users, edges = _edges(users, line, reading.bins, within)
        closed = within is None
    else:
        edges, closed = _given_edges(reading.bins or (), line.dates), False
    domain = Bins(edges, closed, line.dates, name=users.title or VALUE)
    if reading.clip:
        beyond, domain = users.frame.filter(cell(domain, VALUE).is_null()), domain.clipped()
        people = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len()
        if clipped := users.collect(beyond.select(people)).item():
            users = users.noting(f"{plural(clipped, 'person')} outside the range clipped to it.")
    return _count_cells(users, cell(domain, VALUE), domain, reading)


def grid_cells(users: Users, reading: Reading) -> Dataset:
    """Users per cell of a grid, row by row from the smallest coordinates: r0c0, r0c1, …"""
    users, lines = as_numbers(users, COORDINATES, reading)
    if any(line.dates for line in lines):
        raise users.error("a grid is of numbers, and one of these columns holds dates.")
    ranges = _ranges(reading, lines)
    rows, columns = (
        _equal(users, within or spread(users, line), size)
        for size, line, within in zip(reading.grid or (), lines, ranges, strict=True)
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
    if outside and not users.among:
        users = users.noting(f"{plural(outside, 'person')} outside the range left out.")
    counted = counted.drop_nulls(VALUE)
    histogram = np.zeros(domain.d, dtype=np.int64)
    histogram[counted[VALUE].to_numpy()] = counted[COUNT].to_numpy()
    if not histogram.any():
        raise users.error("nobody lies inside the range.")
    values = None
    if reading.keep_values:
        each = users.collect(coded).drop_nulls(VALUE)
        values = np.repeat(each[VALUE].to_numpy(), each[COUNT].to_numpy())
    return Dataset(users.name, domain, histogram, values, users.notes)


def _edges(users: Users, line: Line, cut: Cut, within: Ends | None) -> tuple[Users, Edges]:
    """The edges of as many bins as asked for, and what a person should know of them."""
    low, high = within or spread(users, line)
    if cut.scale == "quantiles":
        return _quantiles(users, cut.size, low, high, within)
    if cut.scale == "log":
        return users, _logarithmic(users, cut.size, low, high, within)
    edges = _equal(users, (low, high), cut.size)
    if line.dates and line.whole and low == round(low) and high == round(high):
        edges = tuple(map(float, map(ceil, edges)))  # no day lies between: bins stay what they are
        if len(set(edges)) < len(edges):
            days = plural(int(high - low), "day")
            raise users.error(f"{cut.size} bins are too many for {days}.")
    return users, edges


def _equal(users: Users, ends: Ends, size: int) -> Edges:
    edges = equal_edges(*ends, size)
    if len(set(edges)) < len(edges):
        raise users.error(f"{size} bins are too many between {ends[0]:.17g} and {ends[1]:.17g}.")
    return edges


def spread(users: Users, line: Line) -> Ends:
    """The smallest and the largest number, which must differ."""
    if line.low is None or line.high is None:
        raise users.error("holds no values; at least two different values are needed.")
    if line.low == line.high:
        held = day(line.low) if line.dates else f"{line.low:g}"
        raise users.error(f"everybody holds {held}; at least two different values are needed.")
    return line.low, line.high


def _ranges(reading: Reading, lines: Sequence[Line]) -> Sequence[Ends | None]:
    """The range of each line, in numbers, where one is given."""
    if reading.within is None:
        return [None] * len(lines)
    found = []
    for given, line in zip(reading.within, lines, strict=True):
        low, high = (_place(point, line.dates) for point in given)
        if low is None or high is None or not -inf < low < high < inf:
            form = reading.range_form + (AS_DATES if line.dates else "")
            raise InvalidParameter(f"`within`: {form}, got {reading.range_text}.")
        found.append((low, high))
    return found


def _given_edges(given: Sequence[NumberOrDate], dates: bool) -> Edges:
    """The edges that a person gave; those of dates must be dates."""
    places = [_place(point, dates) for point in given]
    if None in places:
        form = BINS + (AS_DATES if dates else "")
        text = ",".join(map(str, given))
        raise InvalidParameter(f"`bins`: {form}, got {text!r}.")
    return as_edges(given, dates=dates)


def _place(point: NumberOrDate, dates: bool) -> float | None:
    return days_in(point) if dates else number_in(point)


def _logarithmic(users: Users, size: int, low: float, high: float, within: Ends | None) -> Edges:
    if low <= 0:
        what = f"`within={low:g}:{high:g}`" if within else f"the smallest number, {low:g},"
        raise users.error(
            f"{what} has no logarithm; give a range above 0 with `within`, or edges such as "
            f"0,1,10,100 as `bins`."
        )
    return log_edges(low, high, size)


def _quantiles(
    users: Users, size: int, low: float, high: float, within: Ends | None
) -> tuple[Users, Edges]:
    """Edges at which the users below are as near as can be to equal parts of all."""
    weight = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    inside = pl.col(VALUE).is_between(low, high, closed="left" if within else "both")
    counted = users.frame.filter(inside).group_by(VALUE).agg(weight.cast(pl.Int64))
    table = users.collect(counted).filter(pl.col(COUNT) > 0).sort(VALUE)
    if len(table) < 2:
        raise users.error("fewer than two different values lie inside the range.")
    below = np.append(0, table[COUNT].cum_sum().to_numpy())  # users below each value
    goals = np.arange(1, size) * below[-1] / size
    places = np.clip(np.searchsorted(below, goals), 1, len(table) - 1)
    nearer = goals - below[places - 1] < below[places] - goals
    places = np.unique(np.clip(places - nearer, 1, len(table) - 1))
    edges = np.concatenate([[low], table[VALUE].to_numpy()[places], [high]])
    if len(edges) <= size:
        users = users.noting(f"Only {len(edges) - 1} bins: many people hold the same value.")
    return users, tuple(edges.tolist())


def as_numbers(users: Users, names: tuple[str, ...], reading: Reading) -> tuple[Users, list[Line]]:
    """The rows with their columns as numbers, those without a value left out as asked."""
    patterns = [_date_pattern(users, name, reading) for name in names]
    columns = [_number(users, n, p).alias(n) for n, p in zip(names, patterns, strict=True)]
    weights = [pl.col(COUNT)] if COUNT in users.schema() else []
    numbers = users.selecting(*columns, *weights)
    found = numbers.collect(numbers.frame.select(*_extremes(names))).row(0, named=True)
    if found["gone"]:
        numbers = _without_gaps(users, numbers, columns, patterns, reading)
    lines = [
        Line(found[f"low {n}"], found[f"high {n}"], p is not None, found[f"whole {n}"])
        for n, p in zip(names, patterns, strict=True)
    ]
    return numbers, lines


def _extremes(names: tuple[str, ...]) -> Iterator[pl.Expr]:
    """All that is asked of the numbers, in one pass."""
    yield pl.any_horizontal(pl.col(*names).is_null()).sum().alias("gone")
    for name in names:
        column = pl.col(name)
        yield column.min().alias(f"low {name}")
        yield column.max().alias(f"high {name}")
        yield (column == column.floor()).all().alias(f"whole {name}")


def _without_gaps(
    users: Users,
    numbers: Users,
    columns: list[pl.Expr],
    patterns: list[str | None],
    reading: Reading,
) -> Users:
    """Only the rows that have all their numbers; the others hold no value, or are wrong."""
    names = [column.meta.output_name() for column in columns]
    absent = missing_texts(users, reading, None)
    for name, column, pattern in zip(names, columns, patterns, strict=True):
        wrong = _without_absent(users, name, absent).is_not_null() & column.is_null()
        if users.collect(users.frame.select(wrong.any())).item():
            raise _no_number(users, name, wrong, pattern is not None)
    text = pl.lit("")
    if len(names) == 1 and users.schema()[names[0]] == pl.String:
        text = stripped(pl.col(names[0])).fill_null("")
    gone = users.frame.filter(pl.any_horizontal(c.is_null() for c in columns))
    rows = users.collect(gone.select(text.alias("text")).group_by("text").len()).rows()
    empty = pl.any_horizontal(pl.col(*names).is_null())
    numbers = without_missing(numbers, dict(rows), reading, empty)
    return replace(numbers, frame=numbers.frame.filter(~empty))


def _date_pattern(users: Users, name: str, reading: Reading) -> str | None:
    """How the dates of a column are written; None if it holds numbers."""
    dtype = users.schema()[name]
    if dtype in (pl.Date, pl.Datetime):
        return ""
    if not (dtype.is_numeric() or dtype == pl.String):
        raise users.error(f"values of type {dtype} are no numbers to cut.")
    if dtype.is_numeric():
        return None
    given = _without_absent(users, name, missing_texts(users, reading, None))
    sample = users.collect(users.frame.select(given.alias(name)).drop_nulls().head(LOOK))[name]
    for pattern in DATES if len(sample) else ():
        if sample.str.to_datetime(pattern, strict=False).is_not_null().all():
            return pattern
    return None


def _without_absent(users: Users, name: str, absent: list[str]) -> pl.Expr:
    """A column with null for what means no value."""
    column, dtype = pl.col(name), users.schema()[name]
    if dtype != pl.String:
        return column.fill_nan(None) if dtype.is_float() else column
    return without_texts(stripped(column).replace("", None), absent, None)


def _number(users: Users, name: str, pattern: str | None) -> pl.Expr:
    """A column as finite numbers; what is none is null."""
    column = pl.col(name)
    if users.schema()[name] == pl.String:
        column = stripped(column)
    if pattern is None:
        number = column.cast(pl.Float64, strict=False)
        return pl.when(number.is_finite()).then(number)
    when = column.str.to_datetime(pattern, strict=False) if pattern else column.cast(pl.Datetime)
    return when.dt.epoch("us") / DAY


def _no_number(users: Users, name: str, wrong: pl.Expr, dates: bool) -> Exception:
    place, value = users.first_where(wrong, pl.col(name))
    text = value.strip() if isinstance(value, str) else value
    what = "a date like the others" if dates else "a number"
    return users.error(f"{place}: {text!r} is not {what}{_hint(str(text), users, place)}.")


def _hint(text: str, users: Users, place: str) -> str:
    if re.fullmatch(r"[-+]?[\d.]*\d,\d[\d,.]*", text):
        return "; `decimal=,` reads decimal commas"
    if re.match(r"\d+[-./]\d+[-./]\d", text):
        return "; `date_format=%d.%m.%Y`, or whatever their form is, reads other dates"
    return maybe_header(users, place)
