"""Many reports at a time between the protocol's arrays and bytes on the wire.

A report on the wire is a tag of 8 bytes (version, start of the collection's identifier) and the
report as a whole number, little-endian, in as many bytes as `report_bits` need (`definition`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldp3 import bits
from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.collection.definition import no_wire_format
from ldp3.kernels import njit
from ldp3.protocols.base import PureOracle
from ldp3.protocols.grr import GRR
from ldp3.protocols.local_hashing import REPORT, LocalHashing
from ldp3.protocols.subset_selection import SS
from ldp3.protocols.unary import UnaryEncoding

Bytes = NDArray[np.uint8]

VERSION = 1  # of the description and of the wire format: the first byte of every report
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
    """

    oracle: PureOracle
    tag: bytes

    @cached_property
    def payload_bytes(self) -> int:
        """Bytes of the report itself: `report_bits`, rounded up."""
        return -(-self.oracle.report_bits // 8)

    @property
    def report_bytes(self) -> int:
        """Bytes of a report with its tag, whatever the value."""
        return TAG_BYTES + self.payload_bytes

    def encode(self, reports: Reports) -> Bytes:
        """The bytes of each report, shape `(n, report_bytes)`."""
        rows = np.empty((len(reports), self.report_bytes), dtype=np.uint8)
        rows[:, :TAG_BYTES] = np.frombuffer(self.tag, dtype=np.uint8)
        payload = rows[:, TAG_BYTES:]
        if isinstance(self.oracle, GRR | UnaryEncoding | SS):
            payload[:] = _as_bytes(reports, self.payload_bytes)
        elif isinstance(self.oracle, LocalHashing):
            payload[:, :8] = _as_bytes(reports["seed"], 8)
            payload[:, 8:] = _as_bytes(reports["cell"], self.payload_bytes - 8)
        else:
            raise no_wire_format(self.oracle)
        return rows

    def decode(self, payload: Bytes) -> Reports:
        """The protocol's reports, of shape `(n, payload_bytes)`; they are not validated yet."""
        if isinstance(self.oracle, GRR):
            return _as_numbers(payload)
        if isinstance(self.oracle, UnaryEncoding | SS):
            rows = np.zeros((len(payload), 8 * bits.width(self.oracle.d)), dtype=np.uint8)
            rows[:, : self.payload_bytes] = payload
            return rows.view("<u8").astype(np.uint64, copy=False)
        if isinstance(self.oracle, LocalHashing):
            reports = np.empty(len(payload), dtype=REPORT)
            reports["seed"] = np.ascontiguousarray(payload[:, :8]).view("<u8")[:, 0]
            reports["cell"] = _as_numbers(payload[:, 8:])
            return reports
        raise no_wire_format(self.oracle)

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
        reports = self.decode(rows[:, TAG_BYTES:])
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


def add_to(refused: dict[str, int], reason: str, rows: int) -> None:
    """Note that so many more rows were refused for a reason."""
    if rows:
        refused[reason] = refused.get(reason, 0) + rows


def _as_bytes(numbers: Reports, size: int) -> Bytes:
    """The `size` low bytes of each row of unsigned numbers, little-endian."""
    little = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<"))
    width = little.itemsize * (1 if little.ndim == 1 else little.shape[1])
    return little.view(np.uint8).reshape(len(numbers), width)[:, :size]


def _as_numbers(rows: Bytes) -> Reports:
    """Rows of up to four bytes as the narrowest numbers that hold them."""
    width = 1 << (rows.shape[1] - 1).bit_length()
    wide = np.zeros((len(rows), width), dtype=np.uint8)
    wide[:, : rows.shape[1]] = rows
    return wide.view(f"<u{width}")[:, 0].astype(f"u{width}", copy=False)


@njit
def _find(data: Bytes, tag: Bytes, size: int, starts: IntArray) -> tuple[int, int, int, int]:
    found, version, foreign, cut, i = 0, 0, 0, 0, 0
    while i + size <= data.size:
        if _tagged(data, tag, i):
            starts[found] = i
            found += 1
            i += size
            continue
        after = i + 1
        while after < i + size and not _tagged(data, tag, after):
            after += 1
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
