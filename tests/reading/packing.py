"""Packed files, shared by the tests of reading."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable

from ldp3.reading.opening import _zstd


def zipped(content: bytes, *names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names or ("inside.csv",):
            archive.writestr(name, content)
    return file.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: _zstd("test").compress(content),
    "zip": zipped,
}
