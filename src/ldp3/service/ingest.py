"""From requests to the store: commits in groups, and counting beside them.

One thread commits. While a commit is flushed to the disk the next group fills up, so that many
requests share one flush and none waits for a timer. A request is answered when its commit is done.
Another thread counts, a shard of its own every second and those of others, who may be dead, now
and then. SQLite has one connection for both.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from threading import Condition, Event, Thread
from traceback import format_tb
from typing import NamedTuple

from ldp3.collection.counts import DUPLICATE
from ldp3.collection.databases import SQLite, open_store
from ldp3.collection.plan import Plan
from ldp3.collection.store import WINDOW, Entry, Store, hour_now
from ldp3.errors import LDPError

NEW, KNOWN, CLOSED, LATER = 202, 200, 403, 503  # what a request is answered
STOPPING = "the server is stopping"
GROUP, GROUP_BYTES = 4096, 2**23  # requests, and about how many bytes of reports, of one commit
MOST_WAITING = 20_000  # requests
LONGEST_WAIT = 20.0  # seconds after which a request is told to come again
STUCK = 5.0  # seconds after which a database that does not answer is said to hang
PAUSE = 1.0  # seconds between two counts, or as many as counting took if that is more
LONGEST_COUNT = 5.0  # seconds after which it looks up from counting
OTHERS = 10.0  # seconds after which the shards of others are looked at
HOUR = 3600.0
log = logging.getLogger("ldp3.serve")


class Waiting(NamedTuple):
    """A request whose reports are not committed yet; the answer is set when it is known."""

    entries: Sequence[Entry]
    answer: asyncio.Future[int]
    since: float  # by the monotonic clock


class Ingest:
    """Takes entries and commits them; `keep` says whether reports stay when they are counted."""

    def __init__(self, address: str, plans: Sequence[Plan], *, keep: bool) -> None:
        self.store = self._counting = open_store(address, write=True)
        if not isinstance(self.store, SQLite):  # a connection of its own: no commit waits for it
            self._counting = open_store(address, write=True)
        try:
            self.numbers = {plan.identifier: self.store.register(plan, keep=keep) for plan in plans}
            for plan in plans:
                self._counting.number_of(plan)  # which makes the plan known to it
        except LDPError:
            self.store.close()
            self._counting.close()
            raise
        self.closed = self._closed(self.store)
        self._waiting: list[Waiting] = []
        self._group: list[Waiting] = []  # those whose commit is under way
        self._began: float | None = None  # and since when it is
        self._ready, self._stop = Condition(), Event()
        self._refused: dict[tuple[int, str], int] = {}
        self.commits = self.failures = self.committed = 0
        self._committing = self._counts = True  # whether all went well the last time

    @staticmethod
    def _closed(store: Store) -> frozenset[str]:
        return frozenset(identifier for identifier, is_so in store.collections().items() if is_so)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to commit and to count."""
        self._loop = loop
        self._threads = [Thread(target=self._write_all), Thread(target=self._count_all)]
        for thread in self._threads:
            thread.daemon = True  # a database that hangs must not keep a process from ending
            thread.start()
        self._give_up()

    def stop(self, seconds: float = 20.0) -> None:
        """Commit what is waiting, count what there is, and end."""
        self._stop.set()
        with self._ready:
            self._ready.notify_all()
        end = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        if not any(thread.is_alive() for thread in self._threads):  # else closing would wait, too
            self.store.close()
            self._counting.close()

    @property
    def trouble(self) -> str:
        """What is wrong, in one line; nothing, as far as is known."""
        late = time.monotonic() - STUCK
        if any(since is not None and since < late for since in (self._began, self._counting.asked)):
            return f"the database did not answer for more than {STUCK:.0f} seconds"
        if not (self._committing and self._counts):
            return "the database is out of reach"
        return "too many requests are waiting" if self.full else ""

    @property
    def waiting(self) -> int:
        """How many requests wait for their commit."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether too many requests are waiting to take another one."""
        return self.waiting >= MOST_WAITING

    def submit(self, entries: Sequence[Entry]) -> asyncio.Future[int]:
        """The status of these entries, when it is known."""
        answer: asyncio.Future[int] = self._loop.create_future()
        with self._ready:
            self._waiting.append(Waiting(entries, answer, time.monotonic()))
            self._ready.notify()
        return answer

    def refuse(self, number: int, reason: str, rows: int = 1) -> None:
        """Note rows that are not taken; the store hears of them with the next count."""
        with self._ready:
            self._refused[number, reason] = self._refused.get((number, reason), 0) + rows

    def _give_up(self) -> None:
        """Answer those who wait too long, every second; what is theirs may yet be committed."""
        late = time.monotonic() - LONGEST_WAIT
        with self._ready:
            given_up = [request for request in self._waiting if request.since < late]
            self._waiting = self._waiting[len(given_up) :]  # they are in the order they came in
            given_up += [request for request in self._group if request.since < late]
        _settle(given_up, [LATER] * len(given_up))
        if not self._stop.is_set():
            self._loop.call_later(1.0, self._give_up)

    # the thread that commits

    def _write_all(self) -> None:
        while group := self._next_group():
            self._began = time.monotonic()
            try:
                if not self._committing:
                    self.store.recover()
                statuses = self._commit(group)
                self._committing = True
            except Exception as error:  # whatever it was: the identifiers let them repeat it
                if self._committing:  # once, not for every request while the database is away
                    _tell("commit", error)
                statuses = [LATER] * len(group)
                self._committing, self.failures = False, self.failures + 1
                self._stop.wait(0.1)
            self._began, self._group = None, []
            self._loop.call_soon_threadsafe(_settle, group, statuses)

    def _next_group(self) -> list[Waiting]:
        """Requests for one commit; none in the end."""
        with self._ready:
            while not self._waiting and not self._stop.is_set():
                self._ready.wait()
            taken, size = 0, 0
            for request in self._waiting[:GROUP]:
                size += sum(len(entry.body) + len(entry.id) for entry in request.entries)
                if taken and size > GROUP_BYTES:
                    break
                taken += 1
            self._group, self._waiting = self._waiting[:taken], self._waiting[taken:]
            return self._group

    def _commit(self, group: Sequence[Waiting]) -> list[int]:
        first: dict[tuple[int, int, bytes], Entry] = {}
        for request in group:
            for entry in request.entries:
                first.setdefault(entry.key, entry)
        unique = list(first.values())
        found = list(zip(unique, self.store.write(unique), strict=True))
        fresh = {entry.key for entry, is_new in found if is_new}
        closed = {entry.collection for entry, is_new in found if is_new is None}
        self.commits += 1
        statuses = []
        for request in group:
            status = KNOWN
            for entry in request.entries:
                if entry.collection in closed:
                    status = CLOSED
                    self.refuse(entry.collection, "closed", entry.n)
                elif entry.key in fresh and first[entry.key] is entry:
                    status = NEW
                    self.committed += entry.n
                else:
                    self.refuse(entry.collection, DUPLICATE, entry.n)
            statuses.append(status)
        return statuses

    # the thread that counts

    def _count_all(self) -> None:
        others = forgotten = pause = 0.0
        last = False
        while not last:
            last = self._stop.wait(pause)
            if last:
                self._threads[0].join()
            start = time.monotonic()
            try:
                if not self._counts:
                    self._counting.recover()
                everything = start - others > OTHERS
                others = start if everything else others
                more = self._count(None if everything or last else self.store.shard)
                if start - forgotten > HOUR or not forgotten:
                    self._counting.forget_identifiers(hour_now() - WINDOW - 1)
                    forgotten = start
                self._counts = True
            except Exception as error:
                if self._counts:
                    _tell("count", error)
                self._counts = more = False
            pause = 0.0 if more else max(PAUSE, time.monotonic() - start)

    def _count(self, shard: int | None) -> bool:
        """Count for some seconds; whether there is more."""
        store = self._counting
        with self._ready:
            refused, self._refused = self._refused, {}
        try:
            if refused:
                store.refuse(refused)
        except BaseException:
            for (number, reason), rows in refused.items():
                self.refuse(number, reason, rows)
            raise
        self.closed = self._closed(store)
        end = time.monotonic() + LONGEST_COUNT
        while store.count(shard):
            if time.monotonic() > end:
                return True
        return False


def _settle(group: Iterable[Waiting], statuses: Iterable[int]) -> None:
    for request, status in zip(group, statuses, strict=True):
        if not request.answer.done():  # or the client is gone
            request.answer.set_result(status)


def _tell(what: str, error: Exception) -> None:
    """Say that something failed, without what the database may quote: reports and identifiers."""
    cause = error.__cause__ if isinstance(error, LDPError) and error.__cause__ else error
    state = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None) or ""
    log.error("%s failed: %s %s", what, type(cause).__name__, state)
    if not state and not isinstance(error, LDPError | OSError):  # a bug of ours: where it is
        log.error("".join(format_tb(error.__traceback__)))
