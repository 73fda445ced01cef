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
