"""The tables of results in every format."""

import io
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.answers import Answer, PrintedCell
from ldp3.printing import show
from ldp3.results import names, rendering
from ldp3.results.sheets import Sheet
from tests.results.test_sheets import SHEET, sheet_of


def rendered(sheet: Sheet, format: str = "text", width: int | None = None) -> str:
    return Answer(rendering.parts([sheet]), {}).render(format, width)


def test_the_scale_is_factored_out() -> None:
    assert "× 10⁻³" in rendered(SHEET)
    assert "10$^{-3}$" in rendered(SHEET, "latex")


def test_a_single_repeat_has_no_deviation() -> None:
    sheet = sheet_of({("grr", "none"): np.array([1.0])})
    assert sheet.cell("grr", "none") == PrintedCell("1.00", marks=frozenset(["best", "row"]))
    assert "a single repeat" in rendered(sheet)


def test_the_best_of_all_and_of_each_row_are_marked() -> None:
    lines = rendered(SHEET).splitlines()
    grr, oue = (next(x for x in lines if x.startswith(p)) for p in ("GRR", "OUE"))
    assert "3.70 ± 0.14 *" in grr
    assert "**" not in grr
    assert "1.20 ± 0.14 **" in oue
    assert grr.count("*") == 1


def test_ties_with_the_best_are_marked() -> None:
    sheet = sheet_of({**SHEET.runs, ("ss", "norm_sub"): SHEET.runs["oue", "norm_sub"] + 1e-5})
    assert sheet.tied >= {("ss", "norm_sub")}
    assert "1.21 ± 0.14 *≈" in rendered(sheet)
    assert r"^{\approx}$" in rendered(sheet, "latex")


def test_a_narrow_terminal_folds_the_columns() -> None:
    wide, narrow = rendered(SHEET), rendered(SHEET, width=45)
    table = narrow.split("\n\n")[2:-1]  # words and a title before, a legend after
    assert len(table) > 1
    assert all(len(line) <= 45 for part in table for line in part.splitlines())
    for column in map(names.method, SHEET.columns):
        assert any(column in part.splitlines()[0].split() for part in table)
    assert max(map(len, wide.splitlines()[4:8])) > 45


def test_columns_are_aligned() -> None:
    lines = rendered(SHEET).splitlines()[4:8]
    ends = [lines[0].index("Norm-Sub") + len("Norm-Sub")]
    ends += [line.rindex("0.14") + 4 for line in lines[1:3]]
    ends += [lines[3].rindex("%") + 1]
    assert len(set(ends)) == 1


def test_markdown_is_a_table() -> None:
    lines = [x for x in rendered(SHEET, "markdown").splitlines() if x.startswith("|")]
    assert len(lines) == 2 + 2 + 1  # head, rule, protocols, wins
    assert {line.count("|") for line in lines} == {6}
    assert "**1.20 ± 0.14** ★" in lines[3]


def test_latex_balances_and_writes_names_as_papers_do() -> None:
    source = rendered(SHEET, "latex")
    assert source.count("{") == source.count("}")
    assert "protocol & none & average & Norm & Norm-Sub" in source
    assert r"$\ell_1$ (share of people, lower is better) at $\varepsilon$ = 1" in source
    assert r"\toprule" in source
    assert r"\label{tab:small-l1-1}" in source
    assert r"\underline{\mathbf{1.20}}{\scriptstyle\pm0.14}" in source
    assert "ε" not in source


def test_latex_escapes_what_is_not_ours() -> None:
    sheet = sheet_of({("new_one", "50%"): np.ones(2)}, "my_metric", dataset=r"a_b & \input{x}")
    source = rendered(sheet, "latex")
    assert r"new\_one" in source
    assert r"50\%" in source
    assert r"my\_metric" in source
    assert r"a\_b \& \textbackslash{}input\{x\}" in source
    assert r"\label{tab:a-b-input-x-my-metric-1}" in source


def test_a_latex_table_takes_a_column_or_the_page_and_turns_before_it_is_wider() -> None:
    def wide(methods: int, protocols: int = 1) -> str:
        names = [(f"p{p}", f"m{i}") for p in range(protocols) for i in range(methods)]
        made = sheet_of({pair: np.array([1.0, 1.5]) for pair in names})
        return rendered(made, "latex")

    assert r"\begin{table}" in wide(3)
    assert r"\begin{table*}" in wide(6)
    assert "protocol & average & m0" in wide(6)
    assert "method & p0 & p1 & wins" in wide(16, 2)
    assert r"\pm0.35" in wide(16, 2)
    widest = wide(16, 16)
    assert r"\pm0.35" not in widest
    assert "mean over 2 repeats" in widest


def test_many_epsilons_stand_across_one_table() -> None:
    sheets = [replace(SHEET, at=replace(SHEET.at, epsilon=e)) for e in (0.5, 1.0, 2.0)]
    assert len(rendering.parts(sheets)) == 6  # a table and a sentence each
    made = Answer(rendering.parts([*sheets, replace(SHEET, at=replace(SHEET.at, epsilon=4.0))]), {})
    lines = made.render().splitlines()
    assert lines[2].startswith("ℓ1 (share of people, lower is better) against ε · small")
    assert lines[4].split() == ["ε", "0.5", "1", "2", "4"]
    assert lines[5].split() == ["OUE", "Norm-Sub", *(["0.0012", "**"] * 4)]
    assert len(made.render(width=30).split("\n\n")) > 4  # columns that do not fit follow below
    assert "Measured best: OUE with Norm-Sub at ε = 0.5, 1, 2 and 4." in lines[0]
    assert "Best or tied with the best at every ε are " in lines[0]


def test_the_best_is_bold_at_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.StringIO()
    monkeypatch.setattr("sys.stdout", printed)
    styled = Answer(rendering.parts([SHEET]), {}).render(colours=True)
    show(styled)
    assert "\x1b" not in printed.getvalue()
    assert printed.getvalue() == rendered(SHEET) + "\n"
    monkeypatch.setattr(printed, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("WT_SESSION", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show(styled)
    assert "\x1b[1;32m1.20 ± 0.14 **\x1b[0m" in printed.getvalue()
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        with monkeypatch.context() as here:
            here.setattr("os.environ", {**os.environ, **plain})
            printed.truncate(0)
            show(styled)
        assert "\x1b" not in printed.getvalue()
    with monkeypatch.context() as here:  # an old window of Windows
        here.setattr("os.name", "nt")
        here.delenv("WT_SESSION")
        printed.truncate(0)
        show(styled)
    assert "\x1b" not in printed.getvalue()


def test_prose_is_wrapped_at_the_width() -> None:
    assert max(map(len, rendered(SHEET, width=50).splitlines())) <= 50


def test_markdown_shows_names_as_text() -> None:
    sheet = sheet_of({("<b>", "none"): np.ones(2)}, dataset="<script>alert(1)</script>")
    assert "<script>" not in rendered(sheet, "markdown")
    assert r"\<b\>" in rendered(sheet, "markdown")


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
def test_every_form_says_what_it_shows(format: str) -> None:
    said = rendered(SHEET, format).lower()
    for word in ("lower is better", "small", "grr", "oue", "average", "wins"):
        assert word in said


@pytest.mark.parametrize("name", ["=cmd", "'=cmd", "-dash", "@x"])
def test_results_keep_the_name_of_their_data(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.txt").write_text("a\nb\na\nb\n")
    output = tmp_path / "x.csv"
    results = ldp3.benchmark(tmp_path / f"{name}.txt", 1, "grr", "norm", repeats=2, output=output)
    assert ldp3.load_results(output).table.equals(results.table)
    rows = output.read_text().splitlines()[1:]
    assert all(row.startswith(f"'{name},") for row in rows)
    assert f",'{name}," in results.render("csv")
