"""A file is written whole or not at all."""

from pathlib import Path

import pytest

from ldp3.errors import InvalidData
from ldp3.files import read_json, whole_file, write_text


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
