from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidParameter


def written(folder: Path, content: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def test_a_column_is_chosen_by_name_or_position(tmp_path: Path) -> None:
    path = written(tmp_path, "id,page\n1,b\n2,a\n3,b\n")
    for options in ({"column": "page"}, {"column": 2, "header": True}, {"column": "2"}):
        assert ldp3.load(path, **options).histogram.tolist() == [1, 2]
    assert ldp3.load(path, column=2, header=False).n == 4


def test_a_histogram_with_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "b,2\na,1\nnobody,0\nb,3\n\n")
    data = ldp3.load(path, counts=True, keep_values=True)
    assert dict(zip(data.labels, data.histogram.tolist(), strict=True)) == {
        "a": 1,
        "b": 5,
        "nobody": 0,
    }
    assert data.values is not None
    assert data.values.tolist() == [1, 1, 0, 1, 1, 1]


def test_the_column_called_count_holds_the_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "count,page\n2,b\n1,a\n")
    assert ldp3.load(path, counts=True, header=True).histogram.tolist() == [1, 2]


def test_rows_without_a_value_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, 'a\n\nb\n""\n  \nb\n')
    data = ldp3.load(path, missing="drop", header=False, keep_values=True)
    assert data.values is not None
    assert data.values.tolist() == [0, 1, 1]
    assert data.notes == ("3 rows without a value left out.",)


def test_the_row_is_named_in_a_long_file(tmp_path: Path) -> None:
    path = written(tmp_path, "1\n2\n" * 300_000 + "x\n" + "1\n" * 300_000)
    with pytest.raises(InvalidData, match=r"row 600,001: 'x' is not in the domain"):
        ldp3.load(path, domain_size=3)


@pytest.mark.parametrize("text", ["NA", "N/A", "null", "NaN", "-", "na", ""])
@pytest.mark.parametrize("options", [{}, {"bins": 2}])
def test_texts_that_mean_no_value_are_refused_by_row(
    tmp_path: Path, text: str, options: dict[str, Any]
) -> None:
    path = written(tmp_path, f"1\n{text}\n2\n1\n")
    with pytest.raises(InvalidData, match=r"row 2 holds no value.* `missing=drop`") as caught:
        ldp3.load(path, **options)
    assert ("`missing=keep`" in str(caught.value)) == bool(text)
    assert ldp3.load(path, missing="drop", **options).n == 3


COUNTRIES = "DE\nNA\nDE\nFR\nna\n-\nn/a\nNull\nNaN\n\nFR\n"


def test_what_is_left_out_is_told_with_its_number_of_rows(tmp_path: Path) -> None:
    path = written(tmp_path, COUNTRIES)
    data = ldp3.load(path, missing="drop", header=False)
    assert data.histogram.tolist() == [2, 2]
    (note,) = data.notes
    assert note.startswith("7 rows without a value left out: 1 ")
    assert all(f"1 {text}" in note for text in ("'NA'", "'na'", "'-'", "empty"))
    with pytest.raises(InvalidData, match=r"row 2 holds no value \(7 rows in all, 1 '-', 1 'NA'"):
        ldp3.load(path, header=False)


def test_namibia_can_be_kept(tmp_path: Path) -> None:
    path = written(tmp_path, "NA\nDE\nNA\nDE\n")
    countries = written(tmp_path, "DE\nFR\nNA\n", "countries.txt")
    kept: list[dict[str, Any]] = [{"missing": "keep"}, {"na": "-"}, {"na": ""}]
    for options in kept:
        assert ldp3.load(path, header=False, **options).labels == ("DE", "NA")
    assert ldp3.load(path, header=False, domain=countries).histogram.tolist() == [2, 0, 2]


def test_other_texts_can_mean_no_value(tmp_path: Path) -> None:
    path = written(tmp_path, "DE\nNA\nUnknown\nNA\nDE\nunknown\n")
    data = ldp3.load(path, na="unknown, ?", missing="drop", header=False)
    assert data.labels == ("DE", "NA")
    assert data.notes == ("2 rows without a value left out: 1 'Unknown', 1 'unknown'.",)


def test_where_there_are_nulls_a_text_is_a_text_and_noted(tmp_path: Path) -> None:
    table = pl.DataFrame({"c": ["NA", "DE", "NA", None]})
    data = ldp3.load(table, missing="drop")
    assert data.labels == ("DE", "NA")
    assert "'NA' (2 people) is counted as a value; `na=NA` if it means none." in data.notes
    with pytest.raises(InvalidData, match="everybody holds 'DE'"):
        ldp3.load(table, missing="drop", na="NA")


def test_decimal_commas_are_read_as_points(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name;size\na;1.234,5\nb;2,25\nc;-0,5\nd;1.234\ne;7\nf;NA\n")
    data = ldp3.load(path, column="size", decimal=",", missing="drop")
    assert data.labels == ("-0.5", "2.25", "7", "1234", "1234.5")
    assert data.ordered
    cut = ldp3.load(path, column="size", decimal=",", missing="drop", bins=[-1, 0, 1000, 2000])
    assert cut.histogram.tolist() == [1, 2, 2]
    assert ldp3.load(["1,5", "2,5", "abc"], decimal=",").labels == ("1.5", "2.5", "abc")
    with pytest.raises(InvalidData, match=r"'3\.14' is not a number with a decimal comma"):
        ldp3.load(["1,5", "3.14"], decimal=",")
    with pytest.raises(InvalidData, match="are for text"):
        ldp3.load([1.5, 2.5], decimal=",")
    with pytest.raises(InvalidParameter, match="`decimal`: must be a point or a comma"):
        ldp3.load(["1,5"], decimal=";")  # type: ignore[call-overload]


def test_a_comma_separates_no_columns_where_it_is_decimal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,5\n2,5\n2,5\n")
    assert ldp3.load(tmp_path / "t.csv", decimal=",", header=False).labels == ("1.5", "2.5")


def test_dates_are_read_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("day\n20.04.2023\n21.04.2023\nNA\n20.04.2023\n01.12.2022\n")
    data = ldp3.load(path, date_format="%d.%m.%Y", missing="drop")
    assert data.labels == ("2022-12-01", "2023-04-20", "2023-04-21")
    assert data.ordered
    cut = ldp3.load(path, date_format="%d.%m.%Y", missing="drop", bins=2)
    assert cut.histogram.tolist() == [1, 3]
    with pytest.raises(InvalidData, match=r"row 2: '20.04.2023' is not a date like %m/%d/%Y"):
        ldp3.load(path, date_format="%m/%d/%Y")
    with pytest.raises(InvalidData, match=r"is not a number; `date_format=%d\.%m\.%Y`, or"):
        ldp3.load(path, bins=2, missing="drop")
    times = ["4/20/23 11:30 PM", "4/21/23 01:05 AM"]
    known = ldp3.load(times, date_format="%m/%d/%y %I:%M %p").labels
    assert known == ("2023-04-20 23:30:00", "2023-04-21 01:05:00")
    for wrong, said in ({"date_format": "dmy"}, "looks like"), ({"decimal": ","}, "give one"):
        with pytest.raises(InvalidParameter, match=said):
            ldp3.load(times, **{"date_format": "%d", **wrong})  # type: ignore[call-overload]
