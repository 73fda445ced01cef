"""Files of every format, plain or packed: text, workbooks, Parquet, Arrow, JSON."""

import io
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ldp3.errors import InvalidData
from ldp3.reading.evidence import ROWS, titles_of
from ldp3.reading.opening import PACKED_ENDINGS, WORKBOOKS, Content, content, plain_name
from ldp3.reading.options import Format, Reading
from ldp3.reading.text import open_text
from ldp3.reading.users import VALUE, Users
from ldp3.sandbox import decoding_error, read_stream

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
CALLED = {"parquet": "a Parquet", "arrow": "an Arrow", "json": "a JSON", "jsonl": "a JSON lines"}


def open_file(path: Path, reading: Reading, domain: Collection[str] | None = None) -> Users:
    """The rows of a file; reading them can still fail and says so then.

    A value of the `domain` in the first row says that this is no header.
    """
    found = content(path)
    kind = format_of(found, reading)
    if kind in TEXT:
        return open_text(found, kind, reading, domain)
    if kind == "excel":
        return _open_workbook(found, reading, domain)
    found = found.in_memory()
    try:
        frame = SCANNED[kind](found)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidData(f"{found.source}: {_unreadable(kind, error)}") from None
    except BaseException as error:  # panics, too
        if decoding_error(error) is None:
            raise
        raise InvalidData(f"{found.source}: {_unreadable(kind, error)}") from None

    def explain(error: Exception) -> str:
        return _unreadable(kind, error)

    untrusted, name = kind in ("parquet", "arrow"), Path(found.name).stem
    return Users(name, found.source, frame, 1, "row", untrusted=untrusted, explain=explain)


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
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise InvalidData(
            f"{found.source}: workbooks need fastexcel: pip install 'ldp3[excel]'; or save the "
            f"sheet as CSV."
        ) from None
    packed = found.in_memory()
    try:
        book = fastexcel.read_excel(packed.memory or str(packed.path))
        sheet = book.load_sheet(0, header_row=None, dtypes="string").to_polars()
    except (fastexcel.FastExcelError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidData(f"{found.source}: cannot be read as a workbook: {reason}.") from None
    rows = [[cell or "" for cell in row] for row in sheet.head(ROWS).iter_rows()]
    titles = titles_of(rows, reading, found.source, domain)
    renamed = dict(zip(sheet.columns, titles.names, strict=True))
    frame = sheet.slice(int(titles.header)).rename(renamed).lazy()
    notes, others = titles.notes, len(book.sheet_names) - 1
    if others:
        notes = (*notes, f"The sheet {book.sheet_names[0]!r} is read, {others} more are not.")
    name, first = Path(found.name).stem, 1 + titles.header
    return Users(name, found.source, frame, first, "row", titles.header, frame, notes=notes)


def _parquet(found: Content) -> pl.LazyFrame:
    return pl.scan_parquet(found.scannable, glob=False)


def _arrow(found: Content) -> pl.LazyFrame:
    if found.sample().startswith(b"ARROW1"):
        return pl.scan_ipc(found.scannable)
    return read_stream(found.scannable).lazy()


def _json_lines(found: Content) -> pl.LazyFrame:
    return pl.scan_ndjson(found.scannable, infer_schema_length=None)


def _json(found: Content) -> pl.LazyFrame:
    """A list of records or of values; or records line by line, as some call JSON, too."""
    text = found.memory if found.memory is not None else found.path.read_bytes()
    if text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        frame = _json_lines(found)
        if len(frame.collect()) < 2:
            raise ValueError("a list of values or of objects is needed")
        return frame
    try:
        return pl.read_json(io.BytesIO(text), infer_schema_length=None).lazy()
    except pl.exceptions.PolarsError:
        held: Any = json.loads(text)
    if not isinstance(held, list) or any(isinstance(value, list | dict) for value in held):
        raise ValueError("a list of values or of objects is needed")
    return pl.LazyFrame({VALUE: [None if v is None else _as_text(v) for v in held]})


SCANNED: dict[str, Callable[[Content], pl.LazyFrame]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "json": _json,
    "jsonl": _json_lines,
}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _unreadable(kind: str, error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"is not {CALLED[kind]} file that can be read ({lines[0] if lines else 'damaged'})."
