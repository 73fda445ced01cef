"""One way to show an answer: to people as text, Markdown or LaTeX, to programs as JSON or CSV."""

import json
from math import inf, nan
from pathlib import Path

import polars as pl
import pytest

from ldp3.answers import (
    FORMATS,
    Answer,
    Heading,
    Items,
    Mark,
    Passage,
    PrintedCell,
    PrintedColumn,
    PrintedTable,
    Snippet,
    Terms,
    plain_rows,
    read_csv,
    table,
    write_csv,
)
from ldp3.errors import LDPError

LABELS = [
    "=1+1", "'=1", "''+x", "-5x", "@a", "\tq", "'a", "'", "a,b", '"=q"', "\r=", "-", "- 5", "=",
    "+", "'-5", "a\n=b", None, "plain", "-5", "+3.2", "1e5", "-1.5e-7", "+.5",
]  # fmt: skip
NUMBERS = ("-5", "+3.2", "-1.5e-7", "+.5")
EVIL = r"<b>_x_</b> | \input{a} & 5 %"
FRAME = pl.DataFrame({"label": ["=1", EVIL], "share": [1 / 3, 2e-7], "users": [1234, None]})
SHOWN = [
    PrintedColumn("label", "value"),
    PrintedColumn("share", "share", "{:.2f}".format),
    PrintedColumn("users", "users"),
]
PARTS: list[Passage] = [
    "The verdict comes first.",
    Heading("What is ε"),
    table(FRAME, SHOWN, title="A title", legend="A legend."),
    "",
    Snippet("x = 1\ny = 2"),
    Items([]),
    Items(["one", "two"]),
    Terms({"olh(g=4)": ["Local hashing.", "Wang et al."]}),
]
ANSWER = Answer(PARTS, {"n": 5, "worst": inf, "none": nan, "values": FRAME, "few": (1, 2)})


def test_text_is_read_from_the_verdict_on_and_nothing_empty_leaves_a_gap() -> None:
    assert ANSWER.render() == (
        "The verdict comes first.\n\nWhat is ε\n─────────\n\nA title\n\n"
        "value                         share  users\n"
        "=1                             0.33   1234\n"
        "<b>_x_</b> | \\input{a} & 5 %   0.00      –\n\n"
        "A legend.\n\n    x = 1\n    y = 2\n\n· one\n· two\n\n"
        "  olh(g=4)\n      Local hashing.\n      Wang et al."
    )


def test_markdown_and_latex_say_the_same_and_obey_nothing() -> None:
    markdown, latex = ANSWER.render("markdown"), ANSWER.render("latex")
    for words in ("The verdict comes first.", "A title", "A legend.", "1234", "Local hashing."):
        assert words in markdown
        assert words in latex
    assert r"\<b\>\_x\_\</b\> \| \\input\{a\} & 5 %" in markdown
    assert r"<b>\_x\_</b> | \textbackslash{}input\{a\} \& 5 \%" in latex
    assert "```python\nx = 1\ny = 2\n```" in markdown
    assert r"\subsection*{What is $\varepsilon$}" in latex


def test_programs_get_full_numbers_under_plain_keys() -> None:
    found = json.loads(ANSWER.render("json"))
    assert found["values"] == FRAME.to_dicts()
    assert found["values"][0]["share"] == 1 / 3
    assert (found["n"], found["few"]) == (5, [1, 2])
    assert found["worst"] is found["none"] is None  # no number that JSON knows
    assert ANSWER.render("csv").splitlines()[0] == "label,share,users"
    assert ANSWER.render("csv").splitlines()[1] == f"'=1,{1 / 3!r},1234"
    other = Answer([], {"values": FRAME}, FRAME.head(1))
    assert len(other.render("csv").splitlines()) == 2


def test_a_mark_is_shown_in_every_format_and_explained_where_it_is() -> None:
    best: frozenset[Mark] = frozenset(["best", "row"])
    tied: frozenset[Mark] = frozenset(["tied"])
    rows = [
        ("a", [PrintedCell("1.2", "0.1", best), PrintedCell("3.4", "0.1")]),
        ("b", [PrintedCell("1.3", "0.1", tied), PrintedCell("–")]),
    ]
    marks: dict[Mark, str] = {
        "best": "best of all",
        "tied": "tied with it",
        "row": "best of its row",
    }
    given = PrintedTable(["", "x", "y"], rows, marks=marks)
    made = {form: Answer([given], {}).render(form) for form in ("text", "markdown", "latex")}
    assert "1.2 ± 0.1 **" in made["text"]
    assert "** best of all, ≈ tied with it, * best of its row." in made["text"]
    assert "| a | **1.2 ± 0.1** ★ | 3.4 ± 0.1 |" in made["markdown"]
    assert "★ best of all, ≈ tied with it, bold: best of its row." in made["markdown"]
    assert r"$\underline{\mathbf{1.2}}{\scriptstyle\pm0.1}$" in made["latex"]
    assert (
        r"underlined: best of all, $\approx$ tied with it, bold: best of its row." in made["latex"]
    )
    plain = PrintedTable(["", "x"], plain_rows([["a", "1"]]), marks=marks)
    assert "best" not in Answer([plain], {}).render()


def test_every_format_is_made_and_no_other() -> None:
    assert all(ANSWER.render(form) for form in FORMATS)
    with pytest.raises(LDPError, match=f"format is {', '.join(FORMATS)}, got 'pdf'"):
        ANSWER.render("pdf")


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers() -> None:
    text = write_csv(pl.DataFrame({"label": LABELS}))
    cells = pl.read_csv(text.encode(), infer_schema=False)["label"].to_list()
    assert all(c in NUMBERS or c[0] not in "=+-@\t\r" for c in cells if c)
    assert set(NUMBERS) < set(cells)


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    table = pl.DataFrame({"label": LABELS, "again": LABELS, "value": range(len(LABELS))})
    (tmp_path / "x.csv").write_text(write_csv(table), encoding="utf-8", newline="")
    kinds = {"label": pl.String, "again": pl.String}
    assert read_csv(tmp_path / "x.csv", kinds).equals(table)
