"""Write a file whole or not at all, and read JSON: the only place that does."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from ldp3.errors import InvalidData


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name to write to; it becomes `path` only if nothing, not even Ctrl-C, stops it.

    What stood at `path` before stays until then.
    """
    if path.is_dir():
        raise InvalidData(f"{path}: is a folder; name a file to write.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise InvalidData(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The text as the whole content of `path`."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> object:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidData(f"{path}: there is no such file.") from None
    except OSError as error:
        raise InvalidData(f"{path}: cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InvalidData(f"{path}: is not JSON.") from None


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
