"""The values of many people in a file, as codes of a collection's domain."""

from dataclasses import dataclass
from math import inf
from pathlib import Path

import polars as pl

from ldp3.arrays import IntArray
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidParameter
from ldp3.reading.counting import domain_in, maybe_header
from ldp3.reading.formats import format_of, open_file
from ldp3.reading.options import Reading
from ldp3.reading.users import (
    VALUE,
    Users,
    choose,
    missing_texts,
    plural,
    without_missing,
)

CODE, BLANK = "code", "blank"


@dataclass(frozen=True, eq=False)
class Coded:
    """The code of every person's value, and what became of the other rows, one sentence each."""

    codes: IntArray
    notes: tuple[str, ...] = ()


def labels_in(path: Path) -> list[str]:
    """Every possible value, one per row of a file, in its order."""
    return domain_in(path)


def codes_in(path: Path, plan: Plan, reading: Reading) -> Coded:
    """The code of every row that holds a value.

    A value outside the domain is refused by row, or becomes `other`; a row without a value, or
    one that may be a header, never does.
    """
    if format_of(path, reading) == "transactions":
        raise InvalidParameter(
            f"{path}: one value per row is needed, and a transaction holds several; "
            f"choose one of each first: load it with `pick`, as `ldp3 convert` does."
        )
    users = choose(open_file(path, reading, plan.labels), reading)
    absent = missing_texts(users, reading, plan.labels)
    blank, code = _blank(users, plan, absent), _code(users, plan)
    rows = users.collect(users.frame.select(code.alias(CODE), blank.alias(BLANK)))
    rows = rows.head(len(rows) - users.blank_rows_at_end())
    people = rows.filter(~pl.col(BLANK))[CODE]
    outside = people.null_count()
    if outside and plan.other is None:
        raise _outside(users, plan, blank)
    if len(people) < len(rows):
        users = without_missing(users, _texts(users, blank, absent), reading, blank)
    if not outside or plan.other is None:
        return Coded(people.to_numpy(), users.notes)
    _refuse_header(users, plan, reading)
    became = f"{plural(outside, 'row')} outside the domain became {plan.other!r}."
    return Coded(people.fill_null(plan.code(plan.other)).to_numpy(), (*users.notes, became))


def _text() -> pl.Expr:
    return pl.col(VALUE).cast(pl.String).str.strip_chars()


def _number(users: Users) -> pl.Expr:
    column = _text() if users.schema()[VALUE] == pl.String else pl.col(VALUE)
    return column.cast(pl.Float64, strict=False)


def _blank(users: Users, plan: Plan, absent: list[str]) -> pl.Expr:
    """Whether a row holds no value: nothing, null, NaN, or a text that means so."""
    nothing = (_text().fill_null("") == "") | _text().str.to_lowercase().is_in(absent)
    if plan.bins is None and not users.schema()[VALUE].is_float():
        return nothing
    return nothing | _number(users).is_nan().fill_null(False)


def _texts(users: Users, blank: pl.Expr, absent: list[str]) -> dict[str, int]:
    """How many rows hold each text that means "no value"; nothing at all is the empty text."""
    named = pl.when(_text().str.to_lowercase().is_in(absent)).then(_text()).otherwise(pl.lit(""))
    counted = users.frame.filter(blank).group_by(named.alias(VALUE)).len()
    return dict(users.collect(counted.sort(VALUE)).iter_rows())


def _code(users: Users, plan: Plan) -> pl.Expr:
    """A value's code, null if it is outside the domain."""
    if plan.bins is not None:
        number, (low, *inner, high) = _number(users), plan.bins
        inside = (number >= low) & ((number < high) | (pl.lit(high) == inf))
        place = pl.lit(pl.Series(inner, dtype=pl.Float64)).search_sorted(number, side="right")
        return pl.when(inside & number.is_not_nan()).then(place).cast(pl.UInt32)
    if plan.labels is None:
        number = _text().cast(pl.Int64, strict=False)
        return pl.when(number.is_between(0, plan.d - 1)).then(number).cast(pl.UInt32)
    codes = pl.Series(range(plan.d), dtype=pl.UInt32)
    known = pl.Series(plan.labels, dtype=pl.String)
    return _text().replace_strict(known, codes, default=None, return_dtype=pl.UInt32)


def _refuse_header(users: Users, plan: Plan, reading: Reading) -> None:
    """Refuse a first row that may be a header: outside the domain, and like no other row."""
    if not users.text or users.header or reading.header is False:
        return
    first = users.collect(users.frame.head(1).select(_text(), _code(users, plan).alias(CODE)))
    value, code = first.row(0)
    if code is not None or not value:
        return
    if users.collect(users.frame.select((_text() == value).sum())).item() == 1:
        raise users.error(
            f"{users.place(0)}: {value!r} is not in the domain of {plan.name!r} and stands there "
            f"only once; say `header` if it is one, or `no_header` if it is a person's value."
        )


def _outside(users: Users, plan: Plan, blank: pl.Expr) -> Exception:
    outside = _code(users, plan).is_null() & ~blank
    place, value = users.first_where(outside)
    return users.error(
        f"{place}: {str(value)!r} is not in the domain of {plan.name!r}; correct it, or make a "
        f"plan with `other` to count such values together{maybe_header(users, place)}."
    )
