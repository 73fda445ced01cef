"""Write a dataset to a file that `load` reads back."""

from pathlib import Path

import numpy as np
import polars as pl

from ldp3.errors import InvalidData
from ldp3.files import whole_file
from ldp3.people import Dataset
from ldp3.reading.users import COUNT, VALUE

MOST_ROWS = 10**9  # of one value each: they are held in memory


def write(data: Dataset, path: Path, counts: bool = False) -> None:
    """Write one value per row (.txt, .csv, .parquet), or with `counts` each value with its count.

    Rows are in the order of the file where values were kept, else in order of value. The columns
    are called `value` and `count`; a .txt file has no header (`header=False` reads it back).
    A file holds no value that nobody has unless `counts` is asked for.
    """
    ending = path.suffix.lower()
    if ending not in (".txt", ".csv", ".parquet"):
        raise InvalidData(f"{path}: a dataset is written to .txt, .csv or .parquet.")
    if ending == ".txt" and counts:
        raise InvalidData(f"{path}: values with counts are written to .csv or .parquet.")
    if not counts and data.n > MOST_ROWS:
        raise InvalidData(
            f"{path}: {data.n:,} rows are too many, {MOST_ROWS:,} at most: write each value once, "
            f"with its count (`with_counts`)."
        )
    frame = _histogram(data) if counts else _rows(data)
    with whole_file(path) as temporary:
        if ending == ".parquet":
            frame.sink_parquet(temporary)
        elif ending == ".csv":
            frame.sink_csv(temporary)
        else:
            _require_lines(data, path)
            frame.sink_csv(temporary, include_header=False, quote_style="never")


def _histogram(data: Dataset) -> pl.LazyFrame:
    return pl.LazyFrame({VALUE: list(data.labels), COUNT: data.histogram})


def _rows(data: Dataset) -> pl.LazyFrame:
    codes = data.values
    if codes is None:
        codes = np.repeat(np.arange(data.d, dtype=np.uint32), data.histogram)
    known = pl.Series(range(data.d), dtype=pl.UInt32), pl.Series(list(data.labels))
    label = pl.col(VALUE).replace_strict(*known)  # batch by batch
    return pl.LazyFrame({VALUE: codes.astype(np.uint32, copy=False)}).select(label)


def _require_lines(data: Dataset, path: Path) -> None:
    for label in data.labels:
        if "\n" in label or "\r" in label:
            raise InvalidData(f"{path}: the label {label!r} spans lines; write .csv or .parquet.")
