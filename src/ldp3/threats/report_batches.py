"""Reports as they go by: from an array or from files, and what is kept of them.

They are read twice, some at a time, so that memory does not grow with their number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from ldp3.arrays import Reports
from ldp3.collection import report_parts
from ldp3.collection.counts import Counts, Digests
from ldp3.collection.databases import is_store, open_store
from ldp3.collection.plan import Plan
from ldp3.collection.reports import ReportFormat
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle

Batches = Callable[[], Iterator[Reports]]
AT_ONCE = 2**16  # reports of an array that are looked at together
KEYS = 2**22  # different reports that are remembered; of more, a share that is chosen by their hash


def in_batches(reports: Reports) -> Batches:
    """An array, some reports at a time."""

    def batches() -> Iterator[Reports]:
        for start in range(0, len(reports), AT_ONCE):
            yield reports[start : start + AT_ONCE]

    return batches


@dataclass
class Kept(Counts):
    """Counts that keep the reports of a part instead of adding them up.

    Parameters
    ----------
    batches
        The reports, as they came.
    """

    batches: list[Reports] = field(default_factory=list)

    def add_reports(
        self,
        oracle: FrequencyOracle,  # noqa: ARG002
        reports: Reports,
        digests: Digests | None = None,
    ) -> None:
        self.batches.append(self.once(reports, digests))


class ReportFiles:
    """The reports that a server would count: every call reads them from the start.

    One part is held at a time; besides, as a server does, the identifiers of reports that have one.

    Parameters
    ----------
    plan
        The collection.
    paths
        Its files, and stores of collectors that keep reports.
    input_format
        What they hold, where their endings do not say.
    """

    def __init__(
        self, plan: Plan, paths: Sequence[object], input_format: ReportFormat | None = None
    ) -> None:
        self._plan, self._paths, self._format = plan, paths, input_format
        self.refused: dict[str, int] = {}  # rows that the last call left out, by reason
        self.seen: set[bytes] = set()  # identifiers that it met

    def __call__(self) -> Iterator[Reports]:
        kept = Kept(self._plan.oracle.empty)
        self.refused, self.seen = kept.refused, kept.seen
        for path in self._paths:
            if is_store(path):
                yield from _kept_in(str(path), self._plan)
                continue
            for part in report_parts.all_parts(path, self._plan.wire, self._format):
                report_parts.add_part(self._plan.wire, part, kept)
                yield from kept.batches
                kept.batches.clear()


def _kept_in(address: str, plan: Plan) -> Iterator[Reports]:
    with open_store(address) as store:
        yield from store.reports(store.number_of(plan))


class FirstPass:
    """What one reading of all reports keeps: as much for a billion of them as for a few million.

    Parameters
    ----------
    oracle
        How they were made.
    batches
        The reports.
    sized
        Whether to count how many values they support.
    compared
        Whether to look for those that were sent before, by their nonces where they have one.
    """

    def __init__(
        self, oracle: PureOracle, batches: Iterator[Reports], *, sized: bool, compared: bool
    ) -> None:
        self.tally = oracle.empty
        self.sizes = np.zeros(oracle.d + 1, dtype=np.int64) if sized else None
        self.repeats = Repeats() if compared else None
        for reports in (some for some in batches if len(some)):
            self.tally += oracle.aggregate(reports)
            if self.sizes is not None:
                self.sizes += np.bincount(oracle.sizes(reports), minlength=oracle.d + 1)
            if self.repeats is not None:
                self.repeats.add(reports[oracle.nonce[0]] if oracle.nonce else reports)


class Repeats:
    """How many reports equal one before, among those whose hash is small enough.

    Equal reports have equal hashes, so of those that are remembered every repeat is counted.
    """

    def __init__(self) -> None:
        self._keys, self._times = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        self._halvings = 0

    def add(self, reports: Reports) -> None:
        """Take in some reports."""
        keys = self._kept(_hashes(reports))
        every, where = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        times = np.concatenate([self._times, np.ones(len(keys), dtype=np.int64)])
        self._keys = every
        self._times = np.bincount(where, times, minlength=len(every)).astype(np.int64)
        while len(self._keys) > KEYS:
            self._halvings += 1
            small = self._keys < np.uint64(2 ** (64 - self._halvings))
            self._keys, self._times = self._keys[small], self._times[small]

    def _kept(self, keys: Reports) -> Reports:
        if self._halvings == 0:
            return keys
        return keys[keys < np.uint64(2 ** (64 - self._halvings))]

    @property
    def share(self) -> float:
        """Of all reports that there could be, the share that is remembered."""
        return 2.0**-self._halvings

    @property
    def again(self) -> int:
        """Remembered reports that equal one before."""
        return int(self._times.sum()) - len(self._times)


def _hashes(reports: Reports) -> Reports:
    words = reports.reshape(len(reports), -1)
    return pl.from_numpy(np.ascontiguousarray(words)).hash_rows(seed=0).to_numpy()
