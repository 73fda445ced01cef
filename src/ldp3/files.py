"""Write a file whole or not at all, and read JSON: the only place that does.

A file that is written is on the disk, by its name, before anything that rests on it happens: its
content and then its folder are synced.
"""

import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from ldp3.errors import InvalidData, InvalidParameter, system_error

TEMPORARY = r"\.ldp3-[0-9a-f]{16}\.tmp"  # nobody can guess such a name and plant a link there
STALE = 60  # seconds after which nobody is still at the point between making and locking one


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name to write to; it becomes `path` only if nothing, not even Ctrl-C, stops it.

    What stood at `path` before stays until then. A link is followed; what is no file on a disk,
    such as a pipe, is written to when all is there.
    """
    with _in_one_line(path):
        before = _stat(path)
        special = before is not None and not stat.S_ISREG(before.st_mode)
        if special or _is_output(before):
            with _passed_on(path, before) as temporary:
                yield temporary
        else:
            with _replaced(Path(os.path.realpath(path)), before) as temporary:
                yield temporary


def write_text(path: Path, text: str) -> None:
    """The text as the whole content of `path`."""
    with whole_file(path) as temporary:
        write_lines(temporary, text)


def write_lines(path: Path, text: str) -> None:
    """The text with line feeds as they are: the same file on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


def require_no_input(output: Path, inputs: Iterable[object]) -> None:
    """Refuse to write over what is read."""
    for one in inputs:
        if isinstance(one, str | Path) and _same(output, Path(one)):
            raise InvalidParameter(f"{output} is read here, too: choose another file to write.")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other.expanduser())
    except (OSError, ValueError, RuntimeError):  # one of them is not there, or is no name at all
        return False


def read_json(path: Path) -> object:
    """What a JSON file holds."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text)
        if r"\ud" in text.lower():  # half of a character, perhaps, which no file of ours can hold
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidData(f"{path}: is not JSON.") from None


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds."""
    import tomllib  # few commands read any

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidData(f"{path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        key = ' A name with other signs than A-Z, 0-9, - and _ stands in quotes, as in ["âge"].'
        hint = key if "key" in str(error) else ""
        raise InvalidData(f"{path}: is no TOML: {error}.{hint}") from error


def sync_file(path: Path) -> None:
    """Let the content of a file be on the disk."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be on the disk, where folders can be synced."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def for_owner(path: str, flags: int) -> int:
    """Open a file, as `opener` of `open`, that nobody else may read if it is made now."""
    return os.open(path, flags, 0o600)


def lock(file: IO[bytes] | int) -> bool:
    """Whether this process is now the only one with a lock on the file, until it is closed."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where an open file cannot be removed anyway
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def _in_one_line(path: Path) -> Iterator[None]:
    try:
        yield
    except InvalidData:
        raise
    except Exception as error:
        if system_error(error) is None:
            raise
        reason = os.strerror(number) if (number := system_error(error)) else error
        raise InvalidData(f"{path}: cannot be written: {reason}.") from error


def _stat(path: Path) -> os.stat_result | None:
    """What is there; None if nothing is, yet."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise InvalidData(f"{path}: is a folder; name a file to write.")
    return found


def _is_output(found: os.stat_result | None) -> bool:
    """Whether it is our own stdout, such as /dev/stdout: what is printed later goes there too."""
    with suppress(OSError, ValueError, AttributeError):
        return found is not None and os.path.samestat(found, os.fstat(sys.stdout.fileno()))
    return False


@contextmanager
def _replaced(path: Path, before: os.stat_result | None) -> Iterator[Path]:
    _sweep(path.parent)
    temporary = path.with_name(f".ldp3-{token_hex(8)}.tmp")
    number = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        try:
            lock(number)  # so that nobody takes it for a left-over
            if before is not None and hasattr(os, "fchmod"):
                os.fchmod(number, stat.S_IMODE(before.st_mode))
            yield temporary
            os.fsync(number)
        finally:
            os.close(number)
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def _passed_on(path: Path, before: os.stat_result | None) -> Iterator[Path]:
    """A temporary file elsewhere; its content is copied to `path` at the end."""
    with tempfile.TemporaryDirectory(prefix="ldp3-") as folder:
        temporary = Path(folder, "content")
        temporary.touch()
        yield temporary
        with temporary.open("rb") as content, _opened(path, before) as target:
            shutil.copyfileobj(content, target)


def _opened(path: Path, before: os.stat_result | None) -> IO[bytes]:
    if not _is_output(before):
        return path.open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(sys.stdout.fileno()), "wb")


@cache
def _sweep(folder: Path) -> None:
    """Remove what writers left in a folder that were killed, once in the life of this process."""
    with suppress(OSError):
        for path in folder.iterdir():
            if re.fullmatch(TEMPORARY, path.name):
                with suppress(OSError):
                    _remove_stale(path)


def _remove_stale(path: Path) -> None:
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        found = os.fstat(number)
        old = time.time() - found.st_mtime > STALE
        stale = stat.S_ISREG(found.st_mode) and old and lock(number)
    finally:
        os.close(number)
    if stale:  # only now, for Windows removes no file that is open; its writer is gone anyway
        path.unlink()


def real_path(path: str | PathLike[str]) -> Path:
    """A path without symbolic links; where they lead round in a circle, as it is."""
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError):
        return Path(path).absolute()


def home_path(path: str) -> Path:
    """A path with `~` for the home of a person; where there is nobody of that name, as it is."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def seal(text: bytes) -> bytes:
    """Sixteen digits that another text has by chance in one of 2⁶⁴ cases.

    >>> seal(b"text")
    b'd7f35fa228381a1c'
    """
    return blake2b(text, digest_size=8).hexdigest().encode()


def sealed(text: bytes) -> bytes:
    """A line: the seal, a blank, the text.

    >>> sealed(b"text")
    b'd7f35fa228381a1c text\\n'
    """
    return seal(text) + b" " + text + b"\n"


def unsealed(line: bytes) -> bytes | None:
    """The text of a line, None if it is damaged; how the line ends does not matter.

    >>> unsealed(sealed(b"text")), unsealed(sealed(b"text").replace(b"x", b"s"))
    (b'text', None)
    """
    before, _, text = line.strip().partition(b" ")
    return text if before == seal(text) else None
