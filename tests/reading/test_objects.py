import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldp3
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.reading.options import Reading

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
TABLES = [
    pl.DataFrame({"page": VALUES, "user": [1, 2, 3]}),
    pl.LazyFrame({"page": VALUES, "user": [1, 2, 3]}),
    pd.DataFrame({"page": VALUES, "user": [1, 2, 3]}),
    pa.table({"page": VALUES, "user": [1, 2, 3]}),
]


def kind(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__name__}"


@pytest.mark.parametrize("column", COLUMNS, ids=kind)
def test_a_column_of_any_library(column: object) -> None:
    data = ldp3.load(column, keep_values=True)
    assert list(data.labels) == ["a", "b"]
    assert data.values is not None
    assert data.values.tolist() == [1, 0, 1]


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
    with pytest.raises(InvalidData, match=r"position 0: 1.5 is not a number of users"):
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
        ([], "holds no users"),
    ],
)
def test_what_holds_no_values_is_refused(thing: object, message: str) -> None:
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(thing)
    assert "\n" not in str(caught.value)


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
        ({"missing": None}, "`missing`: must be one of refuse, drop, keep, got None"),
        ({"top": 1}, "`top`: must be an integer from 2"),
        ({"top": "x"}, "`top`: must be an integer from 2"),
        ({"domain_size": 2, "top": 3}, "`domain_size` and `top` each decide the domain"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ldp3.load(["a", "b"], **options)
