"""Files of reports: what they can hold, and writing them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ldp3.errors import InvalidParameter, require

if TYPE_CHECKING:
    import polars as pl

    from ldp3.protocols.layout import Bytes

ReportFormat = Literal["raw", "jsonl", "parquet", "arrow"]
ENDINGS: dict[str, ReportFormat] = {
    ".bin": "raw",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
ROW_GROUP = 2**18  # rows of a table, so that a reader need not hold many
REPORT, ID = "report", "id"  # the names of the columns, and of the fields of a JSON line
RowsAndIds: TypeAlias = "tuple[Bytes, list[str] | None]"  # an identifier for each row, or none


def format_of(path: Path, given: ReportFormat | None, option: str) -> ReportFormat:
    """What a file of reports holds, as given by an option of this name, or by its ending."""
    known = get_args(ReportFormat)
    if given is not None:
        require(given in known, f"`{option}`", f"must be one of {', '.join(known)}", given)
        return given
    if path.suffix.lower() not in ENDINGS:
        raise InvalidParameter(
            f"{path}: reports are in {', '.join(ENDINGS)} files; say what this one holds with "
            f"`{option}` ({', '.join(known)})."
        )
    return ENDINGS[path.suffix.lower()]


def write_reports(path: Path, format: ReportFormat, chunks: Iterable[RowsAndIds]) -> None:
    """Write reports, chunk after chunk, without holding them all."""
    if format == "raw":
        with path.open("wb") as file:
            file.writelines(rows.tobytes() for rows, _ in chunks)
    elif format == "jsonl":
        with path.open("wb") as file:
            for rows, ids in chunks:
                frame = _frame(rows, ids)
                frame.with_columns(frame[REPORT].bin.encode("base64")).write_ndjson(file)
    else:
        _write_table(path, format, iter(chunks))


def _write_table(path: Path, format: ReportFormat, chunks: Iterator[RowsAndIds]) -> None:
    import polars as pl
    from polars.io.plugins import register_io_source

    first = next(chunks, None)

    def frames(*_: object) -> Iterator["pl.DataFrame"]:
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


def _frame(rows: "Bytes", ids: list[str] | None) -> "pl.DataFrame":
    import polars as pl

    reports = pl.Series(REPORT, rows).cast(pl.List(pl.UInt8)).cast(pl.Binary)
    return pl.DataFrame([reports] if ids is None else [reports, pl.Series(ID, ids, pl.String)])
