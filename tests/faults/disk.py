"""A disk that forgets: what a power cut at any moment can leave of what was written.

Every operation that changes names or syncs is recorded with what the files then held. A crash is
any prefix of the operations, under one of three laws:

- `kill`: the process dies, the system lives: everything up to there is there;
- `data`: names are there, but content that was not synced is gone;
- `names`: names that were not synced with their folder are gone as well.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

Law = Literal["kill", "data", "names"]
Files = dict[str, bytes]


@dataclass
class Moment:
    """The disk after an operation: files by name, as they are under each law."""

    what: str
    kill: Files
    data: Files
    names: Files


@dataclass
class Disk:
    """A folder whose changes are recorded."""

    folder: Path
    moments: list[Moment] = field(default_factory=list)
    _synced: dict[int, bytes] = field(default_factory=dict)  # content on the disk, by file
    _names: dict[str, int] = field(default_factory=dict)  # names on the disk

    def record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From now on."""
        for name in ("fsync", "replace", "unlink", "mkdir"):
            monkeypatch.setattr(os, name, self._noting(name, getattr(os, name)))
        self._names = {name: path.stat().st_ino for name, path in self._files()}
        self._synced = {path.stat().st_ino: path.read_bytes() for _, path in self._files()}

    def note(self, what: str) -> None:
        """A moment between operations, such as after a line was written but not synced."""
        now = {name: path.stat().st_ino for name, path in self._files()}
        self.moments.append(
            Moment(
                what,
                {name: (self.folder / name).read_bytes() for name in now},
                {name: self._synced.get(inode, b"") for name, inode in now.items()},
                {name: self._synced.get(inode, b"") for name, inode in self._names.items()},
            )
        )

    def _noting(self, name: str, operation: Any) -> Any:
        def noted(*args: Any, **kwargs: Any) -> Any:
            self.note(f"before {name}")
            done = operation(*args, **kwargs)
            if name == "fsync":
                self._sync(args[0])
            self.note(f"{name} {args[0]}")
            return done

        return noted

    def _sync(self, number: int) -> None:
        found = os.fstat(number)
        if not stat.S_ISDIR(found.st_mode):
            inode = found.st_ino
            self._synced[inode] = Path(f"/proc/self/fd/{number}").read_bytes()
            return
        folder = Path(f"/proc/self/fd/{number}").readlink()
        here = str(folder.relative_to(self.folder)) if folder != self.folder else "."
        kept = {n: i for n, i in self._names.items() if str(Path(n).parent) != here}
        now = {n: p.stat().st_ino for n, p in self._files() if str(Path(n).parent) == here}
        self._names = {**kept, **now}

    def _files(self) -> Iterator[tuple[str, Path]]:
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(self.folder)), path

    def crashes(self) -> Iterator[tuple[str, Files]]:
        """Every different disk that a crash can leave, and when."""
        seen = set()
        for moment in self.moments:
            for law in ("kill", "data", "names"):
                files: Files = getattr(moment, law)
                key = tuple(sorted(files.items()))
                if key not in seen:
                    seen.add(key)
                    yield f"{law}: {moment.what}", files


def restored(folder: Path, files: Files) -> Path:
    """A folder with these files."""
    folder.mkdir()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder
