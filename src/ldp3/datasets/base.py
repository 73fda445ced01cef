"""What a dataset is read from: a source with a name, or a file with reading options."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal, get_args

from ldp3.errors import InvalidParameter, as_python, one_of, require, whole
from ldp3.types import Dataset

Format = Literal["lines", "csv", "parquet", "transactions"]
Pick = Literal["most_frequent", "first", "last", "random"]
Missing = Literal["refuse", "drop"]
MOST_VALUES = 2**24  # a larger domain is a mistake in the spec before it is a dataset


@dataclass(frozen=True)
class Source(ABC):
    """A dataset with a name of its own; its fields are its parameters.

    A source that people can name lies in this folder, or in a plug-in module.
    """

    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def load(self) -> Dataset:
        """The data, the same every time."""


@dataclass(frozen=True)
class Reading:
    """How a file or a table becomes one value per user.

    Parameters
    ----------
    column
        Column that holds the values, by name or by position counted from 1; two, separated by a
        comma, for a grid. A name means that a text file has a header.
    header
        The first row of a text file holds names, not a user.
    counts
        Each row holds a value and a number of users (the column called "count", else the last).
    domain
        File with every possible value, one per row; values nobody holds are kept, in its order.
    domain_size
        The values are the integers from 0 to one less than this.
    top
        Keep the values that occur most often, this many; users left with none are left out.
    pick
        Which item of a transaction is the user's value: most_frequent (of equals, the first in
        line), first, last, or random (each occurrence alike, the same draw every time).
    bins
        Cut numbers into this many bins of equal width, or at the given edges, as 0,18,65,120.
    grid
        Cut two coordinates into rows x columns, as 15x15; the first column gives the row.
    within
        Range to cut into bins (low:high) or a grid (low:high,low:high), without its upper end;
        users outside are left out. Default: what occurs.
    missing
        What to do with a row that holds no value: refuse the file, or drop the row and say so.
    input_format
        What the file holds, where its ending does not say: lines (one value each), csv, parquet,
        or transactions (one user per line, items separated by spaces or commas).
    keep_values
        Keep each user's value in the order of the file, not only the histogram.
    """

    column: str | int | None = None
    header: bool | None = None
    counts: bool = False
    domain: Path | tuple[str, ...] | None = None
    domain_size: int | None = None
    top: int | None = None
    pick: Pick | None = None
    bins: str | int | None = None
    grid: str | None = None
    within: str | None = None
    missing: Missing = "refuse"
    input_format: Format | None = None
    keep_values: bool = False

    def given(self) -> list[str]:
        """The options that differ from their defaults, but for `keep_values`."""
        changed = (f.name for f in fields(self) if getattr(self, f.name) != f.default)
        return [name for name in changed if name != "keep_values"]

    def require_consistent(self) -> None:
        """Refuse options that are out of range or contradict each other."""
        for name, size in (("top", self.top), ("domain_size", self.domain_size)):
            fits = size is None or whole(as_python(size), 2, MOST_VALUES)
            require(fits, _flags([name]), f"must be an integer from 2 to {MOST_VALUES:,}", size)
        for name, choices in (("pick", Pick), ("missing", Missing), ("input_format", Format)):
            known, given = get_args(choices), getattr(self, name)
            fits = one_of(given, known) or (given is None and name != "missing")
            require(fits, _flags([name]), f"must be one of {', '.join(known)}", given)
        domains = self._among("domain", "domain_size", "top", "bins", "grid")
        if len(domains) > 1:
            raise InvalidParameter(f"{_flags(domains)} each decide the domain: give one of them.")
        if self.within is not None and self.bins is None and self.grid is None:
            raise InvalidParameter("`within` is the range of `bins` or `grid`: give one of them.")

    def require_no_columns(self, who: str) -> None:
        """Refuse what makes no sense for transactions."""
        wrong = self._among("column", "header", "counts", "bins", "grid")
        if wrong:
            raise InvalidParameter(
                f"{who}: transactions, one user per line, know no {_flags(wrong)}; for a table "
                f"leave `pick` out and use `input_format=csv`."
            )

    def _among(self, *names: str) -> list[str]:
        return [name for name in names if name in self.given()]


def _flags(options: list[str]) -> str:
    return " and ".join(f"`{option}`" for option in options)
