"""Real data that comes with the package."""

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import ClassVar, final

from ldp3.datasets.base import Source
from ldp3.reading.dataset import read_path
from ldp3.reading.options import Reading
from ldp3.types import Dataset


@final
@dataclass(frozen=True)
class Flights(Source):
    """Destinations of all flights that left New York City in 2013: n = 336,776, d = 105.

    Each flight is a user, its destination airport the user's value. Where the file comes from is
    written beside it, in `flights.md`.
    """

    aliases: ClassVar[tuple[str, ...]] = ("nycflights13",)

    def load(self) -> Dataset:
        """Flights per destination, by airport code."""
        reading = Reading(header=True, counts=True)
        with as_file(files("ldp3.datasets") / "data" / "flights.csv") as path:
            data = read_path(path, reading)
        return replace(data, name="flights")
