"""More repeats of the same grid are the same run."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.experiment.journal import path_of
from ldp3.progress import Progress
from ldp3.results.storage import manifest_of
from ldp3.results.table import Results

DATA = "zipf(d=6, n=1_000)"
OUTPUTS = ["x.csv", "x.json", "x.parquet", "folder"]


class Listening(Progress):
    """Keeps what it is told, and asks to stop after so many cells."""

    def __init__(self, cells: float = float("inf")) -> None:
        self.notes: list[str] = []
        self.left = cells
        self.measured = 0.0

    def tick(self, cells: float) -> None:
        self.left -= cells
        self.measured += cells

    def note(self, text: str) -> None:
        self.notes.append(text)

    def stopped(self) -> bool:
        return self.left <= 0


def run(output: Path | None, repeats: int | None, **options: Any) -> Results:
    grid: dict[str, Any] = {"epsilons": [0.5, 1], "protocols": ["grr", "oue"], "methods": "all"}
    given = {**grid, "metrics": ["l1", "emd"], "threads": 1, "progress": Listening(), **options}
    return ldp3.benchmark(DATA, output=output, repeats=repeats, **given)


def fresh(output: Path) -> Results:
    """What a run that asked for twelve repeats at once leaves."""
    run(output, 12)
    return ldp3.load_results(output)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def same(one: Results, other: Results) -> bool:
    frames = [(one.table, other.table), (one.means, other.means), (one.estimates, other.estimates)]
    return all(a is None if b is None else a is not None and a.equals(b) for a, b in frames)


@pytest.mark.parametrize("name", OUTPUTS)
def test_more_repeats_give_the_output_of_a_run_that_asked_for_them_at_once(
    tmp_path: Path, name: str
) -> None:
    run(tmp_path / name, 3)
    told = Listening()
    went_on = run(tmp_path / name, 7, progress=told)
    assert told.measured == 4 * 4  # two protocols at two ε, four more repeats of each
    run(tmp_path / f"at once {name}", 7)
    stored, at_once = (ldp3.load_results(tmp_path / n) for n in (name, f"at once {name}"))
    assert same(stored, at_once)
    assert went_on.table.equals(at_once.table)
    if name == "x.csv":
        assert (tmp_path / name).read_bytes() == (tmp_path / "at once x.csv").read_bytes()
    assert stored.manifest["repeats"] == 7
    assert not path_of(tmp_path / name).exists()


def test_kept_estimates_go_on_too(tmp_path: Path) -> None:
    run(tmp_path / "a", 3, keep_estimates=True)
    run(tmp_path / "a", 7, keep_estimates=True)
    assert same(ldp3.load_results(tmp_path / "a"), run(tmp_path / "b", 7, keep_estimates=True))


@pytest.mark.parametrize("name", OUTPUTS)
def test_fewer_repeats_show_the_first_ones_and_write_nothing(tmp_path: Path, name: str) -> None:
    run(tmp_path / name, 7)
    before, told = files_in(tmp_path), Listening()
    first = run(tmp_path / name, 3, progress=told)
    assert first.table.equals(run(None, 3).table)
    assert told.measured == 0
    assert "holds 7 repeats" in told.notes[0]
    assert files_in(tmp_path) == before


def test_the_means_of_the_first_repeats_come_from_kept_estimates_or_are_left_out(
    tmp_path: Path,
) -> None:
    run(tmp_path / "kept", 7, keep_estimates=True)
    assert same(run(tmp_path / "kept", 3, keep_estimates=True), run(None, 3, keep_estimates=True))
    run(tmp_path / "means", 7)
    told = Listening()
    assert run(tmp_path / "means", 3, progress=told).means is None
    assert "mean frequencies" in " ".join(told.notes)


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_a_run_that_was_stopped_while_it_went_on_loses_nothing(tmp_path: Path, name: str) -> None:
    output = tmp_path / name
    run(output, 3)
    assert not run(output, 9, progress=Listening(cells=8)).complete
    assert ldp3.load_results(output).manifest["repeats"] == 3  # what was there is still there
    assert run(output, 3).table.equals(run(None, 3).table)
    assert path_of(output).exists()
    with pytest.raises(LDPError, match="part of a run of 9 repeats"):
        run(output, 5)
    told = Listening()
    run(output, 12, progress=told)
    assert told.measured < 9 * 4
    assert same(ldp3.load_results(output), fresh(tmp_path / f"at once {name}"))


def test_a_stopped_run_may_go_on_with_more_repeats_and_be_stopped_again(tmp_path: Path) -> None:
    for repeats in (5, 9, 12):
        assert not run(tmp_path / "out", repeats, progress=Listening(cells=6)).complete
    with pytest.raises(LDPError, match="part of a run of 12 repeats"):
        run(tmp_path / "out", 9)
    run(tmp_path / "out", 12)
    assert same(ldp3.load_results(tmp_path / "out"), fresh(tmp_path / "b"))


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_killed_while_the_longer_output_is_written_nothing_is_lost(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / name, 3)
    save = Results.save

    def killed(results: Results, path: Path) -> None:
        save(results, path)
        manifest_of(path).unlink()  # as if the last file was never written
        raise KeyboardInterrupt

    monkeypatch.setattr(Results, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / name, 12)
    monkeypatch.undo()
    told = Listening()
    run(tmp_path / name, 12, progress=told)
    assert told.measured == 0
    assert same(ldp3.load_results(tmp_path / name), fresh(tmp_path / f"b{name}"))


def test_another_grid_or_an_edited_table_does_not_go_on(tmp_path: Path) -> None:
    run(tmp_path / "x.csv", 3)
    with pytest.raises(LDPError, match="seed was 0, is 1"):
        run(tmp_path / "x.csv", 7, seed=1)
    table = pl.read_csv(tmp_path / "x.csv")
    for edited in (table.head(-1), table.with_columns(method=pl.lit("none")), table.head(0)):
        edited.write_csv(tmp_path / "x.csv")
        before = files_in(tmp_path)
        with pytest.raises(LDPError, match="not the table of its manifest") as refused:
            run(tmp_path / "x.csv", 7)
        assert "\n" not in str(refused.value)
        assert files_in(tmp_path) == before


def test_a_folder_without_sums_is_measured_anew_to_the_same_numbers(tmp_path: Path) -> None:
    run(tmp_path / "out", 3)
    means = tmp_path / "out" / "means.parquet"
    pl.read_parquet(means).drop("sums").write_parquet(means)
    run(tmp_path / "out", 12)
    assert same(ldp3.load_results(tmp_path / "out"), fresh(tmp_path / "b"))
