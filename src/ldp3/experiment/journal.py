"""Nothing finished is lost: a run with an output writes down each block as it ends.

The journal stands beside the output. Its first line says what the run is, every other line holds
one block, with its numbers bit by bit. Whoever is killed leaves at worst half a line at the end,
which is cut off. When the output is complete, the journal goes.
"""

import json
from base64 import b64decode, b64encode
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ldp3.errors import InvalidParameter, LDPError
from ldp3.experiment.cells import Block, Cell, Measured, Outcome, exact_sums, from_sums
from ldp3.experiment.grid import Experiment
from ldp3.results.storage import files_of, manifest_of, read_manifest
from ldp3.results.table import Results


class Journal:
    """The finished blocks of one run, in memory and on disk."""

    def __init__(self, output: Path, experiment: Experiment, file: IO[bytes]) -> None:
        self.output = output
        self.path = path_of(output)
        self.experiment = experiment
        self.file = file
        self.measured = Measured()

    def append(self, outcome: Outcome) -> None:
        """Keep a block; it is with the operating system when this returns."""
        try:
            self.file.write(_line(_written(outcome)))
            self.file.flush()
        except OSError as error:
            raise LDPError(
                f"Cannot write {str(self.path)!r}: {error.strerror}. What it holds is kept."
            ) from error
        self.measured.add(outcome)

    def finish(self, results: Results) -> None:
        """Write the output, then forget the journal."""
        results.save(self.output)
        self.file.close()
        self.path.unlink()

    def close(self) -> None:
        """Let go of the file; a journal without a single block is not worth keeping."""
        self.file.close()
        if not self.measured.outcomes:
            self.path.unlink(missing_ok=True)

    def begin(self, fresh: bool) -> None:
        """Take over what an earlier run wrote, or write the first line."""
        self.file.seek(0)
        first, *lines = self.file.readlines() or [b""]
        if not first.startswith(_HEAD[: len(first)]):
            raise LDPError(f"{str(self.path)!r} is no journal of ours: move it away.")
        head = _parsed(first)
        if head is None or fresh:  # nothing yet, or killed while writing it
            self.file.truncate(0)
            self.file.write(_line({"journal": self.experiment.identity}))
            self.file.flush()
            return
        if reason := difference(head["journal"], self.experiment.identity):
            raise _refusal(self.output, "holds part of another run", reason)
        size = len(first)
        for line in lines:
            if (found := _parsed(line)) is None:
                break
            self._take_over(_read(found))
            size += len(line)
        self.file.truncate(size)  # the file is open for appending: writing goes on at the end

    def _take_over(self, outcome: Outcome) -> None:
        """A block of an earlier run, once, and only if it kept as much as this run is to keep."""
        twice = not self.measured.cells.isdisjoint(outcome.block.cells)
        less = self.experiment.keep != "scores" and outcome.sums is None
        if not twice and not less:
            self.measured.add(outcome)


_HEAD = b'{"journal":'


def path_of(output: Path) -> Path:
    """Where the journal of an output is: beside it, so the output needs a name."""
    if not output.name or output.name == "..":
        raise InvalidParameter(
            f"`output` needs a file or a folder by its name, got {str(output)!r}."
        )
    return output.with_name(output.name + ".journal")


def open_journal(output: Path, experiment: Experiment, fresh: bool = False) -> Journal | None:
    """Continue the journal of an output, or begin it; None if the output is complete.

    `fresh` forgets what an earlier run of ours left; what is not ours is never touched. An output
    that cannot be written is refused here, before there is anything to lose.
    """
    before = _earlier(output)
    if before is not None and not fresh:
        if reason := difference(before, experiment.identity):
            raise _refusal(output, "holds another run", reason)
        path_of(output).unlink(missing_ok=True)  # killed just before that
        return None
    if not output.parent.is_dir():
        raise LDPError(f"Cannot write {str(output)!r}: there is no folder {str(output.parent)!r}.")
    try:
        if output.is_dir():
            with TemporaryFile(dir=output):
                pass
        file = path_of(output).open("a+b")
    except OSError as error:
        raise LDPError(f"Cannot write {str(output)!r}: {error.strerror}.") from error
    journal = Journal(output, experiment, file)
    try:
        _lock(file, output)
        journal.begin(fresh)
        for path in (
            reversed(files_of(output)) if fresh else ()
        ):  # the manifest, which vouches, first
            path.unlink(missing_ok=True)
    except BaseException:
        file.close()
        raise
    return journal


def _earlier(output: Path) -> dict[str, Any] | None:
    """What a complete output of ours holds; None if there is none. A stranger's is refused."""
    manifest = manifest_of(output)
    there = [path for path in files_of(output) if path.exists()]
    if manifest in there:
        found = read_manifest(manifest)
        if {"data", "seed", "versions"} <= set(found):
            return found if len(there) > 1 else None
    elif not there or path_of(output).exists():
        return None
    raise InvalidParameter(
        f"{str(there[0])!r} exists and is no output of ours: choose another `output`, or move it."
    )


def difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The first thing in which two runs differ, in words."""
    for name, value in now.items():
        old = before.get(name)
        if old == value:
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


def _lock(file: IO[bytes], output: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not on Windows, where an open file cannot be removed anyway
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LDPError(f"Another run is writing {str(output)!r} at this moment.") from None


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A whole line; None for half of one."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _written(outcome: Outcome) -> dict[str, Any]:
    sums: NDArray[Any] | None = outcome.sums
    if outcome.sums is not None and len(outcome.block) == 1:
        sums = from_sums(
            outcome.sums
        )  # half as long, and nothing is lost: one number fits into a float
    return {
        "cell": asdict(outcome.block.cell),
        "stop": outcome.block.stop,
        "values": _packed(outcome.values),
        "sums": _packed(sums),
        "estimates": _packed(outcome.estimates),
        "seconds": outcome.seconds,
        "limits": _packed(outcome.limits),
    }


def _read(found: dict[str, Any]) -> Outcome:
    values, sums, estimates = (_unpacked(found[name]) for name in ("values", "sums", "estimates"))
    block = Block(Cell(**found["cell"]), found["stop"])
    if sums is not None and len(block) == 1:
        sums = exact_sums([sums])
    limits = _unpacked(found["limits"])
    return Outcome(block, values, sums, estimates, found["seconds"], limits)


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
