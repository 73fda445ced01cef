"""What a stranger may cost: how often, how long, how much of a head; and who that stranger is.

No address is kept: a network is known by a keyed hash, and the key is a new one every day and in
memory only.
"""

import os
import time
from collections.abc import MutableMapping
from hashlib import blake2b
from ipaddress import ip_address
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD = 2**14  # bytes of a request's head
REQUEST_SECONDS = 10  # from its first byte, or from the connection, to its last
MOST_NETWORKS = 100_000
DAY = 86_400.0


class RateLimit:
    """A number of requests a second, and ten times as many at once, for each network.

    A network is an IPv4 address, or the first 56 bits of one of IPv6. A rate of 0 is no limit.

    Examples
    --------
    >>> limit = RateLimit(2)
    >>> sum(limit.allow("192.0.2.1", now=0.0) for _ in range(100))
    20
    >>> limit.allow("192.0.2.2", now=0.0), limit.allow("192.0.2.1", now=1.0)
    (True, True)
    """

    def __init__(self, rate: float) -> None:
        self._step = 1 / rate if rate else 0.0
        self._slack = max(10 - self._step / 2, 0.0)  # seconds that a burst may be ahead
        self._day = -1.0
        self._full: dict[bytes, float] = {}  # when the network's bucket is full again
        self._key = b""

    def allow(self, host: str, now: float | None = None) -> bool:
        """Whether this network may send another request."""
        if not self._step:
            return True
        now = time.monotonic() if now is None else now
        if now // DAY != self._day:
            self._day, self._key, self._full = now // DAY, os.urandom(32), {}
        network = blake2b(_network(host), key=self._key, digest_size=8).digest()
        start = max(self._full.get(network, now), now)
        if start - now > self._slack:
            return False
        if network not in self._full and len(self._full) >= MOST_NETWORKS:
            self._full = {tag: full for tag, full in self._full.items() if full > now}
            if len(self._full) >= MOST_NETWORKS:
                return False
        self._full[network] = start + self._step
        return True


def _network(host: str) -> bytes:
    try:
        address = ip_address(host)
    except ValueError:  # a socket, or what a proxy made up
        return host.encode(errors="replace")[:64]
    mapped = getattr(address, "ipv4_mapped", None)
    packed = (mapped or address).packed
    return packed[:7] if len(packed) == 16 else packed


def forwarded_for(
    scope: MutableMapping[str, Any], forwarded: bytes | None, proxy: str | None
) -> str:
    """Who asks: the other end of the connection, or for whom the trusted proxy says it asks."""
    client = scope.get("client")
    host = str(client[0]) if client else ""
    if proxy is not None and host == proxy and forwarded:
        return forwarded.decode("latin-1").rpartition(",")[2].strip()
    return host


class Guarded(HttpToolsProtocol):
    """uvicorn's protocol, which bounds neither the time of a request nor the size of its head.

    Requests that do not wait for the answer to the one before, as no browser sends them, end the
    connection: uvicorn would not tell the first one if it is lost.
    """

    since: float | None = None  # when the unfinished request began; None between two requests
    head: int = 0  # bytes of the head so far; -1 when it is complete
    tail = b""  # of the data before: the end of a head may be cut in two
    hasty = False  # whether the request did not wait

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.since = self.loop.time()

    def abort_if_late(self) -> None:
        """End a request that takes too long."""
        if self.since is not None and self.loop.time() - self.since > REQUEST_SECONDS:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self.head >= 0:
            if self.since is None:
                self.since = self.loop.time()
            self.head += len(data)
            if self.head > HEAD and b"\r\n\r\n" not in self.tail + data[:HEAD]:
                self.transport.write(
                    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
                    b"content-length: 0\r\nconnection: close\r\n\r\n"
                )
                self.transport.close()
                return
            self.tail = data[-3:]
        super().data_received(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head >= 0:  # not what follows a body in chunks, which a proxy has not looked at
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.head = -1
        self.hasty = self.cycle is not None and not self.cycle.response_complete
        if self.hasty:
            self.transport.close()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.hasty:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self.since, self.head, self.tail = None, 0, b""
        if not self.hasty:
            super().on_message_complete()
