"""The estimate of a collection, as people read it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import ldp3
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.estimate_table import CollectionEstimate
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.results import names

LABELS = ("home", "search", "a longer label")


def server(method: str = "norm_sub") -> Aggregator:
    made = Aggregator(Plan("pages", LABELS, "oue", 1.0, method))
    made.add(made.plan.oracle.perturb(np.repeat([0, 1], 500), ldp3.stream(0)))
    return made


def test_the_table_holds_estimates_intervals_and_processed_values() -> None:
    counted = server()
    found = CollectionEstimate.of(counted, confidence=0.9)
    low, high = counted.estimate().confidence_interval(0.9)
    assert found.table["label"].to_list() == list(LABELS)
    assert found.table["frequency"].to_list() == counted.estimate().frequencies.tolist()
    assert found.table["low"].to_list() == low.tolist()
    assert found.table["high"].to_list() == high.tolist()
    assert found.table["processed"].to_list() == counted.frequencies().tolist()
    assert (found.about["confidence"], found.about["method"]) == (0.9, "norm_sub")


def test_an_attribute_that_is_called_as_a_column_keeps_its_own() -> None:
    asked = [ldp3.Labels(["rare", "often"], name="frequency"), ldp3.Labels(["a", "b"], name="low")]
    counted = Aggregator(Plan("habits", ldp3.Records(asked), "groups", 1.0))
    counted.add(counted.plan.oracle.perturb(np.repeat([0, 3], 500), ldp3.stream(0)))
    found = CollectionEstimate.of(counted, attributes=["frequency", "low"]).table
    assert found["frequency (attribute)"].to_list() == ["rare", "rare", "often", "often"]
    assert found["low (attribute)"].to_list() == ["a", "b", "a", "b"]
    assert found["frequency"].dtype == pl.Float64


def test_simultaneous_intervals_are_wider() -> None:
    each = CollectionEstimate.of(server()).table
    all_at_once = CollectionEstimate.of(server(), simultaneous=True).table
    assert (all_at_once["high"] >= each["high"]).all()
    assert all_at_once["high"].sum() > each["high"].sum()


def test_text_stands_in_columns() -> None:
    title, table, marks = CollectionEstimate.of(server(), "none").render().split("\n\n")
    assert title == (
        "pages: 1,000 reports, OUE, ε = 1; intervals with confidence 0.95, each, for the frequency "
        "among those who reported"
    )
    lines = table.splitlines()
    assert len(lines) == 4
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["value", "frequency", "low", "high", "people"]
    assert marks == (
        "● 2 of 3 values stand above the noise: with confidence 0.95 for all of these at once, "
        "somebody holds them. The column people is 1,000 times the column frequency."
    )


def test_people_see_the_most_frequent_first_and_files_the_order_of_the_domain() -> None:
    made = Aggregator(Plan("pages", LABELS, "oue", 1.0))
    made.add(made.plan.oracle.perturb(np.repeat([1, 2], [900, 4_000]), ldp3.stream(0)))
    found = CollectionEstimate.of(made)
    shown = [line.split()[0] for line in found.render().split("\n\n")[1].splitlines()[1:]]
    assert shown == ["a", "search", "home"]
    assert found.table["label"].to_list() == list(LABELS)
    assert found.table["above_noise"].to_list() == [False, True, True]
    assert found.table["users"].to_list() == (found.table["processed"] * 4_900).round().to_list()


def test_prose_is_as_wide_as_the_terminal() -> None:
    lines = CollectionEstimate.of(server(), "none").render(width=60).splitlines()
    assert max(map(len, lines)) <= 60


def test_the_default_method_says_why_and_how_sure_it_is() -> None:
    default = Plan("pages", LABELS, "oue", 1.0).method
    called = names.method(default)
    found = CollectionEstimate.of(server(default), confidence=0.9)
    table = found.table
    assert (table["processed_low"] <= table["processed"]).all()
    assert (table["processed"] <= table["processed_high"]).all()
    text = found.render()
    assert text.splitlines()[2].split()[-4:] == [called, "from", "to", "people"]
    assert f"{called}: of all methods it lost least over many kinds of data; biased" in text
    assert "Over all values, about 0.9 of the ranges" in text
    assert "unbiased" not in text
    assert json.loads(found.render("json"))["remarks"] == found.about["remarks"]


def test_the_estimate_itself_needs_no_excuse() -> None:
    found = CollectionEstimate.of(server(), "none")
    assert "processed_low" not in found.table.columns
    assert found.about["remarks"] == []


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_it_is_written_as_asked(tmp_path: Path, ending: str) -> None:
    found = CollectionEstimate.of(server())
    path = tmp_path / f"estimate.{ending}"
    found.save(path)
    if ending == "json":
        values = json.loads(path.read_text())["values"]
    else:
        read = pl.read_csv if ending == "csv" else pl.read_parquet
        values = read(path).to_dicts()
    assert values == found.table.to_dicts()


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="`confidence`: must be between 0 and 1, got 95"):
        CollectionEstimate.of(server(), confidence=95)
    with pytest.raises(InvalidParameter, match="an estimate is written to"):
        CollectionEstimate.of(server()).save(tmp_path / "estimate.xlsx")
    with pytest.raises(InvalidData, match="no report was counted"):
        CollectionEstimate.of(Aggregator(server().plan))


def test_an_interval_of_nothing_is_not_taken_for_certainty() -> None:
    made = Aggregator(Plan("pages", [*LABELS, "jobs"], "grr", 1.0))
    rng, oracle = ldp3.stream(0), made.plan.oracle
    made.add(oracle.perturb(np.repeat([0, 1], 10_000), rng))
    made.add(np.full(4_000, 3, dtype=oracle.perturb(np.array([0]), rng).dtype))  # fake users
    found = CollectionEstimate.of(made)
    assert (found.table["low"][2], found.table["high"][2]) == (0, 0)
    assert "a longer label is further below zero than honest reports allow (p = " in found.render()
    assert json.loads(found.render("json"))["below_zero"] < 1e-9


def test_honest_reports_are_hardly_ever_said_to_be_fake() -> None:
    runs, alarms, chance = 200, 0, 0
    plan = Plan("pages", [f"{v}" for v in range(20)], "grr", 1.0)
    for run in range(runs):
        made = Aggregator(plan)
        made.add(plan.oracle.perturb(np.zeros(3_000, dtype=np.int64), ldp3.stream(run)))
        said = CollectionEstimate.of(made, "none").render()
        alarms += "further below zero" in said
        chance += "from 0 to 0: there noise is far below zero" in said
    assert alarms <= binom.isf(1e-6, runs, 0.05)
    assert chance > runs / 10  # of 19 values that nobody holds, each in one of forty collections
