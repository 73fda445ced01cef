"""Tables as CSV that a spreadsheet shows and never runs.

A text that begins like a formula gets an apostrophe in front, as spreadsheets write text; reading
takes it off again, so nothing is lost. Numbers, also negative ones, stay as they are.
"""

import io
from pathlib import Path
from typing import Any

import polars as pl

_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def write_csv(table: pl.DataFrame) -> str:
    """The table as CSV.

    >>> print(write_csv(pl.DataFrame({"label": ["=1+1", "-5", "home"]})), end="")
    label
    '=1+1
    -5
    home
    """
    text = pl.col(pl.String)
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    guarded = pl.when(formula).then("'" + text).otherwise(text).name.keep()
    return table.with_columns(guarded).write_csv()


def read_csv(source: Path | io.BytesIO, schema: dict[str, Any]) -> pl.DataFrame:
    """What `write_csv` wrote, as it was."""
    text = pl.col(pl.String)
    guarded = text.str.contains(_FORMULA) & text.str.starts_with("'")
    table = pl.read_csv(source, schema_overrides=schema)
    return table.with_columns(pl.when(guarded).then(text.str.slice(1)).otherwise(text).name.keep())
