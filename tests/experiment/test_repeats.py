"""Without a number of repeats there are as many as the question needs; more are the same run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import ldp3
from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.experiment import repeats as counting
from ldp3.experiment.journal import path_of
from ldp3.experiment.outcomes import Block, Outcome
from ldp3.experiment.repeats import UntilSettled, ceiling, prepared
from ldp3.progress import Progress
from ldp3.results import ties
from ldp3.results.storage import manifest_of
from ldp3.results.table import Results
from ldp3.results.ties import ALPHA
from tests.experiment.running import simulator

DATA = ldp3.load("zipf(d=6, n=1_000)")
EASY = "zipf(d=64, n=100_000)"  # one ends at the first look, one at the ceiling
OUTPUTS = ["x.csv", "x.json", "x.parquet", "folder"]
OPEN: dict[str, Any] = {"epsilons": 1, "protocols": ["oue", "ss"], "methods": "norm_sub"}


@pytest.fixture(autouse=True)
def _few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_REPEATS", 40)


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


def ask(output: Path | None, repeats: int | None, **options: Any) -> Results:
    grid: dict[str, Any] = {"epsilons": [0.5, 1], "protocols": ["grr", "oue"], "methods": "all"}
    given = {**grid, "metrics": ["l1", "emd"], "threads": 1, "progress": Listening(), **options}
    return ldp3.benchmark(DATA, output=output, repeats=repeats, **given)


def fresh(output: Path) -> Results:
    """What a run that asked for twelve repeats at once leaves."""
    ask(output, 12)
    return ldp3.load_results(output)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def same(one: Results, other: Results) -> bool:
    frames = [(one.table, other.table), (one.means, other.means), (one.estimates, other.estimates)]
    return all(a is None if b is None else a is not None and a.equals(b) for a, b in frames)


def run(output: Path | None = None, **options: Any) -> Results:
    return ldp3.benchmark(DATA, output=output, **{**OPEN, "progress": Listening(), **options})


def test_what_is_clear_at_the_first_look_gets_no_more_repeats() -> None:
    found = ldp3.benchmark(EASY, 1, ["grr", "oue"], "none")
    assert found.manifest["repeats"] == 10
    assert found.manifest["looks"] == [10, 20, 40]
    assert found.table["repeat"].max() == 9
    assert found.best()["tied"].to_list() == [True, False]


def test_what_stays_open_goes_on_to_the_ceiling_for_all_combinations_alike() -> None:
    found = run()
    assert found.manifest["repeats"] == 40
    assert found.manifest["repeats_asked"] is False
    assert set(found.summary()["count"]) == {40}
    assert run(repeats=40).table.equals(found.table)
    assert "looks" not in run(repeats=40).manifest


def test_methods_that_give_the_same_numbers_keep_nothing_open() -> None:
    """Where frequencies sum to one by themselves, norm changes nothing."""
    found = ldp3.benchmark(EASY, 1, "grr", ["norm", "norm_sub"])
    assert found.manifest["repeats"] == 10
    assert sorted(found.best()["rank"]) == [1, 2, 2]


def test_the_table_does_not_depend_on_who_works() -> None:
    assert run(threads=1).table.equals(run(threads=2).table)


@pytest.mark.parametrize("cells", [8, 30])
def test_a_stopped_run_goes_on_to_the_same_table(tmp_path: Path, cells: int) -> None:
    stopped = run(tmp_path / "x.csv", threads=1, progress=Listening(cells=cells))
    assert not stopped.complete
    assert run(tmp_path / "x.csv").table.equals(run().table)


def test_a_finished_output_is_shown_and_holds_its_first_repeats(tmp_path: Path) -> None:
    whole = run(tmp_path / "out")
    before = files_in(tmp_path)
    assert run(tmp_path / "out").table.equals(whole.table)
    assert run(tmp_path / "out", repeats=3).table.equals(run(repeats=3).table)
    assert run(tmp_path / "out", repeats=40).table.equals(whole.table)
    assert files_in(tmp_path) == before
    run(tmp_path / "out", repeats=50)
    assert ldp3.load_results(tmp_path / "out").table.equals(run(repeats=50).table)


def test_an_output_with_a_number_of_repeats_is_shown_or_goes_on_to_the_first_look(
    tmp_path: Path,
) -> None:
    run(tmp_path / "x.csv", repeats=12)
    assert run(tmp_path / "x.csv").table.equals(run(repeats=12).table)
    run(tmp_path / "y.csv", repeats=3)
    assert run(tmp_path / "y.csv").table.equals(run().table)


def test_a_stopped_run_does_not_become_a_shorter_one(tmp_path: Path) -> None:
    run(tmp_path / "x.csv", threads=1, progress=Listening(cells=1))
    with pytest.raises(LDPError, match="go on without `repeats`"):
        run(tmp_path / "x.csv", repeats=20)
    run(tmp_path / "y.csv", repeats=12, threads=1, progress=Listening(cells=1))
    with pytest.raises(LDPError, match="part of a run of 12 repeats"):
        run(tmp_path / "y.csv")
    run(tmp_path / "y.csv", repeats=40)
    assert ldp3.load_results(tmp_path / "y.csv").table.equals(run().table)


def test_the_ceiling_follows_from_the_data_and_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_REPEATS", 640)
    sizes = [ceiling(simulator(ldp3.load(f"zipf(d={d}, n=1_000)"))) for d in (8, 128, 1024, 2**15)]
    assert sizes == [320, 80, 20, 10]
    flights = ldp3.load("flights")
    assert ceiling(simulator(flights)) == 160
    assert ceiling(simulator(flights, [1, 2, 4])) == 160  # every ε has a budget of its own
    assert ceiling(simulator(flights, simulate="users")) == 10
    assert prepared(simulator(flights, repeats=7).experiment).experiment.repeats == 7


def raced(rule: UntilSettled, draw: Any) -> bool:
    """Whether combinations that are all best are told apart when the rule has stopped."""
    start = 0
    for stop in rule.looks:
        for cell in rule.simulator.cells:
            values: FloatArray = draw((stop - start, len(rule.simulator.methods), 1))
            rule.hear(
                Outcome(Block(replace(cell, repeat=start), stop), values, None, None, 0.0, values)
            )
        start = stop
        if rule.over(stop):
            return True
    return False


@pytest.mark.parametrize("shape", ["normal", "skewed", "few values"])
def test_equal_combinations_are_told_apart_at_most_as_often_as_stated(shape: str) -> None:
    """Only if all but one of the equal ones are called worse is the question settled.

    So this asks for two: then the rate is that of telling them apart, over all looks.
    """
    rng, trials = ldp3.stream(0, "equal at looks", shape), 500
    draw = {
        "normal": lambda size: rng.normal(1, 0.1, size),
        "skewed": lambda size: rng.gamma(4, 1, size),
        "few values": lambda size: rng.binomial(10, 0.4, size) / 10,
    }[shape]
    two = simulator(DATA, 1, ["grr", "oue"], "none", repeats=40)
    told = sum(raced(UntilSettled(two), draw) for _ in range(trials))
    assert told <= stats.binom.isf(1e-6, trials, ALPHA)
    assert told > 0 or shape == "few values"  # or the check could not fail


def test_equal_ones_would_be_told_apart_too_often_if_looks_were_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check above can fail: with the whole level at each of seven looks, it does."""
    rng, trials = ldp3.stream(0, "free looks"), 250
    two = simulator(DATA, 1, ["grr", "oue"], "none", repeats=640)
    whole = ties.ties
    monkeypatch.setattr(ties, "ties", lambda runs, better, looks: whole(runs, better, 2 * ALPHA))
    told = sum(
        raced(UntilSettled(two), lambda size: rng.normal(1, 0.1, size)) for _ in range(trials)
    )
    assert told > stats.binom.isf(1e-6, trials, ALPHA)


def test_a_combination_that_its_neighbour_beats_is_not_tied() -> None:
    """Not to be told from the leader of another protocol, and yet surely not best."""
    rng = ldp3.stream(0, "neighbour")
    noise, lead = rng.normal(0, 0.5, 10), rng.normal(0, 0.5, 10)
    runs = {("a", "x"): 1 + noise - noise.mean(), ("b", "x"): 0.9 + lead - lead.mean()}
    near = runs["a", "x"] + 0.01 + rng.normal(0, 1e-4, 10)
    assert ties.ties({("a", "y"): near, ("b", "x"): runs["b", "x"]}, "lower") >= {("a", "y")}
    assert ties.ties({**runs, ("a", "y"): near}, "lower") == set(runs)


@pytest.mark.parametrize("name", OUTPUTS)
def test_more_repeats_give_the_output_of_a_run_that_asked_for_them_at_once(
    tmp_path: Path, name: str
) -> None:
    ask(tmp_path / name, 3)
    told = Listening()
    went_on = ask(tmp_path / name, 7, progress=told)
    assert told.measured == 4 * 4  # two protocols at two ε, four more repeats of each
    ask(tmp_path / f"at once {name}", 7)
    stored, at_once = (ldp3.load_results(tmp_path / n) for n in (name, f"at once {name}"))
    assert same(stored, at_once)
    assert went_on.table.equals(at_once.table)
    if name == "x.csv":
        assert (tmp_path / name).read_bytes() == (tmp_path / "at once x.csv").read_bytes()
    assert stored.manifest["repeats"] == 7


def test_kept_estimates_go_on_too(tmp_path: Path) -> None:
    ask(tmp_path / "a", 3, keep_estimates=True)
    ask(tmp_path / "a", 7, keep_estimates=True)
    assert same(ldp3.load_results(tmp_path / "a"), ask(tmp_path / "b", 7, keep_estimates=True))


@pytest.mark.parametrize("name", OUTPUTS)
def test_fewer_repeats_show_the_first_ones_and_write_nothing(tmp_path: Path, name: str) -> None:
    ask(tmp_path / name, 7)
    before, told = files_in(tmp_path), Listening()
    first = ask(tmp_path / name, 3, progress=told)
    assert first.table.equals(ask(None, 3).table)
    assert told.measured == 0
    assert "holds 7 repeats" in told.notes[0]
    assert files_in(tmp_path) == before


def test_the_first_repeats_have_their_estimates_but_no_means(tmp_path: Path) -> None:
    ask(tmp_path / "kept", 7, keep_estimates=True)
    told = Listening()
    first = ask(tmp_path / "kept", 3, keep_estimates=True, progress=told)
    expected = ask(None, 3, keep_estimates=True).estimates
    assert expected is not None
    assert expected.equals(first.estimates)  # type: ignore[arg-type]
    assert first.means is None
    assert "mean frequencies" in " ".join(told.notes)


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_a_run_that_was_stopped_while_it_went_on_loses_nothing(tmp_path: Path, name: str) -> None:
    output = tmp_path / name
    ask(output, 3)
    assert not ask(output, 9, progress=Listening(cells=8)).complete
    assert ldp3.load_results(output).manifest["repeats"] == 3  # what was there is still there
    assert ask(output, 3).table.equals(ask(None, 3).table)
    assert path_of(output).exists()
    with pytest.raises(LDPError, match="part of a run of 9 repeats"):
        ask(output, 5)
    told = Listening()
    ask(output, 12, progress=told)
    assert told.measured < 9 * 4
    assert same(ldp3.load_results(output), fresh(tmp_path / f"at once {name}"))


def test_a_stopped_run_may_go_on_with_more_repeats_and_be_stopped_again(tmp_path: Path) -> None:
    for repeats in (5, 9, 12):
        assert not ask(tmp_path / "out", repeats, progress=Listening(cells=6)).complete
    with pytest.raises(LDPError, match="part of a run of 12 repeats"):
        ask(tmp_path / "out", 9)
    ask(tmp_path / "out", 12)
    assert same(ldp3.load_results(tmp_path / "out"), fresh(tmp_path / "b"))


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_killed_while_the_longer_output_is_written_nothing_is_lost(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(tmp_path / name, 3)
    save = Results.save

    def killed(results: Results, path: Path) -> None:
        save(results, path)
        manifest_of(path).unlink()  # as if the last file was never written
        raise KeyboardInterrupt

    monkeypatch.setattr(Results, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / name, 12)
    monkeypatch.undo()
    told = Listening()
    ask(tmp_path / name, 12, progress=told)
    assert told.measured == 0
    assert same(ldp3.load_results(tmp_path / name), fresh(tmp_path / f"b{name}"))


@pytest.mark.parametrize("name", OUTPUTS)
def test_another_grid_or_an_edited_table_does_not_go_on(tmp_path: Path, name: str) -> None:
    ask(tmp_path / name, 3)
    with pytest.raises(LDPError, match="seed was 0, is 1"):
        ask(tmp_path / name, 7, seed=1)
    table = tmp_path / name / "table.parquet" if name == "folder" else tmp_path / name
    table.write_bytes(table.read_bytes() + b"\n")
    before = files_in(tmp_path)
    for repeats in (2, 3, 7):
        with pytest.raises(LDPError, match="has changed since its manifest") as refused:
            ask(tmp_path / name, repeats)
        assert "\n" not in str(refused.value)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("name", ["x.csv", "folder"])
def test_without_its_journal_all_is_measured_anew_to_the_same_numbers(
    tmp_path: Path, name: str
) -> None:
    ask(tmp_path / name, 3)
    path_of(tmp_path / name).unlink()
    ask(tmp_path / name, 12)
    assert same(ldp3.load_results(tmp_path / name), fresh(tmp_path / f"b{name}"))
