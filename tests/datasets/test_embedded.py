from hashlib import sha256
from importlib.resources import files

import ldp3


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


def test_delays_are_all_there_in_order() -> None:
    data = ldp3.load("delays")
    assert (data.name, data.n, data.d, data.ordered) == ("delays", 328_521, 270, True)
    assert (data.labels[0], data.labels[-1]) == ("[-45, -40)", "[1300, 1305)")
    assert (data.histogram[0], data.histogram[-1]) == (1, 1)  # 43 minutes early, 1,301 late
    assert "8,255 flights that were cancelled" in " ".join(data.notes)
    folder = files("ldp3.datasets") / "data"
    assert (
        sha256((folder / "delays.csv").read_bytes()).hexdigest()
        in (folder / "delays.md").read_text()
    )
