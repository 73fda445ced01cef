"""What a server keeps of any number of reports: a tally, and what it refused."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import isfinite
from typing import Any, TypeGuard

import numpy as np

from ldp3.arrays import Reports, Total
from ldp3.collection.wire import Wire, add_to
from ldp3.errors import LDPError, whole
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Bytes
from ldp3.randomness import WORDS
from ldp3.schemes.base import Scheme
from ldp3.types import Tally

DUPLICATE = "duplicate"
LIMIT = 2**62  # reports, so that 64-bit sums cannot overflow
Digests = Sequence[bytes | None]  # of the reports' identifiers; None where a report has none


@dataclass
class Counts:
    """Sums over reports.

    Parameters
    ----------
    tally
        What the counted reports add up to.
    refused
        Rows that were left out, by reason.
    seen
        Digests of the identifiers of the counted reports.
    forgotten
        Counted reports whose identifiers are no longer known, because they come from a file.
    repeated
        Counted reports with the hash seed of another one, as far as they were counted together.
    parts
        A random name for each collection of reports that is in them, so that none is added twice.
    """

    tally: Tally
    refused: dict[str, int] = field(default_factory=dict)
    seen: set[bytes] = field(default_factory=set)
    forgotten: int = 0
    repeated: int = 0
    parts: frozenset[str] = frozenset()

    @property
    def identified(self) -> int:
        """How many of the counted reports had an identifier."""
        return self.forgotten + len(self.seen)

    def add_rows(self, wire: Wire, rows: Bytes, digests: Digests | None = None) -> None:
        """Count rows of bytes, shape `(n, report_bytes)`."""
        reports, kept = wire.accept(rows, self.refused)
        if digests is not None:
            digests = [d for d, k in zip(digests, kept, strict=True) if k]
        self.add_reports(wire.oracle, reports, digests)

    def add_reports(
        self, oracle: FrequencyOracle, reports: Reports, digests: Digests | None = None
    ) -> None:
        """Count valid reports, each identifier once."""
        reports = self.once(reports, digests)
        if len(reports):
            self.tally += oracle.aggregate(reports)
            self.repeated += repeated_seeds(oracle, reports)

    def once(self, reports: Reports, digests: Digests | None) -> Reports:
        """The reports whose identifiers were not seen before; the others are refused."""
        if digests is None:
            return reports
        first = self._first(digests)
        add_to(self.refused, DUPLICATE, len(first) - sum(first))
        return reports[np.array(first, dtype=bool)]

    def _first(self, digests: Digests) -> list[bool]:
        first = []
        for digest in digests:
            first.append(digest is None or digest not in self.seen)
            if digest is not None:
                self.seen.add(digest)
        return first

    def copy(self) -> "Counts":
        """The same, to be changed by itself."""
        return replace(self, refused=dict(self.refused), seen=set(self.seen))

    def merge(self, other: "Counts") -> None:
        """Add what another part counted."""
        self.tally += other.tally
        for reason, rows in other.refused.items():
            add_to(self.refused, reason, rows)
        self.seen |= other.seen
        self.forgotten += other.forgotten
        self.repeated += other.repeated
        self.parts |= other.parts


def repeated_seeds(oracle: FrequencyOracle, reports: Reports) -> int:
    """How many reports have the seed of one before: honest clients draw a fresh 64-bit word."""
    if isinstance(oracle, Scheme):
        parts = zip(oracle.groups, oracle.parts(reports), strict=True)
        return sum(repeated_seeds(group.oracle, part) for group, part in parts)
    if oracle.nonce is None or oracle.nonce[1] < WORDS:
        return 0
    ranked = np.sort(reports[oracle.nonce[0]])
    return int(np.count_nonzero(ranked[1:] == ranked[:-1]))


def read_counts(given: dict[str, Any], oracle: FrequencyOracle) -> Counts | None:
    """The counts that a file states; None if no reports of this oracle give them."""
    n, refused, identified = given.get("n"), given.get("refused"), given.get("identified")
    parts = given.get("parts", [])  # another program may write none
    total = _numbers(given.get("total"), oracle.empty.total)
    if total is None or not _natural(n) or not _natural(identified):
        return None
    if not isinstance(refused, dict) or not all(map(_natural, refused.values())):
        return None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return None
    tally = Tally(total, n)
    if not _possible(tally, oracle):
        return None
    return Counts(tally, refused, forgotten=identified, parts=frozenset(parts))


def _numbers(given: object, like: Total) -> Total | None:
    cells = np.array(given, dtype=object)
    if cells.shape != like.shape:
        return None
    if np.issubdtype(like.dtype, np.integer):
        return cells.astype(np.int64) if all(whole(x, -LIMIT, LIMIT) for x in cells.flat) else None
    real = all(isinstance(x, float) and isfinite(x) for x in cells.flat)
    return cells.astype(np.float64) if real else None


def _possible(tally: Tally, oracle: FrequencyOracle) -> bool:
    try:
        oracle.require_tally(tally)
    except LDPError:
        return False
    return True


def _natural(number: object) -> TypeGuard[int]:
    return whole(number, 0, LIMIT - 1)


def digests_of(identifiers: Iterable[str | bytes | int | None]) -> list[bytes | None]:
    """16 bytes for every identifier, however long it is."""
    return [None if i is None else _digest(i) for i in identifiers]


def _digest(identifier: str | bytes | int) -> bytes:
    if not isinstance(identifier, bytes):
        identifier = str(identifier).encode(errors="surrogatepass")  # any text will do
    return blake2b(identifier, digest_size=16).digest()
