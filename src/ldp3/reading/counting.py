"""From rows to a histogram over labels: what occurs or a given domain, and in which order."""

from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray, IntArray
from ldp3.domain import Domain, Integers, Labels
from ldp3.edges import DAY
from ldp3.errors import InvalidData
from ldp3.people import Dataset
from ldp3.printing import plural
from ldp3.reading.evidence import figure
from ldp3.reading.formats import open_file
from ldp3.reading.options import NA, Reading
from ldp3.reading.users import (
    COUNT,
    VALUE,
    Users,
    choose,
    missing_texts,
    stripped,
    without_missing,
    without_texts,
)

CODE, LABEL = "code", "label"
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f")
IDS, FEW = 0.9, 20  # share of users with a value of their own that makes ids; too few to tell
Kind = Literal["whole", "decimals", "dates"]


def count(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """How many users hold each value; the domain is what occurs unless one is given."""
    absent = missing_texts(users, reading, domain)
    counted = _counted(users, absent)
    label = pl.col(LABEL)
    rows = counted.filter(label == "").group_by("text").agg(pl.col("rows").sum()).rows()
    users = without_missing(users, dict(rows), reading, label_of(users, absent) == "")
    counted = counted.filter(label != "")
    users = users.noting(
        *_transactions_note(users, counted),
        *_kept_note(users, counted, reading),
        *_title_note(users, counted),
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
    known, notes = domain_of(table[LABEL], users.title, reading)
    return Dataset(
        users.name,
        known,
        table[COUNT].to_numpy().astype(np.int64),
        _codes(users, counted, table) if reading.keep_values else None,
        users.notes if users.among else (*users.notes, *notes),
    )


def domain_of(
    labels: pl.Series, title: str | None, reading: Reading
) -> tuple[Domain, tuple[str, ...]]:
    """The domain of these labels, of which `other` is the last, and a note on their order."""
    names, other, name = labels.to_list(), reading.other, title or VALUE
    line = positions(labels) if other is None else None
    ordered, notes = _order_of(labels, line, reading)
    own = names if other is None else names[:-1]
    if own == integers(len(own)):
        return Integers(len(own), name=name, other=other, ordered=ordered), notes
    places = None if line is None else line.tolist()
    return Labels(own, places, name=name, other=other, ordered=ordered), notes


def maybe_header(users: Users, place: str) -> str:
    """What to try if the row that is wrong is the first of a file without header."""
    return ", or use `header`" if not users.header and place == users.place(0) else ""


def label_of(users: Users, absent: list[str]) -> pl.Expr:
    """A value's text without blanks around it; what means no value is the empty text."""
    return without_texts(text_of(users), absent, "")


def text_of(users: Users) -> pl.Expr:
    """A value's text without blanks around it; nothing, null and NaN are the empty text."""
    value, dtype = pl.col(VALUE), users.schema()[VALUE]
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise users.error(f"values of type {dtype} are no labels; choose another column.")
    if dtype.is_float():
        value = value.fill_nan(None)
    return stripped(value.cast(pl.String)).fill_null("")


def _counted(users: Users, absent: list[str]) -> pl.DataFrame:
    """Distinct raw values with their text, label, rows and users."""
    users_each = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    text, label = text_of(users).alias("text"), label_of(users, absent).alias(LABEL)
    grouped = users.frame.group_by(VALUE).agg(users_each.cast(pl.Int64), pl.len().alias("rows"))
    return users.collect(grouped.with_columns(text, label))


def _occurring(users: Users, counted: pl.DataFrame, reading: Reading) -> tuple[Users, list[str]]:
    """The domain of what occurs, in its order."""
    table = arranged(counted.group_by(LABEL).agg(pl.col(COUNT).sum()))
    if reading.top is not None:
        table, notes = most_frequent(table, reading.top, "person", reading.other is None)
        users = users.noting(*notes)
    elif not users.among:
        users = users.noting(*_ids_note(table))
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
        users = users.noting(f"{plural(moved, 'person')} with another value counted as {other!r}.")
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
    if len(rest) and unit == "person" and left_out:
        number = plural(int(rest[COUNT].sum()), unit)
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
        return f"everybody holds {table[LABEL][0]!r}; at least two different values are needed."
    return "holds no values, only a header or blank lines."


def _codes(users: Users, counted: pl.DataFrame, table: pl.DataFrame) -> IntArray:
    """Every user's code, in the order of the rows."""
    raw = counted.join(table.select(LABEL, CODE), on=LABEL).select(VALUE, CODE)
    coded = users.frame.join(raw.lazy(), on=VALUE, maintain_order="left")
    if COUNT in users.schema():
        coded = coded.select(pl.col(CODE).repeat_by(COUNT).explode().drop_nulls())
    return users.collect(coded.select(CODE))[CODE].to_numpy()


def integers(size: int) -> list[str]:
    """The domain `0 … size-1`."""
    return [str(value) for value in range(size)]


def sort_key(labels: pl.Series) -> tuple[Kind, pl.Series] | None:
    """What the labels are, and themselves as numbers or points in time; None for other texts."""
    for dtype in (pl.Int64, pl.Float64):
        key = labels.cast(dtype, strict=False)
        if key.is_not_null().all() and key.is_finite().all():
            return "whole" if (key == key.round()).all() else "decimals", key
    for pattern in DATES:
        key = labels.str.to_datetime(pattern, strict=False)
        if key.is_not_null().all():
            return "dates", key
    return None


def positions(labels: pl.Series) -> FloatArray | None:
    """Where the labels lie on a line: numbers as they are, dates in days, if in rising order."""
    found = sort_key(labels)
    if found is None:
        return None
    kind, key = found
    if kind == "dates":
        key = key.dt.epoch("us") / DAY
    line = key.cast(pl.Float64).to_numpy()
    return line if (np.diff(line) >= 0).all() else None


def arranged(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of their labels: as numbers, as dates, else as text."""
    found = sort_key(table[LABEL])
    if found is None:
        return table.sort(LABEL)
    return table.with_columns(found[1].alias("key")).sort("key", LABEL).drop("key")


def _order_of(
    labels: pl.Series, line: FloatArray | None, reading: Reading
) -> tuple[bool, tuple[str, ...]]:
    """Whether the order of a domain means something, and what a person should know of that."""
    if reading.ordered:
        return True, ()
    found = sort_key(labels)
    if line is None or found is None:
        return False, ()
    if found[0] != "whole":
        return True, ()
    note = "Whole numbers are read as labels, such as ids; `ordered` if their order has a meaning."
    return False, (note,)


def _kept_note(users: Users, labels: pl.DataFrame, reading: Reading) -> list[str]:
    """Say so where a value of a file with nulls of its own is a text that often means none."""
    if users.text or reading.na is not None or reading.missing == "keep":
        return []
    text = pl.col(LABEL).str.to_lowercase()
    found = labels.filter(text.is_in(NA.lower().split(","))).sort(LABEL)
    return [
        f"{label!r} ({plural(held, 'person')}) is counted as a value; `na={label}` if it means "
        f"none."
        for label, held in found.select(LABEL, COUNT).rows()
    ]


def _ids_note(table: pl.DataFrame) -> list[str]:
    """Say so if nearly every user has a value of their own."""
    d, n = len(table), int(table[COUNT].sum())
    if d <= max(IDS * n, FEW):
        return []
    return [
        f"Nearly everybody has a value of their own (d = {d:,}, n = {n:,}): if these are ids, "
        f"choose another `column`; `top` or `bins` make fewer values."
    ]


def _title_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the header occurs again, as where files were joined with theirs."""
    if users.title is None or not users.text:
        return []
    again = int(counted.filter(pl.col(LABEL) == users.title)[COUNT].sum())
    if not again:
        return []
    held = f"is also the value of {plural(again, 'person')}"
    return [f"{users.title!r}, the name of the column, {held}: files joined with their headers?"]


def _transactions_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the lines of a text file look like transactions."""
    labels = counted[LABEL]
    several = r"^-?\d+(\s+-?\d+)*$"
    spaced = users.text and labels.str.contains(r"\s").any()
    if not spaced or not labels.str.contains(several).all():
        return []
    return ["Whole lines of numbers were counted as values; `input_format=transactions`?"]


def categories(users: Users, reading: Reading) -> list[str] | None:
    """The domain that the type of a column says, also what nobody holds, in its order."""
    kind = users.schema()[VALUE]
    if reading.top is not None or not isinstance(kind, pl.Enum):
        return None
    return [category.strip() for category in kind.categories]


def given_domain(reading: Reading) -> list[str] | None:
    """Every possible value, where the options name them."""
    if reading.domain_size is not None:
        return integers(reading.domain_size)
    if isinstance(reading.domain, tuple):
        return list(reading.domain)
    return None if reading.domain is None else domain_in(reading.domain, reading.column)


def domain_in(path: Path, column: tuple[str | int, ...] | None = None) -> list[str]:
    """Every possible value, in the order of the file, which has no header.

    Every value occurs once, so there is no telling a header from a value; one that stands over
    numbers, or has the name of the `column` that holds the data, is refused.
    """
    users = open_file(path, Reading(header=False))
    if len(users.schema()) != 1:
        raise InvalidData(f"{path}: a domain file has one column, one value per row.")
    labels = _each_once(choose(users, Reading()))
    first, *rest = labels
    over_numbers = not figure(first) and all(map(figure, rest))
    if over_numbers or first in map(str, column or ()):
        raise InvalidData(f"{path}: the first row, {first!r}, seems to be a header; delete it.")
    return labels


def _each_once(users: Users) -> list[str]:
    """The values in the rows, each once."""
    labels = users.collect(users.frame.select(text_of(users).alias(LABEL)))[LABEL]
    labels = labels.head(len(labels) - users.blank_rows_at_end())
    if (labels == "").any():
        blank = int((labels == "").arg_max() or 0)
        raise users.error(f"{users.place(blank)} is blank; a domain holds one value per row.")
    if labels.is_duplicated().any():
        row = int(labels.is_first_distinct().arg_min() or 0)
        raise users.error(f"{users.place(row)}: {labels[row]!r} is in the domain twice.")
    if len(labels) < 2:
        raise users.error("a domain holds at least two values.")
    return labels.to_list()
