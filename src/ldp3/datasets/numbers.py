"""Columns as numbers on a line: numbers as they are, dates in days."""

import re
from dataclasses import dataclass, replace

import polars as pl

from ldp3.datasets.base import Reading
from ldp3.datasets.counting import maybe_header
from ldp3.datasets.missing import missing_texts, without_missing, without_texts
from ldp3.datasets.order import DATES, DAY
from ldp3.datasets.users import COUNT, VALUE, Users

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
    absent = missing_texts(users, reading, None)
    patterns = [_pattern(users, name, absent) for name in names]
    columns = [_number(users, name, p, absent) for name, p in zip(names, patterns, strict=True)]
    wrong = [_wrong(users, n, c, absent) for n, c in zip(names, columns, strict=True)]
    facts = users.frame.select(
        pl.any_horizontal(c.is_null() for c in columns).sum().alias("missing"),
        *(w.any().alias(f"wrong {name}") for name, w in zip(names, wrong, strict=True)),
        *(c.min().alias(f"low {name}") for name, c in zip(names, columns, strict=True)),
        *(c.max().alias(f"high {name}") for name, c in zip(names, columns, strict=True)),
        *((c == c.round()).all().alias(f"whole {n}") for n, c in zip(names, columns, strict=True)),
    )
    found = users.collect(facts).row(0, named=True)
    for name, is_wrong, pattern in zip(names, wrong, patterns, strict=True):
        if found[f"wrong {name}"]:
            raise _no_number(users, name, is_wrong, pattern is not None)
    lines = [
        Line(found[f"low {n}"], found[f"high {n}"], p is not None, found[f"whole {n}"])
        for n, p in zip(names, patterns, strict=True)
    ]
    return _kept(users, names, columns, found["missing"], reading), lines


def _kept(
    users: Users, names: tuple[str, ...], columns: list[pl.Expr], missing: int, reading: Reading
) -> Users:
    """The rows that have all their numbers."""
    weights = [pl.col(COUNT)] if COUNT in users.schema() else []
    numbers = users.selecting(*(c.alias(n) for n, c in zip(names, columns, strict=True)), *weights)
    if not missing:
        return numbers
    empty = pl.any_horizontal(pl.col(*names).is_null())
    text = pl.lit("")
    if len(names) == 1 and users.schema()[names[0]] == pl.String:
        text = pl.col(names[0]).str.strip_chars().fill_null("")
    gone = users.frame.filter(pl.any_horizontal(c.is_null() for c in columns))
    rows = users.collect(gone.select(text.alias("text")).group_by("text").len()).rows()
    numbers = without_missing(numbers, dict(rows), reading, empty)
    return replace(numbers, frame=numbers.frame.filter(~empty))


def _pattern(users: Users, name: str, absent: list[str]) -> str | None:
    """How the dates of a column are written; None if it holds numbers."""
    dtype = users.schema()[name]
    if dtype in (pl.Date, pl.Datetime):
        return ""
    if not (dtype.is_numeric() or dtype == pl.String):
        raise users.error(f"values of type {dtype} are no numbers to cut.")
    if dtype.is_numeric():
        return None
    text = users.frame.select(_given(name, dtype, absent).alias(name)).drop_nulls().head(LOOK)
    sample = users.collect(text)[name]
    for pattern in DATES if len(sample) else ():
        if sample.str.to_datetime(pattern, strict=False).is_not_null().all():
            return pattern
    return None


def _given(name: str, dtype: pl.DataType, absent: list[str]) -> pl.Expr:
    """A column with null for what means no value."""
    column = pl.col(name)
    if dtype != pl.String:
        return column.fill_nan(None) if dtype.is_float() else column
    return without_texts(column.str.strip_chars().replace("", None), absent, None)


def _number(users: Users, name: str, pattern: str | None, absent: list[str]) -> pl.Expr:
    """A column as numbers; what is none is null."""
    given = _given(name, users.schema()[name], absent)
    if pattern is None:
        return given.cast(pl.Float64, strict=False).fill_nan(None)
    when = given.str.to_datetime(pattern, strict=False) if pattern else given.cast(pl.Datetime)
    return when.dt.epoch("us") / DAY


def _wrong(users: Users, name: str, number: pl.Expr, absent: list[str]) -> pl.Expr:
    given = _given(name, users.schema()[name], absent)
    return given.is_not_null() & ~number.is_finite().fill_null(False)


def _no_number(users: Users, name: str, wrong: pl.Expr, dates: bool) -> Exception:
    rows = users.selecting(pl.col(name).alias(VALUE), wrong.alias("wrong"))
    place, value = rows.first_where(pl.col("wrong"))
    text = value.strip() if isinstance(value, str) else value
    what = "a date like the others" if dates else "a number"
    comma = re.fullmatch(r"[-+]?\d+,\d+", str(text))
    hint = "; write decimals with a point" if comma else maybe_header(users, place)
    return users.error(f"{place}: {text!r} is not {what}{hint}.")
