"""How fast a collector takes reports, as ratios of what the same machine does without it.

    python -m benchmarks.service [sqlite|postgres] [seconds] [million reports]

Single reports: requests a second with `CONNECTIONS` of them, each answered when it is durable, over
those of the same server's answer to a request that stores nothing, from the same load generator in
turns. Bulk: OLH over 1,024 values in batches, reports not kept, over `Aggregator.add` of the same
bytes from memory, until all of it is counted. Memory: of the server's process, while millions of
reports go by. All load goes to 127.0.0.1.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import ldp3
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.databases import open_store
from ldp3.collection.plan import Plan
from ldp3.collection.store import hour_now
from tests.service.kills import _free_port
from tests.service.postgres import cluster

CONNECTIONS, ROUNDS = 256, 3
SINGLE = Plan("single", 128, "oue", 1.0)
BULK = Plan("bulk", 1024, "olh", 1.0)
BATCH = 60_000


def data_of(plan: Plan, n: int) -> bytes:
    rng = ldp3.stream(0, plan.protocol)
    values = rng.integers(0, plan.d, size=n)
    return plan.wire.encode(plan.oracle.perturb(values, rng)).tobytes()


def request(path: str, body: bytes) -> bytes:
    name = f"{hour_now()}-{os.urandom(16).hex()}"
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {name}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def load(port: int, path: str, body: bytes, seconds: float) -> tuple[int, list[float]]:
    """How many requests are answered, and how long each took."""
    end, times = time.perf_counter() + seconds, list[float]()

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (start := time.perf_counter()) < end:
            writer.write(request(path, body))
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            assert head[9:12] in (b"202", b"404"), head
            times.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    return len(times), sorted(times)


def memory(pid: int) -> float:
    """MB that a process holds."""
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def processor(pid: int) -> float:
    """Seconds that a process has worked."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def single(port: int, pid: int, seconds: float) -> None:
    path = f"/collections/{SINGLE.identifier}/reports"
    empty = f"/collections/{'0' * 64}/reports"  # read and refused; nothing is stored
    body = data_of(SINGLE, 1)
    ratios = []
    for _ in range(ROUNDS):
        clock = [processor(pid)]
        some, times = asyncio.run(load(port, path, body, seconds))
        clock.append(processor(pid))
        none, _ = asyncio.run(load(port, empty, body, seconds))
        clock.append(processor(pid))
        work = [1e6 * (clock[1] - clock[0]) / some, 1e6 * (clock[2] - clock[1]) / none]
        ratios.append(some / none)
        print(
            f"single, {CONNECTIONS} connections: {some / seconds:,.0f}/s durable, "
            f"{none / seconds:,.0f}/s empty, ratio {some / none:.2f}, processor time "
            f"{work[0]:.0f} and {work[1]:.0f} µs, "
            f"p50 {1e3 * times[len(times) // 2]:.0f} ms, p99 {1e3 * times[-len(times) // 100]:.0f}"
        )
    print(f"single: best ratio {max(ratios):.2f}, median {sorted(ratios)[len(ratios) // 2]:.2f}")


def bulk(port: int, address: str, pid: int, millions: float) -> None:
    data = data_of(BULK, BATCH)
    batches = max(int(millions * 1e6 / BATCH), 1)
    Aggregator(BULK).add(data)  # compiles
    start, server = time.perf_counter(), Aggregator(BULK)
    for _ in range(min(batches, 20)):
        server.add(data)
    memory_rate = server.n / (time.perf_counter() - start)
    path = f"/collections/{BULK.identifier}/reports"
    held: list[float] = []

    async def send() -> None:
        left = batches

        async def client() -> None:
            nonlocal left
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while left > 0:
                left -= 1
                answered = False
                sent = request(path, data)
                while not answered:
                    writer.write(sent)
                    head = await reader.readuntil(b"\r\n\r\n")
                    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                    await reader.readexactly(length)
                    answered = head[9:12] in (b"202", b"200")
                held.append(memory(pid))
            writer.close()

        await asyncio.gather(*(client() for _ in range(4)))

    start = time.perf_counter()
    asyncio.run(send())
    taken = time.perf_counter() - start
    store = open_store(address)
    while store.waiting():
        time.sleep(0.05)
    counted = time.perf_counter() - start
    assert store.counts(store.number_of(BULK)).tally.n == batches * BATCH
    store.close()
    n, tenth = batches * BATCH, max(len(held) // 10, 1)
    print(
        f"bulk, {n:,} reports: {memory_rate:,.0f}/s from memory; {n / taken:,.0f}/s taken "
        f"(ratio {n / taken / memory_rate:.2f}), {n / counted:,.0f}/s counted "
        f"(ratio {n / counted / memory_rate:.2f})"
    )
    first, last = max(held[:tenth]), max(held[-tenth:])
    print(f"memory: {first:.0f} MB in the first tenth, {last:.0f} MB in the last")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", nargs="?", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("seconds", nargs="?", type=float, default=5.0)
    parser.add_argument("millions", nargs="?", type=float, default=10.0)
    given = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = str(folder / "collector.sqlite")
        if given.kind == "postgres":
            address = stack.enter_context(cluster()).address
        for plan in (SINGLE, BULK):
            plan.save(folder / f"{plan.name}.json")
        port = _free_port()
        line = [sys.executable, "-m", "ldp3", "serve", "single.json", "bulk.json", "-q"]
        line += ["--port", str(port), "--database", address]
        process = subprocess.Popen(line, cwd=folder)
        try:
            while True:
                try:
                    asyncio.run(load(port, f"/collections/{SINGLE.identifier}/reports", b"", 0))
                    break
                except OSError:
                    time.sleep(0.2)
            print(given.kind)
            single(port, process.pid, given.seconds)
            bulk(port, address, process.pid, given.millions)
        finally:
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    main()
