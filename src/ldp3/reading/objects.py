"""Data in memory: pandas, Polars, Arrow, NumPy, lists."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ldp3.errors import InvalidData, as_python, short, whole
from ldp3.reading.users import COUNT, VALUE, Users


def from_object(data: object) -> Users:
    """The rows of a table, a column, an array or a list of values."""
    what = type(data).__name__
    if isinstance(data, Mapping):
        data = pl.DataFrame({VALUE: list(data), COUNT: list(data.values())}, strict=False)
    if isinstance(data, pl.LazyFrame):
        return Users("data", what, data)
    try:
        table = _polars(data)
    except ImportError as error:
        raise InvalidData(f"{what}: {error}; install it, or pass a NumPy array.") from None
    except (TypeError, ValueError, pl.exceptions.PolarsError, OverflowError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidData(
            f"{what}: values of one kind are needed, one per person ({reason})."
        ) from None
    if isinstance(table, pl.DataFrame):
        return Users(_name(data), what, table.lazy())
    return Users(table.name or "data", what, table.alias(VALUE).to_frame().lazy())


def table_of(data: object, names: list[str]) -> Users:
    """The rows of a table, of a dict of columns, or of an array with so many columns."""
    if isinstance(data, Mapping):
        try:
            data = pl.DataFrame(dict(data), strict=False)
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            reason = str(error).strip().splitlines()[0]
            raise InvalidData(f"dict: columns of one length are needed ({reason}).") from None
    if isinstance(data, np.ndarray) and data.ndim == 2:
        fits = data.shape[1] == len(names)
        data = pl.DataFrame(data, schema=names if fits else None)
    return from_object(data)


def is_column_of_counts(data: Any) -> bool:
    """Whether it is a `Counter`, a dict or what pandas' `value_counts` gives: numbers of people.

    A Series that may as well be a column of values is refused.
    """
    if isinstance(data, Mapping):
        if not all(whole(as_python(users), 0) for users in data.values()):
            raise InvalidData(f"{type(data).__name__}: needs numbers of people, one per value.")
        return True
    if not _is_pandas(data) or type(data).__name__ != "Series":
        return False
    index = data.index
    if data.name == "proportion" or (data.name in (None, COUNT) and index.nlevels > 1):
        raise InvalidData(f"Series: shares, or counts of pairs, are no data: {_ways(data)}.")
    if data.name is None and index.name is not None and data.dtype.kind in "iu":
        raise InvalidData(f"Series: counts, as of `size()`, or values? Say it: {_ways(data)}.")
    if data.name != COUNT or data.dtype.kind not in "iu" or not index.is_unique:
        return False
    if index.name is None and index.dtype.kind in "iu":
        plain = len(index) > 0 and index[0] == 0 and (np.diff(index) > 0).all()
        if type(index).__name__ == "RangeIndex" or plain:
            return False  # the column "count" of a table
        raise InvalidData(f"Series: counts, or a column called 'count'? Say it: {_ways(data)}.")
    return True


def _ways(data: Any) -> str:
    own = data.name or COUNT
    return (
        f"`.rename_axis('value').reset_index(name={own!r})` with `counts=True` for numbers of "
        f"people, `.to_numpy()` for values, one per person"
    )


def _name(data: Any) -> str:
    """What a column of counts calls its values; a table has no name."""
    return str(getattr(getattr(data, "index", None), "name", None) or "data")


def _polars(data: Any) -> pl.DataFrame | pl.Series:
    if isinstance(data, pl.DataFrame | pl.Series):
        return data
    if _is_pandas(data):
        return _from_pandas(data)
    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise ValueError(f"the array has {data.ndim} dimensions")
        return pl.Series(data.tolist() if data.dtype == object else data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return pl.from_arrow(data)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return pl.Series(list(data))
    raise TypeError(f"{short(data)} is not a table, a column, an array or a list")


def _is_pandas(data: object) -> bool:
    return type(data).__module__.split(".")[0] == "pandas"


def _from_pandas(data: Any) -> pl.DataFrame | pl.Series:
    if hasattr(data, "columns"):
        columns = {name: data[name] for name in data.columns}
        if not any(map(_categorical, columns.values())):
            return pl.from_pandas(data)
        return pl.DataFrame([_column(each).alias(str(name)) for name, each in columns.items()])
    if is_column_of_counts(data):
        values = _column(_series(data.index))
        return pl.DataFrame([values.alias(VALUE), pl.Series(COUNT, data.to_numpy())])
    return _column(data)


def _column(data: Any) -> pl.Series:
    """A column; one of categories keeps them all, and their order, also those that nobody holds."""
    if not _categorical(data):
        return pl.from_pandas(data)  # type: ignore[return-value]
    pandas = data if hasattr(data, "cat") else _series(data)
    texts = [str(category).strip() for category in pandas.cat.categories]
    codes = pl.Series(pandas.cat.codes.to_numpy())
    held = pl.select(pl.when(codes >= 0).then(codes)).to_series()
    labels = pl.Series(texts, dtype=pl.String).gather(held)
    name = "" if pandas.name is None else str(pandas.name)
    return labels.cast(pl.Enum(list(dict.fromkeys(texts)))).alias(name)


def _series(data: Any) -> Any:
    import pandas

    return pandas.Series(data)


def _categorical(data: Any) -> bool:
    return type(getattr(data, "dtype", None)).__name__ == "CategoricalDtype"
