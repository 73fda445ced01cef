"""A file is written whole or not at all."""

import errno
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ldp3 import files
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.files import read_json, require_no_input, whole_file, write_text
from tests.posix import posix


def test_what_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


@pytest.mark.parametrize("problem", [ZeroDivisionError, KeyboardInterrupt])
def test_nothing_is_left_of_what_was_interrupted(
    tmp_path: Path, problem: type[BaseException]
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")

    def interrupted() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise problem

    with pytest.raises(problem):
        interrupted()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


@pytest.mark.parametrize("name", ["", "missing/x.txt", "file/x.txt"])
def test_what_cannot_be_written_is_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidData) as caught:
        write_text(tmp_path / name, "text")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "no such file"), (b"{", "is not JSON"), (b"\xff", "is not JSON")]
)
def test_what_is_no_json_is_one_line(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidData, match=reason):
        read_json(path)


@posix("links need a privilege there")
def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link, file = tmp_path / "link", tmp_path / "elsewhere" / "x.txt"
    link.symlink_to(file)
    for text in ("new", "newer"):  # at first there is nothing at its end
        write_text(link, text)
        assert (link.is_symlink(), file.read_text()) == (True, text)


@posix("pipes have no names in folders there")
def test_a_pipe_is_written_to_when_all_is_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_text)
        write_text(tmp_path / "pipe", "text")
        assert read.result() == "text"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFIFO])
def test_a_special_file_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: int
) -> None:
    path = tmp_path / "special"
    path.write_text("")
    inode, plain = path.stat().st_ino, path.stat()
    special = os.stat_result((kind | 0o600, *plain[1:]))
    monkeypatch.setattr(files, "_stat", lambda _: special)
    write_text(path, "text")
    assert (path.stat().st_ino, path.read_text()) == (inode, "text")


WRITE = "import sys; from pathlib import Path; from ldp3.files import write_text; "


def test_a_file_that_is_our_output_too_gets_both(tmp_path: Path) -> None:
    code = WRITE + "print('before'); write_text(Path('out'), 'file\\n'); print('after')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, stdout=out)
    assert (tmp_path / "out").read_text().split() == ["before", "file", "after"]


@posix("links need a privilege there")
def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "token_hex", lambda _: "0" * 16)  # as if it could be guessed
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f".ldp3-{'0' * 16}.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(InvalidData, match="File exists"):
        write_text(tmp_path / "x.txt", "text")
    assert (tmp_path / "victim").read_text() == "mine"


def test_names_of_temporary_files_cannot_be_guessed(tmp_path: Path) -> None:
    names = set()
    for _ in range(10):
        with whole_file(tmp_path / "x.txt") as temporary:
            names.add(temporary.name)
            assert re.fullmatch(files.TEMPORARY, temporary.name)
    assert len(names) == 10


@posix("files have no modes there")
def test_a_file_for_its_owner_alone_stays_so(tmp_path: Path) -> None:
    write_text(tmp_path / "x.txt", "old")
    (tmp_path / "x.txt").chmod(0o600)
    write_text(tmp_path / "x.txt", "new")
    assert stat.S_IMODE((tmp_path / "x.txt").stat().st_mode) == 0o600


def test_what_killed_writers_left_goes_with_the_next_run(tmp_path: Path) -> None:
    names = (f".ldp3-{digit * 16}.tmp" for digit in "0123")
    stale, young, locked, theirs = (tmp_path / name for name in names)
    theirs = theirs.with_name(".ldp3-notes.tmp")
    for path in (stale, young, locked, theirs):
        path.write_text("half")
        if path != young:
            os.utime(path, (0, 0))
    with locked.open("rb") as file:
        assert files.lock(file)
        write_text(tmp_path / "x.txt", "text")
    assert sorted(tmp_path.iterdir()) == sorted([young, locked, theirs, tmp_path / "x.txt"])


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, "text")
    assert (tmp_path / name).read_text() == "text"


@posix("links need a privilege there")
def test_names_that_lead_nowhere_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file.txt").write_text("old")
    for name in ("x" * 256, "loop", "file.txt/x.json", "loop/x.json", "y" * 5_000):
        with pytest.raises(InvalidData, match="cannot be written") as caught:
            write_text(tmp_path / name, "text")
        assert "\n" not in str(caught.value)
    assert (tmp_path / "file.txt").read_text() == "old"


def test_a_read_only_file_system_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.txt").write_text("old")

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InvalidData, match="Read-only file system"):
        write_text(tmp_path / "x.txt", "new")
    monkeypatch.undo()
    assert (tmp_path / "x.txt").read_text() == "old"


@posix("links need a privilege there")
def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "x.txt")
    os.link(tmp_path / "x.txt", tmp_path / "second")
    for output in ("x.txt", "link", "second"):
        with pytest.raises(InvalidParameter, match="is read here, too"):
            require_no_input(tmp_path / output, [None, "a spec()", tmp_path / "x.txt"])
    require_no_input(tmp_path / "new.txt", [tmp_path / "x.txt", "~nobody-here/x", "\0"])


def test_text_is_written_in_one_place_which_keeps_line_feeds_on_windows() -> None:
    package = Path(files.__file__).parent
    callers = [p.name for p in package.rglob("*.py") if ".write_text(" in p.read_text("utf-8")]
    assert callers == ["files.py"]


def test_every_text_has_a_stated_encoding() -> None:
    rule = ["--isolated", "--preview", "--select", "PLW1514", "--no-cache"]
    command = [sys.executable, "-m", "ruff", "check", *rule, str(Path(files.__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
