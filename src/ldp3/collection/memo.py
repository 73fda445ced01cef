"""A memo: the same value gives the same report within a collection."""

import json
import os
from base64 import b64decode, b64encode
from pathlib import Path

from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData, whole


class Memo:
    """Reports by value, in a file on the person's own device.

    The file is only ever added to, one line per report, and the first line for a value counts: of
    two processes that add one at the same moment, both send the first. It holds the person's true
    values, so nobody else may read it. One file can serve several collections.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path = path
        self.plan = plan

    def __len__(self) -> int:
        """How many different values were reported in this collection."""
        return len(self._read())

    def recall(self, code: int) -> bytes | None:
        """The report that was sent for this value before."""
        return self._read().get(code)

    def keep(self, code: int, report: bytes) -> bytes:
        """Remember a report; the answer is the one to send."""
        line = json.dumps(
            {
                "collection": self.plan.identifier,
                "value": code,
                "report": b64encode(report).decode(),
            }
        )
        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, f"\n{line}\n".encode())
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise InvalidData(
                f"{self.path}: the memo cannot be written: {error.strerror}; nothing was sent."
            ) from None
        return self._read()[code]

    def _read(self) -> dict[int, bytes]:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidData(f"{self.path}: the memo cannot be read: {error.strerror}.") from None
        reports: dict[int, bytes] = {}
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"}"):  # blank, or never finished and so never sent
                continue
            try:
                self._note(json.loads(line), reports)
            except (ValueError, KeyError, TypeError, RecursionError):
                raise InvalidData(
                    f"{self.path}: line {number} of the memo is damaged; restore the file, for "
                    f"without it a value already reported would be reported afresh."
                ) from None
        return reports

    def _note(self, entry: dict[str, object], reports: dict[int, bytes]) -> None:
        code, report = entry["value"], b64decode(str(entry["report"]), validate=True)
        if entry["collection"] != self.plan.identifier:
            return
        ours = report.startswith(self.plan.tag) and len(report) == self.plan.report_bytes
        if not ours or not whole(code, 0, self.plan.d - 1):
            raise ValueError
        reports.setdefault(code, report)
