"""Several columns together: the attributes of a table, and how many people hold each record.

The rows are read once. What is left are the different records with their numbers of people; each
column of them gets its codes as if it were read alone, but that nobody is left out: who gives no
answer, or one outside a range, holds the last value of the column.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ldp3.arrays import BoolArray, IntArray
from ldp3.domain import Bins, Domain, Records
from ldp3.errors import InvalidParameter
from ldp3.people import Table
from ldp3.printing import plural
from ldp3.reading.counting import FEW, IDS, categories, count, given_domain, label_of
from ldp3.reading.cutting import as_numbers, bin_numbers
from ldp3.reading.options import NO_ANSWER, OTHER, Column, Missing, Reading
from ldp3.reading.users import (
    COUNT,
    ROW,
    VALUE,
    Users,
    attribute,
    missing_texts,
    plainly_written,
)


def read_columns(users: Users, reading: Reading) -> Table:
    """The table in rows whose columns are chosen."""
    columns = [replace(one, reading=_as_in_file(one, reading)) for one in reading.columns or ()]
    held, people = _distinct(users, len(columns)), pl.col(COUNT)
    if reading.missing in ("drop", "refuse"):
        users, held = _answering(users, held, columns, reading.missing)
    domains, notes, numbers = [], [], np.zeros(len(held), dtype=np.int64)
    for j, column in enumerate(columns):
        alone = _alone(users, held, j)
        each = alone.frame.group_by(VALUE).agg(people.sum(), pl.col(ROW).min()).sort(ROW).collect()
        domain, found, said = _coded(replace(alone, frame=each.lazy()), each[COUNT], column)
        known = each.select(pl.col(VALUE).alias(attribute(j)), pl.Series("code", found))
        rows = held.select(attribute(j)).join(
            known, on=attribute(j), how="left", nulls_equal=True, maintain_order="left"
        )
        numbers = numbers * domain.d + rows["code"].to_numpy()  # checked by `_records`
        domains.append(domain)
        notes += [f"{users.titles[j]}: {one}" for one in said]
    records = _records(users, domains)
    numbered = pl.DataFrame({"record": numbers, COUNT: held[COUNT]})
    counted = numbered.group_by("record").agg(people.sum()).filter(people > 0).sort("record")
    if not len(counted):
        raise users.error("holds nobody, only a header or blank lines.")
    distinct = records.columns(counted["record"].to_numpy())
    counts = counted[COUNT].to_numpy().astype(np.int64)
    return Table(users.name, records, distinct, counts, (*users.notes, *notes))


def _as_in_file(column: Column, reading: Reading) -> Reading:
    """How a column is read: as it says, and as its file says of missing answers."""
    keep: Missing = "keep" if reading.missing == "keep" else "drop"
    return replace(column.reading, na=reading.na, missing=keep)


def _records(users: Users, domains: Sequence[Domain]) -> Records:
    try:
        return Records(domains)
    except InvalidParameter as error:
        raise users.error(
            f"{error} Leave columns out, or make fewer values, as in page(top=20)."
        ) from None


def _distinct(users: Users, columns: int) -> pl.DataFrame:
    """The different records in the order of their first rows, with numbers of people."""
    names = list(map(attribute, range(columns)))
    people = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    numbered = users.frame.with_row_index(ROW).group_by(names)
    held = users.collect(numbered.agg(people.cast(pl.Int64), pl.col(ROW).min())).sort(ROW)
    blank = pl.all_horizontal(pl.col(names).is_null())
    gone = users.blank_rows_at_end() if users.text and held.select(blank.any()).item() else 0
    without = pl.when(blank).then(pl.col(COUNT) - gone).otherwise(pl.col(COUNT))
    return held.with_columns(without.alias(COUNT)).filter(pl.col(COUNT) > 0)


def _alone(users: Users, held: pl.DataFrame, number: int) -> Users:
    """One column of the different records, as if there were no other."""
    frame = held.lazy().select(pl.col(attribute(number)).alias(VALUE), COUNT, ROW)
    title = users.titles[number]
    source = f"{users.source}: {title!r}"
    return replace(
        users, frame=frame, title=title, source=source, notes=(), among=True, untrusted=False
    )


def _gaps(alone: Users, reading: Reading) -> pl.Expr:
    """Which rows hold no answer."""
    return label_of(alone, missing_texts(alone, reading, given_domain(reading))) == ""


def _answering(
    users: Users, held: pl.DataFrame, columns: Sequence[Column], missing: Missing
) -> tuple[Users, pl.DataFrame]:
    """Only people who answer everything; others are left out, or refused."""
    gone = np.zeros(len(held), dtype=bool)
    for j, column in enumerate(columns):
        alone = _alone(users, held, j)
        gone |= alone.collect(alone.frame.select(_gaps(alone, column.reading)))[:, 0].to_numpy()
    people = int(held.filter(pl.Series(gone))[COUNT].sum())
    if people and missing == "refuse":
        raise users.error(
            f"{plural(people, 'person')} without an answer somewhere; fill them in, leave such "
            f"rows out with `missing=drop`, or leave `missing` out: then they are a value."
        )
    if people:
        users = users.noting(f"{plural(people, 'person')} without an answer somewhere left out.")
    return users, held.filter(pl.Series(~gone))


def _coded(alone: Users, people: pl.Series, column: Column) -> tuple[Domain, IntArray, list[str]]:
    """The domain of a column, the code of each row, and what a person should know."""
    alone = plainly_written(alone, column.reading)
    gap = alone.collect(alone.frame.select(_gaps(alone, column.reading)))[:, 0].to_numpy()
    answered = replace(alone, frame=alone.frame.filter(pl.lit(pl.Series(~gap))))
    if gap.all():
        raise alone.error("holds no values; leave it out.")
    reading = column.reading
    if reading.bins is not None:
        found = bin_numbers(answered, reading)
        own = found.domain
        assert isinstance(own, Bins)
        numbers, _ = as_numbers(answered, (VALUE,), reading)
        inside = own.codes(numbers.collect(numbers.frame)[VALUE].to_numpy())
    else:
        found = count(answered, reading, given_domain(reading) or categories(answered, reading))
        own = found.domain
        _refuse_ids(alone, own, int(people.sum()), reading)
        text = answered.collect(answered.frame.select(label_of(answered, [])))[:, 0]
        code = {label: code for code, label in enumerate(own.labels)}
        moved = -1 if own.other is None else own.size
        inside = text.replace_strict(code, default=moved, return_dtype=pl.Int64).to_numpy()
    codes = np.full(len(gap), -1)
    codes[~gap] = inside
    return _with_other(own, codes, gap, people.to_numpy(), column.other, list(found.notes))


def _with_other(
    own: Domain,
    codes: IntArray,
    gap: BoolArray,
    people: IntArray,
    other: str | None,
    notes: list[str],
) -> tuple[Domain, IntArray, list[str]]:
    """Whoever has no code holds the last value."""
    outside, unanswered = int(people[(codes < 0) & ~gap].sum()), int(people[gap].sum())
    label = own.other or other or (OTHER if outside else NO_ANSWER if unanswered else None)
    for number, who in ((unanswered, "without an answer"), (outside, "outside the range")):
        if number:
            notes.append(f"{plural(number, 'person')} {who} counted as {label!r}.")
    if label is not None and own.other is None:
        own = replace(own, other=label)
    return own, np.where((codes < 0) & (own.other is not None), own.size, codes), notes


def _refuse_ids(alone: Users, own: Domain, n: int, reading: Reading) -> None:
    named = reading.domain is not None or reading.domain_size is not None
    if own.d > max(IDS * n, FEW) and not named:
        raise alone.error(
            f"nearly everybody has a value of their own (d = {own.d:,}, n = {n:,}), as in a column "
            f"of ids: leave it out, or make fewer values, as in {alone.title}(top=20)."
        )
