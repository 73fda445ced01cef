"""Files of every format, plain or packed: text, workbooks, Parquet, Arrow, JSON."""

import io
import json
from collections.abc import Callable, Collection
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ldp3.errors import InvalidData
from ldp3.reading.evidence import ROWS, titles_of
from ldp3.reading.opening import PACKED_ENDINGS, WORKBOOKS, Content, content, plain_name
from ldp3.reading.options import Format, Reading
from ldp3.reading.text import open_text
from ldp3.reading.users import VALUE, Users
from ldp3.sandbox import Reply, Unreadable, decoded, in_reader, schema

ENDINGS: dict[str, Format] = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    **dict.fromkeys(WORKBOOKS, "excel"),
    ".dat": "transactions",
}
TEXT = ("lines", "csv", "transactions")
STARTS: dict[bytes, Format] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"{": "jsonl", b"[": "json"}
CALLED = {
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "json": "a JSON file",
    "jsonl": "a JSON lines file",
    "excel": "a workbook",
}
WORKBOOK = 2**32  # bytes that reading a workbook may take: one far cell makes a sheet of zeros


def open_file(path: Path, reading: Reading, domain: Collection[str] | None = None) -> Users:
    """The rows of a file; reading them can still fail and says so then.

    A value of the `domain` in the first row says that this is no header.
    """
    found = content(path)
    kind = format_of(found, reading)
    if kind in TEXT:
        return open_text(found, kind, reading, domain)
    try:
        if kind == "excel":
            return _open_workbook(found, reading, domain)
        frame = SCANNED[kind](found)
    except Unreadable as error:
        raise InvalidData(f"{found.source}: {_unreadable(kind, error)}") from None

    def explain(error: Exception) -> str:
        return _unreadable(kind, error)

    name, untrusted = Path(found.name).stem, isinstance(frame, pl.LazyFrame)
    rows = frame.lazy()
    return Users(name, found.source, rows, 1, "row", untrusted=untrusted, explain=explain)


def format_of(found: Content | Path, reading: Reading) -> Format:
    """What the file holds, as asked or by its ending."""
    if reading.input_format:
        return reading.input_format
    ending = Path(plain_name(found.name)).suffix.lower()
    if isinstance(found, Content) and found.path == Path("-"):
        kind = _by_start(found.sample())
    elif ending in ENDINGS:
        kind = ENDINGS[ending]
    else:
        raise InvalidData(
            f"{getattr(found, 'source', found)}: endings are {', '.join(ENDINGS)} (and "
            f"{' '.join(PACKED_ENDINGS)} after them); say what the file holds with `input_format` "
            f"({', '.join(get_args(Format))})."
        )
    return "transactions" if reading.pick and kind in TEXT else kind


def _by_start(start: bytes) -> Format:
    return next((kind for first, kind in STARTS.items() if start.lstrip().startswith(first)), "csv")


def _open_workbook(found: Content, reading: Reading, domain: Collection[str] | None) -> Users:
    """The rows of the first sheet."""
    if find_spec("fastexcel") is None:
        raise InvalidData(
            f"{found.source}: workbooks need fastexcel: pip install 'ldp3[excel]'; or save the "
            f"sheet as CSV."
        )
    with in_reader(sheet_in, found, memory=WORKBOOK) as (sheets, (stream,)):
        sheet = pl.read_ipc_stream(io.BytesIO(stream))
    rows = [[cell or "" for cell in row] for row in sheet.head(ROWS).iter_rows()]
    titles = titles_of(rows, reading, found.source, domain)
    renamed = dict(zip(sheet.columns, titles.names, strict=True))
    frame = sheet.slice(int(titles.header)).rename(renamed).lazy()
    notes, others = titles.notes, len(sheets) - 1
    if others:
        notes = (*notes, f"The sheet {sheets[0]!r} is read, {others} more are not.")
    name, first = Path(found.name).stem, 1 + titles.header
    return Users(name, found.source, frame, first, "row", titles.header, frame, notes=notes)


def sheet_in(found: Content) -> Reply:
    """In a reader: the names of the sheets of a workbook, and the cells of the first, as text."""
    import fastexcel

    packed = found.in_memory()
    try:
        book = fastexcel.read_excel(packed.memory or str(packed.path))
        sheet = book.load_sheet(0, header_row=None, dtypes="string").to_polars()
    except fastexcel.FastExcelError as error:
        raise InvalidData(f"{found.source}: {_unreadable('excel', error)}") from None
    return book.sheet_names, [sheet.write_ipc_stream(None).getbuffer()]


def _parquet(found: Content) -> pl.LazyFrame:
    return pl.scan_parquet(found.in_memory().scannable, glob=False)


def _arrow(found: Content) -> pl.LazyFrame | pl.DataFrame:
    if found.sample().startswith(b"ARROW1"):
        return pl.scan_ipc(found.in_memory().scannable)
    return decoded(arrow_stream_in, found)


def _json_lines(found: Content) -> pl.LazyFrame:
    lines = found.in_memory().scannable
    kinds = schema(pl.scan_ndjson(lines, infer_schema_length=None))  # once, not for each query
    return pl.scan_ndjson(lines, schema=kinds)


def arrow_stream_in(found: Content) -> pl.DataFrame:
    """In a reader: the rows of an Arrow stream."""
    return pl.read_ipc_stream(found.in_memory().scannable)


def json_in(found: Content) -> pl.DataFrame:
    """In a reader: a list of records or of values; or records line by line, as some have it."""
    found = found.in_memory()
    text = found.memory if found.memory is not None else found.path.read_bytes()
    wrong = Unreadable("a list of values or of objects is needed")
    if text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        frame = pl.scan_ndjson(found.scannable, infer_schema_length=None).collect()
        if len(frame) < 2:
            raise wrong
        return frame
    try:
        return pl.read_json(io.BytesIO(text), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        pass
    try:
        held: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from None
    if not isinstance(held, list) or any(isinstance(value, list | dict) for value in held):
        raise wrong
    return pl.DataFrame({VALUE: [None if v is None else _as_text(v) for v in held]})


SCANNED: dict[str, Callable[[Content], pl.LazyFrame | pl.DataFrame]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "json": partial(decoded, json_in),
    "jsonl": _json_lines,
}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _unreadable(kind: str, error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    reason = (lines[0] if lines else "damaged").removesuffix(".")
    return f"is not {CALLED[kind]} that can be read ({reason})."
