from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

import ldp3
from ldp3.errors import LDPError
from ldp3.reporting.filtering import check, each_dataset, selected
from ldp3.results.table import Results
from tests.reporting.examples import DATA, several

FIRST = pl.int_range(pl.len()) == 0
BROKEN: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "empty": (lambda t: t.head(0), "no rows"),
    "null": (lambda t: t.with_columns(pl.when(FIRST).then(None).otherwise("value").alias("value")),
             "complete"),
    "infinite": (lambda t: t.with_columns(value=pl.lit(float("inf"))), "finite"),
    "huge": (lambda t: t.with_columns(value=pl.lit(1e308)), "finite"),
    "two sizes": (lambda t: pl.concat([t, t.with_columns(n=pl.lit(7, pl.Int64))]), "one dataset"),
    "three datasets": (lambda t: pl.concat([t, *(t.with_columns(dataset=pl.lit(x)) for x in "ab")]),
                       r"one dataset.* and 1 more: run and report each on its own"),
    "attacked": (lambda t: t.with_columns(attack=pl.lit("mga")), "without attacks, got 'mga'"),
    "clean and attacked": (lambda t: pl.concat([t, t.with_columns(attack=pl.lit("mga"))]),
                           "without attacks"),
    "twice": (lambda t: pl.concat([t, t]), "same repeat twice"),
    "not whole": (lambda t: t.head(-1), "same repeats"),
}  # fmt: skip


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


def test_results_as_a_run_wrote_them_pass(results: Results) -> None:
    check(results)
    check(Results(results.table))


@pytest.mark.parametrize("name", BROKEN)
def test_a_table_that_no_page_can_show_is_refused(results: Results, name: str) -> None:
    change, words = BROKEN[name]
    with pytest.raises(LDPError, match=words) as refused:
        check(replace(results, table=change(results.table)))
    assert "\n" not in str(refused.value)


def test_one_dataset_of_several_can_be_taken_out() -> None:
    made = ldp3.benchmark([DATA, "flights"], 1.0, "grr", "norm_sub", "l1", repeats=2)
    with pytest.raises(LDPError, match="one dataset"):
        check(made)
    check(replace(made, table=made.table.filter(dataset="flights")))


def test_the_truth_of_another_table_is_refused(results: Results) -> None:
    with pytest.raises(LDPError, match="truth beside it of 'flights'"):
        check(replace(results, datasets={"flights": ldp3.load("flights")}))
    with pytest.raises(LDPError, match=r"n = 2,000 people .* of n = 7 and"):
        check(replace(results, datasets={DATA.name: DATA.scaled(7)}))


def test_means_of_another_domain_are_refused(results: Results) -> None:
    assert results.means is not None
    for bad in (
        results.means.with_columns(frequencies=pl.col("frequencies").list.head(7)),
        results.means.with_columns(pl.col("frequencies").list.eval(pl.element() / 0)),
        results.means.with_columns(pl.col("frequencies").cast(pl.List(pl.Float32))),
        results.means.drop("attack"),
    ):
        with pytest.raises(LDPError, match="not those of its 8 values"):
            check(replace(results, means=bad))


@pytest.fixture(scope="module")
def two() -> Results:
    data = [DATA, "zipf(d=16, n=5000, s=1.5)"]
    methods, metrics = ["norm_sub", "power"], ["l1", "ndcg(k=3)"]
    return ldp3.benchmark(data, [1.0, 2.0], ["grr", "oue"], methods, metrics, repeats=3)


def test_each_dataset_is_a_part_of_the_table(two: Results) -> None:
    parts = each_dataset(two)
    assert sum(len(part.table) for part in parts.values()) == len(two.table)
    for name, part in parts.items():
        assert set(part.table["dataset"]) == {name}


def test_a_selection_keeps_the_rest_of_the_results(two: Results) -> None:
    some = selected(two, "l1", 2)
    assert set(some.table["metric"]) == {"l1"}
    assert set(some.table["epsilon"]) == {2.0}
    assert some.manifest is two.manifest
