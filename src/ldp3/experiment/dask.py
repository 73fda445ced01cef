"""Workers on other machines: the executor of a Dask cluster.

The simulator is a task of its own, on which all others depend. So Dask sends it to each worker once
and holds it there, also to workers that join later, and makes it again from the scheduler's copy if
the workers that held it are gone. It travels as specs, the histogram and the source of the
plug-ins: workers read no files of ours.
"""

import logging
import pickle
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ldp3.errors import InvalidParameter, LDPError
from ldp3.experiment.grid import PACKAGES, Experiment
from ldp3.experiment.schedule import Workers
from ldp3.experiment.simulator import Simulator
from ldp3.progress import Progress

if TYPE_CHECKING:
    from distributed import Client, Security

PATIENCE = 5  # seconds that a scheduler has to answer
BUNDLE = 0.5  # seconds of work to send at once: many times what it costs to send it
# Ctrl-C reaches all processes of a terminal: what it means is decided here, not by the workers
_DEAF = "import signal\ndef dask_setup(worker):\n    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
# Dask's workers give memory back at once and would fetch it anew for every chunk of users, which
# costs twice as much as the work itself
_MEMORY = {"MALLOC_TRIM_THRESHOLD_": 1 << 28, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
# who works and on what is for nobody else to read
_NO_PAGES: dict[str, list[str]] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


def on_dask(executor: object) -> bool:
    """Whether an executor is a Dask cluster: its name, an address, or a client."""
    named = isinstance(executor, str) and (executor == "dask" or "://" in executor)
    return named or hasattr(executor, "get_executor")


@contextmanager
def cluster(
    where: "Client | str", count: int, simulator: Simulator, progress: Progress
) -> Iterator[Workers]:
    """The workers of a Dask cluster.

    `where` is a client, which stays open, the address of a scheduler, or ``"dask"`` for a cluster
    of `count` processes on this machine.
    """
    _refuse_classes(simulator.experiment)
    with _client(where, count, progress.note) as client, _losses_told(client):
        threads = ClusterThreads(client, progress)
        threads()
        # pickled here, or the scheduler would build the simulator too
        key = f"ldp3-{simulator.experiment.key}"
        there = client.submit(pickle.loads, pickle.dumps(simulator), key=key)
        yield Workers(client.get_executor(pure=False), there, threads, BUNDLE)


@contextmanager
def cluster_executor(
    where: "Client | str", count: int, note: Callable[[str], None]
) -> Iterator[Executor]:
    """The bare executor of a cluster, for tasks that need no simulator."""
    with _client(where, count, note) as client, _losses_told(client):
        yield client.get_executor(pure=False)


class ClusterThreads:
    """How many threads the workers have just now; the versions of newcomers are compared."""

    def __init__(self, client: "Client", progress: Progress) -> None:
        self.client = client
        self.progress = progress
        self.threads = 0
        self._met: set[str] = set()
        self._look_again = 0.0

    def __call__(self) -> int:
        if time.monotonic() >= self._look_again:
            self._look()
            self._look_again = time.monotonic() + 1
        return max(self.threads, 1)  # of none yet: a task that waits makes adaptive clusters grow

    def _look(self) -> None:
        try:
            there = self.client.nthreads()
            if not there and not self._look_again:
                self.progress.note("The cluster has no workers yet: waiting for them.")
            if not self._met.issuperset(there):
                self._compare(self.client.get_versions(packages=list(PACKAGES)))
        except OSError:  # out of reach: the tasks will tell
            return
        self.threads = sum(there.values())
        self._met |= set(there)

    def _compare(self, found: dict[str, Any]) -> None:
        """Another version of ours is refused, of others said."""
        ours = found["client"]["packages"]
        others = {f"worker {name}": its["packages"] for name, its in found["workers"].items()}
        for place, theirs in {"the scheduler": found["scheduler"]["packages"], **others}.items():
            if theirs["ldp3"] != ours["ldp3"]:
                raise LDPError(
                    f"ldp3 is {ours['ldp3']} here and {theirs['ldp3'] or 'missing'} on {place}: "
                    f"install the same version there."
                )
        differences = {
            f"{package} {theirs[package]} on {place}, {ours[package]} here"
            for place, theirs in others.items()
            for package in ("python", *PACKAGES)
            if theirs[package] != ours[package] and place.removeprefix("worker ") not in self._met
        }
        if differences:
            self.progress.note(
                f"Versions differ, so numbers may: {'; '.join(sorted(differences))}."
            )


@contextmanager
def _client(where: "Client | str", count: int, note: Callable[[str], None]) -> Iterator["Client"]:
    if not isinstance(where, str):
        yield where
        return
    try:
        import dask.config
        import distributed
    except ImportError:
        raise LDPError("Dask is not installed: pip install 'ldp3[dask]'.") from None
    with _hushed():
        if where == "dask":
            memory = {f"distributed.nanny.pre-spawn-environ.{k}": v for k, v in _MEMORY.items()}
            with (
                dask.config.set({**memory, **_NO_PAGES}),
                distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1",
                    dashboard_address="127.0.0.1:0", security=_security(note),
                    silence_logs=logging.CRITICAL, preload=[_DEAF],
                ) as local,
                distributed.Client(local, set_as_default=False) as client,
            ):  # fmt: skip
                yield client
            return
        try:
            _knock(where)
            client = distributed.Client(where, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise LDPError(
                f"No Dask scheduler answers at {where!r} within {PATIENCE} s: an address looks "
                f"like 'tcp://host:8786'; `dask scheduler` starts one. For 'tls://', Dask's own "
                f"settings name the certificates."
            ) from error
        with client:
            yield client


def _security(note: Callable[[str], None]) -> "Security | None":
    """Certificates for this one cluster: whoever reaches its port could run code here."""
    from distributed import Security

    try:
        return Security.temporary()
    except ImportError:
        note(
            "The cluster's port on 127.0.0.1 asks for no password: whoever works on this machine "
            "could run code as you. pip install cryptography closes it."
        )
        return None


def _knock(where: str) -> None:
    """Refuse what does not answer as a scheduler does: a client would wait for it for ever."""
    address = urlsplit(where)
    if address.scheme not in ("tcp", "tls") or not address.hostname or not address.port:
        raise ValueError(where)
    import asyncio  # slow to import, and only a cluster needs it

    if address.scheme == "tcp":
        _listen(address.hostname, address.port)
    try:
        with ThreadPoolExecutor(1) as apart:  # a notebook has a loop at work in this thread
            apart.submit(lambda: asyncio.run(_greet(where))).result()
    except Exception as error:  # whatever it is that answers, it is none
        raise OSError(where) from error


def _listen(host: str, port: int) -> None:
    """Without encryption a scheduler speaks first, and of this; of others Dask trusts the length.

    A stranger that sends a byte now and then is not waited for longer than a silent one.
    """
    heard, end = b"", time.monotonic() + PATIENCE
    with socket.create_connection((host, port), PATIENCE) as line:
        while b"pickle-protocol" not in heard:
            line.settimeout(max(end - time.monotonic(), 0.001))
            part = line.recv(4096)
            if not part or len(heard) > 4096:
                raise OSError(f"{host}:{port}")
            heard += part


async def _greet(where: str) -> None:
    import asyncio

    from distributed import Security, rpc

    security = Security()  # what Dask's own configuration says
    async with asyncio.timeout(PATIENCE):
        arguments = security.get_connection_args("client")
        async with rpc(where, connection_args=arguments, timeout=PATIENCE) as scheduler:
            if (await scheduler.identity()).get("type") != "Scheduler":
                raise ValueError(where)


@contextmanager
def _hushed() -> Iterator[None]:
    """Without Dask's own words on what we say in one line."""
    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\s*Mismatched versions found", UserWarning)
            yield
    finally:
        log.setLevel(level)


@contextmanager
def _losses_told(client: "Client") -> Iterator[None]:
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    address = client.scheduler.address
    try:
        yield
    except KilledWorker as error:
        raise LDPError(
            f"A task lost its worker again and again (out of memory?): {error}"
        ) from error
    except (CancelledError, CommClosedError) as error:
        raise LDPError(
            f"Lost the Dask scheduler at {address}. What a run with `output` has finished is kept: "
            f"the same run goes on from there, with any `executor`."
        ) from error


def _refuse_classes(experiment: Experiment) -> None:
    """Classes do not travel: a worker would need the module that defines them."""
    for choice in (*experiment.protocols, *experiment.methods, *experiment.metrics):
        if isinstance(choice.thing, str):
            continue
        cls = choice.thing if isinstance(choice.thing, type) else type(choice.thing)
        if cls.__module__.partition(".")[0] != "ldp3":
            raise InvalidParameter(
                f"{cls.__name__} is a class, which a Dask cluster cannot be sent: put it in a file "
                f"of its own, give plugins=['that_file.py'] and name it {choice.spec!r}."
            )
