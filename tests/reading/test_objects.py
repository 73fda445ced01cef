from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldp3
from ldp3.errors import InvalidData

VALUES = ["b", "a", "b"]


COLUMNS = [
    VALUES,
    tuple(VALUES),
    np.array(VALUES),
    np.array(VALUES, dtype=object),
    pl.Series(VALUES),
    pl.Series(VALUES, dtype=pl.Categorical),
    pd.Series(VALUES),
    pd.Series(VALUES, dtype="category"),
    pa.array(VALUES),
    pa.chunked_array([VALUES[:1], VALUES[1:]]),
]


def kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"


@pytest.mark.parametrize("column", COLUMNS, ids=kind)
def test_a_column_of_any_library(column: object) -> None:
    data = ldp3.load(column, keep_values=True)
    assert list(data.labels) == ["a", "b"]
    assert data.values is not None
    assert data.values.tolist() == [1, 0, 1]


TABLES = [
    pl.DataFrame({"page": VALUES, "user": [1, 2, 3]}),
    pl.LazyFrame({"page": VALUES, "user": [1, 2, 3]}),
    pd.DataFrame({"page": VALUES, "user": [1, 2, 3]}),
    pa.table({"page": VALUES, "user": [1, 2, 3]}),
]


@pytest.mark.parametrize("table", TABLES, ids=kind)
def test_a_table_of_any_library(table: object) -> None:
    assert ldp3.load(table, column="page").histogram.tolist() == [1, 2]
    assert ldp3.load(table, column="user", counts=False).d == 3
    with pytest.raises(InvalidData, match=r"Did you mean 'page'\? It has .* 'page', 'user'"):
        ldp3.load(table, column="pag")
    with pytest.raises(InvalidData, match="has the columns 'page', 'user'; choose one"):
        ldp3.load(table)


def test_a_table_with_counts() -> None:
    table = pl.DataFrame({"page": ["b", "a"], "count": [2.0, 1.0]})
    assert ldp3.load(table, counts=True).histogram.tolist() == [1, 2]
    with pytest.raises(InvalidData, match=r"position 0: 1.5 is not a number of people"):
        ldp3.load(pl.DataFrame({"page": ["b", "a"], "count": [1.5, 1.0]}), counts=True)


@pytest.mark.parametrize(
    "column",
    [["a", None, "b"], np.array([1.0, np.nan, 2.0]), pd.Series(["a", None, "b"])],
    ids=kind,
)
def test_a_missing_value_is_refused_by_position(column: object) -> None:
    with pytest.raises(InvalidData, match="position 1 holds no value"):
        ldp3.load(column)
    assert ldp3.load(column, missing="drop").n == 2


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ([1, "a"], "values of one kind"),
        (np.zeros((2, 2)), "the array has 2 dimensions"),
        (5, "not a table, a column, an array or a list"),
        (b"ab", "not a table, a column, an array or a list"),
        ([[1], [2]], r"values of type List\(Int64\) are no labels"),
        ([], "holds no values"),
    ],
)
def test_what_holds_no_values_is_refused(thing: object, message: str) -> None:
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(thing)
    assert "\n" not in str(caught.value)


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


def test_a_column_of_counts_that_is_not_read_is_told() -> None:
    table = pl.Series("page", PAGES).value_counts()
    assert ldp3.load(table, counts=True).n == 6
    assert ldp3.load(table, column="page").notes == (
        "'count' was not read; `counts` if it holds numbers of people.",
    )


def test_a_dict_of_numbers_and_a_counter_are_counts() -> None:
    assert ldp3.load({"home": 500, "news": 3}).histogram.tolist() == [500, 3]
    assert ldp3.load(Counter("abbc")).histogram.tolist() == [1, 2, 1]
    assert ldp3.load({1: np.int64(3), 2: 4}).labels == ("1", "2")
    for wrong in ({"a": 1.5, "b": 2}, {"a": -1, "b": 2}, {"a": "x", "b": "y"}, {"a": [1, 2]}):
        with pytest.raises(InvalidData, match="dict: needs numbers of people, one per value"):
            ldp3.load(wrong)
