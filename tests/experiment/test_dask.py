import os
import signal
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from subprocess import run as call
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import distributed
import numpy as np
import pytest

import ldp3
from ldp3.arrays import FloatArray, apportion
from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.experiment import dask
from ldp3.experiment.dask import ClusterThreads
from ldp3.experiment.journal import Journal, open_journal
from ldp3.experiment.run import benchmark
from ldp3.experiment.schedule import CHUNKS
from ldp3.experiment.simulator import Simulator
from ldp3.experiment.tabulation import tabulated
from ldp3.metrics.base import Metric
from ldp3.people import Dataset
from ldp3.progress import Progress
from ldp3.protocols.base import CHUNK
from tests.experiment.running import cells_of, collected, outcomes, simulator
from tests.posix import posix

DATA = Dataset("small", Labels([str(v) for v in range(10)]), apportion(1 / np.arange(1, 11), 1_000))
USERS = (2 * CHUNKS + 1) * CHUNK + 7
MANY = Dataset("many", Labels(list("abcd")), apportion(1 / np.arange(1, 5), USERS))
# each cell sleeps, so that a worker can be killed while it works
SLOW = """
import time
from dataclasses import dataclass
from ldp3.metrics.base import Metric

@dataclass(frozen=True)
class Slow(Metric):
    def compare(self, truth, frequencies):
        time.sleep(0.01)
        return float(abs(truth - frequencies).sum())
"""


@contextmanager
def local_cluster(workers: int) -> Iterator[distributed.Client]:
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with local_cluster(2) as client:
        yield client


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    path = tmp_path / "slow.py"
    path.write_text(SLOW)
    return path


@contextmanager
def scheduler_alone() -> Iterator[tuple[Popen[str], str]]:
    """A scheduler in a process of its own, with one worker, and its address."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    started = [
        Popen(
            [sys.executable, "-m", "dask", *words], stdout=DEVNULL,
            stderr=DEVNULL, text=True,
        )
        for words in (
            ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
            ["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
        )
    ]  # fmt: skip
    try:
        yield started[0], address
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.parametrize("simulate", ["exact", "users"])
def test_the_table_is_that_of_one_thread(client: distributed.Client, simulate: Any) -> None:
    given: dict[str, Any] = {"epsilons": [0.5, 1], "methods": "paper", "metrics": ["l1", "kl"]}
    here = benchmark(DATA, **given, repeats=20, simulate=simulate, threads=1)
    there = benchmark(DATA, **given, repeats=20, simulate=simulate, executor=client)
    assert there.table.equals(here.table)
    assert there.means.equals(here.means)  # type: ignore[union-attr, arg-type]


def test_the_chunks_of_many_users_add_up_to_the_same_table(client: distributed.Client) -> None:
    given: dict[str, Any] = {"epsilons": 1, "protocols": ["grr", "oue"], "methods": "norm_sub"}
    here = benchmark(MANY, **given, repeats=2, simulate="users", threads=1)
    assert benchmark(
        MANY, **given, repeats=2, simulate="users", executor=client
    ).table.equals(here.table)  # fmt: skip


@pytest.mark.slow
def test_small_tasks_go_in_bundles(client: distributed.Client) -> None:
    at = simulator(DATA, 1, ["grr", "oue"], "norm_sub", repeats=4_000)
    submitted = 0
    executor = type(client.get_executor())
    before = executor.submit

    def counting(*args: Any, **kwargs: Any) -> Any:
        nonlocal submitted
        submitted += 1
        return before(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "submit", counting)
        done = list(outcomes(at, client))
    assert len(cells_of(done)) == 8_000
    assert len(done) > 500
    assert submitted < 200


def test_the_experiment_is_built_once_on_each_worker(client: distributed.Client) -> None:
    at = simulator(DATA, 1, ["grr", "oue"], "norm_sub", repeats=400, seed=1)
    list(outcomes(at, client))
    keys = client.run(_keys_kept)
    assert len(keys) == 2
    for there in keys.values():
        assert there == [at.experiment.key]


def _keys_kept() -> list[str]:
    from ldp3.experiment import simulator

    return list(simulator._kept)


def test_a_plug_in_is_sent_and_need_not_be_seen(client: distributed.Client, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    tables = []
    for factor in (2, 3):  # an edited file is another plug-in, also for a worker that knew it
        path.write_text(SLOW.replace("0.01", "0").replace("abs", f"{factor} * abs"))
        at = simulator(DATA, 1, "grr", "norm", "slow", repeats=4, plugins=[path])
        here = collected(at, outcomes(at, threads=1)).table
        assert here.equals(collected(at, _without(path, at, client)).table)
        tables.append(here["value"].to_numpy())
    assert np.allclose(tables[1], tables[0] * 1.5)


def _without(path: Path, at: Simulator, client: distributed.Client) -> list[Any]:
    path.unlink()
    return list(outcomes(at, client))


def test_a_class_is_refused_with_what_to_do(client: distributed.Client) -> None:
    @dataclass(frozen=True)
    class Mine(Metric):
        def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
            return 0.0

    with pytest.raises(LDPError, match=r"Mine is a class.*plugins=\['that_file.py'\].*'mine'"):
        benchmark(DATA, 1, "grr", "norm", Mine, executor=client)
    ours = type(ldp3.metric("l1"))
    assert benchmark(DATA, 1, "grr", "norm", ours, executor=client).table.height == 20


@pytest.mark.slow
@posix("no other process can be sent this signal there")
def test_killed_workers_cost_only_their_running_tasks(slow: Path) -> None:
    at = simulator(DATA, 1, ["grr", "oue"], "norm", "slow", repeats=60, plugins=[slow])
    here = collected(at, outcomes(at, threads=2)).table
    done: list[Any] = []
    with local_cluster(2) as client:
        pids = list(client.run(os.getpid).values())
        for outcome in outcomes(at, client):
            done.append(outcome)
            if len(done) in (2, 5):  # at last nobody is left who ever held the simulator
                os.kill(pids.pop(), signal.SIGKILL)
        assert not set(pids)
    assert len({o.block for o in done}) == len(done)
    assert collected(at, done).table.equals(here)


@pytest.mark.slow
def test_a_lost_scheduler_is_one_line_and_the_journal_goes_on(slow: Path, tmp_path: Path) -> None:
    at = simulator(DATA, 1, ["grr", "oue"], "norm", "slow", repeats=60, plugins=[slow])
    output = tmp_path / "x.parquet"
    journal = open_journal(output, at.experiment)
    assert journal is not None
    with scheduler_alone() as (scheduler, address):
        _wait_for(address)
        with pytest.raises(LDPError, match=rf"Lost the Dask scheduler at {address}\.") as caught:
            _run_until_killed(at, address, journal, scheduler)
    assert "\n" not in str(caught.value)
    journal.close()
    journal = open_journal(output, at.experiment)
    assert journal is not None
    before = cells_of(journal.measured.outcomes)
    assert 0 < len(before) < at.experiment.size
    rest = list(outcomes(at, threads=2, done=before))
    for outcome in rest:
        journal.measured.add(outcome)
    table = tabulated(at, journal.measured, {}).table
    journal.close()
    assert table.equals(collected(at, outcomes(at, threads=2)).table)


def _run_until_killed(at: Simulator, address: str, journal: Journal, scheduler: Popen[str]) -> None:
    for outcome in outcomes(at, address, progress=Silent()):
        journal.append(outcome)
        scheduler.kill()


def _wait_for(address: str) -> None:
    for _ in range(100):
        try:
            dask._knock(address)
            return
        except OSError:
            time.sleep(0.1)


class Silent(Progress):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.slow
def test_stopping_takes_back_what_waits_and_keeps_what_is_done(
    client: distributed.Client, slow: Path
) -> None:
    at = simulator(DATA, 1, "grr", "norm", "slow", repeats=400, plugins=[slow])
    seen: list[Any] = []

    class Impatient(Progress):
        def stopped(self) -> bool:
            return len(seen) >= 2

    for outcome in outcomes(at, client, progress=Impatient()):
        seen.append(outcome)
    assert 2 <= len(cells_of(seen)) < 200
    rest = list(outcomes(at, client, done=cells_of(seen)))
    assert len(cells_of(seen)) + len(cells_of(rest)) == 400


def test_progress_adds_up_to_all_cells(client: distributed.Client) -> None:
    at = simulator(DATA, 1, ["grr", "oue"], "norm_sub", repeats=100)
    ticks: list[float] = []

    class Counting(Progress):
        def tick(self, cells: float) -> None:
            ticks.append(cells)

    list(outcomes(at, client, progress=Counting()))
    assert sum(ticks) == at.experiment.size


VERSIONS = {"python": "3.11", "ldp3": "1", "numpy": "2", "numba": "1", "scipy": "1", "polars": "1"}


@dataclass
class Pretending:
    """A client whose workers have other versions."""

    worker: dict[str, str | None]
    scheduler: dict[str, str | None]

    def nthreads(self) -> dict[str, int]:
        return {"tcp://a:1": 4}

    def get_versions(self, packages: list[str]) -> dict[str, Any]:
        return {
            "client": {"packages": VERSIONS},
            "scheduler": {"packages": {**VERSIONS, **self.scheduler}},
            "workers": {"tcp://a:1": {"packages": {**VERSIONS, **self.worker}}},
        }


def test_other_versions_are_said_once_in_one_line() -> None:
    silent = Silent()
    threads = ClusterThreads(Pretending({"numpy": "3", "numba": None}, {"numpy": "3"}), silent)
    threads._look()
    threads._look()
    assert silent.said == [
        "Versions differ, so numbers may: numba None on worker tcp://a:1, 1 here; "
        "numpy 3 on worker tcp://a:1, 2 here."
    ]
    assert threads() == 4


@pytest.mark.parametrize(
    ("worker", "scheduler", "reason"),
    [
        ({"ldp3": "2"}, {}, "ldp3 is 1 here and 2 on worker tcp://a:1"),
        ({}, {"ldp3": None}, "ldp3 is 1 here and missing on the scheduler"),
    ],
)
def test_another_version_of_ours_is_refused(worker: Any, scheduler: Any, reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        ClusterThreads(Pretending(worker, scheduler), Silent())()


def test_the_real_versions_agree(client: distributed.Client) -> None:
    silent = Silent()
    assert ClusterThreads(client, silent)() == 2
    assert silent.said == []


@pytest.mark.slow
def test_a_cluster_without_workers_is_waited_for() -> None:
    silent = Silent()
    at = simulator(DATA, 1, "grr", "norm_sub", repeats=4)
    with local_cluster(0) as client:
        timer = threading.Timer(0.5, lambda: client.cluster.scale(1))
        timer.start()
        done = list(outcomes(at, client, progress=silent))
        timer.join()
    assert len(cells_of(done)) == 4
    assert silent.said == ["The cluster has no workers yet: waiting for them."]


def test_where_no_scheduler_answers_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "PATIENCE", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        for where in (address, "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "http://a:1"):
            with pytest.raises(LDPError, match="No Dask scheduler answers at") as caught:
                benchmark(DATA, 1, "grr", "norm", executor=where)
            assert "\n" not in str(caught.value)
    with pytest.raises(LDPError, match="No Dask scheduler answers at"):
        benchmark(DATA, 1, "grr", "norm", executor=address)


def drip(line: socket.socket) -> None:
    """A byte now and then, for ever."""
    with suppress(OSError), line:
        while True:
            line.sendall(b"x")
            time.sleep(0.05)


def begin(line: socket.socket) -> None:
    """What a scheduler says first, and then bytes that say nothing."""
    with suppress(OSError), line:
        line.sendall(b"\x40" + b"\x00" * 7 + b"pickle-protocol")
        while True:
            line.sendall(b"\x00")
            time.sleep(0.05)


def be_silent(line: socket.socket) -> None:
    with suppress(OSError), line:
        line.recv(2**20)
        time.sleep(60)


@contextmanager
def stranger(behave: Callable[[socket.socket], None]) -> Iterator[str]:
    """A port of somebody who is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as port:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=behave, args=port.accept()[:1], daemon=True).start()

        threading.Thread(target=answer, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}"


@pytest.mark.parametrize("behave", [drip, begin, be_silent])
@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_a_port_that_is_no_scheduler_is_one_line(
    monkeypatch: pytest.MonkeyPatch, behave: Callable[[socket.socket], None], scheme: str
) -> None:
    monkeypatch.setattr(dask, "PATIENCE", 0.5)
    with stranger(behave) as place:
        with pytest.raises(LDPError, match="No Dask scheduler answers at") as caught:
            benchmark(DATA, 1, "grr", "norm", executor=f"{scheme}://{place}")
        assert "\n" not in str(caught.value)


def test_a_silent_port_is_one_line_with_certificates_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cryptography")
    certificates = distributed.Security.temporary()
    monkeypatch.setattr(distributed, "Security", lambda: certificates)
    monkeypatch.setattr(dask, "PATIENCE", 0.5)
    for behave in (drip, be_silent):
        with (
            stranger(behave) as place,
            pytest.raises(LDPError, match="No Dask scheduler answers at"),
        ):
            benchmark(DATA, 1, "grr", "norm", executor=f"tls://{place}")


@pytest.mark.slow
def test_a_cluster_of_our_own_lets_nobody_else_in() -> None:
    pytest.importorskip("cryptography")
    with dask._client("dask", 1, pytest.fail) as client:
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        with pytest.raises(HTTPError, match="Not Found") as refused:
            urlopen(client.dashboard_link.replace("/status", "/info/main/workers.html"))
        refused.value.close()
        place = urlsplit(address)
        assert place.hostname is not None
        assert place.port is not None
        with pytest.raises(OSError):  # noqa: PT011
            dask._listen(place.hostname, place.port)
        anyone = ssl.create_default_context()
        anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
        line = socket.create_connection((place.hostname, place.port), 10)
        with pytest.raises(ssl.SSLError, match="certificate"), anyone.wrap_socket(line) as knocking:
            knocking.recv(1)  # not even told who is there


def test_without_certificates_it_is_said_that_the_port_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    said: list[str] = []
    assert dask._security(said.append) is None
    assert "asks for no password" in said[0]


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LDPError, match=r"pip install 'ldp3\[dask\]'"):
        benchmark(DATA, 1, "grr", "norm", executor="dask")


@pytest.mark.slow
def test_the_command_line_starts_a_cluster_and_stops_it(tmp_path: Path) -> None:
    output = tmp_path / "x.csv"
    command = [sys.executable, "-m", "ldp3", "run", "-p", "grr", "-m", "norm", "-t", "1"]
    done = call([*command, "--executor", "dask", "-o", str(output)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    here = benchmark("flights", 1, "grr", "norm", threads=1).table
    assert ldp3.load_results(output).table.equals(here)
