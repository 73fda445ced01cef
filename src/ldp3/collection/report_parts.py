"""Read files of reports in parts of a fixed size, and count each part."""

import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

import numpy as np
import polars as pl

from ldp3 import sandbox
from ldp3.collection.counts import Counts, digests_of
from ldp3.collection.plan import Plan
from ldp3.collection.plan_file import FORMAT
from ldp3.collection.reports import ENDINGS, ID, REPORT, ROW_GROUP, ReportFormat, format_of
from ldp3.collection.wire import LENGTH, TAG_BYTES, VERSION, Wire, add_to
from ldp3.errors import InvalidData, LDPError, as_path
from ldp3.files import read_json
from ldp3.protocols.layout import Bytes

PART = 2**24  # bytes of reports that a task holds at a time
LONGEST = 2 * PART  # of lines that are read; only the last line of a part makes it longer
MEMORY = 2**30  # bytes that reading a part of a table may take
IN_FLIGHT = 64  # parts given to an executor ahead of the one that is waited for
NO_REPORT = "no report"
LONG_NUMBER = rf'"{ID}"\s*:\s*-?[0-9.]*([0-9]{{16}}|[.eE])'  # that a float may round
UNREADABLE = "unreadable"
PLANS_NEARBY = 1000  # files beside the plan to look into, at most, and not the large ones
LARGE = 2**24


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
        Bytes of a raw file or of JSON lines, rows of a table; nothing for a file elsewhere, which
        is one part.
    """

    path: str
    format: ReportFormat
    start: int
    stop: int


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


def all_parts(
    given: object, wire: Wire, input_format: ReportFormat | None = None
) -> Iterator[Part]:
    """The parts of a file, of all files in a folder, or of those at an address of fsspec's.

    What lies elsewhere is fetched by whoever counts it, one file at a time.
    """
    if is_address(given):
        names = _files_at(str(given))
        kinds = [format_of(Path(name), input_format, "input_format") for name in names]
        return (Part(name, kind, 0, 0) for name, kind in zip(names, kinds, strict=True))
    path = as_path(given, "a file of reports")
    if not path.is_dir():
        return parts_of(path, wire, input_format)
    files = sorted(p for p in path.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file())
    if not files:
        raise InvalidData(f"{path}: no {', '.join(ENDINGS)} file is in this folder.")
    return chain.from_iterable([parts_of(file, wire, input_format) for file in files])


def is_address(given: object) -> bool:
    """Whether it is an address rather than the name of a file."""
    return isinstance(given, str) and "://" in given


def _files_at(address: str) -> list[str]:
    with _fetching(address) as (files, path):
        found = [files.unstrip_protocol(name) for name in sorted(files.find(path))]
        known = [name for name in found if Path(name).suffix.lower() in ENDINGS]
        names = found if found == [files.unstrip_protocol(path)] else known
        if not names:
            raise InvalidData(f"{address}: no {', '.join(ENDINGS)} file is there.")
        return names


@contextmanager
def _fetching(address: str) -> Iterator[tuple[Any, str]]:
    """A file system of fsspec's, and the path in it."""
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(address)
    except ImportError as error:
        what = "fsspec" if error.name == "fsspec" else error
        raise InvalidData(f"{address}: cannot be read without {what}; pip installs it.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, LDPError):
            raise
        raise InvalidData(f"{address}: cannot be read: {error}.") from None


def parts_of(path: Path, wire: Wire, input_format: ReportFormat | None = None) -> Iterator[Part]:
    """The file in parts that begin where a report, a line or a row begins.

    A file that cannot be read at all is refused before the first part is asked for.
    """
    format = format_of(path, input_format, "input_format")
    with _opened(path):
        pass
    if format in ("raw", "jsonl"):
        return _parts_of_bytes(path, wire, format)
    return _parts_of_table(path, wire, format)


def _parts_of_bytes(path: Path, wire: Wire, format: ReportFormat) -> Iterator[Part]:
    step = max(PART // wire.report_bytes, 1) * wire.report_bytes
    start, size = 0, path.stat().st_size
    with _opened(path) as file:
        while start < size:
            # Damage before may have moved the reports, so a part begins at the next tag or line.
            file.seek(start + step)
            if format == "raw":  # where no tag is near there is nothing but damage: cut anywhere
                after = max(file.read(4 * wire.report_bytes + 2**16).find(wire.tag), 0)
            else:
                after = _rest_of_line(file)
            stop = min(start + step + after, size)
            yield Part(str(path), format, start, stop)
            start = stop


def _rest_of_line(file: IO[bytes]) -> int:
    """How many bytes there are up to the end of the line."""
    passed = 0
    while block := file.read(2**16):
        if end := block.find(b"\n") + 1:
            return passed + end
        passed += len(block)
    return passed


def _parts_of_table(path: Path, wire: Wire, format: ReportFormat) -> Iterator[Part]:
    step = max(PART // wire.report_bytes, 1)
    step -= step % ROW_GROUP if step > ROW_GROUP else 0  # or groups at the edges are decoded twice
    try:
        with _apart(count_rows, str(path), format) as (rows, _):
            pass
    except sandbox.Unreadable as error:
        raise InvalidData(f"{path}: is no {format} file: {error}") from None
    return (Part(str(path), format, s, min(s + step, rows)) for s in range(0, rows, step))


def count_in_order(
    pool: Executor, wire: Wire, parts: Iterable[Part]
) -> Generator[tuple[Part, Counts], None, None]:
    """Count the parts, a few at a time, and give them back in their order."""
    waiting: deque[tuple[Part, Future[Counts]]] = deque()
    try:
        for part in parts:
            waiting.append((part, pool.submit(count_part, wire, part)))
            if len(waiting) == IN_FLIGHT:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()
    finally:
        for _, future in waiting:
            future.cancel()


def count_part(wire: Wire, part: Part, already: frozenset[bytes] = frozenset()) -> Counts:
    """A task: count one part, without the reports whose identifiers were counted `already`."""
    counts = Counts(wire.oracle.empty, seen=set(already))
    add_part(wire, part, counts)
    return counts


def add_part(wire: Wire, part: Part, counts: Counts) -> None:
    """Count one part beside others."""
    if is_address(part.path):
        with _fetching(part.path) as (files, path), TemporaryDirectory() as folder:
            local = Path(folder) / "reports"
            files.get_file(path, str(local))
            for piece in parts_of(local, wire, part.format):
                add_part(wire, piece, counts)
    elif part.format == "raw":
        data = np.frombuffer(_bytes(part), dtype=np.uint8)
        counts.add_rows(wire, wire.split(data, counts.refused))
    elif part.format == "jsonl":
        _count_lines(wire, part, counts)
    else:
        _count_table(wire, part, counts)


def first_bytes(part: Part, size: int) -> bytes:
    """The start of the first report in a part, whatever its length; nothing if there is none."""
    if is_address(part.path):
        return b""
    if part.format == "raw":
        return _bytes(part)[:size]
    if part.format == "jsonl":
        found = read_lines(_lines(part)[0])[REPORT].drop_nulls().head(1).to_list()
        return bytes(found[0][:size]) if found else b""
    try:
        with _apart(read_first, part, size) as (_, buffers):
            return bytes(buffers[0])
    except sandbox.Unreadable:
        return b""


def _count_lines(wire: Wire, part: Part, counts: Counts) -> None:
    lines, too_long = _lines(part)
    _add(wire, sorted_out(read_lines(lines), wire.report_bytes), counts)
    add_to(counts.refused, NO_REPORT, too_long)


def _count_table(wire: Wire, part: Part, counts: Counts) -> None:
    try:
        with _apart(read_rows, part, wire.report_bytes) as (answer, buffers):
            rows = rows_read(answer, buffers, wire.report_bytes)
            _add(wire, rows, counts)
            lost = part.stop - part.start - answer[-1]
    except sandbox.Unreadable:
        lost = part.stop - part.start
    add_to(counts.refused, UNREADABLE, lost)


def _add(wire: Wire, found: Rows, counts: Counts) -> None:
    add_to(counts.refused, NO_REPORT, found.null)
    add_to(counts.refused, LENGTH, found.wrong)
    if len(found.rows):
        counts.add_rows(wire, found.rows, found.digests)


@contextmanager
def _apart(function: Callable[..., sandbox.Reply], *args: Any) -> Iterator[Any]:
    """What a reader of its own finds; what the system says against the file stops everything."""
    path = args[0].path if isinstance(args[0], Part) else args[0]
    with _opened(Path(path)), sandbox.in_reader(function, *args, memory=MEMORY, threads=1) as found:
        yield found


def _bytes(part: Part, most: int = -1) -> bytes:
    with _opened(Path(part.path)) as file:
        file.seek(part.start)
        return file.read(min(part.stop - part.start, most) if most >= 0 else part.stop - part.start)


def _lines(part: Part) -> tuple[bytes, int]:
    """The lines of a part; how many, none or one, are longer than any report, and left out."""
    data = _bytes(part, LONGEST)
    if part.stop - part.start <= LONGEST:
        return data, 0
    return data[: data.rfind(b"\n") + 1], 1


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # parts start anywhere
            raise InvalidData(f"{path}: is not a regular file; save the reports to a file first.")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read: {error.strerror}.") from None


def count_rows(path: str, format: ReportFormat) -> sandbox.Reply:
    """In a reader: how many rows a table of reports has."""
    table = _scan(Path(path), format)
    schema = table.collect_schema()
    if schema.get(REPORT) != pl.Binary:
        columns = ", ".join(f"{name} ({dtype})" for name, dtype in list(schema.items())[:8])
        raise InvalidData(
            f"{path}: a binary column {REPORT!r} is needed, but the columns are {columns}."
        )
    return int(table.select(pl.len()).collect().item()), ()


def read_rows(part: Part, size: int) -> sandbox.Reply:
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


def read_first(part: Part, size: int) -> sandbox.Reply:
    """In a reader: the start of the first report in a part of a table."""
    table = _scan(Path(part.path), part.format).select(REPORT)
    rows = table.slice(part.start, part.stop - part.start).drop_nulls().head(1).collect()
    return (len(rows),), [b"".join(report[:size] for report in rows[REPORT])]


def rows_read(answer: Sequence[int], buffers: Sequence[Any], size: int) -> Rows:
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


def sorted_out(frame: pl.DataFrame, size: int) -> Rows:
    """The reports of `size` bytes in a table."""
    null = frame[REPORT].null_count()
    frame = frame.drop_nulls(REPORT) if null else frame
    right = frame[REPORT].bin.size() == size
    wrong = len(right) - int(right.sum())
    frame = frame.filter(right) if wrong else frame
    rows = _as_rows(frame[REPORT], size) if len(frame) else np.empty((0, size), dtype=np.uint8)
    return Rows(null, wrong, rows, digests_of(frame[ID].to_list()) if ID in frame else None)


def read_lines(data: bytes) -> pl.DataFrame:
    """The reports in JSON lines, and their identifiers; null where a line has none."""
    split = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = pl.Series([_text(line) for line in split if line.strip()], dtype=pl.String)
    report = lines.str.json_path_match(f"$.{REPORT}").str.decode("base64", strict=False)
    table = pl.DataFrame({REPORT: report})
    if f'"{ID}"'.encode() not in data:  # looking for what is not there takes as long as the report
        return table
    return table.with_columns(_identifiers(lines).alias(ID))


def _text(line: bytes) -> str | None:
    """A line as text; None, which is no report, if it is not UTF-8: two must not become one."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _identifiers(lines: pl.Series) -> pl.Series:
    """The identifiers in JSON lines, numbers with all their digits, which Polars would round."""
    found = lines.str.json_path_match(f"$.{ID}")
    rounded = lines.str.contains(LONG_NUMBER).fill_null(False) & found.is_not_null()
    if not rounded.any():
        return found
    exact = [
        _exact(line, known) if long else known
        for line, known, long in zip(lines, found, rounded, strict=True)
    ]
    return pl.Series(exact, dtype=pl.String)


def _exact(line: str, known: str) -> str:
    held = json.loads(line, parse_int=str, parse_float=str)
    number = held.get(ID) if isinstance(held, dict) else None
    return number if isinstance(number, str) else known


def _as_rows(reports: pl.Series, size: int) -> Bytes:
    """Binary values of `size` bytes each, as rows of bytes."""
    return reports.bin.reinterpret(dtype=pl.Array(pl.UInt8, size)).to_numpy()


def _scan(path: Path, format: ReportFormat) -> pl.LazyFrame:
    if format == "parquet":
        return pl.scan_parquet(path, glob=False)
    return pl.scan_ipc(path, glob=False)


def foreign_reports(
    plan: Plan,
    folder: Path,
    paths: Sequence[object],
    input_format: ReportFormat | None,
    refused: Mapping[str, int],
) -> InvalidData:
    """One line that says what the rows of these files are, none of which is a report of the plan.

    The plans in `folder` give a name to another collection.
    """
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    reasons = ", ".join(f"{rows:,} {reason}" for reason, rows in refused.items())
    return InvalidData(
        f"{paths[0]}{more}: no row is a report of {plan.name!r}, nothing was written: {reasons}. "
        f"{_whose(plan, folder, paths, input_format)}"
    )


def _whose(
    plan: Plan, folder: Path, paths: Sequence[object], input_format: ReportFormat | None
) -> str:
    tag = _first_tag(plan, paths, input_format)
    if tag is None or tag == plan.tag or tag[0] != VERSION:
        return "They may be no reports at all, or damaged."
    identifier = tag[1:].hex()
    found = _plan_of(folder, identifier)
    if found is None:
        return (
            f"The first one is of the collection with the identifier {identifier}: aggregate it "
            f"with that collection's plan."
        )
    return f"The first one is of {found[1]!r}: aggregate it with {found[0]}."


def _first_tag(
    plan: Plan, paths: Sequence[object], input_format: ReportFormat | None
) -> bytes | None:
    """The bytes in front of the first report that has as many."""
    for path in paths:
        for part in all_parts(path, plan.wire, input_format):
            first = first_bytes(part, TAG_BYTES)
            if len(first) == TAG_BYTES:
                return first
    return None


def _plan_of(folder: Path, identifier: str) -> tuple[Path, str] | None:
    """The plan in a folder that has this identifier, and what its collection is called."""
    for path in sorted(folder.glob("*.json"))[:PLANS_NEARBY]:
        try:
            given = read_json(path) if path.stat().st_size < LARGE else None
        except (LDPError, OSError):
            continue
        if not isinstance(given, dict) or given.get("format") != FORMAT:
            continue
        if str(given.get("identifier")).startswith(identifier):
            return path, str(given.get("name"))
    return None
