"""Write a dataset to a file that `load` reads back."""

from pathlib import Path

import numpy as np
import polars as pl

from ldp3.datasets.users import COUNT, VALUE
from ldp3.errors import InvalidData
from ldp3.types import Dataset

BATCH = 1 << 20  # rows in memory at a time


def write(data: Dataset, path: Path, counts: bool = False) -> None:
    """Write one value per row (.txt, .csv, .parquet), or with `counts` each value with its count.

    Rows are in the order of the file where values were kept, else in order of value. Text files
    have no header, as `load` expects by default; Parquet's columns are `value` and `count`.
    A file holds no value that nobody has unless `counts` is asked for.
    """
    ending = path.suffix.lower()
    if ending not in (".txt", ".csv", ".parquet"):
        raise InvalidData(f"{path}: a dataset is written to .txt, .csv or .parquet.")
    if ending == ".txt" and counts:
        raise InvalidData(f"{path}: values with counts are written to .csv or .parquet.")
    frame = _histogram(data) if counts else _rows(data)
    try:
        if ending == ".parquet":
            frame.sink_parquet(path)
        elif ending == ".csv":
            frame.sink_csv(path, include_header=False)
        else:
            _require_lines(data, path)
            frame.sink_csv(path, include_header=False, quote_style="never")
    except OSError as error:
        raise InvalidData(f"{path}: cannot be written: {error.strerror or error}.") from None


def _histogram(data: Dataset) -> pl.LazyFrame:
    return pl.LazyFrame({VALUE: list(data.labels), COUNT: data.histogram})


def _rows(data: Dataset) -> pl.LazyFrame:
    labels = pl.Series(VALUE, list(data.labels))
    if data.values is not None:
        return labels.gather(data.values.astype(np.uint32)).to_frame().lazy()
    repeated = pl.col(VALUE).repeat_by(COUNT).explode().drop_nulls()
    return _histogram(data).select(repeated)


def _require_lines(data: Dataset, path: Path) -> None:
    for label in data.labels:
        if "\n" in label or "\r" in label:
            raise InvalidData(f"{path}: the label {label!r} spans lines; write .csv or .parquet.")
