"""What a server keeps of any number of reports: sums that add up, and what it refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from ldp3.arrays import IntArray, Reports
from ldp3.collection.wire import Bytes, Wire, add_to
from ldp3.protocols.base import PureOracle

DUPLICATE = "duplicate"
Digests = Sequence[bytes | None]  # of the reports' identifiers; None where a report has none


@dataclass
class Counts:
    """Sums over reports.

    Parameters
    ----------
    total
        The aggregate, shape `(d,)`.
    n
        Number of reports in it.
    refused
        Rows that were left out, by reason.
    seen
        Digests of the identifiers of the reports in it.
    """

    total: IntArray
    n: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    seen: set[bytes] = field(default_factory=set)

    @classmethod
    def none(cls, oracle: PureOracle) -> "Counts":
        """No reports yet."""
        return cls(np.zeros(oracle.d, dtype=np.int64))

    def add_rows(self, wire: Wire, rows: Bytes, digests: Digests | None = None) -> None:
        """Count rows of bytes, shape `(n, report_bytes)`."""
        reports, kept = wire.accept(rows, self.refused)
        if digests is not None:
            digests = [d for d, k in zip(digests, kept, strict=True) if k]
        self.add_reports(wire.oracle, reports, digests)

    def add_reports(
        self, oracle: PureOracle, reports: Reports, digests: Digests | None = None
    ) -> None:
        """Count valid reports, each identifier once."""
        if digests is not None:
            first = self._first(digests)
            add_to(self.refused, DUPLICATE, len(first) - sum(first))
            reports = reports[np.array(first, dtype=bool)]
        if len(reports):
            self.total += oracle.aggregate(reports)
            self.n += len(reports)

    def _first(self, digests: Digests) -> list[bool]:
        first = []
        for digest in digests:
            first.append(digest is None or digest not in self.seen)
            if digest is not None:
                self.seen.add(digest)
        return first

    def merge(self, other: "Counts") -> None:
        """Add what another part counted."""
        self.total += other.total
        self.n += other.n
        for reason, rows in other.refused.items():
            add_to(self.refused, reason, rows)
        self.seen |= other.seen


def digests_of(identifiers: Iterable[str | bytes | int | None]) -> list[bytes | None]:
    """16 bytes for every identifier, however long it is."""
    return [None if i is None else _digest(i) for i in identifiers]


def _digest(identifier: str | bytes | int) -> bytes:
    content = identifier if isinstance(identifier, bytes) else str(identifier).encode()
    return blake2b(content, digest_size=16).digest()
