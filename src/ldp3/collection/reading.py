"""Read files of reports in parts of a fixed size, and count each part."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from ldp3.collection.counts import Counts, digests_of
from ldp3.collection.files import ID, REPORT, Format, format_of
from ldp3.collection.wire import LENGTH, Bytes, Wire, add_to
from ldp3.errors import InvalidData

PART = 2**24  # bytes of reports that a task holds at a time
NO_REPORT = "no report"
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Part:
    """A piece of a file, small enough to be held in memory.

    Parameters
    ----------
    path
        The file.
    format
        What it holds.
    start, stop
        Bytes of a raw file or of JSON lines, rows of a table.
    identified
        Whether a table has a column of identifiers.
    """

    path: str
    format: Format
    start: int
    stop: int
    identified: bool = False


def parts_of(path: Path, wire: Wire, format: Format | None = None) -> Iterator[Part]:
    """The file in parts that begin where a report, a line or a row begins.

    A file that cannot be read at all is refused before the first part is asked for.
    """
    kind = format_of(path, format)
    try:
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read: {error.strerror}.") from None
    if kind in ("raw", "jsonl"):
        return _parts_of_bytes(path, wire, kind)
    return _parts_of_table(path, wire, kind)


def _parts_of_bytes(path: Path, wire: Wire, format: Format) -> Iterator[Part]:
    step = max(PART // wire.report_bytes, 1) * wire.report_bytes
    start, size = 0, path.stat().st_size
    with path.open("rb") as file:
        while start < size:
            # Damage before may have moved the reports, so a part begins at the next tag or line.
            # Where none is near there is nothing but damage, and any cut will do.
            file.seek(start + step)
            near = file.read(4 * wire.report_bytes + 2**16)
            after = near.find(wire.tag) if format == "raw" else near.find(b"\n") + 1
            stop = min(start + step + max(after, 0), size)
            yield Part(str(path), format, start, stop)
            start = stop


def _parts_of_table(path: Path, wire: Wire, format: Format) -> Iterator[Part]:
    try:
        table = _scan(path, format)
        schema = table.collect_schema()
        rows = table.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidData(f"{path}: is no {format} file: {reason}") from None
    if schema.get(REPORT) != pl.Binary:
        columns = ", ".join(f"{name} ({dtype})" for name, dtype in list(schema.items())[:8])
        raise InvalidData(
            f"{path}: a binary column {REPORT!r} is needed, but the columns are {columns}."
        )
    step = max(PART // wire.report_bytes, 1)
    starts = range(0, rows, step)
    return (Part(str(path), format, s, min(s + step, rows), ID in schema) for s in starts)


def count_part(wire: Wire, part: Part, already: frozenset[bytes] = frozenset()) -> Counts:
    """A task: count one part, without the reports whose identifiers were counted `already`."""
    counts = Counts.none(wire.oracle)
    counts.seen |= already
    if part.format == "raw":
        data = np.frombuffer(_bytes(part), dtype=np.uint8)
        counts.add_rows(wire, wire.split(data, counts.refused))
    else:
        _count_column(wire, part, counts)
    return counts


def _count_column(wire: Wire, part: Part, counts: Counts) -> None:
    try:
        table = _lines(part) if part.format == "jsonl" else _rows(part)
    except (pl.exceptions.PolarsError, OSError):  # a damaged page: the rows of this part are lost
        add_to(counts.refused, UNREADABLE, part.stop - part.start)
        return
    add_to(counts.refused, NO_REPORT, table[REPORT].null_count())
    table = table.drop_nulls(REPORT)
    right = table[REPORT].bin.size() == wire.report_bytes
    add_to(counts.refused, LENGTH, int((~right).sum()))
    table = table.filter(right)
    if len(table):
        digests = digests_of(table[ID].to_list()) if ID in table.columns else None
        counts.add_rows(wire, _as_rows(table[REPORT], wire.report_bytes), digests)


def _rows(part: Part) -> pl.DataFrame:
    table = _scan(Path(part.path), part.format)
    columns = [pl.col(REPORT)]
    if part.identified:
        binary = table.collect_schema()[ID] == pl.Binary
        columns.append(pl.col(ID) if binary else pl.col(ID).cast(pl.String))
    return table.select(columns).slice(part.start, part.stop - part.start).collect()


def _lines(part: Part) -> pl.DataFrame:
    text = _bytes(part).decode("utf-8", errors="replace")
    lines = pl.Series([line for line in text.split("\n") if line.strip()], dtype=pl.String)
    report = lines.str.json_path_match(f"$.{REPORT}").str.decode("base64", strict=False)
    table = pl.DataFrame({REPORT: report})
    if f'"{ID}"' not in text:  # looking for what is not there takes as long as the report
        return table
    return table.with_columns(lines.str.json_path_match(f"$.{ID}").alias(ID))


def _bytes(part: Part) -> bytes:
    with Path(part.path).open("rb") as file:
        file.seek(part.start)
        return file.read(part.stop - part.start)


def _scan(path: Path, format: Format) -> pl.LazyFrame:
    if format == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def _as_rows(reports: pl.Series, size: int) -> Bytes:
    return reports.bin.reinterpret(dtype=pl.Array(pl.UInt8, size)).to_numpy()
