"""Reports in Parquet, Arrow and JSON lines, as columns."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from ldp3.collection.counts import digests_of
from ldp3.collection.reports import ID, REPORT, ReportFormat, RowsAndIds
from ldp3.errors import InvalidData
from ldp3.protocols.layout import Bytes
from ldp3.sandbox import Answer

if TYPE_CHECKING:
    from ldp3.collection.reading import Part

ROW_GROUP = 2**18  # rows, so that a reader need not hold many


def write_table(path: Path, format: ReportFormat, chunks: Iterator[RowsAndIds]) -> None:
    """Write reports, chunk after chunk, without holding them all."""
    first = next(chunks, None)

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        if first is not None:
            yield _frame(*first)
        for rows, ids in chunks:
            yield _frame(rows, ids)

    identified = first is not None and first[1] is not None
    schema = pl.Schema({REPORT: pl.Binary, **({ID: pl.String} if identified else {})})
    table = register_io_source(frames, schema=schema)
    if format == "parquet":
        table.sink_parquet(path, row_group_size=ROW_GROUP)
    else:
        table.sink_ipc(path)


def count_rows(path: str, format: ReportFormat) -> Answer:
    """In a reader: how many rows a table of reports has."""
    table = _scan(Path(path), format)
    schema = table.collect_schema()
    if schema.get(REPORT) != pl.Binary:
        columns = ", ".join(f"{name} ({dtype})" for name, dtype in list(schema.items())[:8])
        raise InvalidData(
            f"{path}: a binary column {REPORT!r} is needed, but the columns are {columns}."
        )
    return int(table.select(pl.len()).collect().item()), ()


def read_rows(part: "Part", size: int) -> Answer:
    """In a reader: the rows of a part of a table, sorted out, for `rows_read`."""
    table = _scan(Path(part.path), part.format)
    columns = [pl.col(REPORT)]
    kind = table.collect_schema().get(ID)
    if kind is not None:
        columns.append(pl.col(ID) if kind == pl.Binary else pl.col(ID).cast(pl.String))
    frame = table.select(columns).slice(part.start, part.stop - part.start).collect()
    found = sorted_out(frame, size)
    buffers: list[Any] = [np.ascontiguousarray(found.rows)]
    if found.digests is not None:
        buffers.append(b"".join(digest or bytes(16) for digest in found.digests))
        buffers.append(bytes(digest is not None for digest in found.digests))
    return (found.null, found.wrong, len(frame)), buffers


def read_first(part: "Part", size: int) -> Answer:
    """In a reader: the start of the first report in a part of a table."""
    table = _scan(Path(part.path), part.format).select(REPORT)
    rows = table.slice(part.start, part.stop - part.start).drop_nulls().head(1).collect()
    return (len(rows),), [b"".join(report[:size] for report in rows[REPORT])]


def rows_read(answer: Sequence[int], buffers: Sequence[Any], size: int) -> "Rows":
    """What a reader answered."""
    null, wrong, _ = answer
    rows = np.frombuffer(buffers[0], dtype=np.uint8).reshape(-1, size)
    if len(buffers) == 1:
        return Rows(null, wrong, rows, None)
    digests, known = bytes(buffers[1]), buffers[2]
    return Rows(
        null,
        wrong,
        rows,
        [digests[16 * i : 16 * i + 16] if k else None for i, k in enumerate(known)],
    )


class Rows(NamedTuple):
    """Rows of reports that have the right length, and how many have not.

    Parameters
    ----------
    null, wrong
        How many rows hold nothing, or a report of another length.
    rows
        The bytes of the others.
    digests
        Of their identifiers, if there are any.
    """

    null: int
    wrong: int
    rows: Bytes
    digests: list[bytes | None] | None


def sorted_out(frame: pl.DataFrame, size: int) -> Rows:
    """The reports of `size` bytes in a table."""
    null = frame[REPORT].null_count()
    frame = frame.drop_nulls(REPORT) if null else frame
    right = frame[REPORT].bin.size() == size
    wrong = len(right) - int(right.sum())
    frame = frame.filter(right) if wrong else frame
    rows = as_rows(frame[REPORT], size) if len(frame) else np.empty((0, size), dtype=np.uint8)
    return Rows(null, wrong, rows, digests_of(frame[ID].to_list()) if ID in frame else None)


def read_lines(data: bytes) -> pl.DataFrame:
    """The reports in JSON lines, and their identifiers; null where a line has none."""
    text = data.decode("utf-8", errors="replace")
    lines = pl.Series([line for line in text.split("\n") if line.strip()], dtype=pl.String)
    report = lines.str.json_path_match(f"$.{REPORT}").str.decode("base64", strict=False)
    table = pl.DataFrame({REPORT: report})
    if f'"{ID}"' not in text:  # looking for what is not there takes as long as the report
        return table
    return table.with_columns(lines.str.json_path_match(f"$.{ID}").alias(ID))


def as_rows(reports: pl.Series, size: int) -> Bytes:
    """Binary values of `size` bytes each, as rows of bytes."""
    return reports.bin.reinterpret(dtype=pl.Array(pl.UInt8, size)).to_numpy()


def _scan(path: Path, format: ReportFormat) -> pl.LazyFrame:
    if format == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def _frame(rows: Bytes, ids: list[str] | None) -> pl.DataFrame:
    reports = pl.Series(REPORT, rows).cast(pl.List(pl.UInt8)).cast(pl.Binary)
    return pl.DataFrame([reports] if ids is None else [reports, pl.Series(ID, ids, pl.String)])
