"""Numba's files of compiled kernels, with a seal: what is damaged is compiled again.

Numba trusts these files: an empty one ends every program that needs the kernel, and a flipped bit
in machine code does anything at all. Imported when the first kernel is compiled.
"""

import pickle
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

SEAL = 16  # bytes at the end of what Numba writes, where its own reader does not look

NAME = r"_([0-9a-f]{12})-\d+\..+\.nb[ic]$"  # with the state of our sources: see `compile`


class CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel."""

    def _dump(self, obj: Any) -> bytes:
        data = super()._dump(obj)
        return data + _seal(data)

    def _load_index(self) -> dict[Any, Any]:
        with suppress(Exception):  # whatever damaged bytes make of Python
            with Path(self._index_path).open("rb") as file:
                pickle.load(file)  # Numba's version, in front of the sealed part
                _require_seal(file.read())
            return super()._load_index()
        return {}

    def _load_data(self, name: str) -> Any:
        _require_seal(Path(self._data_path(name)).read_bytes())
        return super()._load_data(name)

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        super()._save_index(overloads)
        self._remove_outdated()

    def _remove_outdated(self) -> None:
        """Remove what stands beside it of kernels that were compiled from other sources of ours."""
        state = re.search(NAME, self._index_name)
        for path in Path(self._cache_path).iterdir():
            found = re.search(NAME, path.name)
            if state and found and found[1] != state[1]:
                with suppress(OSError):  # somebody else was faster
                    path.unlink()


def seal_cache(dispatcher: Any) -> None:
    """Let a kernel keep its files under seal."""
    known = dispatcher._cache
    plain = known._cache_file
    base = plain._index_name.removesuffix(".nbi")
    known._cache_file = CacheFile(plain._cache_path, base, plain._source_stamp)


def _seal(data: bytes) -> bytes:
    return blake2b(data, digest_size=SEAL).digest()


def _require_seal(content: bytes) -> None:
    """Say, as Numba understands it, that there is no such file."""
    if _seal(content[:-SEAL]) != content[-SEAL:]:
        raise FileNotFoundError("damaged")
