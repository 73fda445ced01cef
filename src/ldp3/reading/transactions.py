"""Transactions: one person per line, several items each."""

from dataclasses import replace

import polars as pl

from ldp3.printing import plural
from ldp3.randomness import stream
from ldp3.reading.counting import LABEL, arranged, most_frequent
from ldp3.reading.options import Pick, Reading
from ldp3.reading.users import COUNT, ROW, VALUE, Users, stripped

ITEM, PLACE = "item", "place"


def single_values(users: Users, reading: Reading) -> tuple[Users, list[str] | None]:
    """One item per user, out of the `top` most frequent, which are the domain.

    Users left with none are left out, or hold `other` if it is given.
    """
    lines = users.frame.select(pl.nth(0).alias("line")).with_row_index(ROW)
    users, items = _items(users, lines)
    domain, every = None, items
    if reading.top is not None:
        users, items, domain = _restrict(users, items, reading.top)
    values, notes = _pick(items, reading.pick or "most_frequent")
    if reading.top is not None and reading.other is not None:
        values = _with_other(values, every, reading.other)
    empty = _number_of_lines(users) - len(values)
    if empty:
        which = f"in the top {reading.top:,}" if reading.top and not reading.other else "at all"
        notes = (*notes, f"{plural(empty, 'person')} without an item {which} left out.")
    if not len(values):
        raise users.error("holds no items.")
    return replace(users, frame=values.lazy(), whole=None).noting(*notes), domain


def _number_of_lines(users: Users) -> int:
    lines = users.collect(users.frame.select(pl.len())).item()
    return int(lines) - users.blank_rows_at_end()


def _items(users: Users, lines: pl.LazyFrame) -> tuple[Users, pl.DataFrame]:
    """Every item of every user, in the order of the file: row, place, item."""
    line = pl.col("line").str.strip_chars().fill_null("")
    commas, marked = users.collect(
        lines.select(
            line.str.contains(",", literal=True).any().alias("commas"),
            (line.str.contains(r"(^|\s)-2$") | (line == "")).all().alias("marked"),
        )
    ).row(0)
    split = line.str.split(",") if commas else line.str.extract_all(r"\S+")
    items = lines.select(ROW, split.alias(ITEM)).explode(ITEM)
    items = items.with_columns(stripped(pl.col(ITEM))).filter(pl.col(ITEM) != "")
    if marked:
        items = items.filter(~pl.col(ITEM).is_in(["-1", "-2"]))
        users = users.noting("Read as SPMF sequences: -1 and -2 are marks, not items.")
    return users, users.collect(items).with_row_index(PLACE)


def _restrict(users: Users, items: pl.DataFrame, top: int) -> tuple[Users, pl.DataFrame, list[str]]:
    """Only the items that occur most often, repeats within a line included."""
    occurrences = items.group_by(pl.col(ITEM).alias(LABEL)).agg(pl.len().alias(COUNT))
    kept, notes = most_frequent(arranged(occurrences), top, "occurrence")
    items = items.join(kept, left_on=ITEM, right_on=LABEL, how="semi")
    return users.noting(*notes), items, kept[LABEL].to_list()


def _with_other(values: pl.DataFrame, items: pl.DataFrame, other: str) -> pl.DataFrame:
    """The users who have items, but none of those that are kept, hold `other`."""
    rest = items.select(ROW).unique().join(values, on=ROW, how="anti")
    return pl.concat([values, rest.with_columns(pl.lit(other).alias(VALUE))]).sort(ROW)


def _pick(items: pl.DataFrame, pick: Pick) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Row and value, one per user who has an item, in the order of the file."""
    note: tuple[str, ...] = ()
    if pick == "most_frequent":
        each = items.group_by(ROW, ITEM).agg(pl.len().alias(COUNT), pl.col(PLACE).min())
        best = each.filter(pl.col(COUNT) == pl.col(COUNT).max().over(ROW))
        tied = best.filter(pl.len().over(ROW) > 1)[ROW].n_unique()
        if tied:
            note = (f"{plural(tied, 'person')} with several most frequent items: the first one.",)
        chosen = best.sort(PLACE)
    elif pick == "random":
        draws = stream(0, "pick").random(len(items))
        chosen = items.with_columns(pl.Series("draw", draws)).sort("draw")
    else:
        chosen = items.sort(PLACE, descending=pick == "last")
    single = chosen.unique(ROW, keep="first", maintain_order=True).sort(ROW)
    return single.select(ROW, pl.col(ITEM).alias(VALUE)), note
