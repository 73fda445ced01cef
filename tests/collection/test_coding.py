"""Files of values: every row has a code, or is named."""

from pathlib import Path

import polars as pl
import pytest

from ldp3.collection.coding import codes_in, labels_in
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.reading.options import Reading

NAMED = Plan("pages", "grr", 1.0, 3, ("home", "cart", "help"))
OPEN = Plan("pages", "grr", 1.0, 3, ("home", "cart", "help"), "help")
BINNED = Plan("ages", "grr", 1.0, bins=(0, 18, 65, 120), other="no answer")
NUMBERED = Plan("ages", "grr", 1.0, 100)


def test_labels_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text("home\ncart\nhelp\n")
    assert labels_in(tmp_path / "pages.txt") == ["home", "cart", "help"]


def test_every_row_has_the_code_of_its_value(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("cart\n home \nhelp\n\n")
    assert codes_in(tmp_path / "values.csv", NAMED, Reading()).codes.tolist() == [1, 0, 2]
    pl.DataFrame({"age": [0, 17, 99]}).write_parquet(tmp_path / "ages.parquet")
    assert codes_in(tmp_path / "ages.parquet", NUMBERED, Reading()).codes.tolist() == [0, 17, 99]


def test_a_value_outside_is_named_by_row_or_becomes_other(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("home\nblog\n\ncart\n")
    with pytest.raises(InvalidData, match="row 2: 'blog' is not in the domain of 'pages'"):
        codes_in(tmp_path / "values.csv", NAMED, Reading())
    found = codes_in(tmp_path / "values.csv", OPEN, Reading(missing="drop"))
    assert found.codes.tolist() == [0, 2, 1]
    assert found.notes[-2:] == (
        "1 row without a value left out.",
        "1 row outside the domain became 'help'.",
    )


@pytest.mark.parametrize("plan", [NAMED, OPEN, BINNED], ids=["labels", "other", "bins"])
def test_a_row_without_a_value_is_refused_or_left_out_and_never_other(
    tmp_path: Path, plan: Plan
) -> None:
    rows = ["17", "", "  ", "99"] if plan.bins else ["home", "", "  ", "cart"]
    (tmp_path / "values.txt").write_text("\n".join(rows) + "\n\n")
    with pytest.raises(InvalidData, match=r"row 2 holds no value \(2 rows in all\)"):
        codes_in(tmp_path / "values.txt", plan, Reading())
    found = codes_in(tmp_path / "values.txt", plan, Reading(missing="drop"))
    assert len(found.codes) == 2
    assert found.notes == ("2 rows without a value left out.",)


def test_a_null_and_nan_are_no_values(tmp_path: Path) -> None:
    pl.DataFrame({"age": [17.0, None, float("nan"), 130.0]}).write_parquet(tmp_path / "a.parquet")
    found = codes_in(tmp_path / "a.parquet", BINNED, Reading(missing="drop"))
    assert found.codes.tolist() == [0, 3]
    assert found.notes[0] == "2 rows without a value left out."


def test_what_may_be_a_header_never_becomes_other(tmp_path: Path) -> None:
    rows = ["page", "home", "cart", "home"]
    (tmp_path / "values.csv").write_text("\n".join(rows) + "\n")
    with pytest.raises(InvalidData, match="may be a header or a user"):
        codes_in(tmp_path / "values.csv", OPEN, Reading())
    assert len(codes_in(tmp_path / "values.csv", OPEN, Reading(header=True)).codes) == 3
    kept = codes_in(tmp_path / "values.csv", OPEN, Reading(header=False))
    assert kept.codes[0] == OPEN.code("help")
    assert kept.notes[-1] == "1 row outside the domain became 'help'."


def test_a_word_over_numbers_is_a_header(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("age\n17\n99\n17\n")
    assert len(codes_in(tmp_path / "values.csv", BINNED, Reading()).codes) == 3


def test_a_file_is_cut_as_a_client_cuts(tmp_path: Path) -> None:
    texts = ["0", "17.999", "18", " 65", "64.999", "119.9", "1e1", "-1", "120", "abc", "inf"]
    (tmp_path / "ages.txt").write_text("\n".join(texts) + "\n")
    found = codes_in(tmp_path / "ages.txt", BINNED, Reading())
    assert found.codes.tolist() == [BINNED.code(text) for text in texts]
    assert found.codes.tolist() == [0, 0, 1, 2, 1, 2, 0, 3, 3, 3, 3]
    strict = Plan("ages", "grr", 1.0, bins=(0, 18, 65, 120))
    with pytest.raises(InvalidData, match="row 8: '-1' is not in the domain of 'ages'"):
        codes_in(tmp_path / "ages.txt", strict, Reading())


@pytest.mark.parametrize("outside", ["100", "-1", "1.5", "x"])
def test_a_number_outside_is_named_by_row(tmp_path: Path, outside: str) -> None:
    (tmp_path / "ages.txt").write_text(f"99\n{outside}\n")
    with pytest.raises(InvalidData, match=f"row 2: '{outside}' is not in the domain of 'ages'"):
        codes_in(tmp_path / "ages.txt", NUMBERED, Reading())


def test_transactions_hold_more_than_one_value(tmp_path: Path) -> None:
    (tmp_path / "kosarak.dat").write_text("1 2 3\n")
    with pytest.raises(InvalidParameter, match="one value per row is needed"):
        codes_in(tmp_path / "kosarak.dat", NUMBERED, Reading())


@pytest.mark.parametrize("plan", [OPEN, BINNED], ids=["labels", "bins"])
def test_a_text_that_means_no_value_is_none_unless_the_plan_names_it(
    tmp_path: Path, plan: Plan
) -> None:
    rows = ["17", "n/a", "", "99", "NA"] if plan.bins else ["home", "n/a", "", "cart", "NA"]
    (tmp_path / "values.txt").write_text("\n".join(rows) + "\n\n")
    with pytest.raises(InvalidData, match="row 2 holds no value"):
        codes_in(tmp_path / "values.txt", plan, Reading())
    found = codes_in(tmp_path / "values.txt", plan, Reading(missing="drop"))
    assert len(found.codes) == 2
    assert found.notes[0].startswith("3 rows without a value left out")
    assert "1 'NA'" in found.notes[0]
    countries = Plan("countries", "grr", 1.0, labels=("NA", "ZA"))
    (tmp_path / "countries.txt").write_text("NA\nZA\nNA\n")
    assert codes_in(tmp_path / "countries.txt", countries, Reading()).codes.tolist() == [0, 1, 0]
