"""The server: add up reports, merge parts, estimate."""

import json
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain, compress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.collection.counts import Counts, digests_of
from ldp3.collection.plan import Plan, as_plan, read_json, require_format
from ldp3.collection.wire import IMPOSSIBLE, LENGTH, VERSION, Wire, add_to
from ldp3.collection.writing import write_text
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.types import Estimate

if TYPE_CHECKING:
    from ldp3.collection.files import Format
    from ldp3.collection.reading import Part

FORMAT = "ldp3 counts"
LIMIT = 2**62  # reports, so that 64-bit sums cannot overflow
IN_FLIGHT = 64  # parts given to an executor ahead of the one that is waited for
Identifier = str | bytes | int | None


class Aggregator:
    """Adds up the reports of one collection; parts merge into exactly the whole.

    Rows that no client of the collection can have sent are counted by reason and left out.

    Parameters
    ----------
    plan
        The description file, or a plan.

    Examples
    --------
    >>> from ldp3.collection.client import Client
    >>> plan = Plan("colours", "grr", 3.0, 3, labels=("red", "green", "blue"))
    >>> client, server = Client(plan), Aggregator(plan)
    >>> server.add([client.report("green") for _ in range(1_000)])
    >>> server.add(b"nonsense")
    >>> server.n, server.refused
    (1000, {'wrong length': 1})
    >>> server.estimate().frequencies.round() + 0.0
    array([0., 1., 0.])
    """

    def __init__(self, plan: Plan | str | PathLike[str]) -> None:
        self.plan = as_plan(plan)
        self._counts = Counts.none(self.plan.oracle)
        self._identified = 0  # reports with an identifier in counts that were loaded

    @property
    def n(self) -> int:
        """Number of reports counted."""
        return self._counts.n

    @property
    def total(self) -> IntArray:
        """How many reports support each value."""
        return self._counts.total.copy()

    @property
    def refused(self) -> dict[str, int]:
        """Rows that were left out, by reason."""
        return dict(sorted(self._counts.refused.items()))

    @property
    def identified(self) -> int:
        """How many of the counted reports had an identifier."""
        return self._identified + len(self._counts.seen)

    def add(
        self,
        reports: bytes | bytearray | memoryview | Reports | Iterable[bytes],
        ids: Sequence[Identifier] | None = None,
    ) -> None:
        """Count reports.

        Parameters
        ----------
        reports
            A run of reports as bytes; single ones; or an array as `oracle.perturb` makes it.
        ids
            An identifier for each report, None where there is none: each counts once. A run of
            bytes has none.
        """
        wire, counts = self.plan.wire, self._counts
        if isinstance(reports, bytes | bytearray | memoryview):
            if ids is not None:
                raise InvalidParameter("identifiers go with single reports: give a list of bytes.")
            data = np.frombuffer(reports, dtype=np.uint8)
            counts.add_rows(wire, wire.split(data, counts.refused))
        elif isinstance(reports, np.ndarray):
            valid = wire.oracle.valid(reports)
            add_to(counts.refused, IMPOSSIBLE, int(np.count_nonzero(~valid)))
            counts.add_reports(wire.oracle, reports[valid], _digests(ids, valid))
        else:
            single = [memoryview(report).tobytes() for report in reports]
            right = np.array([len(report) == wire.report_bytes for report in single], dtype=bool)
            add_to(counts.refused, LENGTH, int(np.count_nonzero(~right)))
            rows = np.frombuffer(b"".join(compress(single, right)), dtype=np.uint8)
            counts.add_rows(wire, rows.reshape(-1, wire.report_bytes), _digests(ids, right))

    def add_files(
        self,
        paths: Iterable[str | PathLike[str]],
        *,
        format: "Format | None" = None,
        executor: Executor | None = None,
        threads: int | None = None,
        tick: Callable[[int], None] = lambda n: None,  # noqa: ARG005
    ) -> None:
        """Count the reports in files, part by part, on all cores; all of them or, on error, none.

        Parameters
        ----------
        paths
            Files of reports.
        format
            What they hold, where their endings do not say.
        executor
            Where the parts are counted, such as ``dask.distributed.Client().get_executor()``;
            threads by default.
        threads
            How many threads; as many as there are cores by default.
        tick
            Called with the number of reports so far.
        """
        from ldp3.collection.reading import count_part, parts_of

        wire = self.plan.wire
        parts = chain.from_iterable([parts_of(Path(path), wire, format) for path in paths])
        fresh = Counts.none(wire.oracle)
        with ExitStack() as stack:
            pool = executor or stack.enter_context(ThreadPoolExecutor(threads or _cores()))
            for part, counts in stack.enter_context(closing(_in_order(pool, wire, parts))):
                # the first in the order of the files counts, whatever the executor did first
                again = (counts.seen & fresh.seen) | (counts.seen & self._counts.seen)
                if again:
                    counts = pool.submit(count_part, wire, part, frozenset(again)).result()
                fresh.merge(counts)
                tick(fresh.n)
        self._counts.merge(fresh)

    def merge(self, other: "Aggregator") -> None:
        """Add what another aggregator of the same collection counted."""
        if other.plan.identifier != self.plan.identifier:
            raise InvalidData(
                f"{other.plan.name!r} (ε={other.plan.epsilon:g}, {other.plan.protocol}) and "
                f"{self.plan.name!r} (ε={self.plan.epsilon:g}, {self.plan.protocol}) are different "
                f"collections: their counts do not add up."
            )
        if again := len(self._counts.seen & other._counts.seen):
            raise InvalidData(
                f"{self.plan.name!r}: {again:,} reports are in both parts; add the reports to one "
                f"aggregator, so that each counts once."
            )
        if self.n + other.n >= LIMIT:
            raise InvalidData(f"{self.plan.name!r}: {self.n + other.n:,} reports are too many.")
        self._counts.merge(other._counts)
        self._identified += other._identified

    def estimate(self) -> Estimate:
        """Unbiased frequencies."""
        if not self.n:
            raise InvalidData(f"{self.plan.name!r}: no report was counted: nothing to estimate.")
        return self.plan.oracle.estimate(self.total, self.n)

    def frequencies(self, method: str | None = None) -> FloatArray:
        """Post-processed frequencies, by the plan's method or another one."""
        from ldp3 import postprocess

        return postprocess(method or self.plan.method)(self.estimate())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts, with the description of the collection."""
        content = {
            "format": FORMAT,
            "version": VERSION,
            "n": self.n,
            "identified": self.identified,
            "refused": self.refused,
            "plan": self.plan.describe(),
            "total": self._counts.total.tolist(),
        }
        write_text(Path(path), json.dumps(content, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Aggregator":
        """Read counts; numbers that no collection can have are refused."""
        given = require_format(read_json(Path(path)), FORMAT, str(path))
        aggregator = cls(Plan.read(given.get("plan"), f"{path}: plan"))
        size = aggregator.plan.oracle.support_size
        fields: dict[str, Any] = dict.fromkeys(("n", "total", "refused", "identified")) | given
        n, total, refused = fields["n"], fields["total"], fields["refused"]
        sound = (
            _natural(n)
            and isinstance(total, list)
            and len(total) == aggregator.plan.d
            and all(_natural(count) and count <= n for count in total)
            and (size is None or sum(total) == size * n)
            and isinstance(refused, dict)
            and all(_natural(rows) for rows in refused.values())
            and _natural(fields["identified"])
        )
        if not sound:
            raise InvalidData(
                f"{path}: are no counts of {aggregator.plan.name!r}; make them again."
            )
        aggregator._counts = Counts(np.array(total, dtype=np.int64), n, refused)
        aggregator._identified = fields["identified"]
        return aggregator


def _digests(ids: Sequence[Identifier] | None, kept: BoolArray) -> list[bytes | None] | None:
    if ids is None:
        return None
    if len(ids) != len(kept):
        raise InvalidParameter(f"{len(kept)} reports need as many identifiers, got {len(ids)}.")
    return digests_of(compress(ids, kept))


def _in_order(
    pool: Executor, wire: Wire, parts: Iterator["Part"]
) -> Generator[tuple["Part", Counts]]:
    """Count the parts, a few at a time, and give them back in their order."""
    from ldp3.collection.reading import count_part

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


def _cores() -> int:
    count = getattr(os, "sched_getaffinity", None)
    return len(count(0)) if count else os.cpu_count() or 1


def _natural(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < LIMIT
