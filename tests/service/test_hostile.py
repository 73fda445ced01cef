"""What strangers may try: no answer is a fault of ours, memory does not grow, logs tell nothing."""

import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from ldp3.collection.aggregator import Aggregator
from ldp3.collection.store import Entry, Store
from ldp3.service import ingest, pages, server, visitors
from tests.posix import posix
from tests.service.kills import _free_port
from tests.service.running import PLAN, TOKEN, Collector, key, packed, reports, running

CUT, BOMB = reports(PLAN, 3)[:-1], packed(bytes(2**22))
SECRET = "0123456789abcdef0123456789abcdef"  # the random part of a name


def head(method: str = "POST", path: str | None = None, **headers: str) -> bytes:
    path = f"/collections/{PLAN.identifier}/reports" if path is None else path
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"X-Forwarded-For: 203.0.113.{7}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def request(rng: random.Random) -> bytes:
    """One that no honest client sends."""
    body = rng.choice([b"", rng.randbytes(rng.randrange(1, 3000)), CUT])
    name = rng.choice([key(), f"{'9' * 40}-x", "", f"1-{SECRET}", "\xff" * 9])
    sized = {"Content_Length": str(len(body)), "Idempotency_Key": name}
    kind = rng.randrange(14)
    if kind == 0:
        return rng.randbytes(rng.randrange(1, 2000))
    if kind == 1:
        return head(**sized)[: rng.randrange(1, 200)]  # a head that is cut
    if kind == 2:
        return head(Content_Length=str(len(body) + 100), Idempotency_Key=key()) + body
    if kind == 3:
        return head(Content_Length=rng.choice(["-1", "x", "9" * 30, "99999999"]))
    if kind == 4:
        return head(Transfer_Encoding="chunked", Idempotency_Key=key()) + rng.choice(
            [b"zz\r\n", b"ffffffffffffffff\r\n", b"5\r\nab", b"-1\r\n"]
        )
    if kind == 5:
        packing = rng.choice(["gzip", "br", "gzip, gzip"])
        return head(Content_Encoding=packing, **sized) + body
    if kind == 6:
        return (
            head(Content_Encoding="gzip", Content_Length=str(len(BOMB)), Idempotency_Key=key())
            + BOMB
        )
    if kind == 7:
        return head(Content_Type="application/x-ndjson", **sized) + body
    if kind == 8:
        path = rng.choice(["/", "//", "/%00", "/collections/%2e%2e/plan", "*", "/" + "a" * 9000])
        return head(rng.choice(["GET", "POST", "HEAD", "BREW", "OPTIONS"]), path)
    if kind == 9:
        return head("GET", f"/collections/{PLAN.identifier}/estimate", Authorization=name)
    if kind == 10:
        return head(Upgrade="websocket", Connection="upgrade")
    if kind == 11:
        return head(Cookie="c" * rng.choice([100, 20_000, 70_000]), **sized)
    if kind == 12:
        return head("GET", f"/collections/{PLAN.identifier}/plan?{'q=' * 50}%ff") * 3  # in a row
    return head(**sized) + body


@contextmanager
def process(folder: Path) -> Iterator[tuple[Collector, subprocess.Popen[bytes], Path]]:
    """A collector in a process of its own, and what it writes."""
    PLAN.save(folder / "plan.json")
    port, log = _free_port(), folder / "log"
    line = [sys.executable, "-m", "ldp3", "serve", "plan.json", "--port", str(port)]
    with log.open("wb") as file:
        server = subprocess.Popen(
            line, cwd=folder, stdout=file, stderr=file, env={**os.environ, "LDP3_TOKEN": TOKEN}
        )
    collector, end = Collector(port), time.monotonic() + 60
    try:
        while True:
            try:
                collector.get("/health")
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < end
                time.sleep(0.1)
        yield collector, server, log
    finally:
        server.kill()
        server.wait(20)


def memory(server: subprocess.Popen[bytes]) -> int:
    """Bytes that a process holds."""
    pages = Path(f"/proc/{server.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def attack(port: int, rng: random.Random, count: int) -> list[bytes]:
    """The first lines of all answers."""
    lines = []
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
            try:
                line.sendall(request(rng))
                line.shutdown(socket.SHUT_WR)
                heard = b""
                while part := line.recv(65536):
                    heard += part
            except OSError:  # it hung up on us
                continue
        lines += [one for one in heard.split(b"\r\n") if one.startswith(b"HTTP/1.1 ")]
    return lines


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize(
    "count", [500, pytest.param(10_000, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_bad_requests_are_refused_and_leave_nothing_behind(tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    with process(tmp_path) as (collector, server, log):
        good = f"{key().partition('-')[0]}-{SECRET}"
        assert collector.post(reports(PLAN, 5), good).status == 202
        attack(collector.port, rng, 200)  # what is loaded once is loaded now
        before = memory(server)
        heard = attack(collector.port, rng, count)
        grown = memory(server) - before
        assert len(heard) > count // 2
        assert not [line for line in heard if line.startswith(b"HTTP/1.1 5")]
        assert grown < 24 << 20, grown
        assert collector.post(reports(PLAN, 5), good).status == 200
        server.terminate()
        server.wait(20)
        said = log.read_text(errors="replace")
    taken = Aggregator(PLAN)
    taken.add_store(str(tmp_path / "collector.sqlite"))
    assert taken.n == 5
    assert "Traceback" not in said
    first, *rest = said.splitlines()
    assert "is at http://127.0.0.1" in first  # which is where it listens
    for secret in ("127.0.0.1", "203.0.113", SECRET, "report", "query"):
        assert not [line for line in rest if secret in line]


@posix("a process is told to stop by a signal")
def test_a_server_that_is_stopped_finishes_what_it_began(tmp_path: Path) -> None:
    with process(tmp_path) as (collector, server, _):
        body = reports(PLAN, 20)
        with socket.create_connection(("127.0.0.1", collector.port), timeout=20) as line:
            line.sendall(head(Content_Length=str(len(body)), Idempotency_Key=key()) + body[:50])
            time.sleep(0.3)
            server.terminate()
            time.sleep(0.3)
            line.sendall(body[50:])
            assert line.recv(1000).startswith(b"HTTP/1.1 202")
        assert server.wait(20) == -15
    taken = Aggregator(PLAN)
    taken.add_store(str(tmp_path / "collector.sqlite"))
    assert taken.n == 20


def test_what_is_not_finished_in_time_is_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "GRACE", 1)
    heard: list[bytes] = []
    with ExitStack() as open_lines, running(str(tmp_path / "x.sqlite")) as collector:
        address = ("127.0.0.1", collector.port)
        line = open_lines.enter_context(socket.create_connection(address, 20))
        line.sendall(head(Content_Length="100", Idempotency_Key=key()) + b"a few bytes")
        time.sleep(0.3)
        open_lines.callback(lambda: heard.append(line.recv(1000)))  # when it has stopped
    assert heard[0].startswith(b"HTTP/1.1 503 ")
    assert "the server is stopping" in heard[0].decode()
    assert "Exception in ASGI application" not in caplog.text


def test_slow_and_fat_requests_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "REQUEST_SECONDS", 1)
    starts = [b"", b"POST /x HT", head(Content_Length="100") + b"a few bytes"]
    with running(str(tmp_path / "x.sqlite")) as server:
        lines = [socket.create_connection(("127.0.0.1", server.port), 10) for _ in starts]
        for line, start in zip(lines, starts, strict=True):
            line.sendall(start)
        for line in lines:
            with suppress(ConnectionResetError):
                assert line.recv(100) == b""
            line.close()
        body = reports(PLAN, 3_000)
        request = head(Content_Length=str(len(body)), Idempotency_Key=key(), Connection="close")
        with socket.create_connection(("127.0.0.1", server.port), 10) as line:
            line.sendall(request[:-1])  # the end of the head comes with the body
            time.sleep(0.2)
            line.sendall(request[-1:] + body)
            assert line.recv(1000).startswith(b"HTTP/1.1 202 ")
        fat = server.raw(head(Cookie="c" * 40_000))
        assert fat.startswith(b"HTTP/1.1 431 ")
        assert server.post(reports(PLAN, 1)).status == 202


def test_what_follows_the_body_is_no_header(tmp_path: Path) -> None:
    body = reports(PLAN, 1)
    with running(str(tmp_path / "x.sqlite"), rate=0.1, proxy="127.0.0.1") as server:

        def sent() -> bytes:
            start = head(Transfer_Encoding="chunked", Idempotency_Key=key(), Connection="close")
            last = b"X-Forwarded-For: 127.0.0.1\r\n\r\n"  # whom no rate holds for
            with socket.create_connection(("127.0.0.1", server.port), 10) as line:
                line.sendall(start + b"%x\r\n%b\r\n0\r\n%b" % (len(body), body, last))
                return line.recv(1000)[9:12]

        assert [sent(), sent(), sent()] == [b"202", b"429", b"429"]


def test_all_is_in_the_file_of_sqlite_when_it_is_stopped(tmp_path: Path) -> None:
    with running(str(tmp_path / "x.sqlite")) as server:
        assert server.post(reports(PLAN, 7)).status == 202
        assert server.get("./estimate").status == 200  # through a connection that only reads
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.sqlite", "x.sqlite.lock"]
    taken = Aggregator(PLAN)
    taken.add_store(shutil.copy(tmp_path / "x.sqlite", tmp_path / "copy.sqlite"))
    assert taken.n == 7


def test_a_database_that_hangs_does_not_keep_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking = ingest.Ingest(str(tmp_path / "x.sqlite"), [PLAN], keep=False)
    hangs, goes_on = Event(), Event()

    def count(shard: int | None = None) -> int:
        with taking.store.transaction():  # as while it waits for an answer
            hangs.set()
            goes_on.wait(60)
        return 0

    monkeypatch.setattr(taking.store, "count", count)
    loop = asyncio.new_event_loop()
    taking.start(loop)
    assert hangs.wait(20)
    stopping = Thread(target=taking.stop, args=[0.2], daemon=True)
    stopping.start()
    stopping.join(20)
    ended = not stopping.is_alive()
    goes_on.set()
    taking.stop()
    loop.close()
    assert ended


def test_a_commit_that_hangs_is_said_to_and_its_requests_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "STUCK", 0.5)
    monkeypatch.setattr(ingest, "LONGEST_WAIT", 1.0)
    hangs, goes_on, write = Event(), Event(), Store.write

    def hang(self: Store, entries: Sequence[Entry]) -> list[bool | None]:
        hangs.set()
        goes_on.wait(60)
        return write(self, entries)

    name = key()
    with running(str(tmp_path / "x.sqlite")) as server:
        assert server.get("/health").body == b'{"ok":true}'
        monkeypatch.setattr(Store, "write", hang)
        first = Thread(target=server.post, args=[reports(PLAN, 3), name], daemon=True)
        first.start()
        assert hangs.wait(20)
        answer = server.post(reports(PLAN, 4))  # which waits behind it
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        health = server.get("/health")
        assert health.status == 503
        assert b"did not answer" in health.body
        first.join(20)
        assert not first.is_alive()
        goes_on.set()
        assert server.post(reports(PLAN, 3), name).status == 200  # it was committed after all
        assert server.get("/health").status == 200
    taken = Aggregator(PLAN)
    taken.add_store(str(tmp_path / "x.sqlite"))
    assert taken.n == 3


def test_a_reading_that_hangs_does_not_keep_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LONGEST_WAIT", 0.5)
    hangs, goes_on = Event(), Event()

    def hang(self: Store, number: int) -> dict[tuple[int, str], int]:
        hangs.set()
        goes_on.wait(60)
        return {}

    monkeypatch.setattr(Store, "arrivals", hang)
    with running(str(tmp_path / "x.sqlite")) as server:
        first = Thread(target=server.get, args=["./estimate"], daemon=True)
        first.start()
        assert hangs.wait(20)
        assert server.get("./estimate").status == 503
        assert server.get("/health").status == 200
        goes_on.set()
        first.join(20)
