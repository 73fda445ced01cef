"""Numba comes late, is cached where it can be, and works where it cannot."""

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ldp3
from ldp3.kernels.compile import Kernel, cache_file


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


@pytest.mark.slow
def test_compiling_is_announced_once_and_only_when_needed(tmp_path: Path) -> None:
    fresh = str(tmp_path / "cache")
    assert python(USE + SAY + COUNT, NUMBA_CACHE_DIR=fresh).count("compiling") == 1
    assert python(USE + SAY + COUNT, NUMBA_CACHE_DIR=fresh).count("compiling") == 0


def test_kernels_compile_no_words_of_errors_that_cannot_occur(tmp_path: Path) -> None:
    listen = """
from numba.core import event
from ldp3.kernels import hashing, source, transforms
class Signatures(event.Listener):
    on_start = lambda self, event: print(event.data["args"])
    on_end = lambda self, event: None
event.register("numba:compile", Signatures())
keys, users = numpy.zeros(8, numpy.uint32), numpy.arange(4)
source.open_source(keys)
transforms.histogram(users, 4)
hashing._take(users.astype(numpy.uint64), False, numpy.zeros(4, numpy.uint64))
"""
    compiled = python("import numpy" + listen, NUMBA_CACHE_DIR=str(tmp_path))
    assert "Array(uint32, 1" in compiled
    assert "unicode" not in compiled


GRR = COUNT.join(["import ldp3, numpy; o = ldp3.oracle('grr', 1.0, 10); ", ""])
SAY = (
    "from ldp3.kernels.compile import on_compile; "
    "told = on_compile(lambda: print('compiling')); told.__enter__(); "
)


@pytest.mark.slow
def test_a_damaged_cache_is_compiled_again(tmp_path: Path) -> None:
    cached = {"NUMBA_CACHE_DIR": str(tmp_path)}
    expected = python(GRR, **cached)
    files = sorted(tmp_path.rglob("*.nb[ic]"))
    assert len(files) >= 4
    for number, path in enumerate(files):
        data = path.read_bytes()
        flipped = data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 16])
        whole = flipped + data[len(data) // 2 + 1 :]
        path.write_bytes((b"", whole, data[: len(data) // 2])[number % 3])
    assert python(SAY + GRR, **cached).split() == ["compiling", expected]
    assert python(SAY + GRR, **cached) == expected


def test_kernels_of_other_sources_do_not_pile_up(tmp_path: Path) -> None:
    ours, stale, theirs = (
        tmp_path / f"{name}.py311.nbi"
        for name in ("bits._add_0123456789ab-74", "bits._add_ba9876543210-74", "theirs-1")
    )
    for path in (stale, theirs):
        path.write_bytes(b"something")
    cache_file()(str(tmp_path), ours.name.removesuffix(".nbi"), "stamp").flush()
    assert (ours.exists(), stale.exists(), theirs.exists()) == (True, False, True)


def test_kernels_call_no_others_than_those_of_their_own_folder_and_ours() -> None:
    """What the state of their sources, in the names of cached files, rests on."""
    kernels = 0
    for found in pkgutil.walk_packages(ldp3.__path__, "ldp3."):
        if found.name.endswith("__main__") or ".templates" in found.name:
            continue
        module = import_module(found.name)
        for kernel in vars(module).values():
            if isinstance(kernel, Kernel) and kernel.function.__module__ == found.name:
                used = map(kernel.function.__globals__.get, kernel.function.__code__.co_names)
                homes = [_home(thing) for thing in used if isinstance(thing, Kernel | ModuleType)]
                allowed = ("ldp3.kernels", found.name.rpartition(".")[0])
                assert {h for h in homes if h.startswith("ldp3")} <= set(allowed), found.name
                kernels += 1
    assert kernels > 50


def _home(thing: Kernel[..., Any] | ModuleType) -> str:
    name = thing.__name__ if isinstance(thing, ModuleType) else thing.function.__module__
    return name.rpartition(".")[0]
