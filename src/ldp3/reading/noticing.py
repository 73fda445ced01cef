"""What a person should be told of values that are probably not what was meant."""

import polars as pl

from ldp3.reading.missing import plural
from ldp3.reading.order import LABEL
from ldp3.reading.users import COUNT, Users

OWN, FEW = 0.9, 20  # share of users with a value of their own that makes ids; too few to tell


def ids_note(table: pl.DataFrame) -> list[str]:
    """Say so if nearly every user has a value of their own."""
    d, n = len(table), int(table[COUNT].sum())
    if d <= max(OWN * n, FEW):
        return []
    return [
        f"Nearly every user has a value of their own (d = {d:,}, n = {n:,}): if these are ids, "
        f"choose another `column`; `top` or `bins` make fewer values."
    ]


def title_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the header occurs again, as where files were joined with theirs."""
    if users.title is None or not users.text:
        return []
    again = int(counted.filter(pl.col(LABEL) == users.title)["rows"].sum())
    if not again:
        return []
    held = f"is also the value of {plural(again, 'row')}"
    return [f"{users.title!r}, the name of the column, {held}: files joined with their headers?"]


def transactions_note(users: Users, counted: pl.DataFrame) -> list[str]:
    """Say so if the lines of a text file look like transactions."""
    labels = counted[LABEL]
    several = r"^-?\d+(\s+-?\d+)*$"
    spaced = users.text and labels.str.contains(r"\s").any()
    if not spaced or not labels.str.contains(several).all():
        return []
    return ["Whole lines of numbers were counted as values; `input_format=transactions`?"]
