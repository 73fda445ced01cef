"""Readers: processes of ours that decode what nobody vouches for, on every system."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from ldp3 import sandbox
from ldp3.errors import LDPError
from ldp3.sandbox import collect
from tests.posix import posix


@pytest.mark.parametrize("shares", [True, False])
def test_what_is_decoded_is_the_same_whether_or_not_memory_can_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: bool
) -> None:
    sandbox.end_readers()  # those who wait were started another way
    monkeypatch.setattr(sandbox, "SHARES", shares and sandbox.SHARES)
    table = pl.DataFrame({"label": ["a", "ε", None], "users": [1, 2, 3]})
    table.write_parquet(tmp_path / "t.parquet")
    assert collect(pl.scan_parquet(tmp_path / "t.parquet")).equals(table)
    sandbox.end_readers()


def test_a_reader_whom_nobody_asks_leaves() -> None:
    code = f"from ldp3 import sandbox; sandbox.IDLE = 0.1; sandbox._serve(None, {os.getpid()})"
    waiting = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert waiting.wait(60) == 0
    assert waiting.stdin is not None
    waiting.stdin.close()


@pytest.mark.parametrize(
    ("code", "crashed"),
    [(-signal.SIGSEGV, True), (0xC0000005, True), (0xC0000409, True), (1, False), (-9, False)],
)
def test_a_crash_is_told_from_an_end_by_its_code(code: int, crashed: bool) -> None:
    assert sandbox._crashed(code) is crashed


@pytest.mark.skipif(not Path("/bin/true").exists(), reason="a program that ends at once is needed")
def test_what_is_no_python_is_not_asked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.end_readers()
    monkeypatch.setattr(sys, "executable", "/bin/true")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(LDPError, match="No process to read files can be had of /bin/true"):
        collect(pl.scan_parquet(tmp_path / "t.parquet"))


SLOW = """
import os, signal, threading, time
import polars
from ldp3 import sandbox
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    with sandbox.in_reader(time.sleep, 30, memory=2**40):
        pass
except KeyboardInterrupt:
    print("stopped", time.monotonic() - start < 20)
"""


@posix("signals are others there")
def test_ctrl_c_ends_the_wait_for_a_reader() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, text=True, check=True)
    assert done.stdout == "stopped True\n"


def test_a_reader_that_hangs_is_ended() -> None:
    sandbox.end_readers()
    with (
        pytest.raises(sandbox.Unreadable, match="takes longer than is allowed"),
        sandbox.in_reader(time.sleep, 60, memory=2**40, seconds=0.2),  # type: ignore[arg-type]
    ):
        pass


ORPHAN = """
import os, signal, time
from ldp3 import sandbox
reader = sandbox._Reader(None)
print(reader.process.pid, flush=True)
reader.ask(__import__("pickle").dumps(("time", "sleep", (600,), ".", 2**40)), 600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc is needed")
def test_a_reader_ends_with_its_owner_also_at_work() -> None:
    owner = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    reader = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    owner.stdout.close()
    for _ in range(200):
        if not _lives(reader):
            return
        time.sleep(0.05)
    os.kill(reader, signal.SIGKILL)
    raise AssertionError("it works on for nobody")


def _lives(process: int) -> bool:
    """Whether a process is there; a dead one that nobody has buried is not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z"
    except FileNotFoundError:
        return False
