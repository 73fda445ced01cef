import pickle
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.arrays import FloatArray, IntArray, Reports, apportion
from ldp3.domain import Labels
from ldp3.errors import LDPError
from ldp3.experiment.outcomes import Measured, Outcome, exact_sums, from_sums
from ldp3.experiment.run import benchmark
from ldp3.experiment.schedule import CHUNKS
from ldp3.metrics.base import Metric
from ldp3.noise import Noise
from ldp3.people import Dataset
from ldp3.postprocessing.base import PostProcessor
from ldp3.progress import Progress
from ldp3.protocols.base import CHUNK, FrequencyOracle, users_between
from ldp3.protocols.grr import GRR
from ldp3.results.axes import PLACE, SCHEMA
from ldp3.types import Estimate, Tally
from tests.experiment.running import cells_of, collected, outcomes, simulator

DATA = Dataset("small", Labels([str(v) for v in range(10)]), apportion(1 / np.arange(1, 11), 1_000))
# three tasks of chunks: the sum of two would be the same in any order
USERS = (2 * CHUNKS + 1) * CHUNK + 7
MANY = Dataset("many", Labels(list("abcd")), apportion(1 / np.arange(1, 5), USERS))


class Backwards(Executor):
    """Runs what it is given when it is asked to wait, the last one first."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: fn(*args, **kwargs)))
        threading.Timer(0.01, self.work).start()
        return future

    def work(self) -> None:
        while self.held:
            future, call = self.held.pop()
            if future.set_running_or_notify_cancel():
                future.set_result(call())


@dataclass(frozen=True)
class Noisy(FrequencyOracle):
    """One bit per value plus real noise: an oracle that is not pure and knows no law."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        noise: Reports = rng.laplace(scale=2 / self.epsilon, size=(len(values), self.d))
        noise[np.arange(len(values)), values] += 1
        return noise

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(8 / self.epsilon**2 / tally.n))


@pytest.mark.parametrize("simulate", ["exact", "users"])
def test_the_table_is_the_same_for_any_number_of_threads(simulate: Any) -> None:
    runs = [
        benchmark(
            DATA, [0.5, 1], "paper", ["norm_sub", "norm"], repeats=9, threads=t, simulate=simulate
        )
        for t in (1, 2, 5)
    ]
    for other in runs[1:]:
        assert other.table.equals(runs[0].table)
        assert other.means is not None
        assert other.means.equals(runs[0].means)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [DATA, MANY], ids=["few users", "many users"])
def test_the_table_does_not_depend_on_the_order_of_work(data: Dataset) -> None:
    given: dict[str, Any] = {"epsilons": 1, "protocols": ["grr", Noisy], "methods": "norm_sub"}
    forwards = benchmark(data, **given, repeats=5, threads=1, simulate="users")
    backwards = benchmark(data, **given, repeats=5, executor=Backwards(), simulate="users")
    assert backwards.table.equals(forwards.table)
    assert backwards.means.equals(forwards.means)  # type: ignore[union-attr, arg-type]


def test_a_cell_does_not_depend_on_what_else_is_in_the_grid() -> None:
    alone = benchmark(DATA, 1, "oue", "norm_sub", repeats=4).table
    crowd = benchmark(DATA, [2, 1], ["grr", "ss", "oue"], "all", ["l2", "l1"], repeats=50).table
    same = crowd.filter(pl.col("repeat") < 4, epsilon=1.0, protocol="oue", metric="l1").filter(
        pl.col("method").is_in(["none", "norm_sub"])
    )
    assert same.equals(alone)


def test_processes_give_the_same_table() -> None:
    given: dict[str, Any] = {"epsilons": 1, "protocols": ["grr", "ss"], "methods": "norm_sub"}
    here = benchmark(DATA, **given, repeats=3)
    there = benchmark(DATA, **given, repeats=3, executor="processes", threads=2)
    assert there.table.equals(here.table)


def test_our_own_threads_end_with_the_run() -> None:
    running = outcomes(simulator(DATA, 1, "grr", "norm_sub", repeats=200), threads=2)
    next(running)
    pool = [t for t in threading.enumerate() if t.name.startswith("ldp3")]
    assert pool
    running.close()
    assert not any(t.is_alive() for t in pool)


def test_an_executor_that_is_handed_in_stays_open() -> None:
    with ThreadPoolExecutor(2) as pool:
        first = benchmark(DATA, 1, "grr", "norm_sub", executor=pool)
        again = benchmark(DATA, 1, "grr", "norm_sub", executor=pool)
    assert again.table.equals(first.table)


def test_another_seed_gives_other_numbers_and_the_same_seed_the_same() -> None:
    tables = [benchmark(DATA, 1, "grr", "norm_sub", seed=s, repeats=9).table for s in (0, 0, 1)]
    assert tables[0].equals(tables[1])
    assert not (tables[0]["value"] == tables[2]["value"]).any()


def test_repeats_ways_and_protocols_have_streams_of_their_own() -> None:
    both = [
        benchmark(DATA, [1, 1.5], ["grr", "oue", "rappor"], "norm", simulate=way, repeats=20).table
        for way in ("exact", "users")
    ]
    values = pl.concat(both).filter(method="none")["value"]
    assert values.n_unique() == len(values)


@pytest.mark.parametrize("way", ["exact", "users"])
def test_datasets_with_as_many_values_and_users_share_no_noise(way: Any) -> None:
    alike = [f"zipf(s={s}, d=64, n=2_000)" for s in (1.1, 1.2)]
    errors = []
    for data in map(ldp3.load, alike):
        kept = benchmark(data, 1, "oue", "none", simulate=way, repeats=20, keep_estimates=True)
        rows = kept.estimates["frequencies"].to_list()  # type: ignore[index]
        errors.append((np.array(rows) - data.frequencies).ravel())
    first, second = ((some - some.mean()) / some.std() for some in errors)
    correlation = (first * second).mean()
    # of 1,280 pairs of independent errors, within 4.9 standard deviations but for one in a million
    assert abs(correlation) < 4.9 / np.sqrt(len(errors[0]))


def test_exact_is_the_protocols_own_draw_from_the_cells_stream() -> None:
    table = benchmark(DATA, 0.5, "grr", "norm_sub", seed=7, repeats=2).table
    oracle = GRR(0.5, DATA.d)
    for repeat in range(2):
        rng = ldp3.stream(7, "exact", f"{DATA.digest}/0", "grr", (0.5).hex(), repeat, 0)
        estimate = oracle.estimate(oracle.simulate(DATA.histogram, rng))
        for method in ("none", "norm_sub"):
            expected = ldp3.metric("l1")(DATA.frequencies, ldp3.postprocess(method)(estimate))
            row = table.filter(repeat=repeat, method=method)
            assert row["value"].to_list() == [expected]


def test_by_users_is_the_sum_over_chunks_each_from_its_own_stream() -> None:
    table = benchmark(MANY, 1, "grr", "norm_sub", simulate="users", repeats=1).table
    oracle, ends = GRR(1.0, MANY.d), np.cumsum(MANY.histogram)
    tally = oracle.empty
    for chunk, start in enumerate(range(0, MANY.n, CHUNK)):
        rng = ldp3.stream(0, "users", f"{MANY.digest}/0", "grr", (1.0).hex(), 0, chunk)
        values = users_between(ends, start, min(start + CHUNK, MANY.n))
        tally += oracle.aggregate(oracle.perturb(values, rng))
    assert -(-MANY.n // CHUNK) > CHUNKS  # or this would not meet the tasks for chunks
    expected = ldp3.metric("l1")(MANY.frequencies, oracle.estimate(tally).frequencies)
    assert table.filter(method="none")["value"].to_list() == [expected]


def test_every_user_counts_once() -> None:
    @dataclass(frozen=True)
    class Honest(FrequencyOracle):
        def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
            return np.eye(self.d, dtype=np.int64)[values]

        def estimate(self, tally: Tally) -> Estimate:
            return Estimate(tally.total / tally.n, tally, Noise(1.0))

    for data in (DATA, MANY):
        table = benchmark(data, 1, Honest, "none", repeats=2).table
        assert table["value"].to_list() == [0.0, 0.0]


def test_an_oracle_without_a_law_runs_by_users_and_says_so() -> None:
    mixed = simulator(DATA, 1, ["grr", Noisy], "norm_sub")
    assert mixed.notes == [
        "noisy has no exact simulation: it runs by users.",
        "No × limit for noisy: it has no p and q.",
    ]
    table = collected(mixed, outcomes(mixed)).table
    ways = dict(table.select("protocol", "simulate").unique().rows())
    assert ways == {"grr": "exact", "noisy": "users"}


def test_raw_reference_compares_with_the_estimate() -> None:
    table = benchmark(DATA, 1, "grr", ["norm_sub"], reference="raw").table
    assert (table.filter(method="none")["value"] == 0).all()
    assert (table.filter(method="norm_sub")["value"] > 0).all()


def test_the_table_is_tidy_and_in_the_order_of_the_grid() -> None:
    table = benchmark(
        DATA, [1, 0.5], ["oue", "grr"], ["norm", "norm_sub"], ["l2", "l1"], repeats=3
    ).table
    assert dict(table.schema) == SCHEMA
    grid = [
        (e, p, m, u, r)
        for e in (1.0, 0.5)
        for p in ("oue", "grr")
        for m in ("none", "norm", "norm_sub")
        for u in ("l2", "l1")
        for r in range(3)
    ]
    assert table.select("epsilon", "protocol", "method", "metric", "repeat").rows() == grid
    assert table.select("dataset", "n", "d").unique().rows() == [("small", 1_000, 10)]


def test_means_are_the_means_of_the_estimates() -> None:
    results = benchmark(DATA, [0.5, 1], ["grr", "oue"], "norm_sub", repeats=7, keep_estimates=True)
    assert results.means is not None
    assert results.estimates is not None
    assert results.means.columns == [*PLACE, "method", "frequencies"]
    for row in results.means.rows(named=True):
        frequencies = row.pop("frequencies")
        kept = results.estimates.filter(**row)
        rows = np.array(kept["frequencies"].to_list())
        assert rows.shape == (7, DATA.d)
        assert np.allclose(rows.mean(axis=0), frequencies, rtol=1e-12, atol=1e-15)


def test_kept_estimates_score_as_the_table_says() -> None:
    results = benchmark(DATA, 1, "grr", "norm_sub", repeats=3, keep_estimates=True)
    metric = ldp3.metric("l1")
    assert results.estimates is not None
    for row, f in zip(
        results.table.rows(named=True), results.estimates["frequencies"], strict=True
    ):
        assert metric(DATA.frequencies, np.array(f)) == row["value"]


def test_methods_are_left_out_where_they_do_not_apply_and_refused_if_that_is_everywhere() -> None:
    table = benchmark(DATA, 1, ["grr", "oue"], "all", repeats=1).table
    assert "mle" in table.filter(protocol="grr")["method"]
    assert "mle" not in table.filter(protocol="oue")["method"]
    asked = benchmark(DATA, 1, ["grr", "oue"], ["mle", "none"], repeats=1).table
    assert "mle" not in asked.filter(protocol="oue")["method"]
    with pytest.raises(LDPError, match="mle does not apply to oue"):
        benchmark(DATA, 1, ["oue", "rappor"], "mle")


def test_a_method_that_returns_nonsense_is_named() -> None:
    @dataclass(frozen=True)
    class Short(PostProcessor):
        def refine(self, estimate: Estimate) -> FloatArray:
            return estimate.frequencies[1:]

    @dataclass(frozen=True)
    class Broken(PostProcessor):
        def refine(self, estimate: Estimate) -> FloatArray:
            return estimate.frequencies * np.nan

    for cls, name in ((Short, "short"), (Broken, "broken")):
        with pytest.raises(LDPError, match=rf"{name}: frequencies must be 10 finite numbers"):
            benchmark(DATA, 1, "grr", cls)


def test_a_metric_is_told_of_the_data() -> None:
    @dataclass(frozen=True)
    class Users(Metric):
        n: int = 0

        def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
            return self.n

        def for_data(self, data: Dataset) -> "Users":
            return Users(data.n)

    assert benchmark(DATA, 1, "grr", "norm", Users).table["value"].unique().to_list() == [1_000.0]


def test_an_error_in_a_task_stops_the_run() -> None:
    @dataclass(frozen=True)
    class Fails(Metric):
        def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        benchmark(DATA, 1, "grr", "norm", Fails)


def test_nothing_new_starts_once_it_is_to_stop_and_what_ran_comes_out() -> None:
    long = simulator(DATA, 1, "grr", "norm_sub", repeats=1_000)
    seen: list[Outcome] = []

    class Impatient(Progress):
        def stopped(self) -> bool:
            return len(seen) >= 2

    for outcome in outcomes(long, threads=1, progress=Impatient()):
        seen.append(outcome)
    assert 2 <= len(seen) < 20
    assert collected(long, seen).table.height == 2 * len(cells_of(seen))


def test_done_blocks_are_not_run_again() -> None:
    small = simulator(DATA, 1, ["grr", "oue"], "norm_sub")
    everything = list(outcomes(small))
    some = everything[::2]
    rest = list(outcomes(small, done=cells_of(some)))
    assert cells_of(rest) == cells_of(everything[1::2])
    assert collected(small, some + rest).table.equals(collected(small, everything).table)


@pytest.mark.parametrize("data", [DATA, MANY], ids=["few users", "many users"])
def test_progress_adds_up_to_all_cells(data: Dataset) -> None:
    ticks: list[float] = []

    class Counting(Progress):
        def tick(self, cells: float) -> None:
            ticks.append(cells)

    benchmark(data, 1, ["grr", "oue"], "norm_sub", repeats=3, simulate="users", progress=Counting())
    assert np.isclose(sum(ticks), 6)


def test_tasks_in_flight_are_few() -> None:
    class Counting(ThreadPoolExecutor):
        submitted = 0

        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            self.submitted += 1
            return super().submit(*args, **kwargs)

    with Counting(1) as pool:
        next(outcomes(simulator(DATA, 1, "grr", "norm_sub", repeats=1_000), pool))
        assert pool.submitted < 20


def test_an_experiment_travels_as_specs_and_a_histogram() -> None:
    paper = simulator(DATA, [0.5, 1], "paper", "norm_sub")
    packed = pickle.dumps(paper)
    assert len(packed) < 3_000
    for word in (b"GRR", b"NormSub"):
        assert word not in packed
    arrived = pickle.loads(packed)
    assert arrived.experiment.key == paper.experiment.key
    assert pickle.loads(packed) is arrived  # built once per worker, not once per task


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"threads": 0}, "`threads` must be at least 1"),
        ({"executor": "clouds"}, "`executor` is 'thr"),
    ],
)
def test_an_executor_that_cannot_be_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        benchmark(DATA, 1, "grr", "norm", **given)


def test_anything_that_holds_data_can_be_given() -> None:
    values = np.repeat([3, 5, 9], [50, 30, 20])
    results = benchmark(values, 1, "grr", "norm")
    assert results.datasets["data"].labels == ("3", "5", "9")
    assert benchmark("zipf(d=8, n=100)", 1, "grr", "norm").table["n"][0] == 100


def test_datasets_are_an_axis_and_never_pooled() -> None:
    other = Dataset("other", Labels(["a", "b"]), np.array([7, 993]))
    both = benchmark([DATA, other], [0.5, 1], ["grr", "oue"], "norm_sub", repeats=3)
    for data in (DATA, other):
        alone = benchmark(data, [0.5, 1], ["grr", "oue"], "norm_sub", repeats=3)
        assert both.table.filter(dataset=data.name).equals(alone.table)
    assert [(s.dataset, s.epsilon) for s in both.sheets()] == [
        ("small", 0.5), ("small", 1.0), ("other", 0.5), ("other", 1.0)
    ]  # fmt: skip
    best = both.best()
    assert best.group_by("dataset", "epsilon").len()["len"].to_list() == [4] * 4
    assert both.render().count(" · other: n = 1,000, d = 2") == 2


def test_two_datasets_of_one_name_are_told_apart() -> None:
    table = benchmark([DATA, DATA], 1, "grr", "none", repeats=2).table
    first, second = (table.filter(dataset=name)["value"] for name in ("small", "small (2)"))
    assert first.to_list() != second.to_list()  # the same data twice has noise of its own


def test_equal_domains_do_not_share_their_noise() -> None:
    other = Dataset("other", DATA.domain, DATA.histogram[::-1].copy())
    table = benchmark([DATA, other], 1, "oue", "none", repeats=200).table
    first, second = (table.filter(dataset=name)["value"] for name in ("small", "other"))
    # a correlation of 200 independent pairs has standard deviation 1/√200: five of them
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(200)


def test_a_list_of_names_is_a_list_of_datasets_and_one_of_values_is_not() -> None:
    several = benchmark(["zipf(d=8, n=100)", "flights"], 1, "grr", "none", repeats=1)
    assert several.table["dataset"].unique(maintain_order=True).len() == 2
    one = benchmark(["a", "b", "a"], 1, "grr", "none", repeats=1)
    assert one.table["n"].unique().to_list() == [3]


def test_a_run_from_python_is_kept_and_goes_on(tmp_path: Path) -> None:
    class Impatient(Progress):
        ticks = 0.0

        def tick(self, cells: float) -> None:
            self.ticks += cells

        def stopped(self) -> bool:
            return self.ticks > 5

    given: dict[str, Any] = {"epsilons": [0.5, 1], "protocols": ["grr", "oue"], "repeats": 20}
    part = benchmark(
        DATA, **given, methods="norm_sub", output=tmp_path / "out", progress=Impatient(), threads=1
    )
    assert not part.complete
    assert 0 < len(part.table) < 2 * 2 * 2 * 20
    with pytest.warns(UserWarning, match="cells are done already; going on"):
        whole = benchmark(
            DATA, **given, methods="norm_sub", output=tmp_path / "out", progress=Progress()
        )
    assert whole.complete
    assert whole.table.equals(benchmark(DATA, **given, methods="norm_sub").table)
    assert ldp3.load_results(tmp_path / "out").table.equals(whole.table)


def test_population_scales_every_dataset() -> None:
    table = benchmark([DATA, "flights"], 1, "grr", "none", repeats=1, population=5_000).table
    assert table["n"].unique().to_list() == [5_000]


def test_a_new_metric_needs_no_new_run() -> None:
    given: dict[str, Any] = {"protocols": ["grr", "olh"], "methods": ["norm_sub", "mle_apx"]}
    kept = benchmark([DATA, "flights"], [0.5, 1], **given, repeats=3, keep_estimates=True)
    again = benchmark([DATA, "flights"], [0.5, 1], **given, metrics="emd", repeats=3)
    assert kept.score("emd").table.equals(again.table)
    with pytest.raises(LDPError, match="run with `keep_estimates`"):
        again.score("l1")


def test_sums_do_not_depend_on_how_they_are_cut() -> None:
    rng = ldp3.stream(0, "sums")
    rows = list(rng.normal(0, 1e3, (12, 3, 5)))
    whole = from_sums(exact_sums(rows))
    assert np.array_equal(whole, from_sums(exact_sums(rows[:5]) + exact_sums(rows[5:])))
    assert np.array_equal(whole, from_sums(exact_sums(rows[::-1])))
    assert np.allclose(whole, np.sum(rows, axis=0), rtol=1e-14)


def test_another_metric_keeps_the_reference_of_the_run() -> None:
    given: dict[str, Any] = {"protocols": "oue", "methods": "norm_sub", "reference": "raw"}
    kept = benchmark(DATA, 1, **given, repeats=3, keep_estimates=True)
    again = benchmark(DATA, 1, **given, metrics="l2", repeats=3)
    assert kept.score("l2").table.equals(again.table)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    given: dict[str, Any] = {"repeats": np.int64(2), "seed": np.int64(0), "threads": np.int64(1)}
    given |= {"population": np.int64(500), "output": tmp_path / "out"}
    results = benchmark(DATA, np.float64(1), "grr", "none", **given)
    plain = benchmark(DATA, 1, "grr", "none", repeats=2, population=500)
    assert results.table.equals(plain.table)


@pytest.mark.parametrize("population", [0, -1, 2.5, True, "many", 2**63])
def test_a_population_that_cannot_be_is_refused_in_one_line(population: Any) -> None:
    with pytest.raises(LDPError, match="`population` must be an integer from 1 to 2⁶²"):
        benchmark(DATA, 1, "grr", "none", population=population)


def test_estimates_are_kept_in_a_folder_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(LDPError, match="`keep_estimates` needs a folder"):
        benchmark(DATA, 1, "grr", "none", keep_estimates=True, output=tmp_path / "x.csv")


def test_an_output_that_is_a_file_without_an_ending_is_refused_before_the_work(
    tmp_path: Path,
) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(LDPError, match=r"Results go to \.csv"):
        benchmark(DATA, 1, "grr", "none", output=tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_means_cost_no_memory_per_repeat() -> None:
    measured, few = Measured(), simulator(DATA, 1, "grr", "norm_sub", repeats=40)
    for outcome in outcomes(few):
        measured.add(outcome)
    assert all(outcome.sums is None for outcome in measured.outcomes)
    assert [sums.shape for sums in measured.sums.values()] == [(2, 2, DATA.d)]


def test_what_a_person_should_know_is_in_the_manifest() -> None:
    results = benchmark(DATA, 1, ["grr", "oue", Noisy], "all", repeats=1)
    notes = results.manifest["notes"]
    assert "noisy has no exact simulation: it runs by users." in notes
    assert any(note.startswith("MLE does not apply to OUE") for note in notes)
