from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp3.edges import (
    as_edges,
    bin_of,
    bins_of,
    day,
    days_in,
    equal_edges,
    log_edges,
    middles,
    number_in,
    range_labels,
    round_edges,
)
from ldp3.errors import InvalidParameter

NUMBERS = st.floats(-1e6, 1e6)
EDGES = st.lists(NUMBERS, min_size=3, max_size=8, unique=True).map(sorted)
OPEN = st.tuples(EDGES, st.booleans(), st.booleans()).map(
    lambda given: [*([-inf] if given[1] else []), *given[0], *([inf] if given[2] else [])]
)


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), (np.int64(3), 3.0), (" 1.5 ", 1.5), ("+.5e-3", 0.0005), ("5.", 5.0), ("-inf", -inf),
     (10**400, inf), (-(10**400), -inf), ("1" * 400, inf), (nan, None), ("nan", None),
     (True, None), ("1_000", None), ("１", None), ("0x10", None), ("", None), (None, None),
     ("infinity", None), ([1], None), (b"1", None)],
)  # fmt: skip
def test_what_is_a_number(value: object, number: float | None) -> None:
    assert number_in(value) == number


@pytest.mark.parametrize(
    ("value", "days"),
    [("1970-01-02", 1.0), (" 1970/1/2 ", 1.0), ("1970-01-01T12:00:00", 0.5),
     ("1970-01-01 00:00:00.5", 0.5 / 86_400), ("1969-12-31", -1.0), (date(1970, 1, 3), 2.0),
     (datetime(1970, 1, 1, 12), 0.5), (datetime(1970, 1, 2, tzinfo=UTC), 1.0),
     (datetime(1970, 1, 2, 6, tzinfo=timezone(timedelta(hours=6))), 1.0),
     (np.datetime64("1970-01-02"), 1.0), (np.datetime64("1970-01-01T12"), 0.5),
     (np.datetime64("NaT"), None), ("2013-02-29", None), ("1970-01/02", None), ("19700102", None),
     ("1970-01-02Z", None), ("1970-01-01 24:00:00", None), ("1970-01-01 12:00", None),
     ("1970-W01-1", None), (3, None), ("3", None), (None, None), ("１970-01-01", None)],
)  # fmt: skip
def test_what_is_a_date(value: object, days: float | None) -> None:
    assert days_in(value) == days


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_a_day_is_written_as_it_is_read(when: datetime) -> None:
    to_the_second = when.replace(microsecond=0)
    assert days_in(day(days_in(to_the_second) or 0.0)) == days_in(to_the_second)


@pytest.mark.parametrize(
    "edges",
    [[0, 1], [0, 1, 1], [0, 2, 1], [0, nan, 1], [0, inf, 2], [-inf, inf, inf], [0, "x", 1], [],
     [0, True, 2], [0, None, 1], [-inf, -inf, 0]],
)  # fmt: skip
def test_edges_that_do_not_rise_are_refused(edges: list[object]) -> None:
    with pytest.raises(InvalidParameter, match="three or more rising edges, such as 0,18,65,120"):
        as_edges(edges)


def test_ends_may_be_open_and_minus_zero_is_zero() -> None:
    assert as_edges(["-inf", -0.0, 18, inf]) == (-inf, 0.0, 18.0, inf)
    assert str(as_edges([-0.0, 1, 2])[0]) == "0.0"


def test_the_last_bin_may_be_one_number_if_it_is_closed() -> None:
    assert as_edges([0, 4, 4], closed=True) == (0.0, 4.0, 4.0)
    assert [bin_of(x, (0.0, 4.0, 4.0), closed=True) for x in (0, 3.9, 4, 4.1)] == [0, 0, 1, None]
    with pytest.raises(InvalidParameter):
        as_edges([0, 0, 4], closed=True)


def test_edges_of_dates_are_dates_or_days_with_two_ends() -> None:
    given = ["2013-01-01", date(2013, 7, 1), 16_000]
    assert as_edges(given, dates=True) == (15_706.0, 15_887.0, 16_000.0)
    for wrong in ([-inf, 0, 1], [0, 1, 1e7], [0, "1", 2]):
        with pytest.raises(InvalidParameter, match="2013-01-01,2013-07-01"):
            as_edges(wrong, dates=True)


@given(OPEN, st.booleans(), st.lists(st.one_of(NUMBERS, st.sampled_from([-inf, inf])), max_size=20))
def test_a_number_is_in_the_bin_whose_edges_are_around_it(
    edges: list[float], closed: bool, numbers: list[float]
) -> None:
    numbers = [*numbers, *edges]
    found = bins_of(np.array(numbers), edges, closed)
    for number, vectorised in zip(numbers, found.tolist(), strict=True):
        code = bin_of(number, edges, closed)
        assert vectorised == (-1 if code is None else code)
        last_edge = number == edges[-1] and (closed or number == inf)
        if code is None:
            assert not edges[0] <= number < edges[-1]
            assert not last_edge
        else:
            assert edges[code] <= number
            assert number < edges[code + 1] or (last_edge and code == len(edges) - 2)


@given(
    st.decimals(-1000, 1000, places=3).map(float), st.integers(1, 10**6), st.integers(2, 300)
)  # fmt: skip
def test_equal_edges_are_the_floats_nearest_to_the_true_ones(
    low: float, thousandths: int, size: int
) -> None:
    high = float(Fraction(repr(low)) + Fraction(thousandths, 1000))
    edges = equal_edges(low, high, size)
    a, b = Fraction(repr(low)), Fraction(repr(high))
    assert edges == tuple(float(a + (b - a) * k / size) for k in range(size + 1))
    assert (edges[0], edges[-1]) == (low, high)


def test_a_number_that_is_written_like_an_edge_lies_on_it() -> None:
    edges = equal_edges(41.10, 41.25, 15)
    for hundredth in range(4_110, 4_125):
        assert bin_of(float(f"{hundredth / 100:.2f}"), edges) == hundredth - 4_110
    assert bisect_right(list(np.linspace(0, 1, 11)), 0.3) == 3  # what sums of widths would say
    assert bin_of(0.3, equal_edges(0, 1, 10)) == 3


def test_round_edges_begin_and_end_where_a_decimal_was_written() -> None:
    # 0.1, 1.1 and 0.001 are floats above, 0.3 and 0.7 floats below what is written
    ends = ((0, 0.1), (0, 1.1), (0.3, 0.9), (0.1, 0.7), (-0.3, 0.7), (0, 0.001))
    for low, high in ends:
        edges = round_edges(low, high, 64)
        assert as_edges(edges) == edges
        assert (edges[0], edges[-1]) == (low, high)
    assert round_edges(0.3, 0.5, 16) == (
        0.3,
        0.32,
        0.34,
        0.36,
        0.38,
        0.4,
        0.42,
        0.44,
        0.46,
        0.48,
        0.5,
    )


def test_logarithmic_edges_keep_their_ends() -> None:
    edges = log_edges(0.1, 7.3, 5)
    assert (edges[0], edges[-1]) == (0.1, 7.3)
    assert np.allclose(np.diff(np.log(edges)), np.log(73) / 5)


def test_an_open_bin_counts_as_wide_as_the_one_beside_it() -> None:
    assert middles((-inf, 0, 10, inf)).tolist() == [-5, 5, 15]
    assert middles((-inf, 0, 10, 30)).tolist() == [-5, 5, 20]
    assert middles((-inf, 0, inf)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("edges", "closed", "dates", "labels"),
    [
        ([0, 18, inf], False, False, ["[0, 18)", "[18, inf)"]),
        ([0, 4, 4], True, False, ["[0, 4)", "[4, 4]"]),
        ([1, 1 + 1e-9, 2], False, False, ["[1, 1.000000001)", "[1.000000001, 2)"]),
        ([0, 0.5, 1], False, True, ["[1970-01-01, 1970-01-01 12:00:00)",
                                    "[1970-01-01 12:00:00, 1970-01-02)"]),
    ],
)  # fmt: skip
def test_labels_tell_bins_apart(
    edges: list[float], closed: bool, dates: bool, labels: list[str]
) -> None:
    assert range_labels(edges, closed, dates) == labels


def test_dates_less_than_a_second_apart_have_different_labels() -> None:
    second = 1 / 86_400
    labels = range_labels([0, 0.2 * second, 0.4 * second, 1], dates=True)
    assert len(set(labels)) == 3
