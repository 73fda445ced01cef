from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.datasets.writing import write
from ldp3.domain import Labels
from ldp3.errors import InvalidData
from ldp3.people import Dataset

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
