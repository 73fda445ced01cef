import gzip
from pathlib import Path

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidData


@pytest.mark.parametrize(
    "content",
    ["1 2 2\n3 1\n1\n9\n", "1 -1 2 -1 2 -1 -2\n3 -1 1 -1 -2\n1 -1 -2\n9 -1 -2\n"],
    ids=["FIMI", "SPMF"],
)
def test_kosarak_from_its_raw_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "kosarak.any ending"
    path.write_text(content)
    data = ldp3.load(f"kosarak(path={str(path)!r}, top=3)")
    assert data.name == "kosarak"
    assert dict(zip(data.labels, data.histogram.tolist(), strict=True)) == {"1": 1, "2": 1, "3": 1}
    assert "1 person without an item in the top 3 left out." in data.notes


def test_bms_pos_from_its_raw_file(tmp_path: Path) -> None:
    path = tmp_path / "BMS-POS.csv"
    path.write_text("5,7,6\n7\n6,5\n4\n")
    data = ldp3.load(f"BMS-POS(path={str(path)!r}, top=3)")
    assert data.name == "bms_pos"
    assert dict(zip(data.labels, data.histogram.tolist(), strict=True)) == {"5": 1, "6": 1, "7": 1}


TRIPS = (
    '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE",'
    '"MISSING_DATA","POLYLINE"\n'
    '"1","C","","","20","1","A","False","[[-8.69,41.11],[-8.5,41.3]]"\n'
    '"2","B","","7","20","1","A","False","[[-8.53,41.235]]"\n'
    '"3","C","","","21","1","A","False","[]"\n'
    '"4","C","","","21","1","A","False","[[-9.5,41.15],[-8.6,41.15]]"\n'
)


@pytest.mark.parametrize("packed", [False, True])
def test_porto_from_its_raw_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("train.csv.gz" if packed else "train.csv")
    path.write_bytes(gzip.compress(TRIPS.encode()) if packed else TRIPS.encode())
    data = ldp3.load(f"porto(path={str(path)!r})")
    assert (data.name, data.d, data.n) == ("porto", 225, 2)
    assert data.histogram[np.array([1 * 15 + 0, 13 * 15 + 14])].tolist() == [
        1,
        1,
    ]  # 41.11 is an edge
    assert data.notes == (
        "1 trip without a point left out.",
        "1 person outside the range left out.",
    )
    everywhere = ldp3.load(f"porto(path={str(path)!r}, grid=(1, 2), within=None)")
    assert everywhere.histogram.tolist() == [1, 2]


def test_a_broken_trip_names_its_row(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(TRIPS + '"5","C","","","21","1","A","False","nonsense"\n')
    with pytest.raises(InvalidData, match=r"train\.csv: row 6: 'nonsense' is not a list of points"):
        ldp3.load(f"porto(path={str(path)!r})")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidData, match="no column 'POLYLINE'"):
        ldp3.load(f"porto(path={str(path)!r})")
