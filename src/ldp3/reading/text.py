"""Text files: lines, and tables whose columns something separates."""

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from ldp3.errors import InvalidData, InvalidParameter
from ldp3.reading.evidence import NAMES, ROWS, TAB, Titles, find_delimiter, rows_of, titles_of
from ldp3.reading.opening import SAMPLE, Content
from ldp3.reading.options import Format, Reading
from ldp3.reading.users import Users
from ldp3.sandbox import Unreadable

NOT_IN_TEXT = "\x1f"  # ASCII's unit separator: a line is one field
LONGEST = 2**24  # bytes of a quoted cell after which it is read slowly
Blocks = Callable[[], Iterator[bytes]]


def open_text(
    content: Content, kind: Format, reading: Reading, domain: Collection[str] | None
) -> Users:
    """The rows of a text file, every cell as text: 007 stays 007."""
    content = content.as_text()
    lines = _first_lines(content)
    if not lines:
        raise InvalidData(f"{content.source}: is empty; at least two different values are needed.")
    separator, titles = None, Titles(["column_1"], False)
    if kind != "transactions":
        separator = _separator(content, kind, reading, lines)
        titles = _titles(content, separator, reading, lines, domain)
    frame = _scan(content, separator, titles)

    def explain(error: Exception) -> str:
        return _why_unreadable(content, separator, error)

    return Users(
        Path(content.name).stem,
        content.source,
        frame,
        first=_blank_lines_at_start(lines) + 2 if titles.header else 1,
        unit="row",
        header=titles.header,
        whole=frame,
        explain=explain,
        notes=(
            *_separator_note(separator, _usual_separator(content, kind), reading),
            *titles.notes,
        ),
        items=kind == "transactions",
        untrusted=content.packed is not None and content.memory is None,
    )


def _titles(
    content: Content,
    separator: str | None,
    reading: Reading,
    lines: Sequence[str],
    domain: Collection[str] | None,
) -> Titles:
    """What the columns are called; a row with more or fewer fields than the first is refused."""
    if separator is not None:
        rows = rows_of(lines, separator)
        _refuse_ragged(content, separator, rows)
        return titles_of(rows, reading, content.source, domain)
    rows = [[line] for line in lines if line.strip()][:ROWS]
    titles = titles_of(rows, reading, content.source, domain)
    return titles if titles.header else replace(titles, notes=())  # a line is a value: no word


def _scan(content: Content, separator: str | None, titles: Titles) -> pl.LazyFrame:
    names = titles.names
    frame = pl.scan_csv(
        content.scannable,
        has_header=titles.header,
        separator=separator or NOT_IN_TEXT,
        quote_char='"' if separator else None,
        infer_schema=False,
        # polars wants a schema to have the names of the header, which may stand there twice
        schema=None if titles.header else dict.fromkeys(names, pl.String()),
        glob=False,
    )
    if not titles.header:
        return frame
    return frame.select(pl.nth(place).alias(name) for place, name in enumerate(names))


def _blank_lines_at_start(lines: Sequence[str]) -> int:
    """How many lines at the start hold nothing."""
    return next((i for i, line in enumerate(lines) if line.strip()), 0)


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
    text = b""
    for block in content.blocks(SAMPLE):
        text += block
        if len(block) == SAMPLE and text.count(b"\n") > 1:
            text = text[: text.rfind(b"\n") + 1]
            break
        if len(text) > LONGEST:
            raise InvalidData(
                f"{content.source}: its first lines are longer than {LONGEST // 2**20} MiB; is it "
                f"text, one row per line?"
            )
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidData(f"{content.source}: {_why_unreadable(content, None, error)}") from None
    return io.StringIO(decoded, newline="").readlines()


def _separator(
    content: Content, kind: Format, reading: Reading, lines: Sequence[str]
) -> str | None:
    """What separates the columns, None where a line is one value."""
    if reading.delimiter is not None:
        return _given_separator(reading.delimiter)
    if kind == "lines" and reading.input_format == "lines":
        return None
    usual = _usual_separator(content, kind)
    chosen = reading.column or reading.columns
    table = kind == "csv" or chosen or reading.counts or reading.grid
    commas = table and reading.decimal != ","  # a line of a .txt may hold commas
    candidates = [one for one in NAMES if commas or one != ","]
    if usual == "," and not commas:
        usual = ";"
    return find_delimiter(lines, candidates, usual, content.source)


def _usual_separator(content: Content, kind: Format) -> str | None:
    if kind == "lines":
        return None
    return TAB if Path(content.name).suffix.lower() == ".tsv" else ","


def _given_separator(delimiter: str) -> str:
    separator = {"tab": TAB, "\\t": TAB}.get(delimiter.lower(), delimiter)
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise InvalidParameter(
            f"`delimiter` is one character (not a double quote), or tab, got {delimiter!r}."
        )
    return separator


def _separator_note(separator: str | None, usual: str | None, reading: Reading) -> list[str]:
    """Say what separates the columns where it is not what the ending says."""
    if separator in (None, usual) or reading.delimiter is not None:
        return []
    return [f"The columns are separated by a {NAMES[str(separator)]}; `delimiter` overrules."]


def _why_unreadable(content: Content, separator: str | None, error: Exception) -> str:
    """Read the file again, slowly, to name the line where reading ends."""
    if isinstance(error, Unreadable):  # what took all memory once must not take it here
        return f"cannot be read: {error}."
    for number, line in enumerate(_split_lines(content.blocks()), 1):
        if not _is_text(line):
            return _not_utf8(number)
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
            return _first_ragged_row(blocks(), separator, width)
        if not _repeats(text.translate(None, other), row):
            text = re.sub(rb"(?m)^\r?\n", b"", text)
            if not _repeats(text.translate(None, other), row):
                return _first_ragged_row(blocks(), separator, width)
    text, rest = _whole_lines(rest + b"\n")
    last = text.translate(None, other) if text.strip() else row
    return None if last == row and not rest else _first_ragged_row(blocks(), separator, width)


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


def _first_ragged_row(blocks: Iterator[bytes], separator: str, width: int) -> str | None:
    """The line of the first row with another number of fields."""
    lines = (line.decode(errors="replace") for line in _split_lines(blocks))
    rows = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for row in rows:
            if row and len(row) != width:
                return _wrong_width(line, len(row), width)
            line = rows.line_num + 1
    except csv.Error:
        return f"line {line:,} has a double quote that is out of place or never closed."
    return None


def _split_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of a line that has not ended
    for block in blocks:
        first, *others = block.split(b"\n")
        pieces.append(first)
        if others:
            yield b"".join(pieces) + b"\n"
            yield from (line + b"\n" for line in others[:-1])
            pieces = others[-1:]
    if any(pieces):
        yield b"".join(pieces)


def _wrong_width(line: int, fields: int, width: int) -> str:
    many = f"{fields} field" + ("s" if fields != 1 else "")
    return (
        f"line {line:,} has {many} where the first row has {width}; put a cell that holds the "
        f"separator in double quotes, or give `delimiter`, or `input_format` (lines, transactions)."
    )
