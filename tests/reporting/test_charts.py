import json
from dataclasses import replace

import pytest

from ldp3.reporting.charts import DASHES, charts, cycled, hues
from ldp3.reporting.findings import Findings
from ldp3.results.table import Results
from tests.reporting.examples import several


@pytest.fixture(scope="module")
def results() -> Results:
    return several()


def test_every_chart_is_there_where_the_results_can_fill_it(results: Results) -> None:
    drawn = charts(Findings(results))
    assert list(drawn) == ["heat", "error-method", "error-protocol", "wins", "sizes", "frequencies"]
    assert "NaN" not in json.dumps(drawn)


def test_what_results_cannot_fill_is_not_there(results: Results) -> None:
    one = Results(results.table.filter(epsilon=1.0, method="none", protocol="grr"))
    assert list(charts(Findings(one))) == ["heat"]


def test_epsilons_far_apart_stand_on_a_logarithmic_axis(results: Results) -> None:
    def scale(found: Results) -> str | None:
        kind: str | None = charts(Findings(found))["error-method"]["encoding"]["x"]["scale"].get(
            "type"
        )
        return kind

    assert scale(results) is None
    far = results.table.with_columns(epsilon=results.table["epsilon"] ** 3)
    assert scale(replace(results, table=far, means=None)) == "log"


def test_lines_repeat_no_style_before_they_must() -> None:
    names = [str(i) for i in range(140)]
    styles = zip(hues(names), cycled(range(7), 140),
                 cycled(DASHES, 140), strict=True)  # fmt: skip
    assert len(set(styles)) == 140
