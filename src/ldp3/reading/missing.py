"""Rows that hold no value: what means that, how many there are, and what becomes of them."""

from collections.abc import Iterable, Mapping

import polars as pl

from ldp3.reading.options import NA, Reading
from ldp3.reading.users import Users


def missing_texts(users: Users, reading: Reading, domain: Iterable[str] | None) -> list[str]:
    """Texts in lower case that mean "no value", but for those that the domain names as values.

    Where a file has a null of its own, text is text unless `na` says otherwise.
    """
    if reading.missing == "keep" or (reading.na is None and not users.text):
        return []
    named = {text.strip().lower() for text in (NA if reading.na is None else reading.na).split(",")}
    return sorted(named - {"", *(label.lower() for label in domain or ())})


def without_texts(text: pl.Expr, absent: list[str], instead: str | None) -> pl.Expr:
    """A column of text in which what means "no value" is replaced."""
    if not absent:
        return text
    return pl.when(text.str.to_lowercase().is_in(absent)).then(pl.lit(instead)).otherwise(text)


def without_missing(
    users: Users, rows: Mapping[str, int], reading: Reading, which: pl.Expr
) -> Users:
    """Refuse rows that hold no value, or say how many are left out; `rows` of each such text."""
    held = dict(rows)
    if "" in held:
        held[""] -= users.blank_rows_at_end()
    held = {text: number for text, number in held.items() if number}
    total = sum(held.values())
    if not total:
        return users
    if reading.missing == "drop":
        told = "" if list(held) == [""] else f": {_listed(held)}"
        return users.noting(f"{plural(total, 'row')} without a value left out{told}.")
    place, _ = users.first_where(which)
    texts = [text for text in held if text]
    what = _listed(held) if texts else ""
    more = f" ({', '.join(filter(None, (f'{total:,} rows in all' * (total > 1), what)))})"
    keep = ", or keep such texts as values with `missing=keep`" if texts else ""
    raise users.error(
        f"{place} holds no value{more if len(more) > 3 else ''}; fill it in, or leave such rows "
        f"out with `missing=drop`{keep}."
    )


def kept_note(users: Users, labels: pl.DataFrame, reading: Reading) -> list[str]:
    """Say so where a value of a file with nulls of its own is a text that often means none."""
    if users.text or reading.na is not None or reading.missing == "keep":
        return []
    text = pl.col("label").str.to_lowercase()
    found = labels.filter(text.is_in(NA.lower().split(","))).sort("label")
    return [
        f"{label!r} ({plural(rows, 'row')}) is counted as a value; `na={label}` if it means none."
        for label, rows in found.select("label", "rows").rows()
    ]


def _listed(held: Mapping[str, int]) -> str:
    """``12 'NA', 5 empty``."""
    most = sorted(held.items(), key=lambda item: (-item[1], item[0] == "", item[0]))
    return ", ".join(f"{rows:,} {repr(text) if text else 'empty'}" for text, rows in most)


def plural(number: int, what: str) -> str:
    """``1 row``, ``1,234 rows``."""
    return f"{number:,} {what}" + ("s" if number != 1 else "")
