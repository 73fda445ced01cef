import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.errors import InvalidData
from ldp3.reading.text import ragged


def written(folder: Path, content: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize("options", [{"column": 2}, {"column": "page"}, {"column": 1}, {}])
@pytest.mark.parametrize(
    ("row", "fields"), [("Ann, the 2nd,news", "3 fields"), ("Ann", "1 field"), ('"A,B"', "1 field")]
)
def test_a_ragged_row_is_refused_by_its_line(
    tmp_path: Path, options: dict[str, Any], row: str, fields: str
) -> None:
    path = written(tmp_path, f'name,page\n"Bob\nthe, 1st",home\n\n{row}\nCy,news\n')
    with pytest.raises(InvalidData, match=f"line 5 has {fields} where the first row has 2"):
        ldp3.load(path, **options)


def test_a_quoted_cell_may_hold_what_separates(tmp_path: Path) -> None:
    path = written(tmp_path, 'name,page\n"Ann, the 2nd",news\n"Bob\nB",home\nCy,"a ""b"""\n\n')
    assert ldp3.load(path, column="page").labels == ('a "b"', "home", "news")


cells = st.sampled_from(["a", "", "b,c", "x\ny", 'q"q', "z z"])


@given(
    rows=st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    blank=st.booleans(),
    cut=st.booleans(),
    size=st.integers(1, 9),
)
def test_ragged_rows_are_those_that_pythons_reader_finds(
    rows: list[list[str]], end: str, blank: bool, cut: bool, size: int
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end + end * blank)
    writer.writerows(rows)
    content = text.getvalue().rstrip("\r\n") if cut else text.getvalue()
    raw, width = content.encode(), len(rows[0])
    found = [row for row in csv.reader(io.StringIO(content, newline="")) if row]
    wrong = ragged(lambda: (raw[i : i + size] for i in range(0, len(raw), size)), ",", width)
    assert (wrong is None) == all(len(row) == width for row in found)


def test_labels_may_hold_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, '"x,1"\n"a""b"\n"two\nlines"\ny\n')
    assert ldp3.load(path, header=False).labels == ('a"b', "two\nlines", "x,1", "y")


def test_a_line_is_one_value_whatever_it_holds(tmp_path: Path) -> None:
    path = written(tmp_path, '"x, 1\ny;2\ty\n"x, 1\n', "odd.txt")
    assert ldp3.load(path).labels == ('"x, 1', "y;2\ty")


def test_tabs_separate_the_columns_of_a_tsv_file(tmp_path: Path) -> None:
    path = written(tmp_path, "id\tpage\n1\tb,c\n2\ta\n", "t.tsv")
    assert ldp3.load(path, column="page").labels == ("a", "b,c")


def test_a_cell_may_be_long(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("page,text\n" + "".join(f"{v},{'x' * 200_000}\n" for v in "aabbb"))
    assert ldp3.load(path, column="page").histogram.tolist() == [2, 3]
    path.write_text("page,text\n" + "a,b,c\n" + f"b,{'x' * 200_000}\n")
    with pytest.raises(InvalidData, match="line 2 has 3 fields where the first row has 2"):
        ldp3.load(path, column="page")


def test_a_header_before_a_very_long_line_is_still_one(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    long = "1" * 2**21
    path.write_text(f"size\n{long}\n2\n3\n")
    data = ldp3.load(path)
    assert "size" not in data.labels
    assert any("The first row is read as a header" in note for note in data.notes)
    path.write_bytes(b"x" * (2**24 + 2**21))
    with pytest.raises(InvalidData, match="first lines are longer than 16 MiB"):
        ldp3.load(path)
