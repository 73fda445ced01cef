"""The values of many people in a file, as codes of a collection's domain."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isinf
from pathlib import Path

import numpy as np
import polars as pl

from ldp3.arrays import IntArray
from ldp3.collection.plan import Plan
from ldp3.domain import Bins, Domain, Grid, Labels, Records
from ldp3.edges import DAY, point_in
from ldp3.errors import InvalidParameter
from ldp3.printing import plural
from ldp3.reading.counting import maybe_header
from ldp3.reading.cutting import cell
from ldp3.reading.formats import open_file
from ldp3.reading.options import Reading
from ldp3.reading.users import (
    COMMAS,
    COORDINATES,
    VALUE,
    Users,
    choose,
    missing_texts,
    stripped,
    without_missing,
)

CODE, BLANK = "code", "blank"
# what `Integers`, `number_in` and `days_in` take for a number and a date, as Polars can say it
INTEGER = r"^(0|[1-9][0-9]{0,9})$"
NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf)$"
DATE = r"^[0-9]{4}(-[0-9]{1,2}-|/[0-9]{1,2}/)[0-9]{1,2}"
TIME = r"[ T][0-9]{1,2}:[0-9]{1,2}:[0-5]?[0-9](\.[0-9]+)?"


@dataclass(frozen=True, eq=False)
class Coded:
    """The code of every person's value, and what became of the other rows, one sentence each."""

    codes: IntArray
    notes: tuple[str, ...] = ()


def codes_in(path: Path, plan: Plan, reading: Reading) -> Coded:
    """The code of every row that holds a value.

    A value outside the domain is refused by row, or becomes `other`; a row without a value, or
    one that may be a header, never does.
    """
    domain = plan.domain
    if isinstance(domain, Records):
        return _records_in(path, plan, domain, reading)
    if isinstance(domain, Grid):
        reading = replace(reading, grid=domain.shape)
    labels = domain.labels if isinstance(domain, Labels) else None
    users = open_file(path, reading, labels)
    if users.items:
        raise InvalidParameter(
            f"{path}: one value per row is needed, and a transaction holds several; "
            f"choose one of each first, as `ldp3 convert --pick` does."
        )
    users = choose(users, reading)
    absent = missing_texts(users, reading, labels or [domain.other or ""])
    users = _coded(users, domain, absent)
    rows = users.collect(users.frame.select(CODE, BLANK))
    rows = rows.head(len(rows) - users.blank_rows_at_end())
    people = rows.filter(~pl.col(BLANK))[CODE]
    outside = people.null_count()
    if outside and domain.other is None:
        raise _outside(users, plan)
    if len(people) < len(rows):
        users = without_missing(users, _texts(users, absent), reading, pl.col(BLANK))
    if not outside:
        return Coded(people.to_numpy(), (*users.notes, *_in_open_bins(domain, people)))
    _refuse_header(users, plan, reading)
    became = f"{plural(outside, 'row')} outside the domain became {domain.other!r}."
    return Coded(people.fill_null(domain.size).to_numpy(), (*users.notes, became))


def _in_open_bins(domain: Domain, codes: pl.Series) -> list[str]:
    """How many people are in bins that take everything from an edge on."""
    if not isinstance(domain, Bins):
        return []
    first, last = (int((codes == code).sum()) for code in (0, domain.size - 1))
    below, beyond = domain.said(domain.edges[1]), domain.said(domain.edges[-2])
    said = [f"{plural(first, 'person')} below {below}"] * isinf(domain.edges[0])
    said += [f"{plural(last, 'person')} from {beyond} on"] * isinf(domain.edges[-1])
    return [f"In bins without an end: {', '.join(said)}."] if said else []


def _records_in(path: Path, plan: Plan, domain: Records, reading: Reading) -> Coded:
    """The code of every row: each attribute is the column of its name.

    A missing answer is outside the domain, as any that is not in it: `other`, or refused, unless
    rows without an answer somewhere are to be dropped, or refused whatever the domain.
    """
    if reading.column is not None:
        raise InvalidParameter(f"{path}: its columns are those of the plan: leave `column` out.")
    columns, notes, gone = [], [], None
    for part in domain.parts:
        if isinstance(part, Grid):
            raise InvalidParameter(f"{part.name}: a grid takes two columns; report one by one.")
        labels = part.labels if isinstance(part, Labels) else None
        named = replace(reading, column=(part.name,))
        users = choose(open_file(path, named, labels), named)
        absent = missing_texts(users, reading, labels or [part.other or ""])
        users = _coded(users, part, absent)
        rows = users.collect(users.frame.select(CODE, BLANK))
        rows = rows.head(len(rows) - users.blank_rows_at_end())
        wrong = pl.col(CODE).is_null() | pl.col(BLANK)
        if reading.missing == "refuse" and rows[BLANK].any():
            named_users = replace(users, source=f"{users.source}: {part.name!r}")
            without_missing(named_users, _texts(users, absent), reading, pl.col(BLANK))
        if reading.missing == "drop":
            gone = rows[BLANK] if gone is None else gone | rows[BLANK]
            wrong = pl.col(CODE).is_null() & ~pl.col(BLANK)
        outside = rows.select(wrong).to_series()
        if outside.any() and part.other is None:
            place, value = users.first_where(wrong)
            given = str(value or "")
            answered = given.lower() not in ["", *absent]
            held = f"{given!r} is not in the domain of" if answered else "there is no answer for"
            drop = "" if answered else ", or leave such rows out with `missing=drop`"
            raise users.error(
                f"{place}: {held} {part.name} in {plan.name!r}; correct it, or make a plan whose "
                f'file of columns has other = "no answer" for it{drop}.'
            )
        for which, why in (
            (outside & rows[BLANK], "without an answer"),
            (outside & ~rows[BLANK], "outside the domain"),
        ):
            if which.any():
                became = f"{plural(int(which.sum()), 'row')} {why} became {part.other!r}."
                notes.append(f"{part.name}: {became}")
        codes = pl.select(pl.when(~outside).then(rows[CODE]).otherwise(part.size)).to_series()
        columns.append(codes.fill_null(0).to_numpy().astype(np.int64))
    records = np.stack(columns, axis=1)
    if gone is not None and gone.any():
        records = records[~gone.to_numpy()]
        notes.append(f"{plural(int(gone.sum()), 'row')} without an answer somewhere left out.")
    return Coded(domain.codes(records), tuple(notes))


def _coded(users: Users, domain: Domain, absent: list[str]) -> Users:
    """The rows with the code of each value, null outside, and whether there is none."""
    columns = COORDINATES if isinstance(domain, Grid) else (VALUE,)
    value = pl.concat_str([_text(users, name).fill_null("") for name in columns], separator=", ")
    blank = pl.any_horizontal(_blank(users, name, absent) for name in columns)
    if isinstance(domain, Bins | Grid):
        dates = isinstance(domain, Bins) and domain.dates
        points = [_point(users, name, dates).alias(f"{name} on a line") for name in columns]
        users = replace(users, frame=users.frame.with_columns(points))
        code = cell(domain, *(point.meta.output_name() for point in points))
    else:
        code = _label(users, domain) if isinstance(domain, Labels) else _integer(users, domain)
    return users.selecting(value.alias(VALUE), code.cast(pl.UInt32).alias(CODE), blank.alias(BLANK))


def _text(users: Users, name: str) -> pl.Expr:
    dtype = users.schema()[name]
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise users.error(f"values of type {dtype} have no code; choose another column.")
    return stripped(pl.col(name).cast(pl.String))


def _blank(users: Users, name: str, absent: list[str]) -> pl.Expr:
    """Whether a cell holds no value: nothing, null, NaN, or a text that means so."""
    text = _text(users, name)
    nothing = (text.fill_null("") == "") | text.str.to_lowercase().is_in(absent)
    if users.schema()[name].is_float():
        nothing = nothing | pl.col(name).is_nan()
    return nothing.fill_null(True)


def _integer(users: Users, domain: Domain) -> pl.Expr:
    text = _text(users, VALUE)
    number = pl.when(text.str.contains(INTEGER)).then(text.cast(pl.Int64, strict=False))
    return pl.when(number < domain.size).then(number)


def _label(users: Users, domain: Labels) -> pl.Expr:
    """The code of a text; of a number or a date, that of the label that spells it."""
    dtype = users.schema()[VALUE]
    if dtype.is_float():
        return _looked_up(_point(users, VALUE, dates=False), domain.numbers)
    if dtype in (pl.Date, pl.Datetime):
        return _looked_up(_point(users, VALUE, dates=True), domain.days)
    names = {name: code for code, name in enumerate(domain.names)}
    code = _text(users, VALUE).replace_strict(names, default=None, return_dtype=pl.Int64)
    if not dtype.is_integer():
        return code
    return pl.coalesce(code, _looked_up(_point(users, VALUE, dates=False), domain.numbers))


def _looked_up(point: pl.Expr, codes: Mapping[float | None, int]) -> pl.Expr:
    return point.replace_strict(codes, default=None, return_dtype=pl.Int64)


def _point(users: Users, name: str, dates: bool) -> pl.Expr:
    """What `number_in` or `days_in` says of each value; null if it is none."""
    column, dtype = pl.col(name), users.schema()[name]
    text = _text(users, name)
    if dates and dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us") / DAY
    if dates and dtype == pl.String:
        plain = text.str.replace_all("/", "-").str.replace("T", " ")
        day = pl.when(text.str.contains(DATE + "$")).then(plain + " 0:0:0")
        time = pl.when(text.str.contains(DATE + TIME + "$")).then(plain)
        when = pl.coalesce(day, time).str.to_datetime(
            "%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False
        )
        return when.dt.epoch("us") / DAY
    if not dates and dtype == pl.String:
        return pl.when(text.str.contains(NUMBER)).then(text.cast(pl.Float64, strict=False))
    if not dates and dtype.is_numeric():
        number = column.cast(pl.Float64)
        return pl.when(number.is_not_nan()).then(number)
    return pl.lit(None, dtype=pl.Float64)


def _texts(users: Users, absent: list[str]) -> dict[str, int]:
    """How many rows hold each text that means "no value"; nothing at all is the empty text."""
    text = pl.col(VALUE)
    named = pl.when(text.str.to_lowercase().is_in(absent)).then(text).otherwise(pl.lit(""))
    counted = users.frame.filter(pl.col(BLANK)).group_by(named.alias(VALUE)).len()
    return dict(users.collect(counted.sort(VALUE)).iter_rows())


def _refuse_header(users: Users, plan: Plan, reading: Reading) -> None:
    """Refuse a first row that may be a header: outside the domain, and like no other row."""
    if not users.text or users.header or reading.header is False:
        return
    value, code, blank = users.collect(users.frame.head(1)).row(0)
    if code is not None or blank:
        return
    if users.collect(users.frame.select((pl.col(VALUE) == value).sum())).item() == 1:
        raise users.error(
            f"{users.place(0)}: {value!r} is not in the domain of {plan.name!r} and stands there "
            f"only once; say `header` if it is one, or `no_header` if it is a person's value."
        )


def _outside(users: Users, plan: Plan) -> Exception:
    place, value = users.first_where(pl.col(CODE).is_null() & ~pl.col(BLANK))
    wrong = f"is not in the domain of {plan.name!r}"
    way = "make a plan with `other` to count such values together"
    bins = isinstance(plan.domain, Bins)
    if bins and point_in(str(value), plan.domain.in_days) is None:
        wrong = f"is not a {'date' if plan.domain.in_days else 'number'}"
        if plan.oracle.needs_order:  # which has no place for `other`
            way = "say with `na` that it means none, and `missing=drop` to leave such people out"
        if not plan.domain.in_days and re.fullmatch(COMMAS, str(value)):
            way = "say `decimal=,` if all numbers are written so"
    elif plan.oracle.needs_order:
        way = "make a plan whose domain holds it"
        if bins and not plan.domain.in_days:
            way += ", or one with `clip` to count it in the bin next to it"
    return users.error(
        f"{place}: {str(value)!r} {wrong}; correct it, or {way}{maybe_header(users, place)}."
    )
