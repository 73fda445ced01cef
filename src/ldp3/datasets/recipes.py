"""The paper's three datasets, from their raw public files."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, final

import polars as pl

from ldp3.datasets.base import Source
from ldp3.errors import require
from ldp3.people import Dataset, one_attribute
from ldp3.printing import plural
from ldp3.reading.cutting import grid_cells
from ldp3.reading.dataset import read_path
from ldp3.reading.formats import open_file
from ldp3.reading.options import Pick, Range, Reading, as_grid, as_within
from ldp3.reading.users import COORDINATES, VALUE, Users


@final
@dataclass(frozen=True)
class Kosarak(Source):
    """Click-streams of a Hungarian news portal: each user's most visited of the top 128 pages.

    The raw file is published by the FIMI repository (items separated by spaces) and by SPMF
    (sequences with -1 and -2 marks); either will do. Almost nobody visits a page twice, so for
    three users in four the first of their top pages decides: the tie rule *is* the dataset.

    Parameters
    ----------
    path
        The raw file.
    top
        How many pages to keep, by number of visits.
    pick
        Which of a user's pages counts.
    """

    path: str = ""
    top: int = 128
    pick: Pick = "most_frequent"

    def load(self) -> Dataset:
        """Users per page."""
        return _transactions(self, "kosarak", self.path, self.top, self.pick)


@final
@dataclass(frozen=True)
class BmsPos(Source):
    """Market baskets of an electronics retailer: one of the top 256 items per basket.

    The raw file is the HARM project's BMS-POS.csv: one basket per line, items separated by commas.
    No item is in a basket twice, so most_frequent is the first in line that is in the top.

    Parameters
    ----------
    path
        The raw file.
    top
        How many items to keep, by number of baskets.
    pick
        Which of a basket's items counts.
    """

    title: ClassVar[str] = "BMS-POS"

    path: str = ""
    top: int = 256
    pick: Pick = "most_frequent"

    def load(self) -> Dataset:
        """Baskets per item."""
        return _transactions(self, "bms_pos", self.path, self.top, self.pick)


@final
@dataclass(frozen=True)
class Porto(Source):
    """Where taxi trips in Porto start, on a 15×15 grid.

    The raw file is the train.csv of the ECML/PKDD 2015 taxi challenge; a trip starts at the first
    point of its POLYLINE. Trips without a point, and those that start outside the box, are left
    out and counted. The paper does not say which box it used; this one is ours, around the city.

    Parameters
    ----------
    path
        The raw file.
    grid
        Rows (by latitude, from the south) x columns (by longitude, from the west).
    within
        The box: latitudes, longitudes, without the northern and eastern edge; None for all that
        occur.
    """

    path: str = ""
    grid: tuple[int, int] = (15, 15)
    within: tuple[Range, Range] | None = ((41.10, 41.25), (-8.70, -8.52))

    def load(self) -> Dataset:
        """Trips per cell."""
        named = isinstance(self.path, str) and self.path != ""
        require(named, self, "path must name the raw file", self.path)
        users = open_file(Path(self.path), Reading(input_format="csv", header=True))
        reading = Reading(grid=as_grid(self.grid), within=as_within(self.within))
        return replace(grid_cells(_starts(users), reading), name="porto")


def _transactions(source: Source, name: str, path: str, top: int, pick: Pick) -> Dataset:
    require(isinstance(path, str) and path != "", source, "path must name the raw file", path)
    reading = Reading(input_format="transactions", top=top, pick=pick)
    return replace(one_attribute(read_path(Path(path), reading)), name=name)


def _starts(users: Users) -> Users:
    """Latitude and longitude of each trip's first point; trips without points left out."""
    if "POLYLINE" not in users.schema():
        raise users.error("has no column 'POLYLINE'; the taxi challenge's train.csv has one.")
    line = pl.col("POLYLINE").str.strip_chars()
    point = line.str.extract_groups(r"^\[\s*\[\s*(?<lon>[-+.\deE]+)\s*,\s*(?<lat>[-+.\deE]+)\s*\]")
    lat, lon = point.struct.field("lat"), point.struct.field("lon")
    empty = line.str.contains(r"^\[\s*\]$")
    wrong = (lat.is_null() & ~empty).fill_null(True)
    rows = users.selecting(line.alias(VALUE), empty.alias("empty"), wrong.alias("wrong"))
    none, bad = rows.collect(rows.frame.select(pl.col("empty", "wrong").sum())).row(0)
    if bad:
        place, value = rows.first_where(pl.col("wrong"))
        raise users.error(f"{place}: {str(value)[:40]!r} is not a list of points.")
    frame = users.frame.filter(~empty).select(lat.alias(COORDINATES[0]), lon.alias(COORDINATES[1]))
    starts = replace(users, frame=frame, whole=None)
    return starts.noting(f"{plural(none, 'trip')} without a point left out.") if none else starts
