"""From rows to a histogram over an ordered domain."""

import numpy as np
import polars as pl

from ldp3.domain import Domain, Integers, Labels
from ldp3.reading.missing import (
    kept_note,
    missing_texts,
    plural,
    without_missing,
    without_texts,
)
from ldp3.reading.noticing import ids_note, title_note, transactions_note
from ldp3.reading.options import Reading
from ldp3.reading.order import LABEL, arranged, order_of, positions, sort_key
from ldp3.reading.users import COUNT, VALUE, Users
from ldp3.types import Dataset

CODE = "code"


def count(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """How many users hold each value; the domain is what occurs unless one is given."""
    absent = missing_texts(users, reading, domain)
    counted = _counted(users, absent)
    label = pl.col(LABEL)
    rows = counted.filter(label == "").group_by("text").agg(pl.col("rows").sum()).rows()
    users = without_missing(users, dict(rows), reading, _label(users, absent) == "")
    counted = counted.filter(label != "")
    users = users.noting(
        *transactions_note(users, counted),
        *kept_note(users, counted, reading),
        *title_note(users, counted),
    )
    if domain is None:
        users, domain = _occurring(users, counted, reading)
        if reading.top is not None and reading.other is None:
            counted = counted.filter(label.is_in(pl.Series(domain, dtype=pl.String).implode()))
    if reading.other is not None:
        users, counted, domain = _with_other(users, counted, domain, reading.other)
    table = _in_domain(users, counted, domain)
    if len(table) < 2:
        raise users.error(_too_few(table))
    table = table.with_row_index(CODE)
    known, notes = _domain_of(table[LABEL], users.title, reading)
    return Dataset(
        users.name,
        known,
        table[COUNT].to_numpy().astype(np.int64),
        _codes(users, counted, table) if reading.keep_values else None,
        (*users.notes, *notes),
    )


def _domain_of(
    labels: pl.Series, title: str | None, reading: Reading
) -> tuple[Domain, tuple[str, ...]]:
    """The domain of these labels, and what a person should know of its order."""
    names, other = labels.to_list(), reading.other
    line = positions(labels)
    ordered, notes = order_of(labels, line, reading)
    name = title or VALUE
    own = names if other is None else names[:-1]
    if own == integers(len(own)):
        return Integers(len(own), name=name, other=other, ordered=ordered), notes
    places = None if line is None or other is not None else line.tolist()
    return Labels(own, places, name=name, other=other, ordered=ordered), notes


def maybe_header(users: Users, place: str) -> str:
    """What to try if the row that is wrong is the first of a file without header."""
    return ", or use `header`" if not users.header and place == users.place(0) else ""


def _label(users: Users, absent: list[str]) -> pl.Expr:
    """A value's text without blanks around it; what means no value is the empty text."""
    return without_texts(text_of(users), absent, "")


def text_of(users: Users) -> pl.Expr:
    """A value's text without blanks around it; nothing, null and NaN are the empty text."""
    value, dtype = pl.col(VALUE), users.schema()[VALUE]
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise users.error(f"values of type {dtype} are no labels; choose another column.")
    if dtype.is_float():
        value = value.fill_nan(None)
    return value.cast(pl.String).str.strip_chars().fill_null("")


def _counted(users: Users, absent: list[str]) -> pl.DataFrame:
    """Distinct raw values with their text, label, rows and users."""
    users_each = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    text, label = text_of(users).alias("text"), _label(users, absent).alias(LABEL)
    grouped = users.frame.group_by(VALUE).agg(users_each.cast(pl.Int64), pl.len().alias("rows"))
    return users.collect(grouped.with_columns(text, label))


def _occurring(users: Users, counted: pl.DataFrame, reading: Reading) -> tuple[Users, list[str]]:
    """The domain of what occurs, in its order."""
    table = arranged(counted.group_by(LABEL).agg(pl.col(COUNT).sum()))
    if reading.top is not None:
        table, notes = most_frequent(table, reading.top, "user", reading.other is None)
        users = users.noting(*notes)
    else:
        users = users.noting(*ids_note(table))
    found = sort_key(table[LABEL])
    if found is not None and found[1].is_duplicated().any():
        twice = table[LABEL].filter(found[1].is_duplicated())[:2].to_list()
        users = users.noting(f"{twice[0]!r} and {twice[1]!r} are counted as different values.")
    return users, table[LABEL].to_list()


def _with_other(
    users: Users, counted: pl.DataFrame, domain: list[str], other: str
) -> tuple[Users, pl.DataFrame, list[str]]:
    """Every value outside the domain as `other`, which is the last of it."""
    outside = ~pl.col(LABEL).is_in(pl.Series(domain, dtype=pl.String).implode())
    moved = int(counted.filter(outside)[COUNT].sum())
    if moved:
        users = users.noting(f"{plural(moved, 'user')} with another value counted as {other!r}.")
    relabelled = pl.when(outside).then(pl.lit(other)).otherwise(pl.col(LABEL)).alias(LABEL)
    counted = counted.with_columns(relabelled)
    return users, counted, [*(label for label in domain if label != other), other]


def most_frequent(
    table: pl.DataFrame, top: int, unit: str, left_out: bool = True
) -> tuple[pl.DataFrame, list[str]]:
    """The `top` labels with the largest counts, in their order; of equals, the first."""
    by_count = table.with_row_index("order").sort(COUNT, "order", descending=[True, False])
    kept, rest = by_count.head(top), by_count.slice(top)
    notes = []
    if len(kept) < top:
        notes.append(f"Only {len(kept):,} different values occur, fewer than the top {top:,}.")
    if len(rest) and rest[COUNT][0] == kept[COUNT][-1]:
        edge = plural(int(rest[COUNT][0]), unit)
        notes.append(f"Values tie at the edge of the top {top:,} ({edge} each): the first stay.")
    if len(rest) and unit == "user" and left_out:
        number = plural(int(rest[COUNT].sum()), "user")
        notes.append(f"{number} with a value outside the top {top:,} left out.")
    return kept.sort("order").drop("order"), notes


def _in_domain(users: Users, counted: pl.DataFrame, domain: list[str]) -> pl.DataFrame:
    known = pl.DataFrame({LABEL: domain}, schema={LABEL: pl.String})
    outside = counted.join(known, on=LABEL, how="anti")
    if len(outside):
        place, value = users.first_where(text_of(users).is_in(outside[LABEL].implode()))
        raise users.error(
            f"{place}: {str(value)!r} is not in the domain of {len(domain):,} values; "
            f"add it to the domain or correct the row{maybe_header(users, place)}."
        )
    table = counted.group_by(LABEL).agg(pl.col(COUNT).sum())
    return known.join(table, on=LABEL, how="left", maintain_order="left").with_columns(
        pl.col(COUNT).fill_null(0)
    )


def _too_few(table: pl.DataFrame) -> str:
    if len(table):
        return f"every user holds {table[LABEL][0]!r}; at least two different values are needed."
    return "holds no users, only a header or blank lines."


def _codes(users: Users, counted: pl.DataFrame, table: pl.DataFrame) -> np.ndarray:
    """Every user's code, in the order of the rows."""
    raw = counted.join(table.select(LABEL, CODE), on=LABEL).select(VALUE, CODE)
    coded = users.frame.join(raw.lazy(), on=VALUE, maintain_order="left")
    if COUNT in users.schema():
        coded = coded.select(pl.col(CODE).repeat_by(COUNT).explode().drop_nulls())
    return users.collect(coded.select(CODE))[CODE].to_numpy()


def integers(size: int) -> list[str]:
    """The domain `0 … size-1`."""
    return [str(value) for value in range(size)]
