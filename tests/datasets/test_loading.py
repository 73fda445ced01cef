from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ldp3
from ldp3.datasets.base import Source
from ldp3.datasets.loading import load_all, write
from ldp3.domain import Labels
from ldp3.errors import InvalidData, InvalidParameter, LDPError, UnknownName
from ldp3.kinds import find
from ldp3.people import Dataset


def test_an_address_is_to_be_downloaded_first() -> None:
    for address in ("https://example.org/visits.csv", "s3://bucket/visits.parquet"):
        with pytest.raises(InvalidData, match=r"is an address; download it first"):
            ldp3.load(address)


def test_named_datasets_can_be_said_to_be_ordered() -> None:
    assert not ldp3.load("zipf(d=8, n=100)").ordered
    assert ldp3.load("zipf(d=8, n=100)", ordered=True).ordered
    assert ldp3.load("gaussian(d=8, n=100)").ordered
    assert not ldp3.load("flights").ordered


PAGES = ["home", "cart", "home", "help", "home", "cart"]


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


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownName, match=r"'flihgts' and there is no such file. Did .* 'flights'"):
        ldp3.load("flihgts")
    with pytest.raises(UnknownName, match="Did you mean 'zipf'"):
        ldp3.load("ziff(s=1.3)")


def test_our_name_wins_over_a_file_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flights").write_text("a\nb\n")
    data = ldp3.load("flights")
    assert data.n == 336_776
    assert "the file of that name is './flights'" in data.notes[0]
    assert ldp3.load("./flights", input_format="lines", header=False).n == 2


def test_a_file_name_with_parentheses_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits (1).csv").write_text("a\nb\n")
    assert ldp3.load("visits (1).csv", header=False).n == 2


def test_a_dataset_is_returned_as_it_is() -> None:
    data = ldp3.load("flights")
    assert ldp3.load(data) is data


def test_reading_options_are_refused_where_nothing_is_read() -> None:
    with pytest.raises(InvalidParameter, match="Flights is a dataset already: top"):
        ldp3.load("flights", top=5)


def test_values_are_kept_for_sources_too() -> None:
    data = ldp3.load("uniform(d=2, n=4)", keep_values=True)
    assert data.values is not None
    assert data.values.tolist() == [0, 0, 1, 1]


def test_every_source_has_a_description() -> None:
    for source in find(Source).values():
        assert source.__doc__


LABELS = ["a", 'b "quoted"', "c, d", "né"]


@pytest.mark.parametrize("ending", ["txt", "csv", "parquet"])
@pytest.mark.parametrize("keep", [False, True])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str, keep: bool) -> None:
    values = np.array([3, 0, 1, 3, 2], dtype=np.uint32) if keep else None
    data = Dataset("d", Labels(LABELS), np.array([1, 1, 1, 2]), values=values)
    write(data, tmp_path / f"d.{ending}")
    header = False if ending == "txt" else None
    again = ldp3.load(tmp_path / f"d.{ending}", header=header, keep_values=True)
    assert again.digest == data.digest
    assert again.values is not None
    assert again.values.tolist() == ([3, 0, 1, 3, 2] if keep else [0, 1, 2, 3, 3])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_counts_keep_the_values_nobody_holds(tmp_path: Path, ending: str) -> None:
    data = Dataset("d", Labels(LABELS), np.array([1, 0, 5, 2]))
    write(data, tmp_path / f"d.{ending}", counts=True)
    assert ldp3.load(tmp_path / f"d.{ending}", counts=True).digest == data.digest


def test_what_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    data = Dataset("d", Labels(["a", "two\nlines"]), np.array([1, 2]))
    with pytest.raises(InvalidData, match=r"written to \.txt, \.csv or \.parquet"):
        write(data, tmp_path / "d.xlsx")
    with pytest.raises(InvalidData, match="values with counts are written to"):
        write(data, tmp_path / "d.txt", counts=True)
    with pytest.raises(InvalidData, match="spans lines"):
        write(data, tmp_path / "d.txt")
    with pytest.raises(InvalidData, match="cannot be written"):
        write(data, tmp_path / "nowhere" / "d.csv")
