"""The server: add up reports, merge parts, estimate."""

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, compress
from os import PathLike
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, Reports, Total
from ldp3.collection.counts import LIMIT, Counts, digests_of, read_counts
from ldp3.collection.plan import Plan, as_plan
from ldp3.collection.plan_file import COUNTS, canonical, require_format, shallow
from ldp3.collection.wire import IMPOSSIBLE, LENGTH, VERSION, add_to
from ldp3.display import card, of_estimate
from ldp3.domain import Records
from ldp3.errors import InvalidData, InvalidParameter, as_path, several, short
from ldp3.files import read_json, seal, write_text
from ldp3.progress import available_cores
from ldp3.schemes.attributes import RecordScheme
from ldp3.tables import Tables
from ldp3.types import Estimate, Tally

if TYPE_CHECKING:
    from ldp3.collection.reports import ReportFormat

UNSEALED = "these counts have no seal, so that nobody can tell whether they were damaged or edited."
Identifier = str | bytes | int | None


class Aggregator:
    """Adds up the reports of one collection; parts merge into exactly the whole.

    Rows that no client of the collection can have sent are counted by reason and left out. Several
    threads may add to one aggregator.

    Parameters
    ----------
    plan
        A plan, or its file.
    plugins
        Python files that define the protocol or the method, where the plan names one that is not
        ours.

    Examples
    --------
    >>> from ldp3.collection.client import Client
    >>> plan = Plan("colours", ["red", "green", "blue"], "grr", 3.0)
    >>> client, server = Client(plan), Aggregator(plan)
    >>> server.add([client.report("green") for _ in range(1_000)])
    >>> server.add(b"nonsense")
    >>> server.n, server.refused
    (1000, {'wrong length': 1})
    >>> server.estimate().frequencies.round() + 0.0
    array([0., 1., 0.])
    """

    def __init__(
        self, plan: Plan | str | PathLike[str], plugins: Iterable[str | Path] = ()
    ) -> None:
        self.plan = as_plan(plan, plugins)
        self._counts = Counts(self.plan.oracle.empty)
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"plan": self.plan, "_counts": self._copy()}  # a lock does not travel

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def _copy(self) -> Counts:
        """The counts of one moment, whoever adds to them."""
        with self._lock:
            return self._counts.copy()

    @property
    def tally(self) -> Tally:
        """What the counted reports add up to."""
        return self._counts.tally

    @property
    def n(self) -> int:
        """Number of reports counted."""
        return self.tally.n

    @property
    def total(self) -> Total:
        """The sum over them: for most protocols, how many support each value."""
        return self.tally.total

    @property
    def refused(self) -> dict[str, int]:
        """Rows that were left out, by reason."""
        with self._lock:
            return dict(sorted(self._counts.refused.items()))

    @property
    def identified(self) -> int:
        """How many of the counted reports had an identifier."""
        return self._counts.identified

    @property
    def repeated(self) -> int:
        """Counted reports with the hash seed of another one, at least: no honest client's are."""
        return self._counts.repeated

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
        refused: dict[str, int] = {}
        if isinstance(reports, np.ndarray) and reports.ndim:
            valid = self.plan.oracle.valid(reports)
            add_to(refused, IMPOSSIBLE, int(np.count_nonzero(~valid)))
            self._count(reports[valid], _digests(ids, valid), refused)
        elif not isinstance(reports, bytes | bytearray | memoryview):
            single = [_single(report) for report in several(reports, "reports")]
            self._add_single(single, ids, refused)
        elif ids is not None:
            raise InvalidParameter("identifiers go with single reports: give a list of bytes.")
        else:
            data = np.frombuffer(reports, dtype=np.uint8)
            accepted, _ = self.plan.wire.accept(self.plan.wire.split(data, refused), refused)
            self._count(accepted, None, refused)

    def _add_single(
        self, reports: list[bytes], ids: Sequence[Identifier] | None, refused: dict[str, int]
    ) -> None:
        size = self.plan.report_bytes
        right = np.array([len(report) == size for report in reports], dtype=bool)
        digests = _digests(ids, right)
        add_to(refused, LENGTH, int(np.count_nonzero(~right)))
        rows = np.frombuffer(b"".join(compress(reports, right)), dtype=np.uint8)
        accepted, kept = self.plan.wire.accept(rows.reshape(-1, size), refused)
        self._count(accepted, None if digests is None else list(compress(digests, kept)), refused)

    def _count(
        self, reports: Reports, digests: list[bytes | None] | None, refused: dict[str, int]
    ) -> None:
        """Count valid reports. Without identifiers, other threads wait for the last sum only."""
        oracle = self.plan.oracle
        part = Counts(oracle.empty, refused)
        if digests is None:
            part.add_reports(oracle, reports)
        with self._lock:
            self._counts.merge(part)
            if digests is not None:
                self._counts.add_reports(oracle, reports, digests)
            self._name_part()

    def _name_part(self) -> None:
        """Give what is counted here a name, if it has none: copies made before have their own."""
        self._counts.parts = self._counts.parts or frozenset([token_hex(8)])

    def add_files(
        self,
        paths: Iterable[str | PathLike[str]],
        *,
        input_format: "ReportFormat | None" = None,
        executor: Executor | None = None,
        threads: int | None = None,
        tick: Callable[[int], None] = lambda n: None,  # noqa: ARG005
    ) -> None:
        """Count the reports in files, part by part, on all cores; all of them or, on error, none.

        Parameters
        ----------
        paths
            Files of reports, folders of them, or addresses that fsspec knows, such as ``s3://…``.
        input_format
            What they hold, where their endings do not say.
        executor
            Where the parts are counted, such as ``dask.distributed.Client().get_executor()``;
            threads by default.
        threads
            How many threads; as many as there are cores by default.
        tick
            Called with the number of reports so far.
        """
        with self._lock:  # no other thread may count an identifier while files are read
            self._counts.merge(self._counted(paths, input_format, executor, threads, tick))
            self._name_part()

    def _counted(
        self,
        paths: Iterable[str | PathLike[str]],
        input_format: "ReportFormat | None",
        executor: Executor | None,
        threads: int | None,
        tick: Callable[[int], None],
    ) -> Counts:
        from ldp3.collection import report_parts

        files, wire = several(paths, "paths"), self.plan.wire
        fresh = Counts(self.plan.oracle.empty)
        parts = chain.from_iterable(
            [report_parts.all_parts(path, wire, input_format) for path in files]
        )
        with ExitStack() as stack:
            pool = executor or stack.enter_context(ThreadPoolExecutor(threads or available_cores()))
            done = stack.enter_context(closing(report_parts.count_in_order(pool, wire, parts)))
            for part, counts in done:
                # the first in the order of the files counts, whatever the executor did first
                again = (counts.seen & fresh.seen) | (counts.seen & self._counts.seen)
                if again:
                    anew = pool.submit(report_parts.count_part, wire, part, frozenset(again))
                    counts = anew.result()
                fresh.merge(counts)
                tick(fresh.tally.n)
        return fresh

    def add_store(self, address: str | PathLike[str]) -> None:
        """Add what the store of a collector holds, `postgresql://…` or a file of SQLite."""
        from ldp3.collection.databases import open_store

        with open_store(str(address)) as store:
            self.merge(Aggregator.of_counts(self.plan, store.counts(store.number_of(self.plan))))

    def merge(self, other: "Aggregator") -> None:
        """Add what another aggregator of the same collection counted."""
        if not isinstance(other, Aggregator):
            raise InvalidParameter(f"An Aggregator merges with another one, got {short(other)}.")
        if other.plan.identifier != self.plan.identifier:
            raise InvalidData(
                f"{other.plan.name!r} (ε={other.plan.epsilon:g}, {other.plan.protocol}) and "
                f"{self.plan.name!r} (ε={self.plan.epsilon:g}, {self.plan.protocol}) are different "
                f"collections: their counts do not add up."
            )
        part = other._copy()
        with self._lock:
            if self._counts.parts & part.parts:
                raise InvalidData(
                    f"{self.plan.name!r}: the same reports are in both parts, as where a file is a "
                    f"copy or was merged before: give each part once."
                )
            if again := len(self._counts.seen & part.seen):
                raise InvalidData(
                    f"{self.plan.name!r}: {again:,} reports are in both parts; add the reports to "
                    f"one aggregator, so that each counts once."
                )
            if (n := self.n + part.tally.n) >= LIMIT:
                raise InvalidData(f"{self.plan.name!r}: {n:,} reports are too many.")
            self._counts.merge(part)

    def estimate(self) -> Estimate:
        """Unbiased frequencies."""
        if isinstance(self.plan.domain, Records) and isinstance(self.plan.oracle, RecordScheme):
            return self.tables()[self.plan.domain.names]
        return replace(self.plan.oracle.estimate(self._some()), domain=self.plan.domain)

    def tables(self) -> Tables:
        """The tables of several attributes, unbiased, which agree with each other."""
        oracle, domain = self.plan.oracle, self.plan.domain
        if not isinstance(domain, Records) or not isinstance(oracle, RecordScheme):
            raise InvalidData(
                f"{self.plan.name!r} asks one attribute: tables, shares by another one and "
                f"associations are for several."
            )
        return oracle.tables(self._some(), domain)

    def _some(self) -> Tally:
        tally = self.tally
        if not tally.n:
            raise InvalidData(f"{self.plan.name!r}: no report was counted: nothing to estimate.")
        return tally

    def frequencies(self, method: str | None = None) -> FloatArray:
        """Post-processed frequencies, by the plan's method or another one."""
        from ldp3.postprocessing.base import build_method

        chosen = self.plan.method if method is None else method
        return build_method(chosen, *self.plan.modules)(self.estimate())

    def _repr_html_(self) -> str:
        refused = [f"Left out: {count:,} {reason}" for reason, count in self.refused.items()]
        name, facts = f"Aggregator: {self.plan.name}", self.plan.facts
        if not self.n:
            return card(name, [*facts, "no reports yet", *refused])
        if isinstance(self.plan.domain, Records):
            return card(name, [*facts, f"{self.n:,} reports", *refused], remarks=["Ask `tables()`"])
        remarks = [" · ".join(facts), *refused]
        return of_estimate(self.estimate(), name, remarks=remarks, processed=self.frequencies())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the counts, with the plan of the collection."""
        with self._lock:
            counted = self._counts.copy()
        counts = {
            "format": COUNTS,
            "version": VERSION,
            "n": counted.tally.n,
            "identified": counted.identified,
            "refused": dict(sorted(counted.refused.items())),
            "parts": sorted(counted.parts),
            "plan": self.plan.describe(),
            "total": counted.tally.total.tolist(),
        }
        text = json.dumps({**counts, "seal": _seal(counts)}, ensure_ascii=False)
        write_text(as_path(path), text + "\n")

    @classmethod
    def of_counts(cls, plan: Plan, counts: Counts) -> "Aggregator":
        """One that goes on from counts."""
        server = cls(plan)
        server._counts = counts
        return server

    @classmethod
    def load(cls, path: str | PathLike[str], plugins: Iterable[str | Path] = ()) -> "Aggregator":
        """Read counts; damaged ones and numbers that no collection can have are refused.

        A warning tells of counts without a seal, as another program may write them.
        """
        target = as_path(path, "a file of counts")
        with shallow(str(path)):
            given = require_format(read_json(target), COUNTS, str(path))
            plan = Plan.read(given.get("plan"), f"{path}: plan", plugins)
            counts = read_counts(given, plan.oracle)
            if counts is None:
                raise InvalidData(f"{path}: are no counts of {plan.name!r}; make them again.")
            written = given.pop("seal", None)
            if written is None:
                warnings.warn(f"{path}: {UNSEALED}", stacklevel=2)
            elif written != _seal(given):
                raise InvalidData(f"{path}: is damaged or was edited; make the counts again.")
        return cls.of_counts(plan, counts)


def _seal(counts: dict[str, Any]) -> str:
    return seal(canonical(counts).encode()).decode()


def _single(report: object) -> bytes:
    if not isinstance(report, bytes | bytearray | memoryview):
        raise InvalidParameter(f"A single report is bytes, got {short(report)}.")
    return bytes(report)


def _digests(ids: Sequence[Identifier] | None, kept: BoolArray) -> list[bytes | None] | None:
    if ids is None:
        return None
    ids = several(ids, "identifiers")
    if len(ids) != len(kept):
        raise InvalidParameter(f"{len(kept)} reports need as many identifiers, got {len(ids)}.")
    return digests_of(compress(ids, kept))
