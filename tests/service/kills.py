"""kill -9 under load: in the end, what was acknowledged is counted, all of it and once.

    python -m tests.service.kills postgres 100 20  # kills of servers, and of the database
    python -m tests.service.kills sqlite 30 10  # and full disks

Clients send single reports and batches, repeat what failed under the same name, and now and then
what was acknowledged. Servers are killed and started again; PostgreSQL is stopped at once, as by a
power cut that spares the memory of the disk; the disk of SQLite is filled and freed. Everything
that was sent is acknowledged in the end, so the counts of every value of every group must be
equal. As a control, a server that forgets names must be found out (`--control`).
Load goes to 127.0.0.1 only.
"""

import http.client
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from ldp3 import Integers, Records, stream
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.plan import Plan
from ldp3.collection.store import hour_now
from ldp3.types import Tally
from tests.service.postgres import Cluster, cluster

WHO = Records([Integers(d, name=name) for d, name in ((12, "a"), (9, "b"), (4, "c"))])
PLAN = Plan("kills", WHO, "groups", 1.0)  # of several groups, some of which have few reports
CLIENTS, PATIENCE = 12, 60.0
DISK = 24 << 20  # bytes of the disk that is filled
FORGETFUL = """
from ldp3.collection import databases
for cls in (databases.SQLite, databases.Postgres):
    cls._remember = lambda self, entries: {entry.key for entry in entries}
"""


@dataclass
class Outcome:
    """What was sent and what came of it."""

    acknowledged: Tally = PLAN.oracle.empty
    counted: Tally = PLAN.oracle.empty
    killed: dict[str, int] = field(default_factory=dict)
    answers: dict[int | None, int] = field(default_factory=dict)
    repeats_taken: int = 0  # for new
    undelivered: int = 0

    @property
    def sound(self) -> bool:
        return self.equal and not (self.repeats_taken or self.undelivered)

    @property
    def equal(self) -> bool:
        """Whether the counts of every group and value are what was acknowledged."""
        return bool((self.acknowledged.total == self.counted.total).all())

    def __str__(self) -> str:
        return (
            f"killed {self.killed}, answers {self.answers}, acknowledged "
            f"{self.acknowledged.n}, counted {self.counted.n}, equal for every value: "
            f"{self.equal}, repeats taken for new: "
            f"{self.repeats_taken}, undelivered: {self.undelivered}"
        )


class Servers:
    """Processes of `ldp3 serve` that can be killed."""

    def __init__(self, plan: Path, address: str, count: int, before: str) -> None:
        self.line = [sys.executable, "-c", f"{before}\nfrom ldp3.cli import main\nmain()"]
        self.line += ["serve", str(plan), "--database", address, "-q"]
        self.ports = [_free_port() for _ in range(count)]
        self.running = {port: self.start(port) for port in self.ports}

    def start(self, port: int) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "LDP3_TOKEN": "x" * 20}
        return subprocess.Popen(
            [*self.line, "--port", str(port)], env=environment, stderr=subprocess.DEVNULL
        )

    def kill(self, port: int) -> None:
        """One that is at work."""
        self.wait([port])
        time.sleep(random.uniform(0.0, 0.5))
        self.running[port].kill()
        self.running[port].wait(20)
        self.running[port] = self.start(port)

    def wait(self, ports: list[int] | None = None) -> None:
        """Until all of them, or some, answer."""
        end = time.monotonic() + PATIENCE
        for port in ports or self.ports:
            while _status(http.client.HTTPConnection("127.0.0.1", port, timeout=5), "GET") != 200:
                if self.running[port].poll() is not None:
                    self.running[port] = self.start(port)
                assert time.monotonic() < end, "a server does not start"
                time.sleep(0.1)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def _status(
    line: http.client.HTTPConnection, method: str, body: bytes = b"", name: str = ""
) -> int | None:
    path = "/health" if method == "GET" else f"/collections/{PLAN.identifier}/reports"
    try:
        line.request(method, path, body, {"Idempotency-Key": name} if name else {})
        answer = line.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        line.close()
        return None


class Client(Thread):
    """Sends until it is told to stop, and leaves nothing undelivered."""

    def __init__(self, seed: int, ports: list[int], outcome: Outcome, lock: Lock, stop: Event):
        super().__init__(daemon=True)
        self.rng, self.outcome, self.lock, self.stop = random.Random(seed), outcome, lock, stop
        self.numpy = stream(seed)
        self.lines = [http.client.HTTPConnection("127.0.0.1", port, timeout=15) for port in ports]

    def send(self, name: str, body: bytes) -> int | None:
        status = _status(self.rng.choice(self.lines), "POST", body, name)
        with self.lock:
            self.outcome.answers[status] = self.outcome.answers.get(status, 0) + 1
        return status

    def run(self) -> None:
        done: list[tuple[str, bytes]] = []
        while not self.stop.is_set():
            codes = self.numpy.integers(0, PLAN.d, self.rng.choice([1, 1, 1, 5, 300]))
            reports = PLAN.oracle.perturb(codes, self.numpy)
            body = PLAN.wire.encode(reports).tobytes()
            name = f"{hour_now()}-{self.rng.getrandbits(128):032x}"
            end = time.monotonic() + PATIENCE
            while (status := self.send(name, body)) not in (200, 202) and time.monotonic() < end:
                time.sleep(0.05)
            with self.lock:
                if status in (200, 202):
                    self.outcome.acknowledged += PLAN.oracle.aggregate(reports)
                else:
                    self.outcome.undelivered += 1
            done.append((name, body))
            if self.rng.random() < 0.2 and self.send(*self.rng.choice(done[-50:])) == 202:
                with self.lock:
                    self.outcome.repeats_taken += 1


def killed(
    folder: Path, address: str, kills: int, others: int, database: Cluster | None, before: str = ""
) -> Outcome:
    """What comes of so many kills of servers, and of the database or full disks."""
    plan = folder / "kills.ldp3.json"
    PLAN.save(plan)
    outcome, lock, stop, rng = Outcome(), Lock(), Event(), random.Random(1)
    servers = Servers(plan, address, 2 if database else 1, before)
    try:
        servers.wait()
        clients = [Client(i, servers.ports, outcome, lock, stop) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        events = ["server"] * kills + [("database" if database else "disk")] * others
        rng.shuffle(events)
        for event in events:
            time.sleep(rng.uniform(0.0, 0.5))
            if event == "server":
                servers.kill(rng.choice(servers.ports))
            elif database:
                database.stop("immediate")
                database.start()
            else:
                _fill(folder, outcome)
            outcome.killed[event] = outcome.killed.get(event, 0) + 1
        servers.wait()
        stop.set()
        for client in clients:
            client.join(PATIENCE + 20)
            outcome.undelivered += client.is_alive()
    finally:
        stop.set()
        for process in servers.running.values():
            process.kill()
            process.wait(20)
    server = Aggregator(PLAN)
    server.add_store(address)
    outcome.counted = server.tally
    return outcome


def _fill(folder: Path, outcome: Outcome) -> None:
    """Fill the disk until somebody is refused, or for a while: there is room inside the files."""
    before, end = outcome.answers.get(503, 0), time.monotonic() + 5
    ballast = folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    while outcome.answers.get(503, 0) == before and time.monotonic() < end:
        time.sleep(0.1)
    ballast.unlink()


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A folder on a disk of its own, where we may make one; None where not."""
    folder = Path(tempfile.mkdtemp(prefix="ldp3-disk-"))
    line = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    try:
        made = subprocess.run(line, capture_output=True, timeout=20, check=False).returncode == 0
    except OSError:
        made = False
    try:
        yield folder if made else None
    finally:
        if made:
            subprocess.run(["umount", "-l", str(folder)], check=False, timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str]) -> int:
    before = FORGETFUL if "--control" in arguments else ""
    kind, kills, others = [a for a in arguments if a != "--control"]
    if kind == "postgres":
        with cluster() as database, tempfile.TemporaryDirectory() as name:
            outcome = killed(
                Path(name), database.address, int(kills), int(others), database, before
            )
    else:
        with small_disk() as folder:
            if folder is None:
                print("no disk can be mounted here")
                return 1
            address = str(folder / "kills.sqlite")
            outcome = killed(folder, address, int(kills), int(others), None, before)
    print(outcome)
    return 0 if outcome.sound != bool(before) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
