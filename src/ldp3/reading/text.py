"""Text files: lines, and tables whose columns something separates."""

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from ldp3.errors import InvalidData, InvalidParameter
from ldp3.reading.evidence import DELIMITERS, NAMES, ROWS, find_delimiter, rows_of
from ldp3.reading.opening import SAMPLE, Content
from ldp3.reading.options import Format, Reading
from ldp3.reading.ragged import ragged
from ldp3.reading.titles import Titles, titles_of
from ldp3.reading.users import Users

NOT_IN_TEXT = "\x1f"  # ASCII's unit separator: a line is one field


def open_text(
    content: Content, kind: Format, reading: Reading, domain: Collection[str] | None
) -> Users:
    """The rows of a text file, every cell as text: 007 stays 007."""
    content = content.as_text()
    lines = _first_lines(content)
    if not lines:
        raise InvalidData(f"{content.source}: is empty; at least two different values are needed.")
    separator = None if kind == "transactions" else _separator(content, kind, reading, lines)
    rows = _lines(lines) if separator is None else rows_of(lines, separator)
    if separator is not None:
        _refuse_ragged(content, separator, rows)
    if kind == "transactions":
        titles = Titles(["column_1"], False)
    else:
        titles = titles_of(rows, reading, content.source, domain)
        if separator is None and not titles.header:
            titles = replace(titles, notes=())  # that a line is a value needs no word
    frame = _scan(content, separator, titles)

    def explain(error: Exception) -> str:
        return _why_not(content, separator, error)

    header, notes = (
        titles.header,
        (*_told(separator, _usual(content, kind), reading), *titles.notes),
    )
    name, first = Path(content.name).stem, 1 + (_blank(lines) + 1 if header else 0)
    items = kind == "transactions"
    return Users(
        name, content.source, frame, first, "row", header, frame, explain, notes, items=items
    )


def _scan(content: Content, separator: str | None, titles: Titles) -> pl.LazyFrame:
    names = titles.names
    return pl.scan_csv(
        content.scannable,
        has_header=titles.header,
        separator=separator or NOT_IN_TEXT,
        quote_char='"' if separator else None,
        infer_schema=False,
        # polars wants a schema to have the names of the header, which may stand there twice
        schema=None if titles.header else dict.fromkeys(names, pl.String()),
        with_column_names=(lambda _: names) if titles.header else None,
        glob=False,
    )


def _blank(lines: Sequence[str]) -> int:
    """How many lines at the start hold nothing."""
    return next((i for i, line in enumerate(lines) if line.strip()), 0)


def _lines(lines: Sequence[str]) -> list[list[str]]:
    return [[line] for line in lines if line.strip()][:ROWS]


def _refuse_ragged(content: Content, separator: str, rows: list[list[str]]) -> None:
    """Every row has as many fields as the first; of a single column polars sees to that."""
    width = len(rows[0]) if rows else 1
    if width == 1 and all(len(row) == 1 for row in rows):
        return
    wrong = ragged(content.blocks, separator, width)
    if wrong:
        raise InvalidData(f"{content.source}: {wrong}")


def _first_lines(content: Content) -> list[str]:
    """The first lines of a text file, with their ends, the last one whole."""
    start = content.sample()
    whole = len(start) < SAMPLE
    text = start if whole else start[: start.rfind(b"\n") + 1]
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{content.source}: {_why_not(content, None, error)}") from None
    return io.StringIO(decoded, newline="").readlines()


def _separator(
    content: Content, kind: Format, reading: Reading, lines: Sequence[str]
) -> str | None:
    """What separates the columns, None where a line is one value."""
    if reading.delimiter is not None:
        return _given(reading.delimiter)
    if kind == "lines" and reading.input_format == "lines":
        return None
    usual = _usual(content, kind)
    table = kind == "csv" or reading.column is not None or reading.counts or reading.grid
    return find_delimiter(lines, DELIMITERS[0 if table else 1 :], usual, content.source)


def _usual(content: Content, kind: Format) -> str | None:
    if kind == "lines":
        return None
    return "\t" if Path(content.name).suffix.lower() == ".tsv" else ","


def _given(delimiter: str) -> str:
    separator = {"tab": "\t", "\\t": "\t"}.get(delimiter.lower(), delimiter)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise InvalidParameter(
            f"`delimiter` is one character (not a double quote), or tab, got {delimiter!r}."
        )
    return separator


def _told(separator: str | None, usual: str | None, reading: Reading) -> list[str]:
    """Say what separates the columns where it is not what the ending says."""
    if separator in (None, usual) or reading.delimiter is not None:
        return []
    return [f"The columns are separated by a {NAMES[str(separator)]}; `delimiter` overrules."]


def _why_not(content: Content, separator: str | None, error: Exception) -> str:
    """Read the file again, slowly, to name the line where reading ends."""
    row, rest = 1, b""
    for block in content.blocks():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if not _is_text(line):
                return _not_utf8(row)
            row += 1
    if not _is_text(rest):
        return _not_utf8(row)
    wrong = ragged(content.blocks, separator, _width(content, separator)) if separator else None
    return wrong or f"cannot be read: {str(error).strip().splitlines()[0]}"


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _not_utf8(row: int) -> str:
    return (
        f"line {row:,} is not UTF-8 text; save the file as UTF-8, for example with "
        f"iconv -f latin1 -t utf-8."
    )


def _width(content: Content, separator: str) -> int:
    lines = io.StringIO(content.sample().decode("utf-8-sig", "replace"), newline="")
    return len(next(csv.reader(lines, delimiter=separator), [""]))
