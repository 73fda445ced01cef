"""Tables for people."""

import pytest

from ldp3.printing import columns, escape_markdown, markdown_table

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
