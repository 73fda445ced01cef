"""Write a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldp3.errors import InvalidData


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name to write to; it becomes `path` only if nothing, not even Ctrl-C, stops it.

    What stood at `path` before stays until then.
    """
    if path.is_dir():
        raise InvalidData(f"{path}: is a folder; name a file to write.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            temporary.touch()
        except OSError as error:
            raise InvalidData(f"{path}: cannot be written: {error.strerror}.") from None
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The text as the whole content of `path`."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
