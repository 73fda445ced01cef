"""The store: whatever is written to it, counts are those of the same reports in files."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import ldp3
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.databases import Postgres, is_store, open_store
from ldp3.collection.plan import Plan, deployable
from ldp3.collection.store import COUNTED, FOR_EVER, Entry, Store, hour_now
from ldp3.domain import Integers
from ldp3.errors import InvalidData, LDPError
from tests.posix import posix
from tests.service.postgres import Cluster, address, postgres  # noqa: F401 (fixtures)

PLAN = Plan("pages", ["home", "news", "sport"], "oue", 1.0)


@contextmanager
def opened(where: str, *, write: bool = True) -> Iterator[Store]:
    store = open_store(where, write=write)
    try:
        yield store
    finally:
        store.close()


def reports(plan: Plan, n: int, seed: int = 0) -> bytes:
    rng = ldp3.stream(seed, plan.protocol)
    values = rng.integers(0, plan.d, size=n)
    return plan.wire.encode(plan.oracle.perturb(values, rng)).tobytes()


def cut(plan: Plan, number: int, data: bytes, sizes: tuple[int, ...]) -> list[Entry]:
    """The reports in entries of these sizes, again and again."""
    entries, start, i = [], 0, 0
    while start < len(data):
        body = data[start : start + sizes[i % len(sizes)] * plan.report_bytes]
        n = len(body) // plan.report_bytes
        entries.append(Entry(number, hour_now() - i % 3, os.urandom(16), n, body))
        start, i = start + len(body), i + 1
    return entries


def from_bytes(plan: Plan, data: bytes) -> Aggregator:
    server = Aggregator(plan)
    server.add(data)
    return server


def from_store(plan: Plan, where: str) -> Aggregator:
    server = Aggregator(plan)
    server.add_store(where)
    return server


def same(one: Aggregator, other: Aggregator) -> bool:
    equal = np.array_equal(one.total, other.total) and one.total.dtype == other.total.dtype
    return equal and one.n == other.n and one.refused == other.refused


def test_counts_equal_those_of_the_same_reports_bit_for_bit(address: str) -> None:  # noqa: F811
    plans = [Plan("q", Integers(21, ordered=True), protocol, 1.0) for protocol in deployable()]
    data = {plan.protocol: reports(plan, 500) for plan in plans}
    with opened(address) as store:
        numbers = [store.register(plan, keep=False) for plan in plans]
        all_entries = [
            cut(plan, number, data[plan.protocol], (1, 7, 120))
            for plan, number in zip(plans, numbers, strict=True)
        ]
        for i in range(max(map(len, all_entries))):  # commits that hold several collections
            group = [entries[i] for entries in all_entries if i < len(entries)]
            assert all(store.write(group))
            assert not any(store.write(group))  # sent again
            if i == 4:
                assert store.count() > 0  # some are counted, the others wait
        for plan in plans:
            assert same(from_store(plan, address), from_bytes(plan, data[plan.protocol]))
        while store.count():
            pass
        assert store.waiting() == 0
        assert store.query("select count(*) from segment") == [(0,)]
    for plan in plans:
        assert same(from_store(plan, address), from_bytes(plan, data[plan.protocol]))


def test_impossible_reports_are_refused_when_they_are_counted(address: str) -> None:  # noqa: F811
    plan = Plan("x", 3, "grr", 1.0)
    data = reports(plan, 10) + plan.tag + b"\xff"
    with opened(address) as store:
        number = store.register(plan, keep=False)
        store.write([Entry(number, hour_now(), bytes(16), 11, data)])
        assert store.counts(number).refused == {"impossible report": 1}
        store.count()
        assert same(from_store(plan, address), from_bytes(plan, data))
        assert store.arrivals(number) == {
            (hour_now(), COUNTED): 10,
            (hour_now(), "impossible report"): 1,
        }


def test_whoever_comes_second_counts_nothing(
    address: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with opened(address) as store:
        number = store.register(PLAN, keep=False)
        store.write(cut(PLAN, number, reports(PLAN, 100), (1,)))
        other = open_store(address, write=True) if isinstance(store, Postgres) else store
        honest = Store._add_up

        def slow(self: Store, *arguments: object) -> object:  # others count while this one adds up
            found = honest(self, *arguments)  # type: ignore[arg-type]
            monkeypatch.setattr(Store, "_add_up", honest)
            assert other.count() == 1
            return found

        monkeypatch.setattr(Store, "_add_up", slow)
        assert store.count() == 0
        assert store.counts(number).tally.n == 100
        if other is not store:
            other.close()


def test_two_processes_on_one_database_count_as_one(postgres: Cluster) -> None:  # noqa: F811
    postgres.empty()
    stores = [open_store(postgres.address, write=True) for _ in range(2)]
    counters = [open_store(postgres.address, write=True) for _ in range(2)]
    number = stores[0].register(PLAN, keep=False)
    assert [store.register(PLAN, keep=False) for store in (*stores, *counters)] == [number] * 4
    data = reports(PLAN, 4_000)
    entries = cut(PLAN, number, data, (1, 3, 9))
    fresh: list[bool | None] = []

    def send(store: Store, step: int) -> None:  # both send everything, in other groups
        for i in range(0, len(entries), step):
            fresh.extend(store.write(entries[i : i + step]))

    def count(store: Store) -> None:
        for _ in range(30):
            store.count()

    threads = [Thread(target=send, args=(s, step)) for s, step in zip(stores, (7, 11), strict=True)]
    threads += [Thread(target=count, args=(counter,)) for counter in counters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert fresh.count(True) == len(entries)
    assert same(from_store(PLAN, postgres.address), from_bytes(PLAN, data))
    for store in (*stores, *counters):
        store.close()


def test_kept_reports_stay_until_they_are_deleted(address: str) -> None:  # noqa: F811
    data = reports(PLAN, 50)
    with opened(address) as store:
        number = store.register(PLAN, keep=True)
        store.write(cut(PLAN, number, data, (5,)))
        assert store.delete_reports(number) == 0  # none is counted yet
        store.count()
        kept = np.concatenate([PLAN.wire.encode(some) for some in store.reports(number)])
        assert sorted(map(bytes, kept)) == sorted(
            data[i : i + PLAN.report_bytes] for i in range(0, len(data), PLAN.report_bytes)
        )
        assert store.delete_reports(number) == 50
        assert not list(store.reports(number))
        assert same(from_store(PLAN, address), from_bytes(PLAN, data))
        with pytest.raises(InvalidData, match="keeps the reports of 'pages'"):
            store.register(PLAN, keep=False)


def test_identifiers_are_forgotten_by_the_hour(address: str) -> None:  # noqa: F811
    now = hour_now()
    with opened(address) as store:
        number = store.register(PLAN, keep=False)
        body = reports(PLAN, 1)
        entries = [Entry(number, hour, bytes(16), 1, body) for hour in (FOR_EVER, now - 5, now)]
        assert store.write(entries) == [True] * 3
        store.forget_identifiers(now - 2)
        store.recover()
        assert store.write(entries) == [False, True, False]


def test_a_backup_stops_nobody(postgres: Cluster) -> None:  # noqa: F811
    postgres.empty()
    now = hour_now()
    with opened(postgres.address) as store, opened(postgres.address) as other:
        number, body = store.register(PLAN, keep=False), reports(PLAN, 1)
        assert store.write([Entry(number, now - 9, bytes(16), 1, body)]) == [True]
        with other.transaction(other.snapshot):
            assert other.query("select count(*) from seen") == [(1,)]  # as pg_dump reads it
            assert store.write([Entry(number, now, bytes(16), 1, body)]) == [True]
            store.forget_identifiers(now)
            assert store.query("select count(*) from seen") == [(2,)]
        store.forget_identifiers(now)
        assert store.query("select count(*) from seen") == [(1,)]


def test_a_closed_collection_is_known(address: str) -> None:  # noqa: F811
    with opened(address) as store:
        number = store.register(PLAN, keep=False)
        assert store.collections() == {PLAN.identifier: False}
        store.close_collection(number)
        assert store.register(PLAN, keep=False) == number
        assert store.collections() == {PLAN.identifier: True}
        other = store.register(Plan("other", 3, "oue", 1.0), keep=False)
        entry = Entry(number, hour_now(), bytes(16), 1, reports(PLAN, 1))
        assert store.write([entry, entry._replace(collection=other)]) == [None, True]
        assert store.write([entry]) == [None]
        assert store.counts(number).tally.n == 0


def test_closing_waits_for_those_who_write(postgres: Cluster) -> None:  # noqa: F811
    postgres.empty()
    with opened(postgres.address) as store, opened(postgres.address) as other:
        number = store.register(PLAN, keep=False)
        closing = Thread(target=other.close_collection, args=[number])
        with store.transaction():
            assert store._closed() == set()  # as `write` begins
            closing.start()
            closing.join(0.3)
            assert closing.is_alive()
        closing.join(20)
        assert not closing.is_alive()
        assert store._closed() == {number}


def test_tables_of_another_version_are_refused(address: str) -> None:  # noqa: F811
    with opened(address) as store:
        store.query("update about set version = 99")
    for write in (False, True):
        with pytest.raises(InvalidData, match="has tables of version 99, and this is for version"):
            open_store(address, write=write)


def test_counts_of_one_store_merge_once(address: str) -> None:  # noqa: F811
    with opened(address) as store:
        store.write(cut(PLAN, store.register(PLAN, keep=False), reports(PLAN, 1), (1,)))
        server = from_store(PLAN, address)
        with pytest.raises(InvalidData, match="the same reports are in both parts"):
            server.add_store(address)
    with pytest.raises(InvalidData, match="holds no reports of 'other'"):
        from_store(Plan("other", 3, "grr", 1.0), address)


def test_one_process_writes_to_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "x.sqlite")
    with opened(path), pytest.raises(InvalidData, match="another process writes to it"):
        open_store(path, write=True)
    with opened(path):
        pass


@posix("others are kept out by the mode of a file")
def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "x.sqlite")
    with opened(path) as store:
        store.write(cut(PLAN, store.register(PLAN, keep=False), reports(PLAN, 1), (1,)))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    assert {"x.sqlite", "x.sqlite-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


def test_files_that_are_no_store_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidData, match="there is no such file"):
        open_store(str(tmp_path / "none.sqlite"))
    path = tmp_path / "text.sqlite"
    path.write_text("no database, but long enough to have a header" * 100)
    with pytest.raises(InvalidData, match="file is not a database"):
        open_store(str(path), write=True)
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("create table mine(x)")
    other.close()
    with pytest.raises(InvalidData, match="holds no collections of ours"):
        open_store(str(tmp_path / "other.sqlite"), write=True)
    with pytest.raises(LDPError, match="PostgreSQL: "):
        open_store("postgresql:///x?host=/nowhere&password=secret")


def test_an_address_says_what_it_is() -> None:
    assert [is_store(x) for x in ("a.sqlite", "postgresql://h/d", "a.parquet")] == [
        True,
        True,
        False,
    ]
