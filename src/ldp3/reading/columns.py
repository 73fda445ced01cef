"""Which columns hold the values, and which one holds the numbers of users."""

from dataclasses import replace

import polars as pl

from ldp3.errors import did_you_mean
from ldp3.reading.options import Reading
from ldp3.reading.users import COUNT, VALUE, Users

COORDINATES = ("first", "second")


def choose(users: Users, reading: Reading) -> Users:
    """The rows with the column `value` (or the two coordinates of a grid), and `count` if asked."""
    names = users.schema().names()
    count = _count_column(users, names) if reading.counts else None
    wanted = 1 if reading.grid is None else 2
    chosen = _named(users, names, reading) or [name for name in names if name != count]
    if len(chosen) != wanted:
        raise users.error(_choice(users, names, wanted, reading))
    targets = COORDINATES if wanted == 2 else (VALUE,)
    columns = [pl.col(name).alias(target) for name, target in zip(chosen, targets, strict=True)]
    users = replace(users, title=", ".join(chosen).strip() or None if users.header else None)
    if count is None:
        return users.selecting(*columns)
    return _with_counts(users, columns, count)


def _named(users: Users, names: list[str], reading: Reading) -> list[str]:
    if reading.column is None:
        return []
    column = str(reading.column)
    parts = [column] if column in names else [part.strip() for part in column.split(",")]
    return [_find(users, names, part) for part in parts]


def _find(users: Users, names: list[str], column: str) -> str:
    if column in names and users.header:
        return column
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return names[int(column) - 1]
    if column.isdecimal():
        columns = _listed(names) if users.header else _counted(users, names)
        raise users.error(f"has {columns}, there is no column {column}.")
    hint = did_you_mean(column, names)
    raise users.error(f"has no column {column!r}.{hint} It has {_listed(names)}.")


def _count_column(users: Users, names: list[str]) -> str:
    if len(names) < 2:
        raise users.error("`counts` needs two columns, a value and a number of users.")
    return COUNT if COUNT in names and users.header else names[-1]


def _choice(users: Users, names: list[str], wanted: int, reading: Reading) -> str:
    one = "one" if wanted == 1 else "two, separated by a comma,"
    has = _listed(names) if users.header else _counted(users, names)
    counts = " beside the counts" if reading.counts else ""
    how = "by name or by position from 1" if users.header else "by position from 1"
    return f"has {has}; choose {one}{counts} with `column`, {how}."


def _counted(users: Users, names: list[str]) -> str:
    """How many columns without a name there are, and what stands first in them."""
    (first,) = users.collect(users.frame.head(1)).rows() or [()]
    shown = ", ".join(repr(cell or "") for cell in first[:8]) + (", …" if len(first) > 8 else "")
    return f"{len(names)} column" + ("s" if len(names) != 1 else "") + f" (first row: {shown})"


def _listed(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    if len(names) == 1:
        return f"the column {shown}"
    return f"the columns {shown}" + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _with_counts(users: Users, columns: list[pl.Expr], count: str) -> Users:
    given = pl.col(count)
    if users.text:
        given = given.str.strip_chars()
    number = given.cast(pl.Int64, strict=False)
    if users.schema()[count].is_float():
        number = pl.when(given == given.round()).then(number)
    blank = pl.all_horizontal(pl.all().is_null())  # a blank line at the end, or an error later
    wrong = (number.is_null() | (number < 0)) & ~blank
    checked = users.selecting(given.alias(VALUE), wrong.alias("wrong"), number.alias(COUNT))
    any_wrong, total = checked.collect(
        checked.frame.select(pl.col("wrong").any(), pl.col(COUNT).cast(pl.Float64).sum())
    ).row(0)
    if any_wrong:
        place, value = checked.first_where(pl.col("wrong"))
        header = "" if users.header else "; if the first row is a header, use `header`"
        raise users.error(
            f"{place}: {value!r} is not a number of users, a whole number of at least 0{header}."
        )
    if total >= 2**62:
        raise users.error(f"the counts add up to {total:.1e} users, more than can be counted.")
    return users.selecting(*columns, number.fill_null(0).alias(COUNT))
