"""Data in memory: pandas, Polars, Arrow, NumPy, lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from ldp3.datasets.users import VALUE, Users
from ldp3.errors import InvalidData


def from_object(data: object) -> Users:
    """The rows of a table, a column, an array or a list of values."""
    what = type(data).__name__
    if isinstance(data, pl.LazyFrame):
        return Users("data", what, data)
    try:
        table = _polars(data)
    except ImportError as error:
        raise InvalidData(f"{what}: {error}; install it, or pass a NumPy array.") from None
    except (TypeError, ValueError, pl.exceptions.PolarsError, OverflowError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidData(
            f"{what}: values of one kind are needed, one per user ({reason})."
        ) from None
    if isinstance(table, pl.DataFrame):
        return Users("data", what, table.lazy())
    name = table.name or "data"
    return Users(name, what, table.alias(VALUE).to_frame().lazy())


def _polars(data: Any) -> pl.DataFrame | pl.Series:
    if isinstance(data, pl.DataFrame | pl.Series):
        return data
    if type(data).__module__.split(".")[0] == "pandas":
        return pl.from_pandas(data)
    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise ValueError(f"the array has {data.ndim} dimensions")
        return pl.Series(data.tolist() if data.dtype == object else data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return pl.from_arrow(data)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return pl.Series(list(data))
    raise TypeError("not a table, a column, an array or a list")
