from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from ldp3.errors import LDPError
from ldp3.reporting.findings import VALUES, Findings
from ldp3.results import Results
from tests.reporting.examples import DATA, large, several


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


def test_every_combination_has_one_row(results: Results) -> None:
    cells = Findings(results).cells
    assert len(cells) == 2 * 3 * 3 * 3
    assert cells.select("metric", "epsilon", "protocol", "method").is_unique().all()


def test_the_interval_is_students(results: Results) -> None:
    row = Findings(results).cells.row(0, named=True)
    key = {name: row[name] for name in ("metric", "epsilon", "protocol", "method")}
    values = results.table.filter(**key)["value"].to_numpy()
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx((low, high), rel=1e-12)


def test_a_single_repeat_has_no_interval(results: Results) -> None:
    found = Findings(replace(results, table=results.table.filter(repeat=0)))
    assert found.cells["low"].null_count() == len(found.cells)
    assert "A single repeat says nothing of chance" in found.words("l1", 1.0)[-2]


def test_the_first_row_of_each_metric_and_epsilon_leads(results: Results) -> None:
    found = Findings(results)
    for (metric, epsilon), sheet in found.sheets.items():
        first = found.candidates(metric, epsilon)[0]
        assert (first.protocol, first.method) == sheet.best


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
    places = [row["beside"] for row in rows]
    assert [row["bits"] for row in rows] == [3, 8, 8]
    assert len(set(places)) == 3
    assert places[1] * places[2] == pytest.approx(64)  # around the true size


def test_a_small_domain_is_shown_whole_and_in_order(results: Results) -> None:
    shown = Findings(results).frequencies
    assert shown is not None
    assert shown.labels == tuple(DATA.labels)
    assert np.array_equal(shown.truth, DATA.frequencies)


def test_of_a_large_domain_the_most_frequent_values_are_shown() -> None:
    results = large()
    shown = Findings(results).frequencies
    assert shown is not None
    assert results.truth is not None
    assert (len(shown.labels), shown.d) == (VALUES, 1000)
    assert shown.truth.min() >= np.sort(results.truth)[-VALUES]
    mean = results.means.filter(method="norm_sub")["frequencies"][0]  # type: ignore[union-attr]
    assert shown.means[1.0, "oue", "norm_sub"][0] == mean[int(shown.labels[0][1:])]


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


def broken() -> dict[str, tuple[pl.Expr | pl.DataFrame, str]]:
    table = several().table
    value = pl.col("value")
    first = pl.int_range(pl.len()) == 0
    return {
        "empty": (table.head(0), "no rows"),
        "null": (table.with_columns(pl.when(first).then(None).otherwise(value)), "complete"),
        "infinite": (table.with_columns(value=pl.lit(float("inf"))), "finite"),
        "two datasets": (pl.concat([table, table.with_columns(n=pl.lit(7, pl.Int64))]), "one data"),
        "twice": (pl.concat([table, table]), "same repeat twice"),
        "not whole": (table.head(-1), "same repeats"),
    }


@pytest.mark.parametrize(("name", "case"), list(broken().items()))
def test_a_table_that_no_run_wrote_is_refused(name: str, case: tuple[pl.DataFrame, str]) -> None:
    with pytest.raises(LDPError, match=case[1]):
        Findings(Results(case[0]))


def test_vectors_of_another_domain_are_refused(results: Results) -> None:
    with pytest.raises(LDPError, match="d = 8"):
        Findings(replace(results, truth=np.ones(7)))
    assert results.means is not None
    short = results.means.with_columns(frequencies=pl.lit([0.5], pl.Array(pl.Float64, 1)))
    with pytest.raises(LDPError, match="not those of 8 values"):
        Findings(replace(results, means=short))
