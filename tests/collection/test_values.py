"""Files of values: every row has a code, or is named."""

from pathlib import Path

import polars as pl
import pytest

from ldp3.collection.plan import Plan
from ldp3.collection.values import codes_in, labels_in
from ldp3.datasets.base import Reading
from ldp3.errors import InvalidData, InvalidParameter

NAMED = Plan("pages", "grr", 1.0, 3, ("home", "cart", "help"))
OPEN = Plan("pages", "grr", 1.0, 3, ("home", "cart", "help"), "help")
NUMBERED = Plan("ages", "grr", 1.0, 100)


def test_labels_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text("home\ncart\nhelp\n")
    assert labels_in(tmp_path / "pages.txt") == ["home", "cart", "help"]


def test_every_row_has_the_code_of_its_value(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("cart\n home \nhelp\n\n")
    assert codes_in(tmp_path / "values.csv", NAMED, Reading()).tolist() == [1, 0, 2]
    pl.DataFrame({"age": [0, 17, 99]}).write_parquet(tmp_path / "ages.parquet")
    assert codes_in(tmp_path / "ages.parquet", NUMBERED, Reading()).tolist() == [0, 17, 99]


def test_a_value_outside_is_named_by_row_or_becomes_other(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("home\nblog\n\ncart\n")
    with pytest.raises(InvalidData, match="row 2: 'blog' is not in the domain of 'pages'"):
        codes_in(tmp_path / "values.csv", NAMED, Reading())
    assert codes_in(tmp_path / "values.csv", OPEN, Reading()).tolist() == [0, 2, 2, 1]


@pytest.mark.parametrize("outside", ["100", "-1", "1.5", "x"])
def test_a_number_outside_is_named_by_row(tmp_path: Path, outside: str) -> None:
    (tmp_path / "ages.txt").write_text(f"99\n{outside}\n")
    with pytest.raises(InvalidData, match=f"row 2: '{outside}' is not in the domain of 'ages'"):
        codes_in(tmp_path / "ages.txt", NUMBERED, Reading())


def test_transactions_hold_more_than_one_value(tmp_path: Path) -> None:
    (tmp_path / "kosarak.dat").write_text("1 2 3\n")
    with pytest.raises(InvalidParameter, match="one value per row is needed"):
        codes_in(tmp_path / "kosarak.dat", NUMBERED, Reading())
