"""Numba comes late, is cached where it can be, and works where it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def python(code: str, **environment: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


USE = "import ldp3, numpy; o = ldp3.oracle('olh', 1.0, 10); "
COUNT = "print(o.aggregate(o.perturb(numpy.arange(10), ldp3.stream(0))).total.sum())"


@pytest.mark.parametrize("slow", ["numba", "polars", "scipy", "matplotlib", "pandas", "pyarrow"])
def test_a_client_does_not_wait_for_what_it_does_not_use(slow: str) -> None:
    assert python(USE + f"import sys; print({slow!r} in sys.modules)") == "False"


def test_a_cache_that_cannot_be_written_is_harmless(tmp_path: Path) -> None:
    expected = python(USE + COUNT)
    blocked = tmp_path / "file"
    blocked.write_text("a file where a folder should be")
    assert python(USE + COUNT, NUMBA_CACHE_DIR=str(blocked / "cache")) == expected


def test_compiling_is_announced_once_and_only_when_needed(tmp_path: Path) -> None:
    say = "from ldp3.kernels.compile import on_compile; on_compile(lambda: print('compiling')); "
    fresh = str(tmp_path / "cache")
    assert python(USE + say + COUNT, NUMBA_CACHE_DIR=fresh).count("compiling") == 1
    assert python(USE + say + COUNT, NUMBA_CACHE_DIR=fresh).count("compiling") == 0
