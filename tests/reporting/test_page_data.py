import json
from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.reporting.filtering import each_dataset
from ldp3.reporting.findings import Findings
from ldp3.reporting.page_data import COLUMNS, overview, page_data
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


def test_the_sentence_names_what_never_loses_much(two: dict[str, Findings]) -> None:
    given = overview(two)
    assert {(one["metric"], one["epsilon"]) for one in given} >= {("l1", 1.0), ("l1", 2.0)}
    first, sentence = given[0]["rows"][0], given[0]["sentences"][0]
    assert combination(first["protocol"], first["method"]) + " loses least at its worst" in sentence
    assert "over 2 datasets" in sentence


def test_a_dataset_to_which_the_metric_is_not_suited_has_no_loss() -> None:
    data = [DATA, "gaussian(d=8, n=1000)", "bimodal(d=8, n=1000)"]
    made = ldp3.benchmark(data, 1.0, ["grr", "oue"], "norm_sub", ["emd"], repeats=2)
    parts = each_dataset(made)
    (given,) = overview({name: Findings(part) for name, part in parts.items()})
    assert "over 2 datasets" in given["sentences"][0]
    for row in given["rows"]:
        assert row["losses"][0] is None
        assert None not in row["losses"][1:]
        assert row["tied"][0] is False


def test_data_that_the_page_tells_apart_have_losses_of_their_own() -> None:
    """By the page's name for them, which says more than the dataset's where conditions differ."""
    each = {name: Findings(several()) for name in ("first", "second")}
    for given in overview(each):
        for row in given["rows"]:
            assert None not in row["losses"]
            assert row["worst"] == max(row["losses"])


def test_without_a_ratio_nothing_is_said(results: Results) -> None:
    zero = replace(results, table=results.table.with_columns(value=np.zeros(len(results.table))))
    found = {name: Findings(part) for name, part in each_dataset(zero).items()}
    assert overview(found) == []
