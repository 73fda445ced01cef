"""Many reports at a time between the protocol's arrays and bytes on the wire.

A report on the wire is a tag of 8 bytes (version, start of the collection's identifier) and the
report as the protocol's layout writes it: a whole number, little-endian.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.kernels.compile import njit
from ldp3.plugins import plugin
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Bytes

VERSION = 3  # of plans and of the wire format: the first byte of every report
TAG_BYTES = 8

# why a row is not counted
LENGTH = "wrong length"
OTHER_VERSION = "unknown version"
OTHER_COLLECTION = "another collection"
IMPOSSIBLE = "impossible report"


@dataclass(frozen=True)
class Wire:
    """How the reports of one collection are sent.

    Parameters
    ----------
    oracle
        The protocol.
    tag
        What stands in front of every report.
    plugins
        Files that define the protocol, where it is not one of ours.
    """

    oracle: FrequencyOracle
    tag: bytes
    plugins: tuple[Path, ...] = ()

    @property
    def report_bytes(self) -> int:
        """Bytes of a report with its tag, whatever the value."""
        return TAG_BYTES + self.payload_bytes

    @cached_property
    def payload_bytes(self) -> int:
        """Bytes of the report itself."""
        return self.oracle.layout.size

    def write(self, report: int) -> bytes:
        """The bytes of one report, as `draw` gives it."""
        return self.tag + report.to_bytes(self.payload_bytes, "little")

    def encode(self, reports: Reports) -> Bytes:
        """The bytes of each report, shape `(n, report_bytes)`."""
        rows = np.empty((len(reports), self.report_bytes), dtype=np.uint8)
        rows[:, :TAG_BYTES] = np.frombuffer(self.tag, dtype=np.uint8)
        rows[:, TAG_BYTES:] = self.oracle.layout.encode(reports)
        return rows

    def accept(self, rows: Bytes, refused: dict[str, int]) -> tuple[Reports, BoolArray]:
        """The reports that may be counted, and which rows they are; the others are `refused`.

        `rows` has the shape `(n, report_bytes)`.
        """
        tags = np.ascontiguousarray(rows[:, :TAG_BYTES]).view("<u8")[:, 0]
        ours = tags == np.frombuffer(self.tag, dtype="<u8")[0]
        if not ours.all():
            foreign = int(np.count_nonzero(~ours))
            versions = int(np.count_nonzero(rows[:, 0] != VERSION))
            add_to(refused, OTHER_VERSION, versions)
            add_to(refused, OTHER_COLLECTION, foreign - versions)
            rows = rows[ours]
        reports = self.oracle.layout.decode(rows[:, TAG_BYTES:])
        valid = self.oracle.valid(reports)
        if not valid.all():
            add_to(refused, IMPOSSIBLE, int(np.count_nonzero(~valid)))
            ours[ours] = valid
            reports = reports[valid]
        return reports, ours

    def split(self, data: Bytes, refused: dict[str, int]) -> Bytes:
        """The rows in a run of reports without anything between them.

        Reading goes on at the next tag after bytes that are none of ours; what is skipped counts
        as one row for every length of a report, whole or begun.
        """
        starts = np.empty(len(data) // self.report_bytes, dtype=np.int64)
        tag = np.frombuffer(self.tag, dtype=np.uint8)
        found, version, foreign, cut = _find(data, tag, self.report_bytes, starts)
        add_to(refused, OTHER_VERSION, version)
        add_to(refused, OTHER_COLLECTION, foreign)
        add_to(refused, LENGTH, cut)
        if found == 0 or starts[found - 1] == (found - 1) * self.report_bytes:  # nothing between
            return data[: found * self.report_bytes].reshape(found, self.report_bytes)
        windows = np.lib.stride_tricks.sliding_window_view(data, self.report_bytes)
        return windows[starts[:found]]

    def __reduce__(self) -> tuple[Callable[..., "Wire"], tuple[Any, ...]]:
        # another process must load the plug-ins before it can read the protocol
        sources = [(path, path.read_bytes()) for path in self.plugins]
        return _unpickled, (pickle.dumps(self.oracle), self.tag, sources)


def add_to(refused: dict[str, int], reason: str, rows: int) -> None:
    """Note that so many more rows were refused for a reason."""
    if rows:
        refused[reason] = refused.get(reason, 0) + rows


def _unpickled(oracle: bytes, tag: bytes, sources: list[tuple[Path, bytes]]) -> Wire:
    for path, source in sources:
        plugin(path, source)
    return Wire(pickle.loads(oracle), tag, tuple(path for path, _ in sources))


@njit
def _find(data: Bytes, tag: Bytes, size: int, starts: IntArray) -> tuple[int, int, int, int]:
    found, version, foreign, cut, i = 0, 0, 0, 0, 0
    while i + size <= data.size:
        tagged = _tagged(data, tag, i)
        whole = tagged and (i + size == data.size or _tagged(data, tag, i + size))
        after = i + 1
        while not whole and after < i + size and not _tagged(data, tag, after):
            after += 1
        if whole or (tagged and after == i + size):  # else it is a part, and the next one is there
            starts[found] = i
            found += 1
            i += size
            continue
        if after < i + size:
            cut += 1
        elif data[i] == tag[0]:
            foreign += 1
        else:
            version += 1
        i = after
    return found, version, foreign, cut + int(i < data.size)


@njit
def _tagged(data: Bytes, tag: Bytes, i: int) -> bool:
    if i + tag.size > data.size:
        return False
    for b in range(tag.size):  # noqa: SIM110
        if data[i + b] != tag[b]:
            return False
    return True
