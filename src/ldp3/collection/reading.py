"""Read files of reports in parts of a fixed size, and count each part."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ldp3 import sandbox
from ldp3.collection.counts import Counts
from ldp3.collection.reports import REPORT, ReportFormat, format_of
from ldp3.collection.wire import LENGTH, Wire, add_to
from ldp3.errors import InvalidData

if TYPE_CHECKING:
    from ldp3.collection.tables import Rows

PART = 2**24  # bytes of reports that a task holds at a time
MEMORY = 2**30  # bytes that reading a part of a table may take
IN_FLIGHT = 64  # parts given to an executor ahead of the one that is waited for
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
    """

    path: str
    format: ReportFormat
    start: int
    stop: int


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
            # Where none is near there is nothing but damage, and any cut will do.
            file.seek(start + step)
            near = file.read(4 * wire.report_bytes + 2**16)
            after = near.find(wire.tag) if format == "raw" else near.find(b"\n") + 1
            stop = min(start + step + max(after, 0), size)
            yield Part(str(path), format, start, stop)
            start = stop


def _parts_of_table(path: Path, wire: Wire, format: ReportFormat) -> Iterator[Part]:
    from ldp3.collection.tables import ROW_GROUP, count_rows

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
    if part.format == "raw":
        data = np.frombuffer(_bytes(part), dtype=np.uint8)
        counts.add_rows(wire, wire.split(data, counts.refused))
    elif part.format == "jsonl":
        _count_lines(wire, part, counts)
    else:
        _count_table(wire, part, counts)


def first_bytes(part: Part, size: int) -> bytes:
    """The start of the first report in a part, whatever its length; nothing if there is none."""
    from ldp3.collection.tables import read_first, read_lines

    if part.format == "raw":
        return _bytes(part)[:size]
    if part.format == "jsonl":
        found = read_lines(_bytes(part))[REPORT].drop_nulls().head(1).to_list()
        return bytes(found[0][:size]) if found else b""
    try:
        with _apart(read_first, part, size) as (_, buffers):
            return bytes(buffers[0])
    except sandbox.Unreadable:
        return b""


def _count_lines(wire: Wire, part: Part, counts: Counts) -> None:
    from ldp3.collection.tables import read_lines, sorted_out

    _add(wire, sorted_out(read_lines(_bytes(part)), wire.report_bytes), counts)


def _count_table(wire: Wire, part: Part, counts: Counts) -> None:
    from ldp3.collection.tables import read_rows, rows_read

    try:
        with _apart(read_rows, part, wire.report_bytes) as (answer, buffers):
            rows = rows_read(answer, buffers, wire.report_bytes)
            _add(wire, rows, counts)
            lost = part.stop - part.start - answer[-1]
    except sandbox.Unreadable:
        lost = part.stop - part.start
    add_to(counts.refused, UNREADABLE, lost)


def _add(wire: Wire, found: "Rows", counts: Counts) -> None:
    add_to(counts.refused, NO_REPORT, found.null)
    add_to(counts.refused, LENGTH, found.wrong)
    if len(found.rows):
        counts.add_rows(wire, found.rows, found.digests)


@contextmanager
def _apart(function: Callable[..., sandbox.Answer], *args: Any) -> Iterator[Any]:
    """What a reader of its own finds; what the system says against the file stops everything."""
    path = args[0].path if isinstance(args[0], Part) else args[0]
    with _opened(Path(path)), sandbox.answer(function, *args, memory=MEMORY, threads=1) as found:
        yield found


def _bytes(part: Part) -> bytes:
    with _opened(Path(part.path)) as file:
        file.seek(part.start)
        return file.read(part.stop - part.start)


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
