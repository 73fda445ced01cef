from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.domain import Bins, Grid
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from ldp3.reading.cutting import cell


def test_bins_of_equal_width_cover_what_occurs() -> None:
    data = ldp3.load([0.0, 1.0, 2.5, 5.0, 10.0], bins=4, keep_values=True)
    assert data.labels == ("[0, 2.5)", "[2.5, 5)", "[5, 7.5)", "[7.5, 10]")
    assert data.histogram.tolist() == [2, 1, 1, 1]
    assert data.positions is not None
    assert data.positions.tolist() == [1.25, 3.75, 6.25, 8.75]
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 1, 2, 3]


def test_bins_agree_with_numpy() -> None:
    numbers = ldp3.stream(0, "bins").normal(size=10_000)
    assert (ldp3.load(numbers, bins=37).histogram == np.histogram(numbers, 37)[0]).all()


def test_bins_within_a_range_leave_others_out_and_say_so() -> None:
    data = ldp3.load(range(10), bins=2, within=(2, 6))
    assert data.labels == ("[2, 4)", "[4, 6)")
    assert data.histogram.tolist() == [2, 2]
    assert data.notes == ("6 people outside the range left out.",)


def test_numbers_outside_a_range_are_clipped_to_it_if_that_is_said() -> None:
    data = ldp3.load(range(10), bins=2, within=(2, 6), clip=True)
    assert data.domain == ldp3.Bins([2, 4, 6]).clipped()
    assert data.histogram.tolist() == [4, 6]
    assert data.notes == ("6 people outside the range clipped to it.",)
    with pytest.raises(InvalidParameter, match="`clip` is for `bins`"):
        ldp3.load(range(10), clip=True)
    with pytest.raises(InvalidParameter, match="`clip` is for `bins` of numbers"):
        ldp3.load(["2024-01-01", "2024-02-01"], bins=2, clip=True)


def test_bins_with_given_edges() -> None:
    data = ldp3.load([17, 18, 64, 65, 3], bins=[0, 18, 65, 120])
    assert data.labels == ("[0, 18)", "[18, 65)", "[65, 120)")
    assert data.histogram.tolist() == [2, 2, 1]


def test_bin_labels_have_enough_digits_to_differ() -> None:
    labels = ldp3.load([1.0, 1.00001], bins=3).labels
    assert len(set(labels)) == 3


def test_a_grid_goes_row_by_row_and_the_first_column_gives_the_row(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("lat,lon\n0,0\n0,9\n0,9\n9,5\n")
    data = ldp3.load(path, column=["lat", "lon"], grid=(2, 3), keep_values=True)
    assert data.labels == ("r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2")
    assert data.histogram.tolist() == [1, 0, 2, 0, 1, 0]
    assert data.values is not None
    assert data.values.tolist() == [0, 2, 2, 4]


def test_a_histogram_of_cells_is_coarsened_exactly(tmp_path: Path) -> None:
    fine = ldp3.stream(0, "cells").integers(50, size=(256, 256))
    rows = (f"{r},{c},{fine[r, c]}\n" for r in range(256) for c in range(256))
    path = tmp_path / "cells.csv"
    path.write_text("row,column,count\n" + "".join(rows))
    options: dict[str, Any] = {"grid": (15, 15), "within": ((0, 255), (0, 255))}
    data = ldp3.load(path, column=["row", "column"], counts=True, **options)
    coarse = fine[:255, :255].reshape(15, 17, 15, 17).sum(axis=(1, 3))
    assert (data.histogram == coarse.ravel()).all()
    assert data.notes[0].endswith("people outside the range left out.")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            "age\n3\n4\n",
            {"bins": 2, "header": False},
            "row 1: 'age' is not a number, or use `header`",
        ),
        ("3\nx\n4\n", {"bins": 2}, "row 2: 'x' is not a number."),
        ("3\ninf\n4\n", {"bins": 2}, "row 2: 'inf' is not a number."),
        ("3\n\n4\n", {"bins": 2}, "row 2 holds no value"),
        ("3\n3\n", {"bins": 2}, "everybody holds 3; at least two"),
        ("3\n4\n", {"bins": 2, "within": (5, 6)}, "nobody lies inside the range"),
        ("3,4\n4,\n", {"grid": (2, 2)}, "row 2 holds no value"),
        ("3\n4\n", {"grid": (2, 2)}, "has 1 column .*; choose two with `column`"),
        ("3\n4\n", {"bins": 0}, "`bins`: a number from 2 to 16,777,216, got 0"),
        ("3\n4\n", {"bins": [3, 2, 1]}, "`bins`: three or more rising edges"),
        ("3\n4\n", {"bins": "few"}, "`bins`: .*quantiles:20, .* rising edges, got 'few'"),
        ("2013-01-05,1\n2013-01-06,2\n", {"grid": (2, 2)}, "one of these columns holds dates"),
        ("3\n3.0000000000000004\n", {"bins": 9}, "9 bins are too many between 3 and 3.00"),
        ("3\n4\n", {"bins": 2, "within": (6, 5)}, "`within`: low:high for `bins`, got '6:5'"),
        ("3\n4\n", {"within": (5, 6)}, "`within` is the range of `bins` or `grid`"),
        ("3\n4\n", {"bins": 2, "top": 2}, "`top` and `bins` each decide the domain"),
    ],
)
def test_what_cannot_be_cut_is_said_in_one_line(
    tmp_path: Path, content: str, options: dict[str, Any], message: str
) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text(content)
    with pytest.raises(LDPError, match=message) as caught:
        ldp3.load(path, **options)
    assert isinstance(caught.value, InvalidData | InvalidParameter)
    assert "\n" not in str(caught.value)


def test_blank_lines_at_the_end_are_no_users(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("3\n4\n\n")
    assert ldp3.load(path, bins=2).n == 2


def test_rows_without_a_number_can_be_dropped() -> None:
    data = ldp3.load(np.array([1.0, np.nan, 3.0]), bins=2, missing="drop")
    assert data.histogram.tolist() == [1, 1]
    assert data.notes == ("1 row without a value left out.",)


def test_dates_are_binned_by_whole_days() -> None:
    days = ["2013-01-01", "2013-02-01", "2013-12-31", "2013-12-31"]
    data = ldp3.load(days, bins=4, keep_values=True)
    assert data.labels[0] == "[2013-01-01, 2013-04-02)"
    assert data.labels[-1] == "[2013-10-01, 2013-12-31]"
    assert data.histogram.tolist() == [2, 0, 0, 2]
    assert data.ordered
    assert data.positions is not None
    assert data.positions[0] == np.datetime64("2013-02-15").astype(int) + 0.5


@pytest.mark.parametrize("kind", ["text", "date", "datetime", "slashes", "moments"])
def test_dates_of_every_kind_fall_into_the_bins_of_their_days(kind: str) -> None:
    numbers = ldp3.stream(0, "days").integers(15_000, 16_000, size=2_000)
    days: Any = pl.Series(numbers).cast(pl.Int32).cast(pl.Date)
    if kind == "datetime":
        days = days.cast(pl.Datetime)
    elif kind != "date":
        form = {"text": "%Y-%m-%d", "slashes": "%Y/%m/%d", "moments": "%Y-%m-%dT12:00:00"}[kind]
        days = days.dt.strftime(form)
    edges = ["2011-01-26", "2012-01-01", "2012-07-01", "2014-01-01"]
    data = ldp3.load(days, bins=edges)
    cuts = np.array(edges, dtype="datetime64[D]").astype(int)
    assert (data.histogram == np.histogram(numbers, cuts)[0]).all()
    equal = ldp3.load(days, bins=8, within=("2011-01-26", "2014-01-01"))  # of 133.9 days each
    width = np.linspace(cuts[0], cuts[-1], 9)
    assert (equal.histogram == np.histogram(numbers + (kind == "moments") / 2, width)[0]).all()


def test_moments_keep_their_time_in_the_labels() -> None:
    data = ldp3.load(["2013-01-01 10:00:00", "2013-01-01 11:00:00"], bins=2)
    assert data.labels[0] == "[2013-01-01 10:00:00, 2013-01-01 10:30:00)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 9}, "9 bins are too many for 2 days"),
        ({"bins": [1, 2, 3]}, r"as dates like 2013-02-01, got '1,2,3'"),
        ({"bins": 2, "within": (0, 9)}, "as dates like 2013-02-01, got '0:9'"),
    ],
)
def test_dates_that_cannot_be_cut(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LDPError, match=message):
        ldp3.load(["2013-01-01", "2013-01-03"], **options)


def test_a_date_unlike_the_others_is_named(tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    path.write_text("day\n" + "2013-01-01\n" * 2_000 + "1.2.2013\n")
    with pytest.raises(InvalidData, match=r"row 2,002: '1.2.2013' is not a date like the others"):
        ldp3.load(path, bins=2)


def test_bins_of_equally_many_users() -> None:
    numbers = ldp3.stream(0, "quantiles").normal(size=1_000)
    data = ldp3.load(numbers, bins="quantiles:8")
    assert data.histogram.tolist() == [125] * 8
    assert data.ordered
    within = ldp3.load(numbers, bins="quantiles:8", within=(-1, 1))
    assert np.ptp(within.histogram) <= 1
    assert within.n == ((numbers >= -1) & (numbers < 1)).sum()


def test_quantiles_weigh_values_by_their_users() -> None:
    table = pl.DataFrame({"value": [1.0, 2.0, 3.0, 4.0], "count": [1, 1, 2, 4]})
    assert ldp3.load(table, counts=True, bins="quantiles:2").histogram.tolist() == [4, 4]
    assert ldp3.load([1] * 4 + [2] * 4 + [3] * 2, bins="quantiles:2").histogram.tolist() == [4, 6]


def test_many_equal_values_make_fewer_bins_of_equally_many_users() -> None:
    data = ldp3.load([1] * 90 + [2, 3, 4], bins="quantiles:4")
    assert data.d < 4
    assert data.n == 93
    assert f"Only {data.d} bins: many people hold the same value." in data.notes


def test_bins_on_a_log_scale() -> None:
    data = ldp3.load([1, 2, 10, 99, 100, 1000], bins="log:3")
    assert data.labels == ("[1, 10)", "[10, 100)", "[100, 1000]")
    assert data.histogram.tolist() == [2, 2, 2]
    assert data.ordered
    with pytest.raises(InvalidData, match="the smallest number, 0, has no logarithm; give a range"):
        ldp3.load([0, 1, 2], bins="log:3")
    assert ldp3.load([0, 1, 2, 3], bins="log:2", within=(1, 4)).histogram.tolist() == [1, 2]


def test_a_decimal_comma_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("price;day\n1,5;1/31/2013\n2,5;2/1/2013\n")
    with pytest.raises(InvalidData, match=r"'1/31/2013' is not a number; `date_format=%d\.%m\.%Y`"):
        ldp3.load(path, column="day", bins=2)
    with pytest.raises(InvalidData, match="row 2: '1,5' is not a number; `decimal=,` reads"):
        ldp3.load(path, column="price", bins=2)


NUMBERS = st.floats(-1e6, 1e6) | st.integers(-20, 20).map(lambda tenths: tenths / 10)
EDGES = st.lists(NUMBERS, min_size=3, max_size=9, unique=True).map(sorted)


@given(EDGES, st.booleans(), st.booleans(), st.booleans(), st.lists(NUMBERS, max_size=20))
def test_a_column_is_cut_as_each_of_its_numbers(
    edges: list[float], low: bool, high: bool, closed: bool, numbers: list[float]
) -> None:
    ends = [*([-np.inf] if low else []), *edges, *([np.inf] if high else [])]
    domain, numbers = Bins(ends, closed), [*numbers, *edges]
    found = pl.DataFrame({"x": numbers}).select(cell(domain, "x")).to_series()
    assert found.to_list() == [domain.place(number) for number in numbers]


@given(EDGES, EDGES, st.booleans(), st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_two_columns_are_cut_as_each_of_their_pairs(
    rows: list[float], columns: list[float], closed: bool, pairs: list[tuple[float, float]]
) -> None:
    domain = Grid(rows, columns, closed)
    pairs = [*pairs, *((row, column) for row in rows for column in columns)]
    frame = pl.DataFrame(pairs, schema=["x", "y"], orient="row")
    found = frame.select(cell(domain, "x", "y")).to_series()
    assert found.to_list() == [domain.place(pair) for pair in pairs]


@pytest.mark.parametrize("text", ["0.3", "+.3", "3e-1", " 0.3 ", "00.3", "0.30000000000000000001"])
def test_a_number_in_a_file_is_the_number_that_a_client_reads(text: str) -> None:
    data = ldp3.load(["0", text, "1"], bins=10, within=(0, 2), keep_values=True)
    assert data.values is not None
    assert data.values[1] == data.domain.code(text) == 1


def test_a_number_on_an_edge_is_in_the_bin_that_begins_there() -> None:
    tenths = [k / 10 for k in range(10)]
    data = ldp3.load(tenths, bins=10, within=(0, 1))
    assert data.histogram.tolist() == [1] * 10
    table = pl.DataFrame({"x": tenths, "y": tenths})
    grid = ldp3.load(table, grid=(10, 10), within=((0, 1), (0, 1)))
    assert grid.histogram.reshape(10, 10).tolist() == np.eye(10).tolist()


def test_ends_may_be_open() -> None:
    data = ldp3.load([-5, 3, 900], bins=[-np.inf, 0, 18, np.inf])
    assert data.histogram.tolist() == [1, 1, 1]
    assert data.labels == ("[-inf, 0)", "[0, 18)", "[18, inf)")
