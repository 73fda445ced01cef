"""Tables for people."""

import json

import pytest

from ldp3.printing import (
    columns,
    escape_latex,
    escape_markdown,
    markdown_table,
    show,
    visible,
    wrapped,
)

ROWS = [["", "one", "two"], ["long name", "1", "22"], ["x", "333", "4"]]


def test_columns_are_as_wide_as_their_widest_cell_and_no_line_ends_in_blanks() -> None:
    assert columns(ROWS) == "           one  two\nlong name  1    22\nx          333  4"
    assert columns(ROWS, "lr") == "           one  two\nlong name    1   22\nx          333    4"


@pytest.mark.parametrize(("width", "blocks"), [(None, 1), (19, 1), (18, 2), (1, 2)])
def test_what_does_not_fit_follows_below_with_the_first_column_again(
    width: int | None, blocks: int
) -> None:
    parts = columns(ROWS, "lr", width).split("\n\n")
    assert len(parts) == blocks
    assert all(part.splitlines()[1].startswith("long name") for part in parts)
    assert all("two" in part for part in parts[-1:])


def test_a_markdown_table_leaves_its_cells_as_they_are() -> None:
    table = markdown_table([["a", "b", "c"], ["**1**", "x|y", ""]], "lr")
    assert table == "| a | b | c |\n| --- | ---: | ---: |\n| **1** | x|y |  |"


def test_escaped_words_hold_no_markup_that_works() -> None:
    assert escape_markdown("a|b\n*c* \\_") == r"a\|b \*c\* \\\_"


OBEYED = (
    "\x00\x07\x08\r\x1b\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\udcff"
)


def test_what_a_terminal_obeys_is_shown_as_json_writes_it() -> None:
    shown = visible(f"a\n{OBEYED}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(f'"{shown}"') == f"a\n{OBEYED}b"
    assert visible("Füße 日本 😀 \u200d‍ a\tb") == "Füße 日本 😀 \u200d‍ a\tb"  # people write these


def test_a_result_is_shown_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    show("a\x1b[2J\nb\r")
    assert capsys.readouterr().out == "a\\u001b[2J\nb\\u000d\n"


def test_a_label_cannot_make_up_a_row_of_a_table() -> None:
    table = columns([["value", "share"], ["a\nb\x1b", "1"]])
    assert table == "value           share\na\\u000ab\\u001b  1"


def test_nothing_in_a_label_is_a_command_of_latex() -> None:
    assert escape_latex(r"\input{/x}~^%") == (
        r"\textbackslash{}input\{/x\}\textasciitilde{}\textasciicircum{}\%"
    )
    assert escape_latex("a\n\n\x1b") == (
        r"a\textbackslash{}u000a\textbackslash{}u000a\textbackslash{}u001b"
    )
    assert escape_markdown("a\x1b") == r"a\\u001b"


def test_a_number_and_its_percent_stay_on_one_line() -> None:
    assert wrapped("behind by 5 %", 11) == "behind by\n5 %"


def test_wide_characters_take_two_columns() -> None:
    table = columns([["value", "share"], ["北京", "1"], ["cafe\N{COMBINING ACUTE ACCENT}", "2"]])
    assert table == "value  share\n北京   1\ncafe\N{COMBINING ACUTE ACCENT}   2"
