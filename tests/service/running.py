"""A collector in a thread of the tests' own process, on a port of 127.0.0.1 that was free."""

import gzip
import http.client
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any

import ldp3
from ldp3.collection.plan import Plan
from ldp3.collection.store import hour_now
from ldp3.service.server import Server, application, listen

TOKEN = "a token of the tests"
PLAN = Plan("pages", ["home", "news", "sport"], "oue", 1.0)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def key(hour: int | None = None) -> str:
    return f"{hour_now() if hour is None else hour}-{os.urandom(16).hex()}"


def reports(plan: Plan, n: int, seed: int = 0) -> bytes:
    rng = ldp3.stream(seed, plan.protocol)
    return plan.wire.encode(plan.oracle.perturb(rng.integers(0, plan.d, size=n), rng)).tobytes()


@dataclass
class Collector:
    """One that runs."""

    port: int
    plan: Plan = PLAN

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def path(self, what: str = "") -> str:
        return f"/collections/{self.plan.identifier}{what}"

    def post(self, body: bytes, name: str | None = None, **headers: str) -> Answer:
        given = {"Idempotency-Key": name or key()} | {
            word.replace("_", "-"): value for word, value in headers.items()
        }
        return self.ask("POST", self.path("/reports"), body, given)

    def get(self, what: str, token: str | None = TOKEN, **headers: str) -> Answer:
        given = {} if token is None else {"Authorization": f"Bearer {token}"}
        given |= {word.replace("_", "-"): value for word, value in headers.items()}
        return self.ask("GET", what if what[:1] != "." else self.path(what[1:]), b"", given)

    def raw(self, data: bytes, wait: float = 20.0) -> bytes:
        """What is answered to these bytes until the connection ends."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            heard = b""
            while part := line.recv(65536):
                heard += part
        return heard


@contextmanager
def running(address: str, plans: list[Plan] | None = None, **options: Any) -> Iterator[Collector]:
    plans = plans or [PLAN]
    server = Server(application(plans, address, token=TOKEN, **options))
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Collector(port, plans[0])
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


def packed(data: bytes) -> bytes:
    return gzip.compress(data)
