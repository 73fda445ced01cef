"""Power cuts: whatever a crash leaves, the same command goes on, and so does a fresh one."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ldp3.collection.client import Client
from ldp3.collection.plan import Plan
from ldp3.domain import Labels
from ldp3.experiment.journal import Journal, open_journal
from ldp3.experiment.run import run
from ldp3.experiment.simulator import Simulator
from ldp3.files import write_text
from ldp3.people import Dataset
from ldp3.progress import Progress
from ldp3.results.table import Results, load_results
from tests.experiment.running import simulator
from tests.faults.disk import Disk, restored

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what is synced")
DATA = Dataset("small", Labels(["a", "b", "c"]), np.array([500, 300, 200]))


class Quiet(Progress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def small(seed: int = 0) -> Simulator:
    return simulator(DATA, [1.0], ["grr", "oue"], "norm_sub", repeats=3, seed=seed)


def result(output: Path, fresh: bool = False, seed: int = 0) -> Results:
    results = run(small(seed), threads=1, output=output, fresh=fresh, progress=Quiet())
    assert results.complete
    assert load_results(output).table.equals(results.table)
    return results


def recorded(folder: Path, monkeypatch: pytest.MonkeyPatch, output: str, fresh: bool) -> Disk:
    """A run under record, every block a moment of its own, the journal synced at every other."""
    disk, append = Disk(folder), Journal.append

    def noted(journal: Journal, outcome: object) -> None:
        monkeypatch.setattr("ldp3.experiment.journal.SYNCED", len(disk.moments) % 2)
        append(journal, outcome)  # type: ignore[arg-type]
        disk.note("append")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", noted)
        disk.record(patch)
        result(folder / output, fresh)
    return disk


@pytest.mark.parametrize("output", ["x.csv", "out"])
@pytest.mark.parametrize("before", [False, True])
def test_whatever_a_power_cut_leaves_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, before: bool
) -> None:
    expected = result(tmp_path / "expected.csv").table
    folder = tmp_path / "disk"
    folder.mkdir()
    if before:
        result(folder / output, seed=1)  # an older run, to be replaced
    disk = recorded(folder, monkeypatch, output, fresh=before)
    crashes = list(disk.crashes())
    assert len(crashes) > 10
    for number, (when, files) in enumerate(crashes):
        for fresh in (False, True):
            crashed = restored(tmp_path / f"{number}-{fresh}", files)
            if not fresh and before and _is_the_old_run(crashed / output):
                continue  # the fresh run had not begun
            again = result(crashed / output, fresh=fresh)
            assert again.table.equals(expected), when
            left = {path.name for path in crashed.iterdir() if not path.name.endswith(".tmp")}
            journal = f"{output}.journal"
            assert left <= {"x.csv", "x.csv.manifest.json", "out", journal}, when


def _is_the_old_run(output: Path) -> bool:
    try:
        return open_journal(output, small(1).experiment) is None
    except ValueError:
        return False


def test_a_power_cut_costs_no_block_that_was_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldp3.experiment.journal.SYNCED", -1)
    (tmp_path / "disk").mkdir()
    disk = Disk(tmp_path / "disk")
    disk.record(monkeypatch)
    journal = open_journal(tmp_path / "disk" / "x.csv", small().experiment)
    assert journal is not None
    from tests.experiment.running import outcomes

    for outcome in outcomes(small()):
        journal.append(outcome)
        assert disk.moments[-1].names == disk.moments[-1].kill
    journal.close()


def test_an_output_of_zeros_is_an_incomplete_run(tmp_path: Path) -> None:
    for zeros in (b"", bytes(100)):
        for fresh in (False, True):
            output = tmp_path / f"{len(zeros)}{fresh}.csv"
            whole = result(output).table
            manifest = output.with_name(output.name + ".manifest.json")
            for damaged in ([manifest], [output], [output, manifest]):
                for path in damaged:
                    path.write_bytes(zeros)
                assert result(output, fresh).table.equals(whole)


def test_half_a_manifest_is_an_incomplete_run(tmp_path: Path) -> None:
    output = tmp_path / "x.csv"
    whole = result(output).table
    manifest = tmp_path / "x.csv.manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:200])
    assert result(output).table.equals(whole)


def test_a_file_is_old_or_new_whatever_a_power_cut_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path)
    write_text(tmp_path / "x.txt", "old")
    disk.record(monkeypatch)
    write_text(tmp_path / "x.txt", "new")
    assert {files["x.txt"] for _, files in disk.crashes()} == {b"old", b"new"}
    assert disk.moments[-1].names["x.txt"] == b"new"


def test_a_report_is_in_the_memo_on_the_disk_before_it_can_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan("numbers", 300, "olh", 1.0)
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    disk.record(monkeypatch)
    for value in (7, 8, 7, 9):
        sent = Client(plan, memo=folder / "memo").report(value)
        files = disk.moments[-1].names
        crashed = restored(tmp_path / f"{value}{len(disk.moments)}", files)
        assert Client(plan, memo=_private(crashed / "memo")).report(value) == sent


def _private(path: Path) -> Path:
    path.chmod(0o600)
    return path
