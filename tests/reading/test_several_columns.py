"""Several columns are read together, whatever holds them, and nobody is left out."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldp3
from ldp3.errors import InvalidData, InvalidParameter, LDPError
from ldp3.people import Table, one_attribute

COLUMNS = {
    "sex": ["f", "m", "f", "f", "m", "m"],
    "age": [23, None, 44, 61, 17, 38],
    "region": ["north", "south", "north", None, "east", "north"],
}
CSV = """id,sex,age,region
1,f,23,north
2,m,,south
3, f ,44,north
4,f,61,NA
5,m,17,east
6,m,38,north

"""
HOW = {"sex": {}, "age": {"bins": [0, 30, 50]}, "region": {"top": 2, "other": "elsewhere"}}


def written(folder: Path, content: str = CSV, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


def people(table: Table) -> dict[str, int]:
    codes = table.domain.codes(table.records).tolist()
    return {table.domain.label(c): int(n) for c, n in zip(codes, table.counts, strict=True)}


def test_every_source_gives_the_same_table(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    frame.write_parquet(tmp_path / "people.parquet")
    sources: list[Any] = [
        written(tmp_path),
        tmp_path / "people.parquet",
        frame,
        frame.lazy(),
        frame.to_arrow(),
        pd.DataFrame(COLUMNS),
        COLUMNS,
    ]
    tables = [ldp3.load(source, columns=["sex", "age", "region"]) for source in sources]
    expected = {
        "f, 23, north": 1, "m, no answer, south": 1, "f, 44, north": 1,
        "f, 61, no answer": 1, "m, 17, east": 1, "m, 38, north": 1,
    }  # fmt: skip
    for table in (tables[0], tables[1], tables[2], tables[3], tables[4], tables[6]):
        assert people(table) == expected
        assert table.domain == tables[0].domain
    assert (
        tables[5]["sex", "region"].histogram.tolist()
        == tables[0]["sex", "region"].histogram.tolist()
    )
    assert tables[0].names == ("sex", "age", "region")
    assert "age: 1 person without an answer counted as 'no answer'." in tables[0].notes


def test_an_array_has_its_columns_in_order() -> None:
    table = ldp3.load(np.array([[0, 3], [1, 3], [1, 4]]), columns=["a", "b"])
    assert people(table) == {"0, 3": 1, "1, 3": 1, "1, 4": 1}


def test_each_column_is_read_in_its_own_way_and_nobody_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path)
    table = ldp3.load(path, columns=HOW)
    assert table.n == 6
    assert table.domain.part("age").labels == ("[0, 30)", "[30, 50)", "other")
    assert table.domain.part("region").labels == ("east", "north", "elsewhere")
    assert table["age"].histogram.tolist() == [2, 2, 2]
    assert table["region"].histogram.tolist() == [1, 3, 2]
    toml = written(
        tmp_path,
        'sex = {}\n[age]\nbins = [0, 30, 50]\n[region]\ntop = 2\nother = "elsewhere"\n',
        "columns.toml",
    )
    assert ldp3.load(path, columns=toml).digest == table.digest
    assert ldp3.load(path, columns=str(toml)).digest == table.digest


def test_a_column_alone_and_among_others_has_the_same_people(tmp_path: Path) -> None:
    path = written(tmp_path)
    table = ldp3.load(path, columns={"sex": {}, "age": {"bins": 4}})
    alone = ldp3.load(path, column="age", bins=4, missing="drop")
    assert table["age"].histogram.tolist() == [*alone.histogram.tolist(), 1]
    assert table.domain.part("age").other == "no answer"
    both = ldp3.load(path, columns=["sex", "age"], missing="drop")
    assert both.n == 5
    assert both.domain.part("age").other is None
    with pytest.raises(InvalidData, match="without an answer somewhere; fill them in"):
        ldp3.load(path, columns=["sex", "age"], missing="refuse")
    kept = ldp3.load(path, columns=["sex", "region"], missing="keep")
    assert kept.domain.part("region").labels == ("NA", "east", "north", "south")


def test_labels_are_all_values_also_those_nobody_holds(tmp_path: Path) -> None:
    path, regions = written(tmp_path), ["west", "east", "north", "south"]
    table = ldp3.load(path, columns={"sex": {}, "region": {"labels": regions, "other": "none"}})
    assert table.domain.part("region").labels == (*regions, "none")
    assert table["region"].histogram.tolist() == [0, 1, 3, 1, 1]
    with pytest.raises(InvalidData, match="row 3: 'm' is not in the domain of 2 values"):
        ldp3.load(path, columns={"sex": {"labels": ["f", "w"]}, "region": {}})


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3), st.integers(0, 5))))
def test_counts_are_as_good_as_rows(rows: list[tuple[str, int, int]]) -> None:
    rows = [("x", 0, 2), ("y", 1, 1), *rows]
    frame = pl.DataFrame(rows, schema=["a", "b", "count"], orient="row")
    each = frame.select(pl.all().exclude("count").repeat_by("count")).explode("a", "b")
    one = ldp3.load(frame, columns=["a", "b"], counts=True)
    held = ldp3.load(each, columns=["a", "b"])
    assert one.n == len(each)
    assert {k: v for k, v in people(one).items() if v} == people(held)


def test_several_files_are_one_table(tmp_path: Path) -> None:
    first, second = CSV.splitlines()[:4], [CSV.splitlines()[0], *CSV.splitlines()[4:]]
    written(tmp_path, "\n".join(first) + "\n", "a.csv")
    written(tmp_path, "\n".join(second) + "\n", "b.csv")
    whole = ldp3.load(written(tmp_path), columns=HOW)
    for source in (f"{tmp_path}/a.csv+{tmp_path}/b.csv", f"{tmp_path}/[ab].csv"):
        assert ldp3.load(source, columns=HOW).digest == whole.digest


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": ["sex", "agee"]}, "has no column 'agee'. Did you mean 'age'"),
        ({"columns": ["sex", "sex"]}, "`columns`: must be different ones, got 'sex'"),
        ({"columns": ["sex", 2]}, "the column 'sex' is chosen twice"),
        ({"columns": ["sex"]}, "`columns` reads several together, and ['sex'] is one"),
        ({"columns": "sex"}, "`columns` takes a list, got 'sex'"),
        ({"columns": ["sex", "age"], "bins": 3}, "`bins`: of which column?"),
        ({"columns": ["sex", "age"], "grid": (2, 2)}, "`grid` takes its two columns together"),
        ({"columns": ["sex", "age"], "column": "sex"}, "`columns` are several: give one"),
        ({"columns": {"sex": {"bin": 3}, "age": {}}}, "no option 'bin'. Did you mean 'bins'"),
        ({"columns": {"sex": {"bins": 3}, "age": {}}}, "row 2: 'f' is not a number"),
        ({"columns": {"sex": {"top": 1}, "age": {}}}, "`columns`: sex: `top`: must be an integer"),
        ({"column": "sex,age"}, "`columns` reads several as a table"),
        ({"column": ["sex", "age"]}, "`columns` reads several of them as a table"),
    ],
)
def test_mistakes_are_said_in_one_line(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(LDPError) as error:
        ldp3.load(written(tmp_path), **options)
    assert said in str(error.value)


def test_a_wrong_cell_is_named_by_its_row_also_below_equal_ones(tmp_path: Path) -> None:
    path = written(tmp_path, "sex,age\n" + "f,30\n" * 50 + "m,31\nm,old\n")
    with pytest.raises(InvalidData, match="row 53: 'old' is not a number"):
        ldp3.load(path, columns={"sex": {}, "age": {"bins": 2}})


def test_ids_and_too_many_combinations_are_refused() -> None:
    ids = {"id": list(range(100)), "sex": ["f", "m"] * 50}
    with pytest.raises(InvalidData, match="'id': nearly everybody has a value of their own"):
        ldp3.load(ids, columns=["id", "sex"])
    with pytest.raises(InvalidData, match="'empty': holds no values"):
        ldp3.load({**ids, "empty": [None] * 100}, columns=["sex", "empty"])
    many = {str(j): [k // 2 for k in range(100)] for j in range(12)}
    with pytest.raises(InvalidData, match=r"fewer than 2⁶³ combinations.*as in page\(top=20\)"):
        ldp3.load(many, columns=list(many))


def test_a_table_is_taken_as_it_is_and_one_attribute_where_one_is_needed() -> None:
    table = ldp3.load(COLUMNS, columns=["sex", "region"])
    assert ldp3.load(table) is table  # type: ignore[comparison-overlap]
    with pytest.raises(InvalidParameter, match="data is a dataset already: top is for files"):
        ldp3.load(table, top=2)
    with pytest.raises(
        InvalidParameter, match="several attributes, sex, region, and this is for one"
    ):
        one_attribute(table)


@pytest.mark.slow
def test_millions_of_rows_take_seconds() -> None:
    rng = np.random.default_rng(0)
    n = 5_000_000
    frame = pl.DataFrame(
        {
            "a": pl.Series(np.array(["x", "y", "z"])[rng.integers(0, 3, n)]),
            "b": rng.normal(size=n),
            "c": rng.integers(0, 50, n),
        }
    )
    began = time.process_time()
    table = ldp3.load(frame, columns={"a": {}, "b": {"bins": 20}, "c": {}})
    assert table.n == n
    assert time.process_time() - began < 60
