"""A PostgreSQL server of the tests' own: on a socket in a temporary folder, as another user."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OWNER = "postgres"  # PostgreSQL refuses to run as root


def programs() -> Path | None:
    """Where Debian, or the path, has PostgreSQL's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


MISSING = "no PostgreSQL here (Debian: postgresql)" if programs() is None else ""


class Cluster:
    """A database that can be stopped as by a power cut."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = f"postgresql:///postgres?host={folder}&user={OWNER}"

    def run(self, program: str, *arguments: str) -> None:
        line = [str(programs()) + "/" + program, *arguments]
        if os.geteuid() == 0:
            line = ["runuser", "-u", OWNER, "--", *line]
        subprocess.run(
            line, check=True, timeout=60, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self) -> None:
        options = f"-c listen_addresses= -c unix_socket_directories={self.folder}"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-w", "-o", options, "start")

    def stop(self, mode: str) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def empty(self) -> None:
        """Forget all collections."""
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as db:
            db.execute("drop schema if exists ldp3 cascade")


@contextmanager
def cluster() -> Iterator[Cluster]:
    """One that is started, and stopped and removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix="ldp3-pg-", dir="/tmp"))  # a socket's path must be short
    # tests that are killed stop nothing: somebody else must, when they are gone
    wait = f"while kill -0 {os.getpid()} 2>/dev/null; do sleep 1; done"
    end = f"kill -QUIT $(head -1 {folder}/data/postmaster.pid); sleep 2; rm -rf {folder}"
    watch = subprocess.Popen(
        ["sh", "-c", f"{wait}; {end}"], start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, OWNER)
        one = Cluster(folder)
        one.run(
            "initdb",
            "-D",
            str(folder / "data"),
            "-A",
            "trust",
            "-U",
            OWNER,
            "--no-sync",
            "-E",
            "UTF8",
        )
        one.start()
        try:
            yield one
        finally:
            one.stop("immediate")
    finally:
        watch.kill()
        watch.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """One for all tests of a process; each test begins with an empty one."""
    if MISSING:
        pytest.skip(MISSING)
    with cluster() as one:
        yield one


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of an empty database of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "collector.sqlite")
    one: Cluster = request.getfixturevalue("postgres")
    one.empty()
    return one.address
