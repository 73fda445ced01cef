"""How a file or a table is read: the options that people give."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from ldp3.errors import InvalidParameter, as_python, one_of, require, whole

Format = Literal["lines", "csv", "json", "jsonl", "parquet", "arrow", "excel", "transactions"]
Pick = Literal["most_frequent", "first", "last", "random"]
Missing = Literal["refuse", "drop", "keep"]
NA = "NA,N/A,null,NaN,-"  # texts that mean "no value", whatever their case
MOST_VALUES = 2**24  # a larger domain is a mistake in the spec before it is a dataset


@dataclass(frozen=True)
class Reading:
    """How a file or a table becomes one value per user.

    Parameters
    ----------
    column
        Column that holds the values, by name or by position counted from 1; two, separated by a
        comma, for a grid. A name means that a text file has a header.
    header
        Whether the first row of a text file or a sheet holds names, not a user. Default: by
        evidence, with a note, and refused in doubt.
    delimiter
        What separates the columns of a text file: one character, or tab. Default: a comma, a
        semicolon, a tab or a bar, by evidence, with a note.
    counts
        Each row holds a value and a number of users (the column called "count", else the last).
    domain
        File with every possible value, one per row; values nobody holds are kept, in its order.
    domain_size
        The values are the integers from 0 to one less than this.
    top
        Keep the values that occur most often, this many; users left with none are left out.
    other
        The label that stands for every value that `top` or `domain` leaves out, added to the
        domain if it is not there, so that nobody is left out.
    pick
        Which item of a transaction is the user's value: most_frequent (of equals, the first in
        line), first, last, or random (each occurrence alike, the same draw every time).
    bins
        Cut numbers or dates into this many bins of equal width, or of equally many users
        (quantiles:20), or of equal width on a log scale (log:20), or at given edges (0,18,65,120).
    grid
        Cut two coordinates into rows x columns, as 15x15; the first column gives the row.
    within
        Range to cut into bins (low:high) or a grid (low:high,low:high), without its upper end;
        users outside are left out. Default: what occurs.
    ordered
        The order of the values means something, as it does for bins, dates and decimals anyway;
        whole numbers alone are labels, such as ids.
    missing
        What to do with a row that holds no value: refuse the file, drop the row and say so, or
        keep what `na` names as values of their own.
    na
        What means "no value" in a text file, whatever its case, separated by commas; a cell with
        nothing in it always does. Default: NA,N/A,null,NaN,- where the domain does not name it.
    input_format
        What the file holds, where its ending does not say: lines (one value each), csv, json,
        jsonl, parquet, arrow, excel, or transactions (one user per line, items separated by spaces
        or commas).
    keep_values
        Keep each user's value in the order of the file, not only the histogram.
    """

    column: str | int | None = None
    header: bool | None = None
    delimiter: str | None = None
    counts: bool = False
    domain: Path | tuple[str, ...] | None = None
    domain_size: int | None = None
    top: int | None = None
    other: str | None = None
    pick: Pick | None = None
    bins: str | int | None = None
    grid: str | None = None
    within: str | None = None
    ordered: bool = False
    missing: Missing = "refuse"
    na: str | None = None
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
        self._require_other()
        if self.missing == "keep" and self.na is not None:
            raise InvalidParameter("`missing=keep` and `na` contradict each other: give one.")

    def _require_other(self) -> None:
        if self.other is None:
            return
        if not self._among("top", "domain", "domain_size"):
            raise InvalidParameter(
                "`other` stands for what `top` or `domain` leaves out: give one of them."
            )
        named = isinstance(self.other, str) and self.other.strip() == self.other != ""
        require(named, "`other`", "must be a label without blanks around it", self.other)

    def require_no_columns(self, who: str) -> None:
        """Refuse what makes no sense for transactions."""
        wrong = self._among("column", "header", "delimiter", "counts", "bins", "grid", "na")
        if wrong:
            raise InvalidParameter(
                f"{who}: transactions, one user per line, know no {_flags(wrong)}; for a table "
                f"leave `pick` out and use `input_format=csv`."
            )

    def _among(self, *names: str) -> list[str]:
        return [name for name in names if name in self.given()]


def _flags(options: list[str]) -> str:
    return " and ".join(f"`{option}`" for option in options)
