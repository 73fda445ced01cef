"""Files of values: every row has a code, or is named."""

import math
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldp3.collection.coding import codes_in
from ldp3.collection.plan import Plan
from ldp3.domain import Bins, Domain, Grid, Integers, Labels
from ldp3.edges import as_edges
from ldp3.errors import InvalidData, InvalidParameter
from ldp3.reading.options import Reading

NAMED = Plan("pages", ("home", "cart", "help"), "grr", 1.0)
OPEN = Plan("pages", Labels(("home", "cart", "help"), other="help"), "grr", 1.0)
BINNED = Plan("ages", Bins((0, 18, 65, 120), other="no answer"), "grr", 1.0)
NUMBERED = Plan("ages", 100, "grr", 1.0)


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


@pytest.mark.parametrize(
    ("domain", "row", "said"),
    [
        (Bins((0, 18, 65)), "about 30", "row 2: 'about 30' is not a number; .* or say with `na`"),
        (Bins((0, 18, 65)).clipped(), "about 30", "row 2: 'about 30' is not a number"),
        (Bins((0, 18, 65)), "70", "row 2: '70' is not in the domain of 'ages'; .* with `clip`"),
        (
            Bins((0, 18, 65)),
            "12,5",
            "row 2: '12,5' is not a number; correct it, or say `decimal=,`",
        ),
        (Bins((0, 18, 65), dates=True), "17", "row 2: '17' is not a date; .* or say with `na`"),
        (Bins((0, 18, 65), dates=True), "1970-03-09", "make a plan whose domain holds it[.]"),
    ],
)
def test_what_is_no_number_and_what_lies_outside_are_told_apart(
    tmp_path: Path, domain: Domain, row: str, said: str
) -> None:
    first = "1970-01-02" if domain.in_days else "17"
    (tmp_path / "ages.txt").write_text(f"{first}\n{row}\n{first}\n")
    with pytest.raises(InvalidData, match=said):
        codes_in(tmp_path / "ages.txt", Plan("ages", domain, "sw", 1.0), Reading())


def test_who_lies_in_a_bin_without_an_end_is_counted(tmp_path: Path) -> None:
    (tmp_path / "ages.txt").write_text("-3\n17\n70\n20\n")
    clipped = Plan("ages", Bins((0, 18, 65, 90)).clipped(), "sw", 1.0)
    found = codes_in(tmp_path / "ages.txt", clipped, Reading())
    assert found.codes.tolist() == [0, 0, 2, 1]
    assert found.notes == ("In bins without an end: 2 people below 18, 1 person from 65 on.",)


@pytest.mark.parametrize("plan", [NAMED, OPEN, BINNED], ids=["labels", "other", "bins"])
def test_a_row_without_a_value_is_refused_or_left_out_and_never_other(
    tmp_path: Path, plan: Plan
) -> None:
    rows = ["17", "", "  ", "99"] if plan is BINNED else ["home", "", "  ", "cart"]
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
    with pytest.raises(InvalidData, match="may be a header or a value"):
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
    strict = Plan("ages", Bins((0, 18, 65, 120)), "grr", 1.0)
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
    rows = ["17", "n/a", "", "99", "NA"] if plan is BINNED else ["home", "n/a", "", "cart", "NA"]
    (tmp_path / "values.txt").write_text("\n".join(rows) + "\n\n")
    with pytest.raises(InvalidData, match="row 2 holds no value"):
        codes_in(tmp_path / "values.txt", plan, Reading())
    found = codes_in(tmp_path / "values.txt", plan, Reading(missing="drop"))
    assert len(found.codes) == 2
    assert found.notes[0].startswith("3 rows without a value left out")
    assert "1 'NA'" in found.notes[0]
    countries = Plan("countries", ("NA", "ZA"), "grr", 1.0)
    (tmp_path / "countries.txt").write_text("NA\nZA\nNA\n")
    assert codes_in(tmp_path / "countries.txt", countries, Reading()).codes.tolist() == [0, 1, 0]


def dates_between(*edges: str) -> Bins:
    return Bins(as_edges(edges, dates=True), dates=True)


def coded(path: Path, domain: Domain, **options: Any) -> list[int]:
    return codes_in(path, Plan("x", domain, "grr", 1.0), Reading(**options)).codes.tolist()


KINDS: list[Domain] = [
    Integers(20),
    Labels(["1", "2.5", "1e-07", "1e16", "-3", "inf"]),
    Labels(["2026-03-29", "2026-03-29 02:30:00.5", "2026/1/2"]),
    Labels(["true", "false"]),
    Bins((-1.5, 0, 1e-07, 0.1, 17, 1e16)),
    Bins((-math.inf, 0, 17, math.inf)),
    Bins((0, 1, 17), closed=True),
    dates_between("2026-01-01", "2026-03-29 02:30:00.5", "2026-07-01", "2027-01-01"),
    dates_between("1600-01-01", "2255-06-05 23:47:34.740993", "2300-01-01"),
]
DOMAINS = [replace(domain, other="other") for domain in KINDS]
signs, digits = st.sampled_from(["", "+", "-"]), st.integers(0, 10**17).map(str)
numbers = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-5, 25).map(str),
    st.tuples(signs, digits, st.sampled_from(["", ".", ".5", "e2", "E-3"])).map("".join),
    st.sampled_from(
        ["1e-07", "1e999", "-inf", "+inf", "Infinity", "1_0", ".5", "5.", "1e", "٣", "01"]
    ),
)
two = st.integers(0, 62).map(str) | st.integers(0, 9).map("0{}".format)
days = st.tuples(st.sampled_from(["2026", "1600", "2255", "2299", "0000", "26"]), two, two)
dates = st.one_of(
    days.map("-".join),
    days.map("/".join),
    st.tuples(
        days.map("-".join), st.sampled_from([" ", "T", "  "]),
        st.tuples(two, two, two).map(":".join),
        st.sampled_from(["", ".", ".5", ".740993", ".1234567"]),
    ).map("".join),
    st.sampled_from([
        "2026-1/2", "2026-03-29 02:30", "2026-03-29T02:30:00Z", "2026-03-29 02:30:60",
        "2026-03-29 02:30:00.5",
    ]),
)  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@settings(deadline=None, max_examples=60)
@given(texts=st.lists(st.one_of(numbers, dates), min_size=2, max_size=40))
def test_a_file_of_texts_is_coded_as_a_client_codes(domain: Domain, texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        pl.DataFrame({"x": texts}).write_parquet(Path(folder, "x.parquet"))
        assert coded(Path(folder, "x.parquet"), domain) == [domain.code(text) for text in texts]


moments = st.datetimes(datetime(1599, 12, 30), datetime(2300, 1, 2)) | st.sampled_from(
    [datetime(2026, 3, 29, 2, 30, 0, 500_000), datetime(2255, 6, 5, 23, 47, 34, 740_993)]
)
COLUMNS: dict[pl.DataType | type[pl.DataType], st.SearchStrategy[Any]] = {
    pl.Int64(): st.integers(-5, 25) | st.integers(-(2**63), 2**63 - 1),
    pl.UInt8(): st.integers(0, 255),
    pl.Float64(): st.floats(allow_nan=False) | st.integers(-5, 25).map(float),
    pl.Float32(): st.floats(allow_nan=False, width=32) | st.sampled_from([0.5, 2.5, 17.0]),
    pl.Boolean(): st.booleans(),
    pl.Date(): st.dates(date(1599, 12, 30), date(2300, 1, 2)),
    pl.Datetime("us"): moments,
    pl.Datetime("us", "Asia/Tokyo"): moments.map(
        lambda m: m.replace(tzinfo=ZoneInfo("Asia/Tokyo"))
    ),
}


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
@pytest.mark.parametrize("dtype", COLUMNS, ids=str)
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_a_column_of_any_type_is_coded_as_a_client_codes(
    domain: Domain, dtype: pl.DataType, data: st.DataObject
) -> None:
    values = data.draw(st.lists(COLUMNS[dtype], min_size=2, max_size=20))
    with TemporaryDirectory() as folder:
        pl.DataFrame({"x": pl.Series(values, dtype=dtype)}).write_parquet(Path(folder, "x.parquet"))
        assert coded(Path(folder, "x.parquet"), domain) == [domain.code(value) for value in values]


CELLS = Grid((40, 40.5, 41), (-75, -74.25, -73.5), other="elsewhere")
pairs = st.tuples(*(st.sampled_from(e) | st.floats(-80, 50) for e in (CELLS.rows, CELLS.columns)))


@settings(deadline=None, max_examples=60)
@given(given_pairs=st.lists(pairs, min_size=2, max_size=30), closed=st.booleans())
def test_pairs_are_coded_as_a_client_codes(
    given_pairs: list[tuple[float, float]], closed: bool
) -> None:
    cells = replace(CELLS, closed=closed)
    with TemporaryDirectory() as folder:
        table = pl.DataFrame(given_pairs, schema=["lat", "lon"], orient="row")
        table.write_parquet(Path(folder, "x.parquet"))
        table.write_csv(Path(folder, "x.csv"))
        expected = [cells.code(pair) for pair in given_pairs]
        assert coded(Path(folder, "x.parquet"), cells) == expected
        assert coded(Path(folder, "x.csv"), cells, column=("lat", "lon")) == expected


def test_a_pair_outside_is_named_and_one_without_a_coordinate_is_no_value(tmp_path: Path) -> None:
    plan = Plan("places", replace(CELLS, other=None), "grr", 1.0)
    (tmp_path / "p.csv").write_text("id,lat,lon\na,40.1,-74\nb,,-74\nc,40.2,0\n")
    with pytest.raises(InvalidData, match=r"row 4: '40\.2, 0' is not in the domain of 'places'"):
        codes_in(tmp_path / "p.csv", plan, Reading(column=("lat", "lon"), missing="drop"))
    with pytest.raises(InvalidData, match="choose two with `column`"):
        codes_in(tmp_path / "p.csv", plan, Reading(column=("lat",)))
    (tmp_path / "p.csv").write_text("id,lat,lon\na,40.1,-74\nb,,-74\nc,40.2,-74\n")
    with pytest.raises(InvalidData, match="row 3 holds no value"):
        codes_in(tmp_path / "p.csv", plan, Reading(column=("lat", "lon")))
    found = codes_in(tmp_path / "p.csv", plan, Reading(column=("lat", "lon"), missing="drop"))
    assert found.codes.tolist() == [1, 1]


def test_a_column_that_has_no_text_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"x": [[1], [2]]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InvalidData, match="have no code"):
        coded(tmp_path / "x.parquet", Bins((0, 1, 2)))
