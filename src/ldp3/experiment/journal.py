"""Nothing finished is lost: a run with an output writes down each block as it ends.

The journal stands beside the output, and stays there: a run with more repeats goes on from it. Its
first line says what the run is, every other line holds one block, with its numbers bit by bit,
under a seal: blocks whose lines are damaged run again. Whoever is killed leaves at worst half a
line at the end, which is cut off. Before files of the output are written, a line says so, and when
they are: only between the two may half of what stands there be ours.
"""

import json
import os
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ldp3.errors import InvalidData, InvalidParameter, LDPError, whole
from ldp3.experiment.grid import Experiment
from ldp3.experiment.outcomes import Block, Measured, Outcome, exact_sums, from_sums
from ldp3.experiment.repeats import asks_for_more, require_no_shorter
from ldp3.files import lock, sealed, sync_folder, unsealed
from ldp3.results.axes import Cell
from ldp3.results.storage import (
    files_of,
    is_table,
    read_manifest,
    read_table,
    require_unchanged,
)
from ldp3.results.table import Results

SYNCED = 2.0  # seconds of finished work that a power cut may cost, at most, beside the last block
_SAVING, _SAVED = {"output": "saving"}, {"output": "saved"}
_HEAD = re.compile(rb'([0-9a-f]{16} )?\{"journal":')


class Journal:
    """The finished blocks of one run, in memory and on disk."""

    def __init__(self, output: Path, experiment: Experiment, file: IO[bytes]) -> None:
        self.output = output
        self.path = path_of(output)
        self.experiment = experiment
        self.file = file
        self.measured = Measured()
        self.damaged = 0  # lines whose blocks run again
        self._synced = time.monotonic()

    def append(self, outcome: Outcome) -> None:
        """Keep a block; it is with the operating system when this returns, and soon on the disk."""
        self._write(_written(outcome), time.monotonic() - self._synced > SYNCED)
        self.measured.add(outcome)

    def finish(self, results: Results) -> None:
        """Write the output; keep one line for each cell, from which more repeats go on."""
        self._write(_SAVING)
        results.save(self.output)
        self.file.truncate(0)  # with the output on the disk, a power cut costs no more than time
        self._write({"journal": self.experiment.identity}, sync=False)
        self._write(_SAVED, sync=False)
        for outcome in self.measured.joined():
            self._write(_written(outcome), sync=False)
        os.fsync(self.file.fileno())
        self.file.close()

    def _write(self, content: dict[str, Any], sync: bool = True) -> None:
        try:
            self.file.write(_line(content))
            self.file.flush()
            if sync:
                os.fsync(self.file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise LDPError(
                f"Cannot write {str(self.path)!r}: {error.strerror}. What it holds is kept."
            ) from error

    def close(self) -> None:
        """Let go of the file; a journal without a single block is not worth keeping."""
        self.file.close()
        if not self.measured.outcomes:
            self.path.unlink(missing_ok=True)

    def begin(self, fresh: bool) -> None:
        """Take over what an earlier run wrote, or write the first line."""
        self.file.seek(0)
        first = self.file.readline()
        run = self._first(first, fresh)
        if run is None:  # nothing yet, or killed while writing it
            self.file.truncate(0)
            self._write({"journal": self.experiment.identity})
            sync_folder(self.path.parent)
            return
        if reason := difference(run, self.experiment.identity):
            raise _refusal(self.output, "holds part of another run", reason)
        stopped: dict[str, Any] | None = run  # what has not measured all that it was to
        size = len(first)
        for line in self.file:
            if not line.endswith(b"\n"):  # half of one
                break
            found = _parsed(line)
            if found is None:
                self.damaged += bool(line.strip())
            elif "journal" in found or "output" in found:
                stopped = _identity(found)
            elif (outcome := _read(found, self.experiment)) is None:
                self.damaged += 1
            elif self._wants(outcome):
                self.measured.add(outcome)
            size += len(line)
        self.file.truncate(size)  # the file is open for appending: writing goes on at the end
        if stopped is not None:
            require_no_shorter(stopped, self.experiment.identity, self.output)
        if stopped is None or stopped["repeats"] != self.experiment.repeats:
            self._write({"journal": self.experiment.identity})

    def _first(self, first: bytes, fresh: bool) -> dict[str, Any] | None:
        """What the first line says the run is; None to start over."""
        head = _parsed(first)
        if head is not None and (run := _identity(head)) is not None:
            return None if fresh else run
        ours = _line({"journal": self.experiment.identity})
        if not first.strip(b"\0\r\n ") or ours.startswith(first):
            return None
        if not _HEAD.match(first):
            raise LDPError(f"{str(self.path)!r} is no journal of ours: move it away.")
        if fresh:
            return None
        seal, _, text = ours.strip().partition(b" ")
        if first.startswith(seal) or first.strip().endswith(text):
            self.damaged += 1  # and yet it is this run's
            return self.experiment.identity
        raise LDPError(
            f"The first line of {str(self.path)!r} is damaged, or of another version: start over "
            f"with `fresh`."
        )

    def _wants(self, outcome: Outcome) -> bool:
        """Whether a block of an earlier run is new, and kept as much as this run is to keep."""
        keep = "scores" if is_table(self.output) else self.experiment.keep
        less = (keep != "scores" and outcome.sums is None) or (
            keep == "estimates" and outcome.estimates is None
        )
        some = outcome.block.stop <= self.experiment.repeats
        return some and not less and self.measured.cells.isdisjoint(outcome.block.cells)


def path_of(output: Path) -> Path:
    """Where the journal of an output is: beside it, so the output needs a name."""
    if not output.name or output.name == "..":
        raise InvalidParameter(
            f"`output` needs a file or a folder by its name, got {str(output)!r}."
        )
    return output.with_name(output.name + ".journal")


def open_journal(output: Path, experiment: Experiment, fresh: bool = False) -> Journal | None:
    """Continue the journal of an output, or begin it; None if all that is asked for is there.

    `fresh` forgets what an earlier run of ours left; what is not ours is never touched. An output
    that cannot be written is refused here, before there is anything to lose.
    """
    with _refusing(output):
        before = _complete(output)
        if before is not None and not fresh:
            if reason := difference(before, experiment.identity):
                raise _refusal(output, "holds another run", reason)
            if not asks_for_more(before, experiment.identity, output):
                return None
            require_unchanged(output, before)
        journal = Journal(output, experiment, _opened(output))
        try:
            if not lock(journal.file):
                raise LDPError(f"Another run is writing {str(output)!r} at this moment.")
            journal.begin(fresh)
            if fresh:
                _forget_files(output)
        except BaseException:
            journal.file.close()
            raise
        return journal


@contextmanager
def _refusing(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LDPError(f"Cannot write {str(output)!r}: {error.strerror}.") from error


def _opened(output: Path) -> IO[bytes]:
    """The journal's file, where the output can be written too."""
    if not output.parent.is_dir():
        raise LDPError(f"Cannot write {str(output)!r}: there is no folder {str(output.parent)!r}.")
    if output.is_dir():
        with TemporaryFile(dir=output):
            pass
    path = path_of(output)
    if path.exists() and not path.is_file():  # a pipe would let us wait for ever
        raise LDPError(f"{str(path)!r} is no journal of ours: move it away.")
    return path.open("a+b")


def _forget_files(output: Path) -> None:
    for path in files_of(output):  # the table first: without it, a manifest vouches for nothing
        if path.exists():
            path.unlink()
            sync_folder(path.parent)


def _complete(output: Path) -> dict[str, Any] | None:
    """What a complete output of ours holds; None if there is none. A stranger's is refused."""
    table, *_, manifest = files_of(output)
    there = [path for path in files_of(output) if _holds_something(path)]
    if manifest in there:
        found = _manifest(manifest)
        if found is None:
            return None
        if {"data", "seed", "versions"} <= set(found):
            return found if table in there else None
    if not there or _is_being_saved(path_of(output)):
        return None
    if manifest.exists() and manifest not in there and _is_results(table):  # only its zeros are
        return None
    raise InvalidParameter(
        f"{str(there[0])!r} exists and is no output of ours: choose another `output`, or move it."
    )


def _is_being_saved(journal: Path) -> bool:
    """Whether a run was about to write its output: what is there may be half of that."""
    if not journal.is_file():
        return False
    with journal.open("rb") as file:
        marks = [found for line in file if (found := _parsed(line)) in (_SAVING, _SAVED)]
    return marks[-1:] == [_SAVING]


def _manifest(path: Path) -> dict[str, Any] | None:
    """What a manifest says; None if it is one of ours that cannot be read any more."""
    try:
        return read_manifest(path)
    except InvalidData:
        return None if path.read_bytes().startswith(b'{\n  "data": [') else {}


def _is_results(table: Path) -> bool:
    with suppress(InvalidData):
        read_table(table)
        return True
    return False


def _holds_something(path: Path) -> bool:
    """Whether there is more than a name, or than the zeros that a power cut can leave."""
    if not path.is_file():
        return path.exists()
    with path.open("rb") as file:
        return any(piece.strip(b"\0") for piece in iter(lambda: file.read(2**16), b""))


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, but for their repeats, in words."""
    for name, value in now.items():
        old = before.get(name)
        if old == value or name in ("repeats", "repeats_asked"):
            continue
        if isinstance(value, dict) and isinstance(old, dict):
            part = next(k for k in {**old, **value} if old.get(k) != value.get(k))
            if name == "plugins":
                return f"the source of {part} has changed"
            return f"{part} was {old.get(part)}, is {value.get(part)}"
        if name == "data" and isinstance(old, list) and len(old) == len(value):
            return _other_data(old, value)
        return f"{name} was {_short(old)}, is {_short(value)}"
    return None


def _other_data(before: list[Any], now: list[Any]) -> str:
    pairs = zip(before, now, strict=True)
    old, new = next((b, n) for b, n in pairs if b != n)
    if isinstance(old, dict) and old.get("name") == new["name"]:
        return f"the content of the dataset {new['name']} has changed"
    return f"data was {_short(before)}, is {_short(now)}"


def _refusal(output: Path, what: str, reason: str) -> InvalidParameter:
    return InvalidParameter(
        f"{str(output)!r} {what}: {reason}. Choose another `output`, or start over with `fresh`."
    )


def _short(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    return " ".join(str(v.get("name") if isinstance(v, dict) else v) for v in value)


def _line(content: dict[str, Any]) -> bytes:
    return sealed(json.dumps(content, separators=(",", ":")).encode())


def _parsed(line: bytes) -> dict[str, Any] | None:
    """What a whole line says; None for half of one, or one that is damaged."""
    text = unsealed(line)
    try:
        found = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _identity(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """What run a line says that it begins, if it does."""
    run = found.get("journal")
    return run if isinstance(run, dict) and whole(run.get("repeats"), 1) else None


def _written(outcome: Outcome) -> dict[str, Any]:
    """What JSON can hold of an outcome."""
    sums: NDArray[Any] | None = outcome.sums
    if outcome.sums is not None and len(outcome.block) == 1:
        sums = from_sums(outcome.sums)  # half as long, and nothing is lost: it fits into a float
    return {
        "cell": asdict(outcome.block.cell),
        "stop": outcome.block.stop,
        "values": _packed(outcome.values),
        "sums": _packed(sums),
        "estimates": _packed(outcome.estimates),
        "seconds": outcome.seconds,
        "limits": _packed(outcome.limits),
    }


def _read(found: dict[str, Any], experiment: Experiment) -> Outcome | None:
    """The outcome that was written; None for what no block of this run can be."""
    try:
        block = Block(Cell(**found["cell"]), found["stop"])
        if not whole(block.cell.repeat, 0) or not whole(block.stop, block.cell.repeat + 1):
            return None
        values, sums, estimates, limits = (
            _unpacked(found[name]) for name in ("values", "sums", "estimates", "limits")
        )
        d = {data.name: data.d for data in experiment.datasets}[block.cell.dataset]
        if sums is not None and len(block) == 1:
            sums = exact_sums([sums])
        outcome = Outcome(block, values, sums, estimates, float(found["seconds"]), limits)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError):
        return None
    methods, metrics = len(experiment.methods), len(experiment.metrics)
    fit = (
        _is_array(values, "f", len(block), methods, metrics)
        and _is_array(limits, "f", len(block), 2, metrics)
        and (sums is None or _is_array(sums, "i", 2, methods, d))
        and (estimates is None or _is_array(estimates, "f", len(block), methods, d))
    )
    return outcome if fit else None


def _is_array(array: Any, kind: str, *shape: int) -> bool:
    return array is not None and array.dtype.kind == kind and array.shape == shape


def _packed(array: NDArray[Any] | None) -> list[Any] | None:
    if array is None:
        return None
    little = array.astype(array.dtype.newbyteorder("<"))
    return [little.dtype.str, list(array.shape), b64encode(little.tobytes()).decode()]


def _unpacked(packed: list[Any] | None) -> Any:
    if packed is None:
        return None
    kind, shape, text = packed
    array = np.frombuffer(b64decode(text), dtype=kind).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="))
