import gzip
import math
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.datasets.base import Source
from ldp3.datasets.synthetic import Synthetic
from ldp3.errors import InvalidData, InvalidParameter, LDPError, UnknownName
from ldp3.kinds import find

SHAPES = find(Synthetic)
each_shape = pytest.mark.parametrize("shape", SHAPES)


@each_shape
@given(d=st.integers(2, 300), n=st.integers(1, 10**12))
def test_expected_counts_are_within_one_user_of_the_shape(shape: str, d: int, n: int) -> None:
    source = SHAPES[shape](d=max(d, 4), n=n)
    data = source.load()
    exact = source.weights() / source.weights().sum() * n
    assert data.n == n
    assert data.d == source.d
    assert np.abs(data.histogram - exact).max() < 1 + 1e-12 * n


def test_zipf_by_hand() -> None:
    counts = ldp3.load("zipf(s=2, d=3, n=49_000_000)").histogram
    assert counts.tolist() == [36_000_000, 9_000_000, 4_000_000]


def test_geometric_by_hand() -> None:
    assert ldp3.load("geometric(p=0.5, d=3, n=7_000)").histogram.tolist() == [4_000, 2_000, 1_000]


def test_gaussian_falls_off_as_a_bell() -> None:
    data = ldp3.load("gaussian(d=101, n=1_000_000_000, mean=0.5, std=0.1)")
    assert data.histogram.argmax() == 50
    assert math.isclose(
        data.histogram[40] / data.histogram[50], math.exp(-0.5 * (10 / 10.1) ** 2), rel_tol=1e-6
    )


def test_uniform_spike_steps_and_bimodal_by_hand() -> None:
    assert ldp3.load("uniform(d=4, n=10)").histogram.tolist() == [3, 3, 2, 2]
    assert ldp3.load("spike(d=5, n=8, share=0.5)").histogram.tolist() == [4, 1, 1, 1, 1]
    assert ldp3.load("steps(d=4, n=6, steps=2, ratio=0.5)").histogram.tolist() == [2, 2, 1, 1]
    two = ldp3.load("bimodal(d=100, n=1_000_000, share=0.3)").histogram
    assert abs(int(two[50:].sum()) - 300_000) < 100


def test_synthetic_data_says_what_it_is() -> None:
    data = ldp3.load("Zipf( n = 10_000_000, d=1024, s=1.3 )")
    assert ldp3.load(data.name).digest == data.digest
    assert data.positions is not None
    assert data.positions[-1] == 1023


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zipf(n=1e6)", "Zipf: n must be an integer from 1"),
        ("zipf(d=1)", "Zipf: d must be an integer from 2"),
        ("zipf(d=10**12)", "A spec looks like"),
        ("zipf(s='x')", "Zipf: s must be a number, got 'x'"),
        ("zipf(s=-1)", "Zipf: s must be at least 0"),
        ("zipf(t=1)", "Zipf has no parameter 't'"),
        ("zipf(s=1", "A spec looks like"),
        ("geometric(p=1)", "Geometric: p must lie between 0 and 1"),
        ("gaussian(std=0)", "Gaussian: std must be at least"),
        ("spike(share=2)", "Spike: share must lie between 0 and 1"),
        ("steps(steps=0.5)", "Steps: steps must be an integer"),
        ("kosarak", "Kosarak: path must name the raw file, got ''"),
        ("porto(path=3)", "Porto: path must name the raw file, got 3"),
        ("kosarak(path='x', top='y')", "`top`: must be an integer"),
        ("bms_pos(path='x', pick='y')", "`pick`: must be one of"),
    ],
)
def test_bad_specs_are_refused_by_name(spec: str, message: str) -> None:
    with pytest.raises(LDPError, match=message):
        ldp3.load(spec)


def test_flights_are_all_there() -> None:
    data = ldp3.load("flights")
    assert (data.name, data.n, data.d) == ("flights", 336_776, 105)
    top = sorted(zip(data.histogram.tolist(), data.labels, strict=True))[-1]
    assert top == (17_283, "ORD")
    assert data.notes == ()


def test_the_provenance_of_the_flights_names_this_very_file() -> None:
    folder = files("ldp3.datasets") / "data"
    digest = sha256((folder / "flights.csv").read_bytes()).hexdigest()
    assert digest in (folder / "flights.md").read_text()


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
    assert "1 user without an item in the top 3 left out." in data.notes


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
        "1 user outside the range left out.",
    )
    everywhere = ldp3.load(f"porto(path={str(path)!r}, grid='1x2', within='')")
    assert everywhere.histogram.tolist() == [1, 2]


def test_a_broken_trip_names_its_row(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text(TRIPS + '"5","C","","","21","1","A","False","nonsense"\n')
    with pytest.raises(InvalidData, match=r"train\.csv: row 6: 'nonsense' is not a list of points"):
        ldp3.load(f"porto(path={str(path)!r})")
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidData, match="no column 'POLYLINE'"):
        ldp3.load(f"porto(path={str(path)!r})")
