"""Without a number of repeats there are as many as the question needs."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

import ldp3
from ldp3.arrays import FloatArray
from ldp3.errors import LDPError
from ldp3.experiment import looks
from ldp3.experiment.cells import Block, Outcome
from ldp3.experiment.journal import Journal, path_of
from ldp3.experiment.looks import Looks, built, ceiling
from ldp3.results import ties
from ldp3.results.table import Results
from ldp3.results.ties import ALPHA
from tests.experiment.running import lab
from tests.experiment.test_more_repeats import Listening, files_in

DATA = ldp3.load("zipf(d=6, n=1_000)")
EASY = "zipf(d=64, n=100_000)"  # one ends at the first look, one at the ceiling
OPEN: dict[str, Any] = {"epsilons": 1, "protocols": ["oue", "ss"], "methods": "norm_sub"}


@pytest.fixture(autouse=True)
def _few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST", 40)


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
    assert not path_of(tmp_path / "x.csv").exists()


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


def test_killed_before_the_journal_went_nothing_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Journal, "finish", lambda self, results: results.save(self.output))
    ldp3.benchmark(EASY, 1, ["grr", "oue"], "none", output=tmp_path / "x.csv")
    assert path_of(tmp_path / "x.csv").exists()
    monkeypatch.undo()
    monkeypatch.setattr(looks, "MOST", 40)
    ldp3.benchmark(EASY, 1, ["grr", "oue"], "none", output=tmp_path / "x.csv", progress=Listening())
    assert not path_of(tmp_path / "x.csv").exists()


def test_the_ceiling_follows_from_the_data_and_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST", 640)
    sizes = [ceiling(lab(ldp3.load(f"zipf(d={d}, n=1_000)"))) for d in (8, 128, 1024, 2**15)]
    assert sizes == [320, 80, 20, 10]
    flights = ldp3.load("flights")
    assert ceiling(lab(flights)) == 160
    assert ceiling(lab(flights, [1, 2, 4])) == 160  # every ε has a budget of its own
    assert ceiling(lab(flights, simulate="users")) == 10
    assert built(lab(flights, repeats=7).experiment).experiment.repeats == 7


def raced(rule: Looks, draw: Any) -> bool:
    """Whether combinations that are all best are told apart when the rule has stopped."""
    start = 0
    for stop in rule.looks:
        for cell in rule.lab.cells:
            values: FloatArray = draw((stop - start, len(rule.lab.methods), 1))
            rule.hear(Outcome(Block(_from(cell, start), stop), values, None, None, 0.0, values))
        start = stop
        if rule.over(stop):
            return True
    return False


def _from(cell: Any, repeat: int) -> Any:
    return type(cell)(cell.dataset, cell.epsilon, cell.attack, cell.protocol, repeat)


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
    two = lab(DATA, 1, ["grr", "oue"], "none", repeats=40)
    told = sum(raced(Looks(two), draw) for _ in range(trials))
    assert told <= stats.binom.isf(1e-6, trials, ALPHA)
    assert told > 0 or shape == "few values"  # or the check could not fail


def test_equal_ones_would_be_told_apart_too_often_if_looks_were_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check above can fail: with the whole level at each of seven looks, it does."""
    rng, trials = ldp3.stream(0, "free looks"), 250
    two = lab(DATA, 1, ["grr", "oue"], "none", repeats=640)
    whole = ties.ties
    monkeypatch.setattr(ties, "ties", lambda runs, better, looks: whole(runs, better, 2 * ALPHA))
    told = sum(raced(Looks(two), lambda size: rng.normal(1, 0.1, size)) for _ in range(trials))
    assert told > stats.binom.isf(1e-6, trials, ALPHA)


def test_a_combination_that_its_neighbour_beats_is_not_tied() -> None:
    """Not to be told from the leader of another protocol, and yet surely not best."""
    rng = ldp3.stream(0, "neighbour")
    noise, lead = rng.normal(0, 0.5, 10), rng.normal(0, 0.5, 10)
    runs = {("a", "x"): 1 + noise - noise.mean(), ("b", "x"): 0.9 + lead - lead.mean()}
    near = runs["a", "x"] + 0.01 + rng.normal(0, 1e-4, 10)
    assert ties.ties({("a", "y"): near, ("b", "x"): runs["b", "x"]}, "lower") >= {("a", "y")}
    assert ties.ties({**runs, ("a", "y"): near}, "lower") == set(runs)
