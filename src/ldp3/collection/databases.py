"""The databases that a store can be in: SQLite, a file for one process; PostgreSQL for many."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar
from uuid import UUID

from ldp3.collection.store import FOR_EVER, Entry, Row, Store, StoreError
from ldp3.errors import InvalidData, LDPError
from ldp3.files import for_owner, lock

if TYPE_CHECKING:
    import psycopg


def is_store(given: object) -> bool:
    """Whether it is the address of a database rather than a file of reports."""
    text = str(given)
    return is_postgres(text) or text.endswith((".sqlite", ".db"))


def is_postgres(address: str) -> bool:
    """Whether an address is of PostgreSQL; all others are files of SQLite."""
    return address.startswith(("postgresql:", "postgres:"))


def open_store(address: str, *, write: bool = False) -> Store:
    """The store at an address, `postgresql://…` or a file; made if it is to be written."""
    return Postgres(address, write) if is_postgres(address) else SQLite(address, write)


def _private(path: Path) -> IO[bytes]:
    """A file to append to; if it is made now, nobody else may read it."""
    try:
        return open(path, "ab", opener=for_owner)
    except OSError as error:
        raise InvalidData(f"{path}: cannot be written: {error.strerror}.") from None


def only_writer(path: Path) -> IO[bytes]:
    """What keeps others from writing to a file of SQLite until it is closed."""
    held = _private(Path(f"{path}.lock"))
    if not lock(held):
        held.close()
        raise InvalidData(
            f"{path}: another process writes to it; stop that one, or use PostgreSQL, "
            f"which many may share."
        )
    return held


class SQLite(Store):
    """A file. One process writes to it, through one connection, and others may read.

    Before 3.51.3, SQLite can damage a file that two connections write to or checkpoint at once.
    """

    types: ClassVar = {"key": "integer primary key autoincrement", "bytes": "blob"}
    more = (
        "create table seen(hour integer, collection integer, id blob, "
        "primary key (hour, collection, id)) without rowid",
    )
    begin, snapshot, row_lock = "begin immediate", "begin", ""
    error = sqlite3.Error

    @property
    def name(self) -> str:
        return self.address

    def _connect(self, write: bool) -> None:
        path = Path(self.address)
        if write:
            self._open.enter_context(only_writer(path))
            _private(path).close()  # SQLite's other files get its mode
        elif not path.is_file():
            raise InvalidData(f"{path}: there is no such file.")
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if write else 'ro'}"
        self._db = sqlite3.connect(
            uri, uri=True, isolation_level=None, check_same_thread=False, timeout=20
        )
        self._open.callback(self._db.close)
        if write:
            self.query("pragma journal_mode = wal")
            self.query("pragma synchronous = full")  # or a power cut takes what was acknowledged
            self.query("pragma journal_size_limit = 67108864")

    def _version(self) -> int | None:
        names = {name for (name,) in self.query("select name from sqlite_master")}
        return int(self.query("select version from about")[0][0]) if "about" in names else None

    def _empty(self) -> bool:
        return not self.query("select 1 from sqlite_master limit 1")

    def _rows(self, sql: str, values: Sequence[object]) -> list[Row]:
        return self._db.execute(sql, values).fetchall()

    def _each(self, sql: str, values: Sequence[object]) -> Iterator[Row]:
        return self._db.execute(sql, values)

    def _remember(self, entries: Sequence[Entry]) -> set[tuple[int, int, bytes]]:
        cursor, new = self._db.cursor(), set()
        for entry in entries:
            cursor.execute("insert into seen values (?, ?, ?) on conflict do nothing", entry.key)
            if cursor.rowcount == 1:
                new.add(entry.key)
        return new

    def _wait_for_writers(self) -> None:
        """Nobody else writes."""

    def forget_identifiers(self, before: int) -> None:
        # a few at a time, so that no commit waits long
        some = "select * from seen where hour > ? and hour < ? limit 20000"
        sql = f"delete from seen where (hour, collection, id) in ({some}) returning 1"
        while self.query(sql, FOR_EVER, before):
            pass

    def recover(self) -> None:
        """A failed transaction was rolled back; nothing is in doubt."""


class Postgres(Store):
    """PostgreSQL, which any number of processes may share."""

    types: ClassVar = {"key": "integer generated always as identity primary key", "bytes": "bytea"}
    more = (
        "create table seen(hour integer, collection integer, id uuid, "
        "primary key (hour, collection, id)) partition by range (hour)",
        # what does not shrink by compression is not worth trying
        "alter table segment alter column body set storage external",
        "alter table tally alter column total set storage external",
    )
    begin, row_lock = "begin", " for update"
    snapshot = "begin isolation level repeatable read read only"
    _db: "psycopg.Connection[Row]"

    def __init__(self, address: str, write: bool) -> None:
        try:
            import psycopg
        except ImportError:
            raise LDPError("psycopg is not installed: pip install 'ldp3[serve]'.") from None
        self.error, self._hours = psycopg.Error, set[int]()
        super().__init__(address, write)

    @property
    def name(self) -> str:
        return "PostgreSQL"

    def _connect(self, write: bool) -> None:
        import psycopg

        # a machine that is gone must not be waited for
        self._db = psycopg.connect(
            self.address, autocommit=True, connect_timeout=5, keepalives_idle=10,
            keepalives_interval=5, keepalives_count=3, tcp_user_timeout=20_000,
        )  # fmt: skip
        self._open.callback(self._db.close)
        for setting in (
            "synchronous_commit = on", "lock_timeout = '5s'", "statement_timeout = '60s'",
            "idle_in_transaction_session_timeout = '60s'", "search_path = ldp3",
            "client_min_messages = error", "timezone = 'UTC'",
        ):  # fmt: skip
            self.query(f"set {setting}")
        if not write:
            self.query("set default_transaction_read_only = on")

    def _version(self) -> int | None:
        there = self.query("select to_regclass('ldp3.about') is not null")[0][0]
        return int(self.query("select version from about")[0][0]) if there else None

    def _empty(self) -> bool:
        self.query("select pg_advisory_xact_lock(7305)")  # two processes may start at once
        if self._version() is not None:
            return False
        self.query("create schema if not exists ldp3")
        return True

    def _rows(self, sql: str, values: Sequence[object]) -> list[Row]:
        cursor = self._db.execute(sql.replace("?", "%s"), values or None, binary=True)
        return cursor.fetchall() if cursor.description else []

    def _each(self, sql: str, values: Sequence[object]) -> Iterator[Row]:
        with self._db.cursor("rows", binary=True) as cursor:
            cursor.itersize = 64
            yield from cursor.execute(sql.replace("?", "%s"), values)

    def _remember(self, entries: Sequence[Entry]) -> set[tuple[int, int, bytes]]:
        for hour in sorted({entry.hour for entry in entries} - self._hours):
            self._make_hour(hour)
        keys = sorted(entry.key for entry in entries)  # one order for all, or two could deadlock
        hours, numbers, ids = zip(*keys, strict=True)
        found = self.query(
            "insert into seen select * from unnest(?::int4[], ?::int4[], ?::uuid[]) "
            "on conflict do nothing returning hour, collection, id",
            list(hours), list(numbers), [UUID(bytes=i) for i in ids],
        )  # fmt: skip
        return {(hour, number, i.bytes) for hour, number, i in found}

    def _closed(self) -> set[int]:
        self.query("select pg_advisory_xact_lock_shared(7307)")  # by itself: before the snapshot
        return super()._closed()

    def _wait_for_writers(self) -> None:
        self.query("select pg_advisory_xact_lock(7307)")

    def _make_hour(self, hour: int) -> None:
        """A part that is attached waits neither for a backup nor for others who write."""
        self.query("select pg_advisory_xact_lock(7306)")
        if self.query("select to_regclass(?) is null", f"ldp3.seen_{hour:d}")[0][0]:
            self.query(f"create table seen_{hour:d} (like seen including all)")
            self.query(
                f"alter table seen attach partition seen_{hour:d} "
                f"for values from ({hour:d}) to ({hour + 1:d})"
            )
        self._hours.add(hour)

    def forget_identifiers(self, before: int) -> None:
        found = self.query(
            "select relname from pg_class where oid in "
            "(select inhrelid from pg_inherits where inhparent = 'seen'::regclass)"
        )
        for (name,) in found:
            if not FOR_EVER < int(name.removeprefix("seen_")) < before:
                continue
            with suppress(StoreError), self.transaction():  # a backup: the next hour will do
                self.query("set local lock_timeout = '200ms'")
                self.query(f"drop table if exists {name}")

    def recover(self) -> None:
        """A new connection and a new shard: the old one's last transaction may still commit."""
        self.close()
        self.shard, self._hours = 0, set()
        with self._told():
            self._connect(write=True)
