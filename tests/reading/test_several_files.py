"""One dataset made of several files."""

import gzip
from pathlib import Path

import polars as pl
import pytest

import ldp3
from ldp3.errors import InDoubt, InvalidData


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.csv").write_text("id,page\n1,home\n2,news\n\n\n")
    (folder / "b.csv").write_text("id,page\n3,home\n")
    (folder / ".hidden.csv").write_text("id,page\n9,never\n")
    (folder / "README.md").write_text("what these are")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("logs", "logs"),
        ("logs/*.csv", "logs/*.csv"),
        ("logs/[ab].csv", "logs/[ab].csv"),
        ("logs/a.csv+logs/b.csv", "a+b"),
        ("logs/a.csv + logs/b*", "a+b"),
    ],
)
def test_a_folder_a_pattern_and_a_sum_are_one_dataset(logs: Path, source: str, name: str) -> None:
    data = ldp3.load(source, column="page", keep_values=True)
    assert data.labels == ("home", "news")
    assert data.values is not None
    assert data.values.tolist() == [0, 1, 0]
    assert data.name == f"{name}:page"
    assert data.notes == ("One dataset of 2 files: a.csv, b.csv.",)


def test_a_file_with_a_plus_or_a_bracket_in_its_name_is_itself(logs: Path) -> None:
    for name in ("a+b.csv", "c[1].csv"):
        Path(name).write_text("x\ny\nx\n")
        assert ldp3.load(name).n == 3


def test_rows_are_named_with_their_file(logs: Path) -> None:
    (logs / "b.csv").write_text("id,page\n3,home\n4,\n")
    with pytest.raises(InvalidData, match=r"logs: logs/b\.csv, row 3 holds no value;"):
        ldp3.load("logs", column="page")
    (logs / "b.csv").write_text("id,page\n3,home,x\n")
    with pytest.raises(InvalidData, match=r"logs/b\.csv: line 2 has 3 fields"):
        ldp3.load("logs", column="page")
    (logs / "b.csv").write_bytes(b"id,page\n3,home\n" * 100_000 + b"4,caf\xe9\n")
    with pytest.raises(InvalidData, match=r"logs/b\.csv: line 200,001 is not UTF-8") as caught:
        ldp3.load("logs", column="page", missing="keep")
    assert "\n" not in str(caught.value)


def test_files_may_be_of_several_formats_and_packed(logs: Path) -> None:
    Path("c.csv.gz").write_bytes(gzip.compress(b"page;id\nnews;7\n\n"))
    pl.DataFrame({"page": ["home"]}).write_parquet("d.parquet")
    data = ldp3.load("logs/a.csv+c.csv.gz+d.parquet", column="page")
    assert data.histogram.tolist() == [2, 2]


def test_a_name_that_is_no_text_is_refused(logs: Path) -> None:
    try:
        (logs / "bad\udcff.csv").write_text("id,page\n1,home\n")
    except OSError:
        pytest.skip("this file system wants names in UTF-8")
    with pytest.raises(InvalidData, match=r"the name is not UTF-8; rename the file"):
        ldp3.load("logs", column="page")


def test_counts_and_transactions_add_up_over_files(logs: Path) -> None:
    Path("x.csv").write_text("a,1\nb,2\n")
    Path("y.csv").write_text("a,3\nc,0\n")
    assert ldp3.load("x.csv+y.csv", counts=True).histogram.tolist() == [4, 2, 0]
    Path("x.dat").write_text("1 2 2\n3\n\n")
    Path("y.dat").write_text("2\n")
    assert ldp3.load("x.dat+y.dat").histogram.tolist() == [2, 1]


def test_the_same_first_row_in_every_file_is_a_header(logs: Path) -> None:
    Path("x.csv").write_text("name\nAnn\nBob\n")
    Path("y.csv").write_text("name\nCy\nDan\n")
    with pytest.raises(InDoubt):
        ldp3.load("x.csv")
    data = ldp3.load("x.csv+y.csv")
    assert data.labels == ("Ann", "Bob", "Cy", "Dan")
    assert "all files start with it" in data.notes[1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("logs/*.json", "no file matches this pattern"),
        ("logs/a.csv+logs/c.csv", r"logs/c\.csv: there is no such file"),
        ("logs/a.csv+logs/a.csv", r"logs/a\.csv is named twice and would be counted twice"),
        ("logs/a.csv+logs", r"logs/a\.csv is named twice"),
        ("empty", "is a folder without files that can be read"),
        ("mixed", r"holds files of several formats \(csv, parquet\); name those of one"),
        ("u.csv+v.csv", "u.csv seems to have a header and v.csv none; say `header`"),
    ],
)
def test_what_is_no_dataset_is_said_in_one_line(logs: Path, source: str, message: str) -> None:
    Path("empty").mkdir()
    Path("mixed").mkdir()
    Path("mixed/a.csv").write_text("a\nb\na\n")
    pl.DataFrame({"a": ["b"]}).write_parquet("mixed/a.parquet")
    Path("u.csv").write_text("page\n1\n2\n")
    Path("v.csv").write_text("3\n4\n")
    with pytest.raises(InvalidData, match=message) as caught:
        ldp3.load(source)
    assert "\n" not in str(caught.value)
