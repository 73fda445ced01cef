import inspect
from dataclasses import fields
from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.domain import Bins, Grid, Integers
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from ldp3.reading.options import Reading


def test_keep_and_a_list_of_texts_contradict_each_other() -> None:
    with pytest.raises(InvalidParameter, match="`missing=keep` and `na` contradict"):
        ldp3.load(["a", "b"], missing="keep", na="NA")


def test_the_library_takes_exactly_the_options_of_a_reading() -> None:
    taken = [p for p in inspect.signature(ldp3.load).parameters.values() if p.name != "source"]
    defaults = {p.name: p.default for p in taken}
    assert defaults == {f.name: f.default for f in fields(Reading)}


def test_every_option_of_a_reading_is_explained() -> None:
    doc = inspect.getdoc(Reading) or ""
    assert all(f"\n{f.name}\n    " in doc for f in fields(Reading))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pick": "biggest"}, "`pick`: must be one of most_frequent, first, last, random"),
        ({"missing": "leave"}, "`missing`: must be one of refuse, drop, keep, got 'leave'"),
        ({"top": 1}, "`top`: must be an integer from 2"),
        ({"top": "x"}, "`top`: must be an integer from 2"),
        ({"domain_size": 2, "top": 3}, "`domain_size` and `top` each decide the domain"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ldp3.load(["a", "b"], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"other": "x"}, "`other` stands for what `top` or `domain` leaves out"),
        ({"other": "x", "bins": 2}, "`other` stands for what"),
        ({"other": " ", "top": 2}, "`other`: must be a label"),
    ],
)
def test_other_without_anything_left_out_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ldp3.load(["a", "b"], **options)


PAGES = ["home", "cart", "home", "help", "home", "cart"]


def test_options_take_lists() -> None:
    ages = [3, 17, 18, 40, 70]
    edges = ldp3.load(ages, bins=[0, 18, 65, 120])
    assert edges.domain == Bins([0, 18, 65, 120])
    same: list[Any] = [
        np.array([0, 18, 65, 120]),
        ("0", 18, " 65 ", 120.0),
        pl.Series([0, 18, 65, 120]),
    ]
    for bins in same:
        assert ldp3.load(ages, bins=bins).domain == edges.domain
    cut = ldp3.load(ages, bins=4, within=(0, 100))
    assert cut.domain == Bins([0, 25, 50, 75, 100])
    ranges: list[Any] = [[0.0, 100.0], np.array([0, 100]), ("0", "100"), [(0, 100)]]
    for within in ranges:
        assert ldp3.load(ages, bins=4, within=within).digest == cut.digest
    named = ldp3.load(PAGES, domain=["help", "home", "cart", "search"])
    assert list(named.labels) == ["help", "home", "cart", "search"]
    assert named.histogram.tolist() == [1, 3, 2, 0]
    assert ldp3.load(ages, domain=range(100)).domain == Integers(100)


def test_columns_and_grids_take_lists() -> None:
    table = pl.DataFrame({"a,b": [0.0, 1, 2, 3], "c": [0.0, 1, 2, 3], "user": [1, 2, 3, 4]})
    within = ((0, 4), (0, 4))
    expected = Grid([0, 2, 4], [0, 2, 4], name="a,b, c")
    for column in (["a,b", "c"], ("a,b", "c"), [1, 2], ["1", np.int64(2)]):
        given = ldp3.load(table, column=column, grid=(2, 2), within=within)  # type: ignore[arg-type]
        assert given.domain == expected
    assert ldp3.load(table, column=["user"]).d == 4
    assert ldp3.load(table, column="a,b").domain.name == "a,b"
    with pytest.raises(InvalidData, match="has no column 'a,c'"):
        ldp3.load(table, column="a,c")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"domain": ["a", "a"]}, "`domain` holds at least two values"),
        ({"domain": ["a", ""]}, "`domain` holds at least two values"),
        ({"domain": 42}, "`domain` takes a list, got 42"),
        ({"bins": [0, 5]}, "three or more rising edges"),
        ({"bins": [0, None, 5]}, "`bins` takes numbers or dates, got None"),
        ({"bins": True}, "`bins` takes a list, got True"),
        ({"bins": 1}, "`bins`: a number from 2 to 16,777,216, got 1"),
        ({"bins": 2.5}, "`bins` takes a list, got 2.5"),
        ({"bins": "0,18,65"}, "`bins`: a number of bins, quantiles:20, log:20 or rising edges"),
        ({"bins": [0, 1, 2], "within": (0, 1)}, "`within` is the range of a number of bins"),
        ({"bins": 3, "within": (0, 1, 2)}, "`within`: low:high, or two of them, got (0, 1, 2)"),
        ({"bins": 3, "within": "0:1"}, "`within` takes a list, got '0:1'"),
        ({"bins": 3, "within": ((0, 1), (0, 1))}, "low:high for `bins`, got '0:1,0:1'"),
        ({"grid": (2, 2), "within": (0, 1)}, "low:high,low:high for `grid`, got '0:1'"),
        ({"grid": "2x2"}, "`grid` takes a list, got '2x2'"),
        ({"grid": (2, 2, 2)}, "`grid`: rows x columns, such as 15x15, got (2, 2, 2)"),
        ({"grid": (1, 1)}, "`grid`: rows x columns"),
        ({"grid": (2, 2), "ordered": True}, "`ordered`: the cells of a `grid` have no order"),
        ({"column": {"a": 1}}, "`column` takes a list"),
        ({"column": []}, "`column`: is a name or a position, or a list of them, got []"),
        ({"column": [None]}, "`column`: is a name or a position"),
        ({"column": True}, "`column`"),
        ({"header": "yes"}, "`header`: is True or False, got 'yes'"),
        ({"missing": np.zeros(2)}, "`missing`: must be one of"),
        ({"top": np.zeros((2, 2))}, "`top`: must be an integer"),
        ({"na": 5}, "`na`: is a text, got 5"),
    ],
)
def test_what_an_option_cannot_be_is_refused_in_one_line(
    options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(LDPError) as refused:
        ldp3.load([1, 2, 2], **options)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_dates_may_be_edges_and_ranges() -> None:
    days = ["2013-01-05", "2013-08-01"]
    bins = [date(2013, 1, 1), datetime(2013, 7, 1), np.datetime64("2014-01-01")]
    expected = Bins([15_706, 15_887, 16_071], dates=True)
    assert ldp3.load(days, bins=bins).domain == expected  # type: ignore[arg-type]
    assert ldp3.load(days, bins=["2013-01-01", "2013/07/01", "2014-01-01"]).domain == expected
    halves = ldp3.load(days, bins=2, within=(date(2013, 1, 1), "2014-01-01"))
    assert halves.domain == Bins([15_706, 15_889, 16_071], dates=True)
