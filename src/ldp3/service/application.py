"""What the collector answers: reports are taken by hand, all else by Starlette.

Taking a report is the one path that must be fast, so it speaks ASGI itself. Nothing of a request is
kept but its reports and their identifier: no address, no cookie, no user agent.
"""

import json
import re
import zlib
from asyncio import CancelledError, to_thread
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ldp3.collection.counts import digests_of
from ldp3.collection.plan import Plan
from ldp3.collection.report_parts import NO_REPORT, read_lines, sorted_out
from ldp3.collection.store import FOR_EVER, WINDOW, Entry, hour_now
from ldp3.collection.wire import LENGTH, OTHER_COLLECTION, TAG_BYTES
from ldp3.service.ingest import CLOSED, LATER, STOPPING, Ingest
from ldp3.service.visitors import RateLimit, forwarded_for

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

BODY = 2**20  # bytes of a request, packed or not, if a report is not longer
BATCH = 65_536  # reports
HELD = 2**27  # bytes of all requests that are being read, or wait for their commit
ENTRY = 256  # bytes that an entry takes besides its reports
AHEAD = 24  # hours that a client's clock may be ahead
KEY = re.compile(rb"([0-9]{1,9})-([0-9a-fA-F]{32})")
OURSELVES = ("127.0.0.1", "::1")
LINES = (b"application/x-ndjson", b"application/jsonl", b"application/x-jsonlines")
WANTED = {b"idempotency-key", b"content-type", b"content-encoding", b"content-length"}
WANTED |= {b"x-forwarded-for"}
SAID = {CLOSED: "this collection is closed", LATER: "the store is not ready"}
START, END = "/collections/", "/reports"
CORS = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"date, retry-after"),
]


@dataclass(eq=False)
class Refused(Exception):
    """A request that is not taken."""

    status: int
    reason: str  # what it is counted under
    text: str  # one line for whoever wrote the client
    rows: int = 1  # how many reports it held, as far as that is known


@dataclass(frozen=True)
class Collection:
    """A collection that is served."""

    plan: Plan
    number: int  # in the store

    @property
    def longest(self) -> int:
        """Bytes of a request."""
        return max(BODY, 2 * self.plan.report_bytes)

    def entries(
        self, body: bytes, key: tuple[int, bytes] | None, *, packed: bool, lines: bool
    ) -> list[Entry]:
        """What a body brings: all of it is reports of this collection, or nothing is taken."""
        body = _unpacked(body, self.longest) if packed else body
        if lines:
            return self._from_lines(body, key)
        n = self._require(body)
        return [Entry(self.number, *_given(key), n, body)]

    def _require(self, body: bytes) -> int:
        """How many reports a run of bytes holds."""
        n, rest = divmod(len(body), self.plan.report_bytes)
        if rest or not n:
            raise Refused(
                422, LENGTH, f"a report has {self.plan.report_bytes} bytes, got {len(body)}", n or 1
            )
        if n > BATCH:
            raise Refused(413, "too many", f"send at most {BATCH} reports at once, got {n}", n)
        ours = body.startswith(self.plan.tag)
        if n > 1:
            rows = np.frombuffer(body, dtype=np.uint8).reshape(n, -1)
            ours = bool((rows[:, :TAG_BYTES] == rows[0, :TAG_BYTES]).all()) and ours
        if not ours:
            text = "these are reports of another collection, or of another version"
            raise Refused(422, OTHER_COLLECTION, text, n)
        return n

    def _from_lines(self, body: bytes, key: tuple[int, bytes] | None) -> list[Entry]:
        """JSON lines; a report with an identifier of its own counts once, whenever it comes."""
        if body.count(b"\n") > BATCH:
            raise Refused(413, "too many", f"send at most {BATCH} lines at once")
        found = sorted_out(read_lines(body), self.plan.report_bytes)
        n = len(found.rows)
        if found.null or found.wrong or not n:
            what = (
                f"{found.null} lines without a report, or with an id that is no JSON; "
                f"{found.wrong} of a wrong length"
            )
            raise Refused(422, NO_REPORT if found.null or not n else LENGTH, what, max(n, 1))
        self._require(found.rows.tobytes())
        digests = found.digests or digests_of([None] * n)
        own = [
            Entry(self.number, FOR_EVER, digest, 1, row.tobytes())
            for row, digest in zip(found.rows, digests, strict=True)
            if digest is not None
        ]
        unnamed = [row.tobytes() for row, d in zip(found.rows, digests, strict=True) if d is None]
        if unnamed:
            own.append(Entry(self.number, *_given(key), len(unnamed), b"".join(unnamed)))
        return own


def _given(key: tuple[int, bytes] | None) -> tuple[int, bytes]:
    if key is None:
        text = "the header Idempotency-Key is needed, <hours since 1970>-<32 hexadecimal digits>"
        raise Refused(400, "no identifier", text)
    return key


class Application:
    """The collector, for any ASGI server; `others` answers everything that is not a report."""

    def __init__(
        self,
        ingest: Ingest,
        plans: Iterable[Plan],
        limit: RateLimit,
        proxy: str | None,
        others: App,
    ) -> None:
        self._ingest, self._limit, self._proxy, self._others = ingest, limit, proxy, others
        self._collections = {
            plan.identifier: Collection(plan, ingest.numbers[plan.identifier]) for plan in plans
        }
        self._held = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path, posted = scope.get("path", ""), scope.get("method") == "POST"
        if posted and path.startswith(START) and path.endswith(END):
            await self._take(path[len(START) : -len(END)], scope, receive, send)
        else:
            await self._others(scope, receive, send)

    async def _take(self, identifier: str, scope: Message, receive: Receive, send: Send) -> None:
        collection = self._collections.get(identifier)
        if collection is None:
            await _answer(send, 404, "there is no such collection here")
            return
        held = [0]
        try:
            entries = await self._read(collection, scope, receive, held)
            if entries is None:
                return  # cut short: the beginning of a batch must not use up its identifier
            status = await self._ingest.submit(entries)
            await _answer(send, status, SAID.get(status, ""))
        except Refused as error:
            self._ingest.refuse(collection.number, error.reason, error.rows)
            await _answer(send, error.status, error.text)
        except CancelledError:  # the server was told to stop, and waited long enough
            await _answer(send, LATER, STOPPING)
        finally:
            self._held -= held[0]

    async def _read(
        self, collection: Collection, scope: Message, receive: Receive, held: list[int]
    ) -> Sequence[Entry] | None:
        """What a request brings; None if it was cut short. `held` is the memory that it takes."""
        headers = {name: value for name, value in scope["headers"] if name in WANTED}
        self._require_room(collection, scope, headers)
        key = _key(headers.get(b"idempotency-key"))
        packed = _packed(headers.get(b"content-encoding", b""))
        lines = headers.get(b"content-type", b"").partition(b";")[0].strip().lower() in LINES
        pieces, more = [], True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            self._hold(held, len(pieces[-1]))
            if held[0] > collection.longest:
                raise Refused(413, "too large", f"send at most {collection.longest} bytes at once")
            more = message.get("more_body", False)
        read = partial(collection.entries, b"".join(pieces), key, packed=packed, lines=lines)
        entries = await to_thread(read) if packed or lines else read()
        self._hold(held, sum(len(entry.body) + ENTRY for entry in entries))
        return entries

    def _hold(self, held: list[int], size: int) -> None:
        held[0] += size
        self._held += size
        if self._held > HELD:
            raise Refused(LATER, "overloaded", "too many reports are on their way")

    def _require_room(
        self, collection: Collection, scope: Message, headers: dict[bytes, bytes]
    ) -> None:
        if collection.plan.identifier in self._ingest.closed:
            raise Refused(CLOSED, "closed", SAID[CLOSED])
        asks = forwarded_for(scope, headers.get(b"x-forwarded-for"), self._proxy)
        if asks not in OURSELVES and not self._limit.allow(asks):
            raise Refused(429, "too often", "too many requests from your network")
        if self._ingest.full:
            raise Refused(LATER, "overloaded", "too many requests are waiting")
        length = headers.get(b"content-length", b"0")
        if len(length) > 12 or int(length) > collection.longest:
            raise Refused(413, "too large", f"send at most {collection.longest} bytes at once")


def _key(given: bytes | None) -> tuple[int, bytes] | None:
    """The hour and the bytes of an identifier."""
    if given is None:
        return None
    found = KEY.fullmatch(given)
    if found is None:
        text = "Idempotency-Key must be <hours since 1970>-<32 hexadecimal digits>"
        raise Refused(400, "no identifier", text)
    hour, now = int(found[1]), hour_now()
    if not now - WINDOW <= hour <= now + AHEAD:
        text = f"the hour of the Idempotency-Key is not within the last {WINDOW}: it is now {now}"
        raise Refused(410, "too old", text)
    return hour, bytes.fromhex(found[2].decode())


def _packed(encoding: bytes) -> bool:
    if encoding in (b"", b"identity", b"gzip"):
        return encoding == b"gzip"
    raise Refused(415, "unknown encoding", "Content-Encoding must be gzip, or none")


def _unpacked(body: bytes, most: int) -> bytes:
    """What gzip packed, if it is whole and not too much."""
    reader = zlib.decompressobj(wbits=31)
    try:
        data = reader.decompress(body, most + 1)
    except zlib.error:
        raise Refused(422, "not gzip", "the body is not gzip") from None
    if len(data) > most:
        raise Refused(413, "too large", f"send at most {most} bytes at once, unpacked")
    if not reader.eof or reader.unused_data:
        raise Refused(422, "not gzip", "the body is not one whole gzip stream")
    return data


async def _answer(send: Send, status: int, error: str = "") -> None:
    body = json.dumps({"error": error}).encode() if error else b""
    headers = [(b"content-length", b"%d" % len(body)), *CORS]
    if error:
        headers.append((b"content-type", b"application/json"))
    if status in (429, LATER):
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
