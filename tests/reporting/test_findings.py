from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from ldp3.reporting.findings import (
    NUMBERS_CARRIED,
    VALUES_SHOWN,
    Findings,
    Frequencies,
    side_by_side,
)
from ldp3.results.table import Results
from tests.reporting.examples import DATA, large, several


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


def test_every_combination_has_one_row(results: Results) -> None:
    rows = Findings(results).combinations
    assert len(rows) == 2 * 3 * 3 * 3
    assert rows.select("metric", "epsilon", "protocol", "method").is_unique().all()


def test_the_interval_is_students(results: Results) -> None:
    row = Findings(results).combinations.row(0, named=True)
    key = {name: row[name] for name in ("metric", "epsilon", "protocol", "method")}
    values = results.table.filter(**key)["value"].to_numpy()
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx((low, high), rel=1e-12)


def test_a_single_repeat_has_no_interval(results: Results) -> None:
    found = Findings(replace(results, table=results.table.filter(repeat=0)))
    assert found.combinations["low"].null_count() == len(found.combinations)
    assert "A single repeat says nothing of chance" in found.words("l1", 1.0)[-2]


def test_the_first_row_of_each_metric_and_epsilon_leads(results: Results) -> None:
    found = Findings(results)
    for (metric, epsilon), sheet in found.sheets.items():
        first = found.candidates(metric, epsilon)[0]
        assert (first.protocol, first.method) == sheet.best


def test_of_equal_means_the_first_leads_whatever_the_last_digits_say(results: Results) -> None:
    one = results.table.filter(metric="l1", epsilon=1.0, protocol="grr")
    last = 1 - 1e-15 * (pl.col("method") == "norm_sub")
    found = Findings(replace(results, table=one.with_columns(value=last)))
    assert found.candidates("l1", 1.0)[0].method == found.sheets["l1", 1.0].best[1] == "none"


def test_report_sizes_are_the_oracles(results: Results) -> None:
    bits = Findings(results).bits
    assert (bits["grr", 1.0], bits["oue", 1.0]) == (3, 8)
    assert bits["olh", 1.0] > 64


def test_an_unknown_protocol_has_no_size_and_says_so(results: Results) -> None:
    table = results.table.with_columns(pl.col("protocol").replace("grr", "mine(x=1)"))
    found = Findings(replace(results, table=table))
    assert {protocol for protocol, _ in found.bits} == {"oue", "olh"}
    assert [row["protocol"] for row in found.sizes("l1", 1.0)] == ["oue", "olh"]
    assert "mine(x=1)" in found.left_out["Error against report size"]


def test_equal_sizes_stand_side_by_side(results: Results) -> None:
    table = results.table.with_columns(pl.col("protocol").replace("olh", "rappor"))
    rows = Findings(replace(results, table=table)).sizes("l1", 1.0)
    places = [row["position"] for row in rows]
    assert [row["bits"] for row in rows] == [3, 8, 8]
    assert len(set(places)) == 3
    assert places[1] * places[2] == pytest.approx(64)  # around the true size


def test_sizes_far_apart_stay_where_they_are_and_all_keep_their_order() -> None:
    assert side_by_side([8, 1024, 64]) == pytest.approx([8, 1024, 64])
    assert side_by_side([]) == []
    places = side_by_side([64, 65, 64, 4])
    assert places[3] < places[0] < places[2] < places[1]


def test_what_a_table_cannot_show_is_said(results: Results) -> None:
    one = results.table.filter(epsilon=1.0, method="none")
    left_out = Findings(Results(one)).left_out
    assert set(left_out) == {"Error against ε", "Win rates", "True and estimated frequencies"}
    alone = Findings(Results(one.filter(protocol="grr")))
    assert alone.left_out["Error against report size"] == "all reports have the same size"


def test_nothing_is_recommended_where_nothing_was_compared_with_the_truth(
    results: Results,
) -> None:
    raw = replace(results, manifest={**results.manifest, "reference": "raw"})
    assert "not which one is best" in Findings(raw).words("l1", 1.0)[0]


def test_a_small_domain_is_shown_whole_and_in_order() -> None:
    shown = Frequencies.of(several(), DATA.name)
    assert shown is not None
    assert shown.labels == tuple(DATA.labels)
    assert np.array_equal(shown.truth, DATA.frequencies)


def test_of_a_large_domain_the_most_frequent_values_are_shown() -> None:
    results = large()
    shown, truth = Frequencies.of(results, "large"), results.datasets["large"].frequencies
    assert shown is not None
    assert (len(shown.labels), shown.d) == (VALUES_SHOWN, 1000)
    assert shown.truth.min() >= np.sort(truth)[-VALUES_SHOWN]
    mean = results.means.filter(method="norm_sub")["frequencies"][0]  # type: ignore[union-attr]
    assert shown.means[1.0, "oue", "norm_sub"][0] == mean[int(shown.labels[0][1:])]


def test_of_a_large_domain_in_order_neighbours_are_shown_together() -> None:
    results = large()
    data = results.datasets["large"]
    line = replace(data, domain=data.domain.in_order())
    found = replace(results, datasets={"large": line})
    shown = Frequencies.of(found, "large")
    assert shown is not None
    assert shown.together
    assert len(shown.labels) == VALUES_SHOWN
    assert shown.labels[0] == f"{data.labels[0]} … {data.labels[24]}"
    assert shown.truth == pytest.approx(data.frequencies.reshape(VALUES_SHOWN, 25).sum(axis=1))
    assert shown.means[1.0, "oue", "norm_sub"].sum() == pytest.approx(1)


def test_many_combinations_leave_room_for_fewer_values() -> None:
    results = large()
    assert results.means is not None
    epsilon = pl.int_range(pl.len()).cast(pl.Float64)
    many = pl.concat([results.means] * (NUMBERS_CARRIED // 20)).with_columns(epsilon=epsilon)
    shown = Frequencies.of(Results(results.table, {}, results.datasets, many), "large")
    assert shown is not None
    assert len(shown.labels) == 10


def test_estimates_of_another_dataset_or_under_attack_are_never_mixed_in() -> None:
    results = several()
    assert results.means is not None
    zero = pl.col("frequencies").list.eval(pl.element() * 0)
    others = [
        results.means.with_columns(zero, dataset=pl.lit("other")),
        results.means.with_columns(zero, attack=pl.lit("some")),
    ]
    mixed = Results(
        results.table, {}, results.datasets, pl.concat([*others, results.means, *others])
    )
    shown, own = Frequencies.of(mixed, DATA.name), Frequencies.of(results, DATA.name)
    assert shown is not None
    assert own is not None
    assert shown.means.keys() == own.means.keys()
    assert all(np.array_equal(shown.means[key], own.means[key]) for key in own.means)


def test_a_table_alone_shows_none() -> None:
    assert Frequencies.of(Results(several().table), DATA.name) is None
