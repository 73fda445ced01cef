"""The bytes of a file: unpacked, in UTF-8, with line feeds between its lines."""

import bz2
import gzip
import io
import lzma
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from ldp3.errors import InvalidData, did_you_mean
from ldp3.sandbox import heed_ctrl_c

STDIN = ("-", "/dev/stdin", str(Path("/dev/stdin")))  # Windows turns the slashes
SAMPLE = 2**20  # bytes that are looked at to see how a text file is written
BLOCK = 2**18
UNPACKED = 2**31  # bytes of a packed file that are held in memory
STREAMED = (None, "gz", "zst")  # what polars unpacks while it reads text
PACKED = {  # what packs a file, by its first bytes
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"PK\x03\x04": "zip",
}
PACKED_ENDINGS = tuple(f".{kind}" for kind in PACKED.values())
DAMAGED = (  # what the unpackers of Python raise at what is no packed file of theirs
    *(EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError),
)
CALLED = {"gz": "gzip", "bz2": "bzip2", "zst": "Zstandard"}
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")  # some are zip files of their own


@dataclass(frozen=True)
class Content:
    """The bytes of one file.

    Parameters
    ----------
    name
        The file's name without the endings of what packs it: ``visits.csv`` for ``visits.csv.gz``.
    source
        What messages call the file.
    path
        Where the file is.
    packed
        What packs the file, if it is packed.
    memory
        The bytes themselves, unpacked, where polars cannot read the file as it is.
    """

    name: str
    source: str
    path: Path
    packed: str | None = None
    memory: bytes | None = None

    @property
    def scannable(self) -> Any:
        """What polars reads: the file, or its bytes."""
        return self.path if self.memory is None else self.memory

    def sample(self) -> bytes:
        """The first bytes, unpacked."""
        return next(self.blocks(SAMPLE), b"")

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """All bytes, unpacked, in pieces."""
        if self.memory is not None:
            return _unpacked_blocks(partial(io.BytesIO, self.memory), None, self.source, size)
        if self.packed == "zip":
            return _unpacked_blocks(partial(_only_member, self.path), "zip", self.source, size)
        return _unpacked_blocks(lambda: self.path.open("rb"), self.packed, self.source, size)

    def in_memory(self) -> "Content":
        """The same bytes, in memory where they are packed."""
        if self.memory is not None or self.packed is None:
            return self
        return replace(self, memory=_held(self.blocks(SAMPLE), self.source))

    def as_text(self) -> "Content":
        """The same text in UTF-8 with line feeds; nothing is copied if it is so already."""
        start = self.sample()
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return replace(self, memory=_line_feeds(self._from_utf16()))
        if b"\0" in start:
            wide = start.count(0) > len(start) / 4
            what = "UTF-16 without its mark" if wide else "binary data"
            raise InvalidData(f"{self.source}: holds {what}, not UTF-8 text; save it as that.")
        if b"\r" in start and b"\n" not in start:  # as old Macintoshes wrote
            return replace(self, memory=_line_feeds(_held(self.blocks(SAMPLE), self.source)))
        return self if self.packed in STREAMED else self.in_memory()

    def _from_utf16(self) -> bytes:
        try:
            return _held(self.blocks(SAMPLE), self.source).decode("utf-16").encode()
        except UnicodeDecodeError:
            raise InvalidData(f"{self.source}: is damaged UTF-16 text; save it as UTF-8.") from None


def content(path: Path) -> Content:
    """The bytes of a file, or of standard input for ``-``."""
    if str(path) in STDIN:
        return _standard_input()
    _require_readable(path)
    with path.open("rb") as file:
        packed = _compression_of(file.read(6))
    name = plain_name(path.name)
    if name.lower().endswith(WORKBOOKS) and name == path.name:
        return Content(name, str(path), path)
    if packed == "zip":
        name = Path(name).stem + Path(_member_name(path)).suffix
    return Content(name, str(path), path, packed)


def plain_name(name: str) -> str:
    """A file's name without the endings of what packs it.

    >>> plain_name("visits.csv.gz")
    'visits.csv'
    """
    while name.lower().endswith(PACKED_ENDINGS):
        name = name[: name.rindex(".")]
    return name


def _require_readable(path: Path) -> None:
    """Refuse what is not a file with something in it, or has a name that Polars cannot hold."""
    if re.search("[\ud800-\udfff]", str(path)):
        raise InvalidData(f"{str(path)!r}: the name is not UTF-8; rename the file.")
    try:
        with path.open("rb") as file:
            if path.is_file() and not file.read(1):
                raise InvalidData(f"{path}: is empty; at least two different values are needed.")
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.{_similar(path)}") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be opened: {error.strerror}.") from None
    if not path.is_file():
        raise InvalidData(f"{path}: is not a regular file; pipe its data in, and read them as -.")


def _standard_input() -> Content:
    name = "standard input"
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidData(f"{name}: is a terminal; pipe the data in, as in … | ldp3 run -d -")
    heed_ctrl_c()
    given = sys.stdin.buffer.read()
    if not given:
        raise InvalidData(f"{name}: is empty; at least two different values are needed.")
    packed = _compression_of(given[:6])
    if packed == "zip":
        raise InvalidData(f"{name}: is a zip file; unpack it first, as in unzip -p FILE | ldp3 …")
    if packed is None:
        return Content(name, name, Path("-"), None, given)
    plain = _unpacked_blocks(partial(io.BytesIO, given), packed, name, SAMPLE)
    return Content(name, name, Path("-"), packed, _held(plain, name))


def _line_feeds(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _similar(path: Path) -> str:
    folder = path.parent
    try:
        return did_you_mean(path.name, [p.name for p in folder.iterdir() if p.is_file()])
    except OSError:
        return f" There is no folder {str(folder)!r} either."


def _compression_of(start: bytes) -> str | None:
    """What packs a file that starts like this."""
    return next((kind for magic, kind in PACKED.items() if start.startswith(magic)), None)


def _unpacked_blocks(
    opened: Callable[[], IO[bytes]], packed: str | None, source: str, size: int
) -> Iterator[bytes]:
    """The bytes of a file, unpacked, in pieces."""
    zstd = _zstd(source) if packed == "zst" else None
    broken = (*DAMAGED, *([zstd.ZstdError] if zstd else []))
    try:
        with opened() as file, _unpacked(file, packed, zstd) as plain:
            while block := plain.read(size):
                yield block
    except broken as error:
        if packed is None:
            raise InvalidData(f"{source}: cannot be read: {error}.") from None
        raise _damaged(source, packed, error) from None


def _damaged(source: str, packed: str, error: BaseException) -> InvalidData:
    what = CALLED.get(packed, packed)
    if isinstance(error, NotImplementedError):  # Deflate64, say, of large folders on Windows
        return InvalidData(f"{source}: is a {what} file that cannot be read here; unpack it first.")
    return InvalidData(f"{source}: is a damaged {what} file; fetch it again.")


def _held(blocks: Iterator[bytes], source: str) -> bytes:
    """All bytes together, if they are not too many."""
    held, size = [], 0
    for block in blocks:
        if (size := size + len(block)) > UNPACKED:
            most = f"{UNPACKED / 2**30:g} GiB"
            raise InvalidData(f"{source}: holds more than {most}; unpack it first.")
        held.append(block)
    return b"".join(held)


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


def _only_member(path: Path) -> IO[bytes]:
    """The one file in a zip file, whose name `_member_name` has found."""
    with zipfile.ZipFile(path) as archive:
        return archive.open(_member_name(path))


def _member_name(path: Path) -> str:
    """What the one file in a zip file is called."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [m for m in archive.infolist() if _is_data(m)]
    except DAMAGED as error:
        raise _damaged(str(path), "zip", error) from None
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
