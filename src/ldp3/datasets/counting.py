"""From rows to a histogram over an ordered domain."""

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.datasets.base import Reading
from ldp3.datasets.users import COUNT, VALUE, Users
from ldp3.types import Dataset

LABEL, CODE = "label", "code"


def count(users: Users, reading: Reading, domain: list[str] | None) -> Dataset:
    """How many users hold each value; the domain is what occurs unless one is given."""
    counted = _counted(users)
    missing = int(counted.filter(pl.col(LABEL) == "")["rows"].sum())
    users = without_missing(users, missing, reading, _label(users) == "")
    counted = counted.filter(pl.col(LABEL) != "")
    users = users.noting(*_header_note(users, counted), *_transactions_note(users, counted))
    table = counted.group_by(LABEL).agg(pl.col(COUNT).sum())
    if domain is None:
        users, table = _occurring(users, table, reading)
    else:
        table = _in_domain(users, table, counted, domain)
    if len(table) < 2:
        raise users.error(_too_few(table))
    table = table.with_row_index(CODE)
    labels = table[LABEL]
    return Dataset(
        users.name,
        table[COUNT].to_numpy().astype(np.int64),
        labels.to_list(),
        positions(labels),
        _codes(users, counted, table) if reading.keep_values else None,
        users.notes,
    )


def read_domain(users: Users) -> list[str]:
    """Every possible value, in the order of the file."""
    labels = users.collect(users.frame.select(_label(users).alias(LABEL)))[LABEL]
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


def without_missing(users: Users, missing: int, reading: Reading, which: pl.Expr) -> Users:
    """Refuse rows that hold no value, or say how many are left out."""
    if missing:
        missing -= users.blank_rows_at_end()
    if missing and reading.missing == "refuse":
        place, _ = users.first_where(which)
        more = f" ({missing:,} rows in all)" if missing > 1 else ""
        raise users.error(
            f"{place} holds no value{more}; fill it in, or leave such rows out with `missing=drop`."
        )
    if missing:
        return users.noting(f"{plural(missing, 'row')} without a value left out.")
    return users


def maybe_header(users: Users, place: str) -> str:
    """What to try if the row that is wrong is the first of a file without header."""
    return ", or use `header`" if not users.header and place == users.place(0) else ""


def plural(number: int, what: str) -> str:
    """``1 row``, ``1,234 rows``."""
    return f"{number:,} {what}" + ("s" if number != 1 else "")


def positions(labels: pl.Series) -> FloatArray | None:
    """Where the labels lie on a line: numbers as they are, dates in days, if in rising order."""
    key = _sort_key(labels)
    if key is None:
        return None
    if key.dtype == pl.Datetime:
        key = key.dt.epoch("us") / 86_400_000_000
    line = key.cast(pl.Float64).to_numpy()
    return line if (np.diff(line) >= 0).all() else None


def arranged(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of their labels: as numbers, as dates, else as text."""
    key = _sort_key(table[LABEL])
    if key is None:
        return table.sort(LABEL)
    return table.with_columns(key.alias("key")).sort("key", LABEL).drop("key")


def _label(users: Users) -> pl.Expr:
    """A value's text without blanks around it; nothing, null and NaN are the empty text."""
    value, dtype = pl.col(VALUE), users.schema()[VALUE]
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise users.error(f"values of type {dtype} are no labels; choose another column.")
    if dtype.is_float():
        value = value.fill_nan(None)
    return value.cast(pl.String).str.strip_chars().fill_null("")


def _counted(users: Users) -> pl.DataFrame:
    """Distinct raw values with their label, rows and users."""
    users_each = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    label = _label(users).alias(LABEL)
    grouped = users.frame.group_by(VALUE).agg(users_each.cast(pl.Int64), pl.len().alias("rows"))
    return users.collect(grouped.with_columns(label))


def _sort_key(labels: pl.Series) -> pl.Series | None:
    for dtype in (pl.Int64, pl.Float64):
        key = labels.cast(dtype, strict=False)
        if key.is_not_null().all() and key.is_finite().all():
            return key
    for pattern in ("%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"):
        key = labels.str.to_datetime(pattern, strict=False)
        if key.is_not_null().all():
            return key
    return None


def _occurring(users: Users, table: pl.DataFrame, reading: Reading) -> tuple[Users, pl.DataFrame]:
    table = arranged(table)
    if reading.top is not None:
        table, note = most_frequent(table, reading.top, "user")
        users = users.noting(*note)
    key = _sort_key(table[LABEL])
    if key is not None and key.is_duplicated().any():
        twice = table[LABEL].filter(key.is_duplicated())[:2].to_list()
        users = users.noting(f"{twice[0]!r} and {twice[1]!r} are counted as different values.")
    return users, table


def most_frequent(table: pl.DataFrame, top: int, unit: str) -> tuple[pl.DataFrame, list[str]]:
    """The `top` labels with the largest counts, in their order; of equals, the first."""
    by_count = table.with_row_index("order").sort(COUNT, "order", descending=[True, False])
    kept, rest = by_count.head(top), by_count.slice(top)
    notes = []
    if len(kept) < top:
        notes.append(f"Only {len(kept):,} different values occur, fewer than the top {top:,}.")
    if len(rest) and rest[COUNT][0] == kept[COUNT][-1]:
        edge = plural(int(rest[COUNT][0]), unit)
        notes.append(f"Values tie at the edge of the top {top:,} ({edge} each): the first stay.")
    if len(rest) and unit == "user":
        left_out = plural(int(rest[COUNT].sum()), "user")
        notes.append(f"{left_out} with a value outside the top {top:,} left out.")
    return kept.sort("order").drop("order"), notes


def _in_domain(
    users: Users, table: pl.DataFrame, counted: pl.DataFrame, domain: list[str]
) -> pl.DataFrame:
    known = pl.DataFrame({LABEL: domain}, schema={LABEL: pl.String})
    outside = counted.join(known, on=LABEL, how="anti")
    if len(outside):
        place, value = users.first_where(_label(users).is_in(outside[LABEL].implode()))
        raise users.error(
            f"{place}: {str(value)!r} is not in the domain of {len(domain):,} values; "
            f"add it to the domain or correct the row{maybe_header(users, place)}."
        )
    return known.join(table, on=LABEL, how="left", maintain_order="left").with_columns(
        pl.col(COUNT).fill_null(0)
    )


def _header_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the first row of a file without header looks like one."""
    if users.header or not users.text or len(counted) < 2:
        return []
    first = users.collect(users.frame.head(1).select(_label(users)))[VALUE][0]
    held_once = counted.filter(pl.col(COUNT) == 1)[LABEL].to_list()
    if first not in held_once or not first[:1].isalpha():
        return []
    others = counted.filter(pl.col(LABEL) != first)[LABEL]
    if _sort_key(others) is None and (len(held_once) > 1 or len(others) < 2):
        return []  # among words, only a word unlike all others is suspicious
    return [f"The first row {first!r} looks like a header and was counted as a user: `header`."]


def _transactions_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the lines of a text file look like transactions."""
    labels = counted[LABEL]
    several = r"^-?\d+(\s+-?\d+)*$"
    spaced = users.text and labels.str.contains(r"\s").any()
    if not spaced or not labels.str.contains(several).all():
        return []
    return ["Whole lines of numbers were counted as values; `input_format=transactions`?"]


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
