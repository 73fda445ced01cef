import json

import pytest

from ldp3.reporting.data import COLUMNS, page_data
from ldp3.reporting.findings import Findings
from ldp3.results.table import Results
from tests.reporting.examples import several


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
