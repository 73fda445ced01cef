"""What packs a file: gzip, bzip2, xz, Zstandard, zip."""

import bz2
import gzip
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from ldp3.errors import InvalidData

MAGIC = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"PK\x03\x04": "zip",
}
CALLED = {"gz": "gzip", "bz2": "bzip2", "zst": "Zstandard"}
ENDINGS = tuple(f".{kind}" for kind in MAGIC.values())


def packing(start: bytes) -> str | None:
    """What packs a file that starts like this."""
    return next((kind for magic, kind in MAGIC.items() if start.startswith(magic)), None)


def unpacked_blocks(
    opened: Callable[[], IO[bytes]], packed: str | None, source: str, size: int
) -> Iterator[bytes]:
    """The bytes of a file, unpacked, in pieces."""
    zstd = _zstd(source) if packed == "zst" else None
    broken: list[type[Exception]] = [EOFError, OSError, zlib.error, lzma.LZMAError]
    broken += [zipfile.BadZipFile, *([zstd.ZstdError] if zstd else [])]
    try:
        with opened() as file, _unpacked(file, packed, zstd) as plain:
            while block := plain.read(size):
                yield block
    except tuple(broken) as error:
        if packed is None:
            raise InvalidData(f"{source}: cannot be read: {error}.") from None
        what = CALLED.get(packed, packed)
        raise InvalidData(f"{source}: is a damaged {what} file; fetch it again.") from None


def _unpacked(file: IO[bytes], packed: str | None, zstd: ModuleType | None) -> IO[bytes]:
    if zstd is not None:
        return zstd.open(file)
    opener: dict[str | None, Any] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    return opener[packed](file) if packed in opener else file


def _zstd(source: str) -> ModuleType:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ModuleNotFoundError:
        raise InvalidData(
            f"{source}: zst needs backports.zstd: pip install 'ldp3[full]'."
        ) from None
    return zstd


def only_member(path: Path) -> IO[bytes]:
    """The one file in a zip file, whose name `member_name` has found."""
    with zipfile.ZipFile(path) as archive:
        return archive.open(member_name(path))


def member_name(path: Path) -> str:
    """What the one file in a zip file is called."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [m for m in archive.infolist() if _is_data(m)]
    except (OSError, zipfile.BadZipFile):
        raise InvalidData(f"{path}: is a damaged zip file; fetch it again.") from None
    if any(member.flag_bits & 1 for member in found):
        raise InvalidData(f"{path}: is encrypted; unpack it first.")
    if len(found) != 1:
        listed = ", ".join(member.filename for member in found[:8]) or "none"
        raise InvalidData(
            f"{path}: one file in a zip file can be read, and it holds {len(found)} ({listed}); "
            f"unpack it, and name the folder or a file."
        )
    return found[0].filename


def _is_data(member: zipfile.ZipInfo) -> bool:
    parts = member.filename.split("/")
    hidden = parts[0] == "__MACOSX" or parts[-1].startswith(".")
    return not (member.is_dir() or hidden)
