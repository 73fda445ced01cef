"""Readers: processes of ours that decode what nobody vouches for, on every system."""

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from ldp3 import apart
from ldp3.tables import collect


@pytest.mark.parametrize("shares", [True, False])
def test_what_is_decoded_is_the_same_whether_or_not_memory_can_be_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shares: bool
) -> None:
    apart.end_readers()  # those who wait were started another way
    monkeypatch.setattr(apart, "SHARES", shares and apart.SHARES)
    table = pl.DataFrame({"label": ["a", "ε", None], "users": [1, 2, 3]})
    table.write_parquet(tmp_path / "t.parquet")
    assert collect(pl.scan_parquet(tmp_path / "t.parquet")).equals(table)
    apart.end_readers()


def test_a_reader_whom_nobody_asks_leaves() -> None:
    code = "from ldp3 import apart; apart.IDLE = 0.1; apart._serve(None)"
    waiting = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert waiting.wait(60) == 0
    assert waiting.stdin is not None
    waiting.stdin.close()


@pytest.mark.parametrize(
    ("code", "crashed"),
    [(-signal.SIGSEGV, True), (0xC0000005, True), (0xC0000409, True), (1, False), (-9, False)],
)
def test_a_crash_is_told_from_an_end_by_its_code(code: int, crashed: bool) -> None:
    assert apart._crashed(code) is crashed
