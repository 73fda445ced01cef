"""Columns as numbers on a line: numbers as they are, dates in days."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from ldp3.reading.counting import maybe_header
from ldp3.reading.missing import missing_texts, without_missing, without_texts
from ldp3.reading.options import Reading
from ldp3.reading.order import DATES, DAY
from ldp3.reading.users import COUNT, VALUE, Users

LOOK = 1_000  # values that say whether a column of text holds dates


@dataclass(frozen=True)
class Line:
    """What a column holds: its smallest and largest number, whether they are days, and whole."""

    low: float | None
    high: float | None
    dates: bool
    whole: bool


def as_numbers(users: Users, names: tuple[str, ...], reading: Reading) -> tuple[Users, list[Line]]:
    """The rows with their columns as numbers, those without a value left out as asked."""
    patterns = [_pattern(users, name, reading) for name in names]
    columns = [_number(users, n, p).alias(n) for n, p in zip(names, patterns, strict=True)]
    weights = [pl.col(COUNT)] if COUNT in users.schema() else []
    numbers = users.selecting(*columns, *weights)
    found = numbers.collect(numbers.frame.select(*_facts(names))).row(0, named=True)
    if found["gone"]:
        numbers = _without_gaps(users, numbers, columns, patterns, reading)
    lines = [
        Line(found[f"low {n}"], found[f"high {n}"], p is not None, found[f"whole {n}"])
        for n, p in zip(names, patterns, strict=True)
    ]
    return numbers, lines


def _facts(names: tuple[str, ...]) -> Iterator[pl.Expr]:
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
        wrong = _given(users, name, absent).is_not_null() & column.is_null()
        if users.collect(users.frame.select(wrong.any())).item():
            raise _no_number(users, name, wrong, pattern is not None)
    text = pl.lit("")
    if len(names) == 1 and users.schema()[names[0]] == pl.String:
        text = pl.col(names[0]).str.strip_chars().fill_null("")
    gone = users.frame.filter(pl.any_horizontal(c.is_null() for c in columns))
    rows = users.collect(gone.select(text.alias("text")).group_by("text").len()).rows()
    empty = pl.any_horizontal(pl.col(*names).is_null())
    numbers = without_missing(numbers, dict(rows), reading, empty)
    return replace(numbers, frame=numbers.frame.filter(~empty))


def _pattern(users: Users, name: str, reading: Reading) -> str | None:
    """How the dates of a column are written; None if it holds numbers."""
    dtype = users.schema()[name]
    if dtype in (pl.Date, pl.Datetime):
        return ""
    if not (dtype.is_numeric() or dtype == pl.String):
        raise users.error(f"values of type {dtype} are no numbers to cut.")
    if dtype.is_numeric():
        return None
    given = _given(users, name, missing_texts(users, reading, None))
    sample = users.collect(users.frame.select(given.alias(name)).drop_nulls().head(LOOK))[name]
    for pattern in DATES if len(sample) else ():
        if sample.str.to_datetime(pattern, strict=False).is_not_null().all():
            return pattern
    return None


def _given(users: Users, name: str, absent: list[str]) -> pl.Expr:
    """A column with null for what means no value."""
    column, dtype = pl.col(name), users.schema()[name]
    if dtype != pl.String:
        return column.fill_nan(None) if dtype.is_float() else column
    return without_texts(column.str.strip_chars().replace("", None), absent, None)


def _number(users: Users, name: str, pattern: str | None) -> pl.Expr:
    """A column as finite numbers; what is none is null."""
    column = pl.col(name)
    if users.schema()[name] == pl.String:
        column = column.str.strip_chars()
    if pattern is None:
        number = column.cast(pl.Float64, strict=False)
        return pl.when(number.is_finite()).then(number)
    when = column.str.to_datetime(pattern, strict=False) if pattern else column.cast(pl.Datetime)
    return when.dt.epoch("us") / DAY


def _no_number(users: Users, name: str, wrong: pl.Expr, dates: bool) -> Exception:
    rows = users.selecting(pl.col(name).alias(VALUE), wrong.alias("wrong"))
    place, value = rows.first_where(pl.col("wrong"))
    text = value.strip() if isinstance(value, str) else value
    what = "a date like the others" if dates else "a number"
    return users.error(f"{place}: {text!r} is not {what}{_hint(str(text), users, place)}.")


def _hint(text: str, users: Users, place: str) -> str:
    if re.fullmatch(r"[-+]?[\d.]*\d,\d[\d,.]*", text):
        return "; write numbers as 1234.5"
    if re.match(r"\d+[-./]\d+[-./]\d", text):
        return "; write dates as 2013-02-01"
    return maybe_header(users, place)
