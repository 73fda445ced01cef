"""The values of many people in a file, as codes of a collection's domain."""

from pathlib import Path

import polars as pl

from ldp3.arrays import IntArray
from ldp3.collection.plan import Plan
from ldp3.datasets.base import Reading
from ldp3.datasets.columns import choose
from ldp3.datasets.counting import maybe_header
from ldp3.datasets.domains import domain_in
from ldp3.datasets.files import format_of, open_file
from ldp3.datasets.users import ROW, VALUE, Users
from ldp3.errors import InvalidParameter

CODE = "code"


def labels_in(path: Path) -> list[str]:
    """Every possible value, one per row of a file, in its order."""
    return domain_in(path)


def codes_in(path: Path, plan: Plan, reading: Reading) -> IntArray:
    """The code of every row; a value outside the domain is refused by row, or is `other`."""
    if format_of(path, reading) == "transactions":
        raise InvalidParameter(
            f"{path}: one value per row is needed, and a transaction holds several; "
            f"choose one of each first: load it with `pick`, as `ldp3 convert` does."
        )
    users = choose(open_file(path, reading, plan.labels), reading)
    coded = users.collect(users.frame.select(_code(plan).alias(CODE)))[CODE]
    coded = coded.head(len(coded) - users.blank_rows_at_end())
    if not coded.null_count():
        return coded.to_numpy()
    if plan.other is None:
        raise _outside(users, plan)
    return coded.fill_null(plan.code(plan.other)).to_numpy()


def _code(plan: Plan) -> pl.Expr:
    """A value's code, null if it is outside the domain."""
    text = pl.col(VALUE).cast(pl.String).str.strip_chars()
    if plan.labels is None:
        number = text.cast(pl.Int64, strict=False)
        return pl.when(number.is_between(0, plan.d - 1)).then(number).cast(pl.UInt32)
    codes = pl.Series(range(plan.d), dtype=pl.UInt32)
    known = pl.Series(plan.labels, dtype=pl.String)
    return text.replace_strict(known, codes, default=None, return_dtype=pl.UInt32)


def _outside(users: Users, plan: Plan) -> Exception:
    rows = users.frame.select(VALUE, _code(plan).alias(CODE)).with_row_index(ROW)
    first = users.collect(rows.filter(pl.col(CODE).is_null()).head(1)).row(0, named=True)
    place, value = users.place(first[ROW]), first[VALUE]
    what = "holds no value" if value is None else f"{str(value)!r} is not in the domain"
    return users.error(
        f"{place}: {what} of {plan.name!r}; correct it, or make a plan with `other` to count such "
        f"values together{maybe_header(users, place)}."
    )
