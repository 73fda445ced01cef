import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.errors import InvalidData


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.txt", b"b\na\nb\n"),
        ("plain.csv", b"b\na\nb\n"),
        ("no newline at the end.csv", b"b\na\nb"),
        ("blank lines at the end.csv", b"b\na\nb\n\n\n"),
        ("blank lines at the end.txt", b"b\r\na\r\nb\r\n\r\n"),
        ("windows.csv", b"\xef\xbb\xbfb\r\na\r\nb\r\n"),
        ("windows.txt", b"\xef\xbb\xbfb\r\na\r\nb\r\n"),
        ("spaces.txt", b" b\na \nb\n"),
        ("quotes.csv", b'"b"\na\n"b"\n'),
        ("packed.csv.gz", gzip.compress(b"b\na\nb\n", mtime=0)),
        ("packed.txt.gz", gzip.compress(b"b\na\nb\n", mtime=0)),
        ("brackets[1].csv", b"b\na\nb\n"),
        ("LOUD.CSV", b"b\na\nb\n"),
        ("transactions.dat", b"b\na\nb\n"),
    ],
)
def test_one_value_per_row(tmp_path: Path, name: str, content: bytes) -> None:
    data = ldp3.load(written(tmp_path, name, content), keep_values=True)
    assert list(data.labels) == ["a", "b"]
    assert data.histogram.tolist() == [1, 2]
    assert data.values is not None
    assert data.values.tolist() == [1, 0, 1]
    assert all("read as a user, not a header" in note for note in data.notes)


@pytest.mark.parametrize("name", ["d.parquet", "d.parquet.gz"])
def test_parquet(tmp_path: Path, name: str) -> None:
    path = tmp_path / "d.parquet"
    pl.DataFrame({"page": ["b", "a", "b"], "user": [1, 2, 3]}).write_parquet(path)
    if name.endswith(".gz"):
        path = written(tmp_path, name, gzip.compress(path.read_bytes()))
    assert ldp3.load(path, column="page").histogram.tolist() == [1, 2]
    assert ldp3.load(str(path), column=2).labels == ("1", "2", "3")


def test_labels_may_hold_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, "odd.csv", b'"x,1"\n"a""b"\n"two\nlines"\ny\n')
    assert ldp3.load(path, header=False).labels == ('a"b', "two\nlines", "x,1", "y")


def test_a_line_is_one_value_whatever_it_holds(tmp_path: Path) -> None:
    path = written(tmp_path, "odd.txt", b'"x, 1\ny;2\ty\n"x, 1\n')
    assert ldp3.load(path).labels == ('"x, 1', "y;2\ty")


def test_a_column_is_chosen_by_name_or_position(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", b"id,page\n1,b\n2,a\n3,b\n")
    for options in ({"column": "page"}, {"column": 2, "header": True}, {"column": "2"}):
        assert ldp3.load(path, **options).histogram.tolist() == [1, 2]
    assert ldp3.load(path, column=2, header=False).n == 4


def test_tabs_separate_the_columns_of_a_tsv_file(tmp_path: Path) -> None:
    path = written(tmp_path, "t.tsv", b"id\tpage\n1\tb,c\n2\ta\n")
    assert ldp3.load(path, column="page").labels == ("a", "b,c")


def test_a_histogram_with_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "h.csv", b"b,2\na,1\nnobody,0\nb,3\n\n")
    data = ldp3.load(path, counts=True, keep_values=True)
    assert dict(zip(data.labels, data.histogram.tolist(), strict=True)) == {
        "a": 1,
        "b": 5,
        "nobody": 0,
    }
    assert data.values is not None
    assert data.values.tolist() == [1, 1, 0, 1, 1, 1]


def test_the_column_called_count_holds_the_counts(tmp_path: Path) -> None:
    path = written(tmp_path, "h.csv", b"count,page\n2,b\n1,a\n")
    assert ldp3.load(path, counts=True, header=True).histogram.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["10", "9", "-3", "1.5"], [-3, 1.5, 9, 10]),
        (["1e3", "20"], [20, 1000]),
        (["1970-01-03", "1969-12-31"], [-1, 2]),
        (["1970-01-02T12:00:00", "1970-01-01T00:00:00"], [0, 1.5]),
    ],
)
def test_numbers_and_dates_have_their_own_order(labels: list[str], expected: list[float]) -> None:
    positions = ldp3.load(labels).positions
    assert positions is not None
    assert positions.tolist() == expected


def test_other_labels_are_in_order_of_their_text() -> None:
    data = ldp3.load(["b10", "b9", "a", "7"])
    assert list(data.labels) == ["7", "a", "b10", "b9"]
    assert data.positions is None


def test_large_whole_numbers_keep_their_order() -> None:
    big = 2**53
    assert list(ldp3.load([big + 1, big, big + 2]).labels) == [str(big + i) for i in range(3)]


def test_equal_numbers_that_look_different_stay_apart_and_are_noted(tmp_path: Path) -> None:
    data = ldp3.load(written(tmp_path, "t.txt", b"1\n01\n2\n"))
    assert data.labels == ("01", "1", "2")
    assert "'01' and '1' are counted as different values" in data.notes[0]


def test_a_given_domain_keeps_its_order_and_the_values_nobody_holds(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", b"a\nb\na\n")
    domain = written(tmp_path, "d.txt", b"c\nb\na\n\n")
    data = ldp3.load(path, domain=domain, keep_values=True)
    assert list(data.labels) == ["c", "b", "a"]
    assert data.histogram.tolist() == [0, 1, 2]
    assert data.values is not None
    assert data.values.tolist() == [2, 1, 2]


def test_a_large_domain_keeps_its_order_too(tmp_path: Path) -> None:
    order = ldp3.stream(0, "domain").permutation(50_000)
    domain = written(tmp_path, "d.txt", "\n".join(map(str, order)).encode())
    data = ldp3.load(np.arange(0, 50_000, 3), domain=domain)
    assert list(data.labels) == [str(value) for value in order]
    assert (data.histogram == (order % 3 == 0)).all()


def test_positions_are_left_out_where_a_given_domain_goes_up_and_down(tmp_path: Path) -> None:
    domain = written(tmp_path, "d.txt", b"3\n1\n2\n")
    assert ldp3.load([1, 2, 3], domain=domain).positions is None


def test_a_domain_size_means_the_integers_below_it() -> None:
    data = ldp3.load(np.array([3, 0, 3]), domain_size=5)
    assert list(data.labels) == ["0", "1", "2", "3", "4"]
    assert data.histogram.tolist() == [1, 0, 0, 2, 0]


def test_top_keeps_the_most_frequent_values_and_counts_who_is_left_out() -> None:
    data = ldp3.load(list("aaabbbccd"), top=2, keep_values=True)
    assert data.labels == ("a", "b")
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.notes == ("3 users with a value outside the top 2 left out.",)


def test_a_tie_at_the_edge_of_the_top_is_noted() -> None:
    data = ldp3.load(list("aabc"), top=2)
    assert data.labels == ("a", "b")
    assert "tie at the edge of the top 2 (1 user each)" in data.notes[0]


def test_rows_without_a_value_can_be_dropped_and_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", b'a\n\nb\n""\n  \nb\n')
    data = ldp3.load(path, missing="drop", header=False, keep_values=True)
    assert data.values is not None
    assert data.values.tolist() == [0, 1, 1]
    assert data.notes == ("3 rows without a value left out.",)


def test_codes_keep_the_order_of_a_long_file(tmp_path: Path) -> None:
    values = ldp3.stream(0, "order").integers(1_000, size=200_000)
    path = tmp_path / "long.parquet"
    pl.DataFrame({"v": values}).write_parquet(path, row_group_size=10_000)
    data = ldp3.load(path, domain_size=1_000, keep_values=True)
    assert data.values is not None
    assert (data.values == values).all()
    assert (data.histogram == np.bincount(values, minlength=1_000)).all()


BAD = [
    ("e.csv", b"", {}, r"e\.csv: is empty"),
    ("e.csv.gz", gzip.compress(b"", mtime=0), {}, r"e\.csv\.gz: is empty"),
    ("e.txt", b"\n\n", {}, r"e\.txt: holds no users"),
    ("e.csv", b"page\n", {"header": True}, r"e\.csv: holds no users"),
    ("e.csv", b"a\na\n", {}, r"e\.csv: every user holds 'a'; at least two different values"),
    (
        "e.csv",
        b"a\n\nb\n",
        {"header": False},
        r"row 2 holds no value; fill it in, or .* `missing=drop`",
    ),
    ("e.csv", b"v\na\n\nb\n", {"header": True}, r"e\.csv: row 3 holds no value"),
    ("e.csv", b"a,1\nb,2\n,3\n", {"column": 1}, r"e\.csv: row 3 holds no value"),
    ("e.csv", b"a,1\nb,2\n", {}, r"e\.csv: has 2 columns .*; choose one with `column`"),
    ("e.csv", b"a,1\nb,2\n", {"column": 3}, r"e\.csv: has 2 columns .*, there is no column 3"),
    ("e.csv", b"page,x\nb,2\n", {"column": "pge"}, r"no column 'pge'. Did you mean 'page'"),
    ("e.csv", b"page,x\nb,2\n", {"column": "?"}, r"no column '\?'. It has the columns 'page', 'x'"),
    ("e.csv", b"a\nb\nc,d\n", {}, r"e\.csv: line 3 has 2 fields where the first row has 1"),
    ("e.csv", b'a\n"b\nc\n', {"header": False}, r"e\.csv: line 2 has a double quote"),
    ("e.csv", b"a\nb\nc\xe9\n", {}, r"e\.csv: line 3 is not UTF-8 text"),
    ("e.txt", b"a\nb\nc\xe9\n", {}, r"e\.txt: line 3 is not UTF-8 text"),
    ("e.dat", b"a\nb\nc\xe9\n", {}, r"e\.dat: line 3 is not UTF-8 text"),
    ("e.csv.gz", gzip.compress(b"a\nb\n" * 999, mtime=0)[:30], {}, r"is a damaged gzip file"),
    ("e.parquet.gz", gzip.compress(b"a\nb\n" * 999, mtime=0)[:30], {}, r"is a damaged gzip file"),
    ("e.parquet", b"a\nb\n" * 9, {}, r"e\.parquet: is not a Parquet file"),
    ("e.docx", b"a\nb\n", {}, r"e\.docx: endings are \.txt, .* `input_format` \(lines, csv,"),
    ("e.xlsx", b"a\nb\n", {}, r"e\.xlsx: cannot be read as a workbook"),
    (
        "e.csv",
        b"a\nb\n",
        {"domain_size": 2, "header": False},
        r"row 1: 'a' is not in the domain .* `header`",
    ),
    ("e.csv", b"0\n1\n7\n", {"domain_size": 2}, r"e\.csv: row 3: '7' is not in the domain of 2"),
    ("e.csv", b"a\nb\na\n", {"counts": True}, r"e\.csv: `counts` needs two columns"),
    (
        "e.csv",
        b"v,count\na,1\n",
        {"counts": True, "header": False},
        r"row 1: 'count' is not a number of .* `header`",
    ),
    ("e.csv", b"a,1\nb,-2\n", {"counts": True}, r"row 2: '-2' is not a number of users"),
    ("e.csv", b"a,1\nb,1.5\n", {"counts": True}, r"row 2: '1.5' is not a number of users"),
    ("e.csv", b"a,1\nb,\n", {"counts": True}, r"row 2: None is not a number of users"),
    ("e.csv", f"a,{2**62}\nb,{2**62}".encode(), {"counts": True}, r"more than can be counted"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), BAD)
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(written(tmp_path, name, content), **options)
    assert "\n" not in str(caught.value)


def test_the_row_is_named_in_a_long_file(tmp_path: Path) -> None:
    path = written(tmp_path, "long.csv", b"1\n2\n" * 300_000 + b"x\n" + b"1\n" * 300_000)
    with pytest.raises(InvalidData, match=r"row 600,001: 'x' is not in the domain"):
        ldp3.load(path, domain_size=3)


def test_a_misspelt_file_is_suggested(tmp_path: Path) -> None:
    written(tmp_path, "visits.csv", b"a\nb\n")
    with pytest.raises(InvalidData, match=r"no such file. Did you mean 'visits.csv'"):
        ldp3.load(tmp_path / "vists.csv")
    with pytest.raises(InvalidData, match=r"no such file. There is no folder"):
        ldp3.load(tmp_path / "nowhere" / "visits.csv")


def test_a_file_that_must_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, "secret.csv", b"a\nb\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidData, match=r"secret\.csv: cannot be opened: Permission denied"):
        ldp3.load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\na\n", "row 3: 'a' is in the domain twice"),
        (b"a\n\nb\n", "row 2 is blank"),
        (b"a\n", "at least two"),
    ],
)
def test_a_bad_domain_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        ldp3.load(["a", "b"], domain=written(tmp_path, "d.txt", content))


def test_a_name_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bad\udcffname.csv"
    path.write_bytes(b"a\nb\n")
    with pytest.raises(InvalidData, match=r"\\udcffname.csv': the name is not UTF-8"):
        ldp3.load(path)
