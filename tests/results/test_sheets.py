import numpy as np
import pytest

from ldp3.results import forms
from ldp3.results.pairs import Runs
from ldp3.results.sheets import Sheet

RUNS = {
    ("grr", "none"): np.array([0.0056, 0.0058]),
    ("grr", "norm"): np.array([0.0046, 0.0048]),
    ("grr", "norm_sub"): np.array([0.0036, 0.0038]),
    ("oue", "none"): np.array([0.0016, 0.0018]),
    ("oue", "norm_sub"): np.array([0.0011, 0.0013]),
}


def sheet_of(
    runs: Runs, metric: str = "l1", better: str = "lower", dataset: str = "small"
) -> Sheet:
    return Sheet(metric, dataset, 10, 3, 1.0, "none", better, (), runs)


SHEET = sheet_of(RUNS)


def test_none_and_average_come_first() -> None:
    assert SHEET.columns == ["none", "average", "norm", "norm_sub"]


def test_the_average_is_over_the_methods_other_than_none() -> None:
    assert SHEET.number("grr", "average") == "4.20 ± 0.14"
    assert SHEET.number("oue", "average") == SHEET.number("oue", "norm_sub")


def test_one_method_needs_no_average() -> None:
    runs = {k: v for k, v in RUNS.items() if k[1] != "norm"}
    assert sheet_of(runs).columns == ["none", "norm_sub"]


def test_the_scale_is_factored_out() -> None:
    assert SHEET.exponent == -3
    assert "× 10⁻³" in forms.text(SHEET)
    assert "10^{-3}" in forms.latex(SHEET)


def test_zeros_have_no_scale() -> None:
    assert sheet_of({("grr", "none"): np.zeros(2)}).exponent == 0


def test_what_does_not_apply_is_a_dash() -> None:
    assert SHEET.number("oue", "norm") == "–"


def test_a_single_repeat_has_no_deviation() -> None:
    sheet = sheet_of({("grr", "none"): np.array([1.0])})
    assert sheet.number("grr", "none") == "1.00"
    assert "a single repeat" in forms.text(sheet)


def test_the_best_of_all_and_of_each_row_are_marked() -> None:
    lines = forms.text(SHEET).splitlines()
    grr, oue = (next(x for x in lines if x.startswith(p)) for p in ("grr", "oue"))
    assert "3.70 ± 0.14 *" in grr
    assert "**" not in grr
    assert "1.20 ± 0.14 **" in oue
    assert grr.count("*") == 1


def test_ties_with_the_best_are_marked() -> None:
    sheet = sheet_of({**RUNS, ("ss", "norm_sub"): RUNS["oue", "norm_sub"] + 1e-5})
    assert sheet.tied >= {("ss", "norm_sub")}
    assert "1.21 ± 0.14 *≈" in forms.text(sheet)
    assert r"^{\approx}$" in forms.latex(sheet)


def test_higher_metrics_mark_the_highest() -> None:
    assert sheet_of(RUNS, "ndcg", "higher").best == ("grr", "none")


def test_a_narrow_terminal_folds_the_columns() -> None:
    wide, narrow = forms.text(SHEET), forms.text(SHEET, width=45)
    table = narrow.split("\n\n")[1:-2]  # a title before, words after
    assert len(table) > 1
    assert all(len(line) <= 45 for part in table for line in part.splitlines())
    for column in SHEET.columns:
        assert any(column in part.splitlines()[0].split() for part in table)
    assert max(map(len, wide.splitlines()[2:6])) > 45


def test_columns_are_aligned() -> None:
    lines = forms.text(SHEET).splitlines()[2:6]
    ends = [lines[0].index("norm_sub") + len("norm_sub")]
    ends += [line.rindex("0.14") + 4 for line in lines[1:3]]
    ends += [lines[3].rindex("%") + 1]
    assert len(set(ends)) == 1


def test_markdown_is_a_table() -> None:
    lines = [x for x in forms.markdown(SHEET).splitlines() if x.startswith("|")]
    assert len(lines) == 2 + 2 + 1  # head, rule, protocols, wins
    assert {line.count("|") for line in lines} == {6}
    assert "**1.20 ± 0.14** ★" in lines[3]


def test_latex_balances_and_escapes() -> None:
    source = forms.latex(SHEET)
    assert source.count("{") == source.count("}")
    assert r"norm\_sub" in source
    assert r"\toprule" in source
    assert r"\mathbf{1.20 \pm 0.14}" in source
    assert "ε" not in source


def test_markdown_shows_names_as_text() -> None:
    sheet = sheet_of({("<b>", "none"): np.ones(2)}, dataset="<script>alert(1)</script>")
    assert "<script>" not in forms.markdown(sheet)
    assert r"\<b\>" in forms.markdown(sheet)


@pytest.mark.parametrize("render", [forms.text, forms.markdown, forms.latex])
def test_every_form_says_what_it_shows(render: object) -> None:
    text = render(SHEET)  # type: ignore[operator]
    for word in ("l1", "lower is better", "small", "grr", "oue", "average", "wins"):
        assert word in text
