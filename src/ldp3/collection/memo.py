"""A memo: the same value gives the same report within a collection."""

import errno
import json
import os
import re
import stat
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData, whole
from ldp3.files import sealed, sync_folder, unsealed

BINARY = getattr(os, "O_BINARY", 0)  # without it, a damaged byte could end the file on Windows


class Memo:
    """Reports by value, in a file on the person's own device.

    The file is only ever added to, one line per report, and the first line for a value counts: of
    two processes that add one at the same moment, both send the first. Each line has a seal: a
    damaged one is refused, and its value never reported afresh. It holds the person's true values,
    so nobody else may read it. One file can serve several collections.

    Where a scheme asks groups of people different questions, the first report of a collection tells
    the person's group for ever: a new group every time would be a new question at the price of ε
    each. A value is then what the group's view sees of it.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self.plan = plan

    def __len__(self) -> int:
        """How many different values were reported in this collection."""
        return len(self._read())

    @property
    def group(self) -> int | None:
        """The group that this person is in, if anything was reported."""
        return next((group for group, _ in self._read()), None)

    def recall(self, group: int, code: int) -> bytes | None:
        """The report that was sent for this value of a group's view before."""
        return self._read().get((group, code))

    def keep(self, code: int, report: bytes) -> bytes | None:
        """Remember a report; the answer is the one to send, and is on the disk.

        None if another process was first, and put this person into another group.
        """
        entry = {
            "collection": self.plan.identifier,
            "value": code,
            "report": b64encode(report).decode(),
        }
        line = b"\n" + sealed(json.dumps(entry).encode())
        with self._opened(os.O_RDWR | os.O_APPEND | os.O_CREAT, "written") as file:
            self._make_private(file)
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        sync_folder(self.path.parent)
        return self.recall(self.plan.group_in(report), code)

    def _read(self) -> dict[tuple[int, int], bytes]:
        """Reports by value: the group, which all of them have in common, and what it sees."""
        reports: dict[tuple[int, int], bytes] = {}
        content = self._content()
        lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        for number, line in enumerate(map(bytes.strip, lines)):
            text = unsealed(line)
            if text is not None:
                self._note(number, text, reports)
            elif line and not _was_never_finished(line):  # such a one was never sent
                raise self._damaged(number)
        if content:  # and only now: the mode of a file that is no memo is not ours to change
            with self._opened(os.O_RDONLY, "read") as file:
                self._make_private(file)
        return reports

    def _note(self, number: int, text: bytes, reports: dict[tuple[int, int], bytes]) -> None:
        try:
            entry = json.loads(text)
            code, report = entry["value"], b64decode(str(entry["report"]), validate=True)
            if entry["collection"] != self.plan.identifier:
                return
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged(number) from None
        ours = report.startswith(self.plan.tag) and len(report) == self.plan.report_bytes
        group, oracles = self.plan.group_in(report), self.plan.oracles
        if not ours or group >= len(oracles) or not whole(code, 0, oracles[group].d - 1):
            raise self._damaged(number)
        first, _ = next(iter(reports), (group, code))
        if first == group:  # else it lost a race, and was never sent
            reports.setdefault((group, code), report)

    def _damaged(self, number: int) -> InvalidData:
        return InvalidData(
            f"{self.path}: line {number + 1} of the memo is damaged; restore the file, for "
            f"without it a value already reported would be reported afresh."
        )

    def _content(self) -> bytes:
        with (
            suppress(FileNotFoundError),
            self._opened(os.O_RDONLY | getattr(os, "O_NONBLOCK", 0), "read") as file,
            os.fdopen(os.dup(file), "rb") as content,
        ):
            return content.read()
        return b""

    @contextmanager
    def _opened(self, flags: int, what: str) -> Iterator[int]:
        try:
            file = os.open(self.path, flags | BINARY, 0o600)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise InvalidData(f"{self.path}: a memo is a regular file; nothing was sent.")
                yield file
            finally:
                os.close(file)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and what == "read":
                raise
            raise InvalidData(
                f"{self.path}: the memo cannot be {what}: {error.strerror}; nothing was sent."
            ) from None

    def _make_private(self, file: int) -> None:
        """Let nobody else read it."""
        if os.name == "posix" and os.fstat(file).st_mode & 0o077:
            os.fchmod(file, 0o600)
            told = f"{self.path}: others could read the memo; now only its owner can."
            warnings.warn(told, stacklevel=2)


_LINE = (
    re.compile(rb"[0-9a-f]{0,16}"),
    b' {"collection": "',
    re.compile(rb"[0-9a-f]{0,64}"),
    b'", "value": ',
    re.compile(rb"[0-9]*"),
    b', "report": "',
    re.compile(rb"[A-Za-z0-9+/=]*"),
    b'"}',
)


def _was_never_finished(line: bytes) -> bool:
    """Whether a line is the beginning of one of ours, and not all of it."""
    for piece in _LINE:
        if isinstance(piece, bytes):
            if len(line) < len(piece):
                return piece.startswith(line)
            if not line.startswith(piece):
                return False
            line = line[len(piece) :]
        else:
            line = piece.sub(b"", line, count=1)
    return False
