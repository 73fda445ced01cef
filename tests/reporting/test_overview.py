from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.reporting.findings import Findings
from ldp3.reporting.overview import compared, overview
from ldp3.reporting.selection import each_dataset, selected
from ldp3.results.table import Results
from ldp3.results.verdict import combination
from tests.reporting.examples import DATA


@pytest.fixture(scope="module")
def results() -> Results:
    data = [DATA, "zipf(d=16, n=5000, s=1.5)"]
    methods, metrics = ["norm_sub", "power"], ["l1", "ndcg(k=3)"]
    return ldp3.benchmark(data, [1.0, 2.0], ["grr", "oue"], methods, metrics, repeats=3)


@pytest.fixture(scope="module")
def found(results: Results) -> dict[str, Findings]:
    return {name: Findings(part) for name, part in each_dataset(results).items()}


def test_each_dataset_is_a_part_of_the_table(results: Results) -> None:
    parts = each_dataset(results)
    assert sum(len(part.table) for part in parts.values()) == len(results.table)
    for name, part in parts.items():
        assert set(part.table["dataset"]) == {name}


@pytest.mark.parametrize("metric", ["l1", "ndcg(k=3)"])
def test_losses_are_against_the_best_of_each_dataset(
    found: dict[str, Findings], metric: str
) -> None:
    rows = compared(found, metric, 1.0)
    assert len(rows) == 6
    for place, one in enumerate(found.values()):
        sheet = one.sheets[metric, 1.0]
        assert min(row.losses[place] for row in rows) == 0
        ordered = sorted(rows, key=lambda row: row.losses[place])
        assert ordered[0].ranks[place] == 1
        assert [r.ranks[place] for r in ordered] == sorted(r.ranks[place] for r in ordered)
        for row in rows:
            ratio = sheet.means[row.pair] / sheet.means[sheet.best]
            assert row.losses[place] == pytest.approx(abs(ratio - 1))
    assert [row.worst for row in rows] == sorted(row.worst for row in rows)


def test_the_sentence_names_what_never_loses_much(found: dict[str, Findings]) -> None:
    given = overview(found)
    assert {(one["metric"], one["epsilon"]) for one in given} >= {("l1", 1.0), ("l1", 2.0)}
    first, sentence = given[0]["rows"][0], given[0]["sentences"][0]
    assert combination(first["protocol"], first["method"]) + " loses least at its worst" in sentence
    assert "over 2 datasets" in sentence


def test_what_did_not_run_on_all_datasets_is_not_compared(results: Results) -> None:
    parts = each_dataset(results)
    first = next(iter(parts))
    parts[first] = replace(parts[first], table=parts[first].table.filter(protocol="oue"))
    rows = compared({name: Findings(part) for name, part in parts.items()}, "l1", 1.0)
    assert {row.pair[0] for row in rows} == {"oue"}


def test_without_a_ratio_nothing_is_said(results: Results) -> None:
    zero = replace(results, table=results.table.with_columns(value=np.zeros(len(results.table))))
    found = {name: Findings(part) for name, part in each_dataset(zero).items()}
    assert overview(found) == []


def test_a_selection_keeps_the_rest_of_the_results(results: Results) -> None:
    some = selected(results, "l1", 2)
    assert set(some.table["metric"]) == {"l1"}
    assert set(some.table["epsilon"]) == {2.0}
    assert some.manifest is results.manifest
