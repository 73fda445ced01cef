"""What people hand over in Python: counts, categories, lists of names, lists as options."""

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ldp3
from ldp3.datasets.loading import load_all
from ldp3.errors import InvalidData, InvalidParameter, LDPError, UnknownName

PAGES = ["home", "cart", "home", "help", "home", "cart"]


@pytest.mark.parametrize(
    "counts",
    [
        pd.Series(PAGES).value_counts(),
        pd.Series(PAGES, name="page").value_counts(),
        pd.Series(PAGES, dtype="category").value_counts(),
        pd.DataFrame({"page": PAGES})["page"].value_counts(sort=False),
    ],
    ids=["unnamed", "named", "categories", "column"],
)
def test_what_value_counts_gives_is_counted_as_users(counts: Any) -> None:
    data = ldp3.load(counts)
    assert sorted(zip(data.labels, data.histogram.tolist(), strict=True)) == [
        ("cart", 2),
        ("help", 1),
        ("home", 3),
    ]
    assert data.n == 6
    assert ldp3.load(counts, counts=True).n == 6
    assert data.name == (counts.index.name or "data")


@pytest.mark.parametrize(
    "doubtful",
    [
        pd.Series([3, 1, 1, 2]).value_counts(),  # or the column "count" of a filtered table
        pd.Series(PAGES).value_counts(normalize=True),
        pd.DataFrame({"page": PAGES}).groupby("page").size(),
        pd.DataFrame({"page": PAGES, "user": [1, 1, 2, 2, 3, 3]}).value_counts(),
    ],
    ids=["integers", "shares", "size", "pairs"],
)
def test_what_may_be_counts_is_refused_with_both_ways_to_say_it(doubtful: Any) -> None:
    with pytest.raises(InvalidData, match=r"`counts=True`.*`\.to_numpy\(\)`") as refused:
        ldp3.load(doubtful)
    assert "\n" not in str(refused.value)


def test_the_ways_that_the_refusal_names_work() -> None:
    counts = pd.Series([3, 1, 1, 2]).value_counts()
    table = counts.rename_axis("value").reset_index(name="count")
    assert ldp3.load(table, counts=True).histogram.tolist() == [2, 1, 1]
    assert ldp3.load(counts.to_numpy()).histogram.tolist() == [2, 1]


def test_a_column_called_count_is_a_column() -> None:
    assert ldp3.load(pd.DataFrame({"count": [5, 5, 7]})["count"]).histogram.tolist() == [2, 1]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(PAGES, dtype=pd.CategoricalDtype(["search", "home", "cart", "help"])),
        pd.Series(PAGES, dtype=pd.CategoricalDtype(["search", "home", "cart", "help"], True)),
        pd.Categorical(PAGES, ["search", "home", "cart", "help"]),
        pl.Series(PAGES, dtype=pl.Enum(["search", "home", "cart", "help"])),
    ],
    ids=["pandas", "ordered", "bare", "polars"],
)
def test_categories_that_nobody_holds_are_values_of_the_domain(column: Any) -> None:
    data = ldp3.load(column, keep_values=True)
    assert list(data.labels) == ["search", "home", "cart", "help"]
    assert data.histogram.tolist() == [0, 3, 2, 1]
    assert data.values is not None
    assert data.values.tolist() == [1, 2, 1, 3, 1, 2]
    assert ldp3.load(column, top=2).d == 2


def test_categories_of_a_table_and_of_numbers_and_of_ranges() -> None:
    kind = pd.CategoricalDtype([3, 1, 2])
    table = pd.DataFrame({"size": pd.Series([1, 1, 2], dtype=kind), "user": [1, 2, 3]})
    assert list(ldp3.load(table, column="size").labels) == ["3", "1", "2"]
    ages = pd.cut(pd.Series([1, 5, 70]), [0, 18, 65, 120])
    assert list(ldp3.load(ages).labels) == ["(0, 18]", "(18, 65]", "(65, 120]"]
    with pytest.raises(InvalidData, match="position 1 holds no value"):
        ldp3.load(pd.Series(["a", None, "b"], dtype="category"))


@pytest.mark.parametrize(
    "names",
    [
        ["flights", "zipf"],
        ("flights", "nycflights13"),
        ["zipf(d=4, n=10)", "Uniform (d=8)"],
        [pl.Series(PAGES), np.array([1, 2, 2])],
    ],
)
def test_a_list_of_names_is_a_list_of_datasets(names: Any) -> None:
    assert len(load_all(names)) == 2


def test_a_list_of_files_is_a_list_of_datasets(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\ny\nx\n")
    assert [d.n for d in load_all([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])] == [3, 3]
    with pytest.raises(LDPError, match=r"c\.csv.*no such file"):
        load_all([str(tmp_path / "a.csv"), str(tmp_path / "c.csv")])


def test_one_name_with_a_slip_does_not_make_names_the_values_of_users() -> None:
    with pytest.raises(UnknownName, match=r"'flihgts'.*Did you mean 'flights'"):
        load_all(["flihgts", "zipf"])
    with pytest.raises(InvalidParameter, match="give the list to"):
        ldp3.load(["flights", "zipf"])
    assert load_all(PAGES)[0].n == 6  # values are values


def test_options_take_lists() -> None:
    ages = [3, 17, 18, 40, 70]
    edges = ldp3.load(ages, bins="0,18,65,120")
    same: list[Any] = [[0, 18, 65, 120], np.array([0, 18, 65, 120]), ("0", 18, "65", 120.0)]
    for bins in same:
        assert ldp3.load(ages, bins=bins).digest == edges.digest
    cut = ldp3.load(ages, bins=4, within="0:100")
    for within in ((0, 100), [0.0, 100.0], np.array([0, 100])):
        assert ldp3.load(ages, bins=4, within=within).digest == cut.digest
    named = ldp3.load(PAGES, domain=["help", "home", "cart", "search"])
    assert list(named.labels) == ["help", "home", "cart", "search"]
    assert named.histogram.tolist() == [1, 3, 2, 0]
    assert ldp3.load(ages, domain=range(100)).d == 100


def test_columns_and_grids_take_lists() -> None:
    table = pl.DataFrame({"lat": [0.0, 1, 2, 3], "lon": [0.0, 1, 2, 3], "user": [1, 2, 3, 4]})
    text = ldp3.load(table, column="lat,lon", grid="2x2", within="0:4,0:4")
    for column in (["lat", "lon"], ("lat", "lon"), [1, 2]):
        given = ldp3.load(table, column=column, grid=(2, 2), within=((0, 4), (0, 4)))
        assert given.digest == text.digest
    assert ldp3.load(table, column=["user"]).d == 4


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"domain": ["a", "a"]}, "`domain` holds at least two values"),
        ({"domain": ["a", ""]}, "`domain` holds at least two values"),
        ({"domain": 42}, "`domain` takes a text or a list, got 42"),
        ({"bins": [0, 5]}, "three or more rising edges"),
        ({"bins": [0, None, 5]}, "`bins` takes numbers, got None"),
        ({"bins": True}, "`bins` takes a text or a list, got True"),
        ({"bins": 3, "within": (0, 1, 2)}, "low:high"),
        ({"column": ["a,b", "c"]}, "holds a comma"),
        ({"column": {"a": 1}}, "`column` takes a text or a list"),
        ({"header": "yes"}, "`header`: is True or False, got 'yes'"),
        ({"missing": np.zeros(2)}, "`missing`: must be one of"),
        ({"top": np.zeros((2, 2))}, "`top`: must be an integer"),
    ],
)
def test_a_list_that_cannot_be_is_refused_in_one_line(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(LDPError) as refused:
        ldp3.load([1, 2, 2], **options)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_dates_may_be_edges() -> None:
    from ldp3.reading.lists import bins_text

    assert bins_text([date(2013, 1, 1), date(2013, 7, 1)]) == "2013-01-01,2013-07-01"


def test_a_column_of_counts_that_is_not_read_is_told() -> None:
    table = pl.Series("page", PAGES).value_counts()
    assert ldp3.load(table, counts=True).n == 6
    assert ldp3.load(table, column="page").notes == (
        "'count' was not read; `counts` if it holds numbers of users.",
    )
