"""Files of reports: raw bytes, JSON lines, Parquet and Arrow."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

import polars as pl
from polars.io.plugins import register_io_source

from ldp3.collection.wire import Bytes
from ldp3.errors import InvalidParameter

Format = Literal["raw", "jsonl", "parquet", "arrow"]
ENDINGS: dict[str, Format] = {
    ".bin": "raw",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
REPORT, ID = "report", "id"  # the names of the columns, and of the fields of a JSON line
ROW_GROUP = 2**18  # rows, so that a reader need not hold many
Batch = tuple[Bytes, list[str] | None]  # rows of bytes, and an identifier for each if there are any


def format_of(path: Path, format: Format | None = None) -> Format:
    """What a file holds, as asked or by its ending."""
    if format is not None:
        return format
    if path.suffix.lower() not in ENDINGS:
        raise InvalidParameter(
            f"{path}: reports are in {', '.join(ENDINGS)} files; say what this one holds with "
            f"--format ({', '.join(get_args(Format))})."
        )
    return ENDINGS[path.suffix.lower()]


def write(path: Path, format: Format, batches: Iterable[Batch]) -> None:
    """Write reports, batch after batch, without holding them all."""
    if format == "raw":
        with path.open("wb") as file:
            file.writelines(rows.tobytes() for rows, _ in batches)
    elif format == "jsonl":
        with path.open("wb") as file:
            file.writelines(line for rows, ids in batches for line in _json_lines(rows, ids))
    else:
        _write_table(path, format, iter(batches))


def _json_lines(rows: Bytes, ids: list[str] | None) -> Iterator[bytes]:
    for i, row in enumerate(rows):
        identifier = "" if ids is None else f'"{ID}":"{ids[i]}",'
        yield f'{{{identifier}"{REPORT}":"{b64encode(row).decode()}"}}\n'.encode()


def _write_table(path: Path, format: Format, batches: Iterator[Batch]) -> None:
    first = next(batches, None)

    def frames(*_: object) -> Iterator[pl.DataFrame]:
        if first is not None:
            yield _frame(*first)
        for rows, ids in batches:
            yield _frame(rows, ids)

    identified = first is not None and first[1] is not None
    schema = pl.Schema({REPORT: pl.Binary, **({ID: pl.String} if identified else {})})
    table = register_io_source(frames, schema=schema)
    if format == "parquet":
        table.sink_parquet(path, row_group_size=ROW_GROUP)
    else:
        table.sink_ipc(path)


def _frame(rows: Bytes, ids: list[str] | None) -> pl.DataFrame:
    reports = pl.Series(REPORT, rows).cast(pl.List(pl.UInt8)).cast(pl.Binary)
    return pl.DataFrame([reports] if ids is None else [reports, pl.Series(ID, ids, pl.String)])
