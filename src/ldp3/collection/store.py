"""Where a collector keeps its reports until they are counted, and their counts: a database.

Reports arrive in *segments*, one for each commit and collection. Each connection that writes has a
*shard* of its own, and numbers its segments 1, 2, 3, …; so every reader sees the first so many of
them. Counting adds segments to the tally and moves the shard's mark behind them, both in one
transaction that begins with the mark: whoever comes second finds it moved, and does nothing. A
reader takes the tally and the segments behind the marks from one snapshot. So every report is
counted once, whoever counts and whoever dies.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from secrets import token_hex
from threading import RLock
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ldp3.arrays import Reports
from ldp3.collection.counts import Counts
from ldp3.collection.plan import Plan
from ldp3.collection.wire import add_to
from ldp3.errors import InvalidData, LDPError
from ldp3.randomness import secure
from ldp3.types import Tally

VERSION = 1  # of the tables
WINDOW = 168  # hours for which an identifier is known; what is older is refused
FOR_EVER = 0  # the hour of identifiers that do not say theirs, and are never forgotten
COUNTED = ""  # the reason of arrivals that were not refused
AT_ONCE = 2**23  # bytes of reports that are counted in one transaction
TOGETHER = 2**20  # and by one call
TABLES = """
create table about(version integer not null, name text not null);
create table collection(collection {key}, identifier text not null unique, plan text not null,
  keep integer not null, closed integer not null default 0);
create table shard(shard {key}, counted bigint not null default 0);
create table segment(shard integer, seq bigint, collection integer, hour integer not null,
  n integer not null, body {bytes} not null, primary key (shard, seq, collection));
create table tally(collection integer primary key, n bigint not null, total {bytes} not null);
create table arrival(collection integer, hour integer, reason text, n bigint not null,
  primary key (collection, hour, reason))
"""
UNCOUNTED = "from shard s cross join segment g where g.shard = s.shard and g.seq > s.counted"
Row = tuple[Any, ...]


class StoreError(InvalidData):
    """What the database says against us."""


class Entry(NamedTuple):
    """Reports that came under one identifier."""

    collection: int  # its number in the store
    hour: int  # when the identifier was made, in hours since 1970
    id: bytes  # 16 of them
    n: int  # how many reports
    body: bytes

    @property
    def key(self) -> tuple[int, int, bytes]:
        """What makes it the same entry when it comes again."""
        return self.hour, self.collection, self.id


def hour_now() -> int:
    """Times are kept to the hour."""
    return int(time.time()) // 3600


class Store(ABC):
    """Collections in a database, through one connection that several threads may share."""

    types: ClassVar[dict[str, str]]
    more: ClassVar[tuple[str, ...]]  # statements that make the table of identifiers, and so on
    begin: ClassVar[str]  # a transaction that writes
    snapshot: ClassVar[str]  # one that reads
    row_lock: ClassVar[str]
    error: type[Exception]  # of the database

    def __init__(self, address: str, write: bool) -> None:
        self.address, self._lock = address, RLock()
        self._plans: dict[int, Plan] = {}
        self._rng = secure()
        self.shard = self._seq = 0
        self.asked: float | None = None  # when the statement began that is not answered yet
        self._open = ExitStack()
        with ExitStack() as failed, self._told():
            failed.callback(self.close)
            self._connect(write)
            if write:
                self._make()
            self._require_version()
            failed.pop_all()

    @abstractmethod
    def _connect(self, write: bool) -> None:
        """Open the connection."""

    @abstractmethod
    def _empty(self) -> bool:
        """Whether tables are to be made; nobody else makes them before the transaction ends."""

    @abstractmethod
    def _version(self) -> int | None:
        """Of the tables; None if there are none."""

    @abstractmethod
    def _rows(self, sql: str, values: Sequence[object]) -> list[Row]:
        """The rows of one statement."""

    @abstractmethod
    def _each(self, sql: str, values: Sequence[object]) -> Iterator[Row]:
        """The same, one row after the other, inside a snapshot."""

    @abstractmethod
    def _remember(self, entries: Sequence[Entry]) -> set[tuple[int, int, bytes]]:
        """Keep the identifiers; the keys of those that are new."""

    @abstractmethod
    def forget_identifiers(self, before: int) -> None:
        """Drop the identifiers of hours before this one."""

    @abstractmethod
    def recover(self) -> None:
        """After an error, when it is not known what was committed."""

    def close(self) -> None:
        """Close the connection."""
        with self._lock, suppress(self.error):
            self._open.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the database says against us, in one line."""
        try:
            yield
        except self.error as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise StoreError(f"{self.name}: {said}.") from error

    def query(self, sql: str, *values: object) -> list[Row]:
        """The rows of one statement."""
        with self._lock, self._told():
            self.asked = time.monotonic()
            try:
                return self._rows(sql, values)
            finally:
                self.asked = None

    def _stream(self, sql: str, *values: object) -> Iterator[Row]:
        with self._told():
            yield from self._each(sql, values)

    @property
    @abstractmethod
    def name(self) -> str:
        """What people are told; it holds no password."""

    def _make(self) -> None:
        with self.transaction():
            if self._empty():
                for sql in (*TABLES.format(**self.types).split(";"), *self.more):
                    self.query(sql)
                self.query("insert into about values (?, ?)", VERSION, token_hex(8))

    def _require_version(self) -> None:
        found = self._version()
        if found is None:
            raise InvalidData(f"{self.name}: holds no collections of ours; `ldp3 serve` makes it.")
        if found != VERSION:
            raise InvalidData(
                f"{self.name}: has tables of version {found}, and this is for version {VERSION}: "
                f"install the ldp3 that made them, or name another database."
            )

    @contextmanager
    def transaction(self, begin: str = "") -> Iterator[None]:
        """All of it or nothing."""
        with self._lock:
            self.query(begin or self.begin)
            try:
                yield
                self.query("commit")
            except BaseException:
                with suppress(StoreError):
                    self.query("rollback")
                raise

    # collections

    def register(self, plan: Plan, *, keep: bool) -> int:
        """The number of a collection, which is made if it is new; a closed one stays closed."""
        with self.transaction():
            self.query(
                "insert into collection (identifier, plan, keep) values (?, ?, ?) "
                "on conflict (identifier) do nothing",
                plan.identifier, json.dumps(plan.describe()), int(keep),
            )  # fmt: skip
            ((number,),) = self.query(
                "select collection from collection where identifier = ?", plan.identifier
            )
            empty = plan.oracle.empty.total
            self.query(
                "insert into tally values (?, 0, ?) on conflict (collection) do nothing",
                number, empty.tobytes(),
            )  # fmt: skip
        self.require_as_it_began(plan, keep=keep)
        self._plans[number] = plan
        return int(number)

    def require_as_it_began(self, plan: Plan, *, keep: bool) -> None:
        """Refuse to keep the reports of a collection that did not do so from the start."""
        found = self.query("select keep from collection where identifier = ?", plan.identifier)
        if found and bool(found[0][0]) != keep:
            is_so = "does not keep the reports" if keep else "keeps the reports"
            flag = "leave out `keep_reports`" if keep else "give `keep_reports`"
            raise InvalidData(f"{self.name}: {is_so} of {plan.name!r} since it began: {flag}.")

    def number_of(self, plan: Plan) -> int:
        """The number of a collection that is there."""
        found = self.query(
            "select collection from collection where identifier = ?", plan.identifier
        )
        if not found:
            raise InvalidData(f"{self.name}: holds no reports of {plan.name!r}.")
        self._plans[found[0][0]] = plan
        return int(found[0][0])

    def collections(self) -> dict[str, bool]:
        """The identifiers of all collections, and whether each is closed."""
        return {i: bool(c) for i, c in self.query("select identifier, closed from collection")}

    def close_collection(self, collection: int) -> None:
        """Take no more reports: when this returns, whatever process takes them."""
        with self.transaction():
            self._wait_for_writers()
            self.query("update collection set closed = 1 where collection = ?", collection)

    def delete_reports(self, collection: int) -> int:
        """Delete the reports that were kept and are counted; how many there were."""
        chosen = "collection = ? and seq <= (select counted from shard s where s.shard = g.shard)"
        with self.transaction():
            found = self.query(f"select sum(n) from segment g where {chosen}", collection)
            self.query(f"delete from segment as g where {chosen}", collection)
        return int(found[0][0] or 0)

    def _plan(self, number: int) -> Plan:
        if number not in self._plans:
            text = self.query("select plan from collection where collection = ?", number)[0][0]
            self._plans[number] = Plan.read(json.loads(text), self.name)
        return self._plans[number]

    # writing

    def write(self, entries: Sequence[Entry]) -> list[bool | None]:
        """Commit entries with different keys: which of them are new. Only those are kept.

        None stands for an entry of a collection that is closed.
        """
        if not self.shard:  # by itself: a shard that was rolled back would never be counted
            made = self.query("insert into shard (counted) values (0) returning shard")
            self.shard, self._seq = made[0][0], 0
        self._seq, hour = self._seq + 1, hour_now()
        with self.transaction():
            closed = self._closed()
            open_ones = [entry for entry in entries if entry.collection not in closed]
            new = self._remember(open_ones) if open_ones else set()
            fresh = [None if e.collection in closed else e.key in new for e in entries]
            taken: dict[int, list[Entry]] = {}
            for entry, is_new in zip(entries, fresh, strict=True):
                if is_new:
                    taken.setdefault(entry.collection, []).append(entry)
            for number, some in taken.items():
                self.query(
                    "insert into segment values (?, ?, ?, ?, ?, ?)",
                    self.shard, self._seq, number, hour, sum(e.n for e in some),
                    self._mixed(number, b"".join(e.body for e in some)),
                )  # fmt: skip
        return fresh

    def _closed(self) -> set[int]:
        """The collections that are closed, and stay so until the transaction ends."""
        return {
            number for (number,) in self.query("select collection from collection where closed = 1")
        }

    @abstractmethod
    def _wait_for_writers(self) -> None:
        """Until no transaction is under way that found a collection open."""

    def _mixed(self, number: int, body: bytes) -> bytes:
        """The reports of a segment in an order that does not tell which came under which name."""
        rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, self._plan(number).report_bytes)
        return rows[self._rng.permutation(len(rows))].tobytes()

    def refuse(self, rows: dict[tuple[int, str], int]) -> None:
        """Note how many rows of which collection were refused, for which reason."""
        hour = hour_now()
        with self.transaction():
            for (number, reason), n in sorted(rows.items()):
                self._arrive(number, hour, reason, n)

    def _arrive(self, number: int, hour: int, reason: str, n: int) -> None:
        self.query(
            "insert into arrival values (?, ?, ?, ?) on conflict (collection, hour, reason) "
            "do update set n = arrival.n + excluded.n",
            number, hour, reason, n,
        )  # fmt: skip

    # counting

    def count(self, own: int | None = None) -> int:
        """Count segments, of the shard `own` or of all; how many."""
        some = "" if own is None else f"and s.shard = {own:d}"
        rows = self.query(f"select s.shard, s.counted {UNCOUNTED} {some} group by 1, 2")
        return sum(self._count_shard(shard, counted) for shard, counted in rows)

    def _count_shard(self, shard: int, counted: int) -> int:
        sizes = self.query(
            "select seq, length(body) from segment where shard = ? and seq > ? order by seq "
            "limit 4096", shard, counted,
        )  # fmt: skip
        last, size = counted, 0
        for seq, more in sizes:
            if last > counted and size + more > AT_ONCE and seq > last:
                break
            last, size = seq, size + more
        rows = self.query(
            "select collection, hour, body from segment where shard = ? and seq > ? "
            "and seq <= ? order by seq", shard, counted, last,
        )  # fmt: skip
        try:
            parts = {number: self._add_up(number, rows) for number in sorted({r[0] for r in rows})}
        except LDPError:
            return 0  # a plan with plug-ins that only another process has
        with self.transaction():
            moved = self.query(
                "update shard set counted = ? where shard = ? and counted = ? returning shard",
                last, shard, counted,
            )  # fmt: skip
            if not moved:  # somebody else counted them
                return 0
            for number, (part, hours) in parts.items():
                self._add_to_tally(number, part.tally)
                for hour, n in sorted(hours.items()):
                    self._arrive(number, hour, COUNTED, n)
                for reason, n in sorted(part.refused.items()):
                    self._arrive(number, max(hours), reason, n)
                self.query(
                    "delete from segment where shard = ? and seq <= ? and collection = ? and "
                    "(select keep from collection c where c.collection = segment.collection) = 0",
                    shard, last, number,
                )  # fmt: skip
        return len(rows)

    def _add_up(self, number: int, rows: Sequence[Row]) -> tuple[Counts, dict[int, int]]:
        """The counts of the reports of one collection among segments, and how many came when."""
        counts, hours = Counts(self._plan(number).oracle.empty), dict[int, int]()
        for hour in sorted({row[1] for row in rows if row[0] == number}):
            before = counts.tally.n
            bodies = (body for collection, at, body in rows if (collection, at) == (number, hour))
            self._add_bodies(number, counts, bodies)
            hours[hour] = counts.tally.n - before
        return counts, hours

    def _add_bodies(self, number: int, counts: Counts, bodies: Iterable[bytes]) -> None:
        """Count segments, many small ones together."""
        wire, some = self._plan(number).wire, bytearray()
        for body in chain(bodies, [b""]):
            some += body
            if len(some) > TOGETHER or not body:
                rows = np.frombuffer(bytes(some), dtype=np.uint8)
                counts.add_rows(wire, rows.reshape(-1, wire.report_bytes))
                some.clear()

    def _add_to_tally(self, number: int, part: Tally) -> None:
        after = self._tally(number, self.row_lock) + part
        self.query(
            "update tally set n = ?, total = ? where collection = ?",
            after.n, after.total.tobytes(), number,
        )  # fmt: skip

    def _tally(self, number: int, row_lock: str = "") -> Tally:
        empty = self._plan(number).oracle.empty.total
        ((n, total),) = self.query(
            f"select n, total from tally where collection = ?{row_lock}", number
        )
        return Tally(np.frombuffer(total, dtype=empty.dtype).reshape(empty.shape), n)

    # reading

    def counts(self, number: int) -> Counts:
        """What all reports of a collection add up to, in one snapshot."""
        with self.transaction(self.snapshot):
            counts = Counts(self._tally(number))
            ((name,),) = self.query("select name from about")
            refused = self.query(
                "select reason, sum(n) from arrival where collection = ? and reason <> '' "
                "group by reason", number,
            )  # fmt: skip
            for reason, n in refused:
                add_to(counts.refused, reason, int(n))
            found = self._stream(f"select g.body {UNCOUNTED} and g.collection = ?", number)
            self._add_bodies(number, counts, (body for (body,) in found))
        counts.parts, counts.forgotten = frozenset([name]), counts.tally.n
        return counts

    def arrivals(self, number: int) -> dict[tuple[int, str], int]:
        """How many rows came in which hour: counted (or waiting for it), or refused, by reason."""
        found: dict[tuple[int, str], int] = {}
        with self.transaction(self.snapshot):
            counted = self.query("select hour, reason, n from arrival where collection = ?", number)
            waiting = self.query(
                f"select g.hour, '', sum(g.n) {UNCOUNTED} and g.collection = ? group by g.hour",
                number,
            )
        for hour, reason, n in (*counted, *waiting):
            found[hour, reason] = found.get((hour, reason), 0) + int(n)
        return found

    def waiting(self) -> int:
        """How many reports are not counted yet."""
        return int(self.query(f"select coalesce(sum(g.n), 0) {UNCOUNTED}")[0][0])

    def reports(self, number: int) -> Iterator[Reports]:
        """The reports that are kept, valid ones only, a segment at a time."""
        wire = self._plan(number).wire
        with self.transaction(self.snapshot):
            for (body,) in self._stream("select body from segment where collection = ?", number):
                rows = np.frombuffer(body, dtype=np.uint8).reshape(-1, wire.report_bytes)
                yield wire.accept(rows, {})[0]
