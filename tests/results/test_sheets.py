import io
import os
from dataclasses import replace

import numpy as np
import pytest

from ldp3.printing import show, unstyled
from ldp3.results import forms, latex, names
from ldp3.results.pairs import Runs
from ldp3.results.sheets import Sheet
from ldp3.results.winner import winner

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


def text(sheet: Sheet, width: int | None = None) -> str:
    return unstyled(forms.text(sheet, width))


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
    assert "× 10⁻³" in text(SHEET)
    assert "10^{-3}" in latex.table(SHEET)


def test_zeros_have_no_scale() -> None:
    assert sheet_of({("grr", "none"): np.zeros(2)}).exponent == 0


def test_what_does_not_apply_is_a_dash() -> None:
    assert SHEET.number("oue", "norm") == "–"


def test_a_single_repeat_has_no_deviation() -> None:
    sheet = sheet_of({("grr", "none"): np.array([1.0])})
    assert sheet.number("grr", "none") == "1.00"
    assert "a single repeat" in text(sheet)


def test_the_best_of_all_and_of_each_row_are_marked() -> None:
    lines = text(SHEET).splitlines()
    grr, oue = (next(x for x in lines if x.startswith(p)) for p in ("GRR", "OUE"))
    assert "3.70 ± 0.14 *" in grr
    assert "**" not in grr
    assert "1.20 ± 0.14 **" in oue
    assert grr.count("*") == 1


def test_ties_with_the_best_are_marked() -> None:
    sheet = sheet_of({**RUNS, ("ss", "norm_sub"): RUNS["oue", "norm_sub"] + 1e-5})
    assert sheet.tied >= {("ss", "norm_sub")}
    assert "1.21 ± 0.14 *≈" in text(sheet)
    assert r"^{\approx}$" in latex.table(sheet)


def test_higher_metrics_mark_the_highest() -> None:
    assert sheet_of(RUNS, "ndcg", "higher").best == ("grr", "none")


def test_a_narrow_terminal_folds_the_columns() -> None:
    wide, narrow = text(SHEET), text(SHEET, width=45)
    table = narrow.split("\n\n")[1:-2]  # a title before, words after
    assert len(table) > 1
    assert all(len(line) <= 45 for part in table for line in part.splitlines())
    for column in map(names.method, SHEET.columns):
        assert any(column in part.splitlines()[0].split() for part in table)
    assert max(map(len, wide.splitlines()[2:6])) > 45


def test_columns_are_aligned() -> None:
    lines = text(SHEET).splitlines()[2:6]
    ends = [lines[0].index("Norm-Sub") + len("Norm-Sub")]
    ends += [line.rindex("0.14") + 4 for line in lines[1:3]]
    ends += [lines[3].rindex("%") + 1]
    assert len(set(ends)) == 1


def test_markdown_is_a_table() -> None:
    lines = [x for x in forms.markdown(SHEET).splitlines() if x.startswith("|")]
    assert len(lines) == 2 + 2 + 1  # head, rule, protocols, wins
    assert {line.count("|") for line in lines} == {6}
    assert "**1.20 ± 0.14** ★" in lines[3]


def test_latex_balances_and_writes_names_as_papers_do() -> None:
    source = latex.table(SHEET)
    assert source.count("{") == source.count("}")
    assert "protocol & none & average & Norm & Norm-Sub" in source
    assert r"$\ell_1$ (lower is better) at $\varepsilon = 1$" in source
    assert r"\toprule" in source
    assert r"\label{tab:small-l1-1}" in source
    assert r"\underline{\mathbf{1.20}}{\scriptstyle\pm0.14}" in source
    assert "ε" not in source


def test_latex_escapes_what_is_not_ours() -> None:
    sheet = sheet_of({("new_one", "50%"): np.ones(2)}, "my_metric", dataset=r"a_b & \input{x}")
    source = latex.table(sheet)
    assert r"new\_one" in source
    assert r"50\%" in source
    assert r"my\_metric" in source
    assert r"a\_b \& \textbackslash{}input\{x\}" in source
    assert r"\label{tab:a-b-input-x-my-metric-1}" in source


def test_a_latex_table_takes_a_column_or_the_page_and_turns_before_it_is_wider() -> None:
    def wide(methods: int, protocols: int = 1) -> str:
        names = [(f"p{p}", f"m{i}") for p in range(protocols) for i in range(methods)]
        return latex.table(sheet_of({pair: np.array([1.0, 1.5]) for pair in names}))

    assert r"\begin{table}" in wide(3)
    assert r"\begin{table*}" in wide(6)
    assert "protocol & average & m0" in wide(6)
    assert "method & p0 & p1 & wins" in wide(16, 2)
    assert r"\pm0.35" in wide(16, 2)
    assert r"\pm0.35" not in wide(16, 16)
    assert "Mean over 2 repeats" in wide(16, 16)


def test_the_winner_keeps_its_digits_beside_what_is_far_worse() -> None:
    sheet = sheet_of({("grr", "none"): np.array([313.0, 320.0]),
                      ("oue", "none"): np.array([0.02, 0.0214])})  # fmt: skip
    assert sheet.number("oue", "none") == "2.07 ± 0.10"
    assert sheet.number("grr", "none") == "31,650 ± 495"


def test_a_score_of_which_more_is_better_is_read_as_it_is() -> None:
    sheet = sheet_of({("grr", "none"): np.array([0.98, 0.97])}, "ndcg", "higher")
    assert (sheet.exponent, sheet.number("grr", "none")) == (0, "0.975 ± 0.007")


def test_many_epsilons_stand_across_one_table() -> None:
    sheets = [replace(SHEET, epsilon=e) for e in (0.5, 1.0, 2.0)]
    assert len(forms.texts(sheets)) == 3
    (made,) = map(unstyled, forms.texts([*sheets, replace(SHEET, epsilon=4.0)]))
    lines = made.splitlines()
    assert lines[0].startswith("ℓ1 (lower is better) against ε · small")
    assert lines[2].split() == ["ε", "0.5", "1", "2", "4"]
    assert lines[3].split() == ["OUE", "Norm-Sub", *(["0.00120", "**"] * 4)]
    assert len(forms.against_epsilon(sheets, width=30).split("\n\n")) > 3
    assert "Measured best: OUE with Norm-Sub at ε = 0.5, 1, 2 and 4." in lines[-1]
    assert "Best or tied with the best at every ε: " in lines[-1]


def test_the_best_is_bold_at_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    monkeypatch.setattr("sys.stdout", printed)
    show(forms.text(SHEET))
    assert "\x1b" not in printed.getvalue()
    assert printed.getvalue() == text(SHEET) + "\n"
    monkeypatch.setattr(printed, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("WT_SESSION", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(forms.text(SHEET))
    assert "\x1b[1;32m1.20 ± 0.14 **\x1b[0m" in printed.getvalue()
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with monkeypatch.context() as here:
            here.setattr("os.environ", {**os.environ, **plain})
            printed.truncate(0)
            show(forms.text(SHEET))
        assert "\x1b" not in printed.getvalue()
    with monkeypatch.context() as here:  # an old window of Windows
        here.setattr("os.name", "nt")
        here.delenv("WT_SESSION")
        printed.truncate(0)
        show(forms.text(SHEET))
    assert "\x1b" not in printed.getvalue()


def test_prose_is_wrapped_at_the_width() -> None:
    assert max(map(len, text(SHEET, width=50).splitlines())) <= 50


def test_markdown_shows_names_as_text() -> None:
    sheet = sheet_of({("<b>", "none"): np.ones(2)}, dataset="<script>alert(1)</script>")
    assert "<script>" not in forms.markdown(sheet)
    assert r"\<b\>" in forms.markdown(sheet)


@pytest.mark.parametrize("render", [text, forms.markdown, latex.table])
def test_every_form_says_what_it_shows(render: object) -> None:
    said = render(SHEET).lower()  # type: ignore[operator]
    for word in ("lower is better", "small", "grr", "oue", "average", "wins"):
        assert word in said


def test_of_many_with_the_same_numbers_two_are_named() -> None:
    alike = {("grr", m): np.array([1.0, 1.1]) for m in ("none", "norm", "norm_sub", "norm_cut")}
    said = winner(sheet_of({**alike, ("oue", "none"): np.array([7.0, 9.0])}))
    assert said.startswith(
        "GRR without post-processing, GRR with Norm and 2 more (the same numbers)"
    )
