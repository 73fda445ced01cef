"""Real data that comes with the package."""

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from typing import ClassVar, final

from ldp3.datasets.base import Source
from ldp3.people import Dataset, one_attribute
from ldp3.reading.dataset import read_path
from ldp3.reading.options import Reading, as_bins


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
        return _counted("flights", Reading(header=True, counts=True))


@final
@dataclass(frozen=True)
class Delays(Source):
    """Departure delays of flights from New York City in 2013, in minutes: n = 328,521, d = 270.

    Each flight is a user, its delay the user's value, in bins of five minutes from -45 to 1,305:
    numbers in order, with a long tail. The 8,255 cancelled flights have no delay and are left out.
    Where the file comes from is written beside it, in `delays.md`.
    """

    aliases: ClassVar[tuple[str, ...]] = ("departure delays",)

    def load(self) -> Dataset:
        """Flights per five minutes of delay."""
        bins = as_bins(range(-45, 1_306, 5))
        data = _counted("delays", Reading(header=True, counts=True, bins=bins))
        note = "The 8,255 flights that were cancelled have no delay and are left out."
        return replace(data, notes=(*data.notes, note))


def _counted(name: str, reading: Reading) -> Dataset:
    with as_file(files("ldp3.datasets") / "data" / f"{name}.csv") as path:
        return replace(one_attribute(read_path(path, reading)), name=name)
