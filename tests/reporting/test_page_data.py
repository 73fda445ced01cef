import json
from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.reporting.filtering import each_dataset
from ldp3.reporting.findings import Findings
from ldp3.reporting.page_data import COLUMNS, compared, overview, page_data
from ldp3.results.table import Results
from ldp3.results.verdict import combination
from tests.reporting.examples import DATA, several


@pytest.fixture(scope="module")
def found() -> Findings:
    return Findings(several())


def test_rows_name_what_they_are_of_by_place(found: Findings) -> None:
    given = page_data(found)
    row = dict(zip(COLUMNS, given["combinations"]["rows"][0], strict=True))
    first = found.combinations.row(0, named=True)
    for name in ("metric", "epsilon", "protocol", "method"):
        assert given[name][row[name]] == first[name]
    assert row["mean"] == pytest.approx(first["mean"], rel=1e-5)


def test_each_sheet_says_its_wins_and_its_sizes(found: Findings) -> None:
    given = page_data(found)
    assert len(given["sheets"]) == 6
    for sheet in given["sheets"]:
        assert len(sheet["sizes"]) == len(sheet["wins"]) == 3
        assert sum(won["rate"] for won in sheet["wins"]) == pytest.approx(1, abs=1e-5)
    leader = found.sheets["l1", 0.5].best
    assert given["leader"] == dict(zip(("protocol", "method"), leader, strict=True))


def test_all_of_it_is_plain_json(found: Findings) -> None:
    given = page_data(found)
    assert json.loads(json.dumps(given, allow_nan=False))["epsilon"] == [0.5, 1.0, 2.0]
    assert page_data(Findings(Results(found.results.table)))["frequencies"] is None


@pytest.fixture(scope="module")
def results() -> Results:
    data = [DATA, "zipf(d=16, n=5000, s=1.5)"]
    methods, metrics = ["norm_sub", "power"], ["l1", "ndcg(k=3)"]
    return ldp3.benchmark(data, [1.0, 2.0], ["grr", "oue"], methods, metrics, repeats=3)


@pytest.fixture(scope="module")
def two(results: Results) -> dict[str, Findings]:
    return {name: Findings(part) for name, part in each_dataset(results).items()}


@pytest.mark.parametrize("metric", ["l1", "ndcg(k=3)"])
def test_losses_are_against_the_best_of_each_dataset(two: dict[str, Findings], metric: str) -> None:
    rows = compared(two, metric, 1.0)
    assert len(rows) == 6
    for place, one in enumerate(two.values()):
        sheet = one.sheets[metric, 1.0]
        assert min(row.losses[place] for row in rows) == 0
        ordered = sorted(rows, key=lambda row: row.losses[place])
        assert ordered[0].ranks[place] == 1
        assert [r.ranks[place] for r in ordered] == sorted(r.ranks[place] for r in ordered)
        for row in rows:
            ratio = sheet.means[row.pair] / sheet.means[sheet.best]
            assert row.losses[place] == pytest.approx(abs(ratio - 1))
    assert [row.worst for row in rows] == sorted(row.worst for row in rows)


def test_the_sentence_names_what_never_loses_much(two: dict[str, Findings]) -> None:
    given = overview(two)
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
