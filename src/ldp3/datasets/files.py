"""Files: lines, CSV and Parquet, plain or compressed with gzip."""

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import IO, get_args

import polars as pl

from ldp3.datasets.base import Format, Reading
from ldp3.datasets.users import Users
from ldp3.errors import InvalidData, did_you_mean

ENDINGS: dict[str, Format] = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".dat": "transactions",
}
NOT_IN_TEXT = "\x1f"  # ASCII's unit separator: a line is one field


def open_file(path: Path, reading: Reading) -> Users:
    """The rows of a file; reading them can still fail and says so then."""
    require_readable(path)
    name = path.name.removesuffix(".gz")
    kind = format_of(path, reading)
    if kind == "parquet":
        return Users(Path(name).stem, str(path), _parquet(path), 1, "row", explain=_no_parquet)
    header = kind == "csv" and (bool(reading.header) or _names_a_column(reading))
    header = header or (kind == "lines" and bool(reading.header))
    separator = "\t" if Path(name).suffix == ".tsv" else ","
    frame = pl.scan_csv(
        path,
        has_header=header,
        separator=separator if kind == "csv" else NOT_IN_TEXT,
        quote_char='"' if kind == "csv" else None,
        infer_schema=False,  # everything is text: 007 stays 007
        glob=False,
    )

    def explain(error: Exception) -> str:
        return _why_not_text(path, separator if kind == "csv" else None, error)

    return Users(Path(name).stem, str(path), frame, 1 + header, "row", header, frame, explain)


def require_readable(path: Path) -> None:
    """Refuse what is not a file with something in it."""
    if path.is_dir():
        raise InvalidData(f"{path}: is a folder; name one file in it.")
    try:
        with path.open("rb") as file:
            if path.is_file() and not file.read(1):
                raise InvalidData(f"{path}: is empty; at least two different values are needed.")
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.{_similar(path)}") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be opened: {error.strerror}.") from None
    if not path.is_file():
        raise InvalidData(f"{path}: is not a regular file; save the data to a file first.")


def format_of(path: Path, reading: Reading) -> Format:
    """What the file holds, as asked or by its ending."""
    if reading.input_format:
        return reading.input_format
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending not in ENDINGS:
        known = ", ".join(ENDINGS)
        choices = ", ".join(get_args(Format))
        raise InvalidData(
            f"{path}: endings are {known} (and .gz after them); say what the file holds "
            f"with `input_format` ({choices})."
        )
    text = ENDINGS[ending] != "parquet"
    return "transactions" if reading.pick and text else ENDINGS[ending]


def opened(path: Path) -> IO[bytes]:
    """The bytes of a file, decompressed where they are compressed."""
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]


def _names_a_column(reading: Reading) -> bool:
    parts = str(reading.column or "1").split(",")
    return not all(part.strip().isdecimal() for part in parts)


def _parquet(path: Path) -> pl.LazyFrame:
    with opened(path) as file:
        if isinstance(file, gzip.GzipFile):
            try:
                return pl.scan_parquet(io.BytesIO(file.read()))
            except (OSError, EOFError, zlib.error):
                raise InvalidData(f"{path}: is a damaged gzip file; fetch it again.") from None
    return pl.scan_parquet(path, glob=False)


def _no_parquet(error: Exception) -> str:
    return f"is not a Parquet file that can be read ({str(error).strip().splitlines()[0]})."


def _similar(path: Path) -> str:
    folder = path.parent
    try:
        return did_you_mean(path.name, [p.name for p in folder.iterdir() if p.is_file()])
    except OSError:
        return f" There is no folder {str(folder)!r} either."


def _why_not_text(path: Path, separator: str | None, error: Exception) -> str:
    """Read the file again, slowly, to name the row where reading ends."""
    try:
        with opened(path) as file:
            for row, line in enumerate(file, 1):
                try:
                    line.decode()
                except UnicodeDecodeError:
                    return (
                        f"row {row:,} is not UTF-8 text; save the file as UTF-8, "
                        f"for example with iconv -f latin1 -t utf-8."
                    )
        if separator:
            with io.TextIOWrapper(opened(path), "utf-8-sig", newline="") as lines:
                return _ragged(lines, separator, error)
    except (OSError, EOFError, zlib.error):
        return "is a damaged gzip file; fetch it again."
    return f"cannot be read: {str(error).strip().splitlines()[0]}"


def _ragged(lines: io.TextIOWrapper, separator: str, error: Exception) -> str:
    rows, width, row = csv.reader(lines, delimiter=separator, strict=True), 0, 0
    try:
        for row, fields in enumerate(rows, 1):
            width = width or len(fields)
            if len(fields) > width:
                return (
                    f"row {row:,} has {len(fields)} fields where the first row has {width}; "
                    f"put values that hold a comma in double quotes, or use `input_format=lines` "
                    f"(or transactions)."
                )
    except csv.Error:
        return f"row {row + 1:,} has a double quote that is out of place or never closed."
    return f"cannot be read: {str(error).strip().splitlines()[0]}"
