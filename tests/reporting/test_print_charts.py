from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.domain import Labels
from ldp3.people import Dataset
from ldp3.reporting import print_charts
from ldp3.reporting.figures import svg
from ldp3.reporting.findings import Findings
from ldp3.reporting.print_charts import WIDTH, shades
from ldp3.results import names
from tests.reporting.examples import several


def test_one_outlier_takes_no_contrast_from_the_rest() -> None:
    shade = shades(np.array([[1.0, 1.25, 2.0, 1000.0, np.nan]]), "lower")
    assert shade[0, :4] == pytest.approx([1, 0.8, 0.5, 0.001])
    assert np.isnan(shade[0, 4])
    assert shades(np.array([0.5, 1.0]), "higher") == pytest.approx([0.5, 1])


def test_what_is_tied_is_painted_as_the_best_is() -> None:
    means = np.array([1.0, 1.1, 1.2])
    assert shades(means, "lower", np.array([False, True, False])).tolist()[:2] == [1, 1]


def test_without_ratios_the_median_is_in_the_middle() -> None:
    assert shades(np.array([0.0, 1.0, 2.0]), "lower") == pytest.approx([1, 0.5, 1 / 3])


def test_a_figure_is_as_wide_as_a_column_and_its_fonts_are_in_it(tmp_path: Path) -> None:
    for file in ldp3.plot(several(), tmp_path, "l1", formats=["pdf"]):
        content = file.read_bytes()
        assert f"/MediaBox [0 0 {WIDTH} ".encode() in content, file.name
        assert b"/CIDFontType2" in content  # TrueType
        assert b"/Type3" not in content  # which conferences refuse


def test_a_figure_says_what_it_shows_in_the_words_of_the_literature() -> None:
    found = Findings(several())
    heat = svg(print_charts.heat(found, "l1", 1.0))
    read = "ℓ1 (share of people) at ε = 1, in units of 0.1"
    assert all(f">{word}<" in heat for word in ("OUE", "Norm-Sub", read))
    leader = found.candidates("l1", 0.5)[0]
    lines = svg(print_charts.error(found, "l1", "protocol"))
    assert f">ℓ1 (share of people), {names.method(leader.method)}<" in lines
    assert "{metric}" not in heat + lines
    assert "var(--" not in heat + lines


def test_far_numbers_stand_on_a_logarithmic_axis_and_zeros_do_not() -> None:
    found = Findings(several())
    table = found.results.table

    def scale(value: pl.Expr) -> object:
        spec = print_charts.error(
            Findings(replace(found.results, table=table.with_columns(value=value), means=None)),
            "l1",
            "method",
        )
        return spec["layer"][1]["encoding"]["y"]["scale"].get("type")

    assert scale(1 / pl.col("epsilon") ** 3) == "log"
    assert scale(1 + pl.col("epsilon") / 10) is None
    assert scale(pl.col("epsilon") - 0.5) is None  # 0 at the strictest


def test_a_label_that_no_xml_may_hold_is_drawn_as_its_escape() -> None:
    data = Dataset("odd", Labels(["a\x00", "plain"]), np.array([90, 60]))
    found = Findings(ldp3.benchmark(data, 1.0, "grr", "norm_sub", "l1", repeats=2))
    assert found.frequencies is not None
    drawn = svg(print_charts.frequencies(found, found.frequencies, 1.0))
    assert r">a\u0000<" in drawn
    assert ">plain<" in drawn
