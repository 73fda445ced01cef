"""A memo: one report for each value, whatever happens to the file."""

import errno
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ldp3.collection.client import Client
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData
from tests.posix import posix


def test_with_a_memo_the_same_value_gives_the_same_report(tmp_path: Path) -> None:
    plan = Plan("numbers", 300, "olh", 1.5)
    first = Client(plan, memo=tmp_path / "memo").report(7)
    later = Client(plan, memo=tmp_path / "memo")
    assert later.report(7) == first == later.report(7)
    assert later.report(8) != first
    assert later.spent == 3.0
    assert stat.S_IMODE((tmp_path / "memo").stat().st_mode) == 0o600


def test_another_collection_starts_afresh_in_the_same_memo(tmp_path: Path) -> None:
    first = Client(Plan("may", 300, "olh", 1.0), memo=tmp_path / "memo")
    second = Client(Plan("june", 300, "olh", 1.0), memo=tmp_path / "memo")
    assert first.report(7)[8:] != second.report(7)[8:]
    assert (first.spent, second.spent) == (1.0, 1.0)
    assert Client(first.plan).spent is None


def test_clients_that_race_for_a_memo_send_one_report(tmp_path: Path) -> None:
    plan = Plan("numbers", 300, "olh", 1.0)
    clients = [Client(plan, memo=tmp_path / "memo") for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda client: client.report(7), clients))) == 1


def test_the_first_report_of_a_value_counts_whoever_added_another(tmp_path: Path) -> None:
    plan = Plan("numbers", 300, "olh", 1.0)
    first = Client(plan, memo=tmp_path / "memo").report(7)
    Client(plan, memo=tmp_path / "other").report(7)
    with (tmp_path / "memo").open("ab") as memo:
        memo.write((tmp_path / "other").read_bytes())
    assert Client(plan, memo=tmp_path / "memo").report(7) == first


def test_a_line_that_was_never_finished_was_never_sent(tmp_path: Path) -> None:
    plan = Plan("numbers", 300, "olh", 1.0)
    first = Client(plan, memo=tmp_path / "memo").report(7)
    whole = (tmp_path / "memo").read_bytes()
    (tmp_path / "memo").write_bytes(whole.rstrip()[:-10])
    again = Client(plan, memo=tmp_path / "memo").report(7)
    assert again != first
    assert Client(plan, memo=tmp_path / "memo").report(7) == again


@pytest.mark.parametrize(
    "change", [{"report": "AAAA"}, {"report": "?"}, {"value": 300}, {"value": "7"}, {"report": 1}]
)
def test_a_damaged_memo_is_refused_not_replaced(tmp_path: Path, change: dict[str, object]) -> None:
    plan = Plan("numbers", 300, "olh", 1.0)
    Client(plan, memo=tmp_path / "memo").report(7)
    entry = json.loads((tmp_path / "memo").read_text().split(maxsplit=1)[1])
    (tmp_path / "memo").write_text(json.dumps({**entry, **change}) + "\n")
    with pytest.raises(InvalidData, match="line 1 of the memo is damaged"):
        Client(plan, memo=tmp_path / "memo").report(7)


def test_a_memo_that_cannot_be_written_sends_nothing(tmp_path: Path) -> None:
    client = Client(Plan("numbers", 300, "olh", 1.0), memo=tmp_path / "no" / "memo")
    with pytest.raises(InvalidData, match="nothing was sent"):
        client.report(7)


@posix("files have no modes there")
def test_a_memo_that_others_can_read_is_closed_to_them(tmp_path: Path) -> None:
    plan, path = Plan("numbers", 300, "olh", 1.0), tmp_path / "memo"
    first = Client(plan, memo=path).report(7)
    path.chmod(0o644)
    with pytest.warns(UserWarning, match="others could read the memo"):
        assert Client(plan, memo=path).report(7) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@posix("files have no modes there")
def test_a_memo_that_cannot_be_closed_to_others_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memo"
    path.touch(0o666)
    path.chmod(0o666)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(InvalidData, match="Operation not permitted"):
        Client(Plan("numbers", 300, "olh", 1.0), memo=path).report(7)


@posix("pipes have no names in folders there")
def test_a_pipe_is_no_memo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memo", 0o600)
    with pytest.raises(InvalidData, match="a memo is a regular file"):
        Client(Plan("numbers", 300, "olh", 1.0), memo=tmp_path / "memo").report(7)


def test_half_a_line_on_a_full_disk_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, path, write = Plan("numbers", 300, "olh", 1.0), tmp_path / "memo", os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:60]))
    with pytest.raises(InvalidData, match="No space left on device; nothing was sent"):
        Client(plan, memo=path).report(7)
    monkeypatch.undo()
    sent = Client(plan, memo=path).report(7)
    assert Client(plan, memo=path).report(7) == sent


@posix("files have no modes there")
def test_a_file_that_is_no_memo_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("what others should read\n")
    path.chmod(0o644)
    with pytest.raises(InvalidData, match="line 1 of the memo is damaged"):
        Client(Plan("numbers", 300, "olh", 1.0), memo=path).report(7)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
