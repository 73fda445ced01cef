"""Rows with more or fewer fields than the first, found fast and named by their line."""

import csv
import re
from collections.abc import Callable, Iterator

Blocks = Callable[[], Iterator[bytes]]
LONGEST = 2**24  # bytes of a quoted cell after which it is read slowly


def ragged(blocks: Blocks, separator: str, width: int) -> str | None:
    """What is wrong with the first row that has not `width` fields; None if all have.

    A quoted cell may hold separators and line feeds; blank lines are no rows. Of each block of
    lines only separators and line feeds are kept, which must repeat the pattern of one row;
    where they do not, the text is read again, slowly, to name the line.
    """
    row = separator.encode() * (width - 1) + b"\n"
    other = bytes(code for code in range(256) if code not in (ord(separator), *b"\n"))
    rest = b""
    for block in blocks():
        text, rest = _whole_lines(rest + block)
        if len(rest) > LONGEST:
            return _named(blocks(), separator, width)
        if not _repeats(text.translate(None, other), row):
            text = re.sub(rb"(?m)^\r?\n", b"", text)
            if not _repeats(text.translate(None, other), row):
                return _named(blocks(), separator, width)
    text, rest = _whole_lines(rest + b"\n")
    last = text.translate(None, other) if text.strip() else row
    return None if last == row and not rest else _named(blocks(), separator, width)


def _whole_lines(text: bytes) -> tuple[bytes, bytes]:
    """The lines that end in `text`, without what stands in double quotes, and what is left."""
    end = text.rfind(b"\n") + 1
    lines = text[:end]
    if b'"' not in text:
        return lines, text[end:]
    if lines.count(b'"') % 2:
        return b"", text  # the last line feed is inside a cell
    return _outside_quotes(lines), text[end:]


def _outside_quotes(text: bytes) -> bytes:
    """The text with a letter for whatever stands in double quotes."""
    return b"q".join(text.split(b'"')[::2]) if b'"' in text else text


def _repeats(marks: bytes, row: bytes) -> bool:
    return marks == row * (len(marks) // len(row))


def _named(blocks: Iterator[bytes], separator: str, width: int) -> str | None:
    """The line of the first row with another number of fields."""
    lines = (line.decode(errors="replace") for line in _lines(blocks))
    rows = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for row in rows:
            if row and len(row) != width:
                return _said(line, len(row), width)
            line = rows.line_num + 1
    except csv.Error:
        return f"line {line:,} has a double quote that is out of place or never closed."
    return None


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _said(line: int, fields: int, width: int) -> str:
    many = f"{fields} field" + ("s" if fields != 1 else "")
    return (
        f"line {line:,} has {many} where the first row has {width}; put a cell that holds the "
        f"separator in double quotes, or give `delimiter`, or `input_format` (lines, transactions)."
    )
