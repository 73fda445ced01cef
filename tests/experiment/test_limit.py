from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3 import benchmark, load_results
from ldp3.arrays import FloatArray
from ldp3.domain import Labels
from ldp3.experiment.limit import SeparableOracle
from ldp3.noise import Noise, PureNoise
from ldp3.people import Dataset
from ldp3.results.axes import LIMITS
from ldp3.results.sheets import FARTHEST

DATA = Dataset("d", Labels(list("abcdef")), np.array([500, 300, 100, 50, 25, 25]))
SKEWED = ldp3.load("zipf(s=1.1, d=200, n=100_000)")


def definition(x: FloatArray, f: FloatArray, noise: Noise, n: int) -> dict[str, FloatArray]:
    """What each metric wants of the posterior over all frequencies, by matrices."""
    variance = noise.base + noise.slope * f
    log = -0.5 * (x[:, None] - f) ** 2 / variance - 0.5 * np.log(variance)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    order = np.argsort(f)
    below = weight[:, order].cumsum(axis=1)
    means, roots = weight @ f, (weight @ np.sqrt(f + 0.5 / n)) ** 2
    roots = roots / roots.sum() * (1 + len(f) / (2 * n)) - 0.5 / n
    medians = f[order][(below >= 0.5).argmax(axis=1)]
    return {"l1": medians, "l2": means, "kl": means, "hellinger": roots}


@pytest.mark.parametrize("n", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("protocol", ["oue", "grr"])
def test_the_limit_is_the_posterior_given_the_frequencies(protocol: str, n: int) -> None:
    data = SKEWED.scaled(n)
    oracle = ldp3.oracle(protocol, 1.0, data.d)
    estimate = oracle.estimate(oracle.simulate(data.histogram, ldp3.stream(0, protocol, n)))
    x, f = estimate.frequencies, data.frequencies
    found = SeparableOracle(data.histogram, estimate.noise)(x)
    # frequencies within an eighth of a standard deviation of each other are answered alike
    for metric, exact in definition(x, f, estimate.noise, n).items():
        score = ldp3.metric(metric).for_data(data)
        assert score.bayes is not None
        assert score(f, found[score.bayes]) == pytest.approx(score(f, exact), rel=0.01)


def test_by_hand_two_frequencies_and_one_estimate_between() -> None:
    rule = SeparableOracle(np.array([3, 1, 1, 1]), Noise(0.01))
    points = rule(np.array([1 / 3]))  # in the middle: the more frequent one wins
    assert points["median"] == [1 / 6]
    assert points["mean"] == pytest.approx([0.75 / 6 + 0.25 / 2])


def test_nothing_that_answers_each_estimate_alike_beats_it_on_average() -> None:
    oracle, n = ldp3.oracle("oue", 1.0, SKEWED.d), SKEWED.n
    assert oracle.support is not None
    rule = SeparableOracle(SKEWED.histogram, PureNoise.of(oracle.support, n))
    l2, f = ldp3.metric("mse"), SKEWED.frequencies
    gains = []
    for repeat in range(60):
        tally = oracle.simulate(SKEWED.histogram, ldp3.stream(0, "alike", repeat))
        x = oracle.estimate(tally).frequencies
        limit = l2(f, rule(x)["mean"])
        others = [x, np.maximum(x, 0), 0.5 * x + 0.5 / len(x), np.where(x > 0.01, x, 0.0)]
        gains.append([l2(f, other) - limit for other in others])
    mean, error = np.mean(gains, axis=0), np.std(gains, axis=0, ddof=1) / np.sqrt(60)
    assert (mean > -5 * error).all()  # a false alarm is a five-sigma event
    assert (mean > 0).all()


def test_every_row_has_the_limit_of_its_own_estimate() -> None:
    results = benchmark(
        SKEWED, 1, "oue", ["norm_sub", "npmle"], ["l1", "kl", "linf"], repeats=3, simulate="users"
    )
    table = results.table
    assert table.filter(metric="linf").select(LIMITS).null_count().row(0) == (9, 9)
    known = table.filter(pl.col("metric") != "linf")
    assert known.select(LIMITS).null_count().row(0) == (0, 0)
    per_estimate = known.group_by("metric", "repeat").agg(pl.col(*LIMITS).n_unique())
    assert per_estimate.select(LIMITS).unique().rows() == [(1, 1)]  # all methods share it


def test_the_limit_is_measured_as_each_metric_wants_it() -> None:
    results = benchmark(SKEWED, 1, "oue", "norm_sub", ["l1", "mae", "tv", "l2", "mse"], repeats=5)
    row = results.table.filter(method="none", repeat=0)
    first = dict(row.select("metric", "limit").rows())
    d = SKEWED.d
    assert first["mae"] == pytest.approx(first["l1"] / d)
    assert first["tv"] == pytest.approx(first["l1"] / 2)
    assert first["mse"] == pytest.approx(first["l2"] ** 2 / d)


def test_a_distribution_may_have_to_err_more() -> None:
    results = benchmark(SKEWED, 0.5, "oue", "norm_sub", "l1", repeats=10)
    mean = results.table.filter(method="none").select(pl.col(*LIMITS).mean()).row(0)
    assert mean[0] < mean[1]
    times = results.summary().filter(method="norm_sub").select("^times.*$").row(0)
    assert times[0] > times[1] > 1


def test_the_limit_is_no_method() -> None:
    results = benchmark(DATA, 1, "oue", "norm_sub", "l1", repeats=3)
    assert set(results.table["method"]) == {"none", "norm_sub"}
    assert set(results.best()["method"]) == {"none", "norm_sub"}
    without = replace(
        results, table=results.table.with_columns(limit=None, distribution_limit=None)
    )
    assert results.best().equals(without.best())
    assert [s.wins for s in results.sheets()] == [s.wins for s in without.sheets()]


def test_there_is_none_where_the_reference_is_raw_or_the_truth_is_flat() -> None:
    raw = benchmark(DATA, 1, "grr", "norm_sub", "l1", reference="raw")
    assert raw.table["limit"].null_count() == len(raw.table)
    flat = Dataset("flat", Labels(list("abcdefgh")), np.full(8, 100))
    results = benchmark(flat, 1, "grr", "norm_sub", "l1")
    assert results.summary()["times_limit"].null_count() == 2  # it knows the answer: no ratio
    assert "× limit" not in results.render()


def repeats_with(limit: ldp3.Results) -> list[int]:
    return limit.table.filter(pl.col("limit").is_not_null(), method="none")["repeat"].to_list()


@pytest.mark.parametrize("methods", ["none", "all"])
def test_it_is_taken_in_ten_repeats_and_then_in_one_of_four(methods: str) -> None:
    results = benchmark(SKEWED, 1, "oue", methods, "l1", repeats=24)
    assert repeats_with(results) == [*range(10), 12, 16, 20]


def test_where_every_user_is_perturbed_it_is_taken_in_every_repeat() -> None:
    results = benchmark(DATA, 1, "oue", "none", "l1", repeats=14, simulate="users")
    assert repeats_with(results) == list(range(14))


def test_tables_name_it_and_say_what_it_is() -> None:
    results = benchmark(SKEWED, 1, ["oue", "grr"], "norm_sub", "l1", repeats=8)
    for form in ("text", "markdown"):
        text = results.render(form)
        assert "× limit" in text
        assert "knows the true frequencies but not which value has which" in text
    assert r"$\times$ limit" in results.render("latex")
    row = next(line for line in results.render().splitlines() if line.startswith("× limit"))
    means = results.summary().group_by("method", maintain_order=True).agg(pl.mean("times_limit"))
    assert row.split()[2:] == [f"{x:.2f}" for x in means["times_limit"]]


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.json", "folder"])
def test_it_is_kept_with_the_results(name: str, tmp_path: Path) -> None:
    output = tmp_path / name
    made = benchmark(DATA, 1, "grr", "norm_sub", ["l1", "linf"], repeats=3, output=output)
    assert load_results(output).table.equals(made.table)
    assert 0 < made.table["limit"].drop_nulls().len() <= len(made.table) // 2


def test_tables_from_before_there_was_a_limit_are_read(tmp_path: Path) -> None:
    made = benchmark(DATA, 1, "grr", "norm_sub", "l1", repeats=2)
    old = tmp_path / "old.csv"
    made.table.drop(LIMITS).write_csv(old)
    table = load_results(old).table
    assert table.drop(LIMITS).equals(made.table.drop(LIMITS))
    assert table["limit"].null_count() == len(table)


def test_a_limit_that_is_nearly_nothing_is_no_row() -> None:
    few = Dataset("few", Labels(list("abcde")), np.array([50_000, 25_000, 15_000, 7_000, 3_000]))
    results = benchmark(few, 0.6, "oue", "norm_sub", "l1", repeats=200)
    times = results.summary()["times_limit"].to_list()
    assert min(times) > FARTHEST
    for form in ("text", "markdown", "latex"):
        assert "limit" not in results.render(form)
