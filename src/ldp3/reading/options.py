"""How a file or a table is read: the options that people give, as values with a type.

The command line turns its words into them, `load` what people write in Python; nothing goes
through text on the way. NumPy is not imported here: `ldp3 --help` need not wait for it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

from ldp3.errors import (
    MOST_VALUES,
    InvalidParameter,
    as_path,
    as_python,
    did_you_mean,
    one_of,
    require,
    short,
    whole,
)
from ldp3.files import read_toml

Format = Literal["lines", "csv", "json", "jsonl", "parquet", "arrow", "excel", "transactions"]
Pick = Literal["most_frequent", "first", "last", "random"]
Missing = Literal["refuse", "drop", "keep"]
Decimal = Literal[".", ","]
Scale = Literal["equal", "log", "quantiles"]
NumberOrDate = float | str | date  # or a text that spells one
Range = tuple[NumberOrDate, NumberOrDate]
BINS = "a number of bins, quantiles:20, log:20 or rising edges"
GRID = "rows x columns, such as 15x15"
RANGE = "low:high, or two of them"
NO_ANSWER, OTHER = "no answer", "other"  # what is missing or left out of a column among several
NA = "NA,N/A,null,NaN,-"  # texts that mean "no value", whatever their case


@dataclass(frozen=True)
class Cut:
    """Into how many bins a line is cut, and what they have in common.

    They are equally wide (``equal``), equally wide on a logarithmic scale (``log``), or hold about
    equally many people (``quantiles``).
    """

    size: int
    scale: Scale = "equal"

    def __post_init__(self) -> None:
        fits = whole(self.size, 2, MOST_VALUES)
        require(fits, "`bins`", f"a number from 2 to {MOST_VALUES:,}", self.size)


@dataclass(frozen=True)
class Reading:
    """How a file or a table becomes one value per user.

    Parameters
    ----------
    column
        Column that holds the values, by name or by position counted from 1; two for a grid
        (lat,lon). A name means that a text file has a header.
    columns
        Several columns that are read together, as a table of several attributes: their names,
        each with options of its own in parentheses, such as age(bins=10); or a .toml file with a
        table of options for each. A missing answer is a value, called "no answer".
    header
        Whether the first row of a text file or a sheet holds names, not a value. Default: by
        evidence, with a note, and refused in doubt.
    delimiter
        What separates the columns of a text file: one character, or tab. Default: a comma, a
        semicolon, a tab or a bar, by evidence, with a note.
    counts
        Each row holds a value and a number of people (the column called "count", else the last).
    domain
        File with every possible value, one per row; values nobody holds are kept, in its order.
    domain_size
        The values are the integers from 0 to one less than this.
    top
        Keep the values that occur most often, this many; people left with none are left out.
    other
        The label that stands for every value that `top` or `domain` leaves out, so that nobody is
        left out; it is the last of the domain.
    pick
        Which item of a transaction is the person's value: most_frequent (of equals, the first in
        line), first, last, or random (each occurrence alike, the same draw every time).
    bins
        Cut numbers or dates into this many bins of equal width, or of equally many people
        (quantiles:20), or of equal width on a log scale (log:20), or at given edges (0,18,65,120).
    grid
        Cut two coordinates into rows x columns, as 15x15; the first column gives the row.
    within
        Range to cut into bins (low:high) or a grid (low:high,low:high), without its upper end;
        people outside are left out. Default: what occurs.
    clip
        Count a number below the range of `bins` in the first bin and one above it in the last,
        which take everything from there on.
    ordered
        The order of the values means something, as it does for bins, dates and decimals anyway;
        whole numbers alone are labels, such as ids.
    missing
        What to do with a row that holds no value: refuse the file, drop the row and say so, or
        keep what `na` names as values of their own. Default: refuse; among several columns a
        missing answer is a value.
    na
        What means "no value" in a text file, whatever its case, separated by commas; a cell with
        nothing in it always does. Default: NA,N/A,null,NaN,- where the domain does not name it.
    decimal
        What separates the decimals of numbers in text: a comma (then 1.234,5 is 1234.5), or the
        usual point.
    date_format
        How dates in text are written, as %d.%m.%Y or %m/%d/%y %H:%M; they are read as 2013-02-01.
    input_format
        What the file holds, where its ending does not say: lines (one value each), csv, json,
        jsonl, parquet, arrow, excel, or transactions (one person per line, items separated by
        spaces or commas).
    keep_values
        Keep each user's value in the order of the file, not only the histogram.
    """

    column: tuple[str | int, ...] | None = None
    columns: "tuple[Column, ...] | None" = None
    header: bool | None = None
    delimiter: str | None = None
    counts: bool = False
    domain: Path | tuple[str, ...] | None = None
    domain_size: int | None = None
    top: int | None = None
    other: str | None = None
    pick: Pick | None = None
    bins: Cut | tuple[NumberOrDate, ...] | None = None
    grid: tuple[int, int] | None = None
    within: tuple[Range, ...] | None = None
    clip: bool = False
    ordered: bool = False
    missing: Missing | None = None
    na: str | None = None
    decimal: Decimal = "."
    date_format: str | None = None
    input_format: Format | None = None
    keep_values: bool = False

    def __post_init__(self) -> None:
        self._require_types()
        self._require_columns()
        domains = self._among("domain", "domain_size", "top", "bins", "grid")
        if len(domains) > 1:
            raise InvalidParameter(f"{_flags(domains)} each decide the domain: give one of them.")
        self._require_range()
        self._require_other()
        if self.ordered and self.grid is not None:
            raise InvalidParameter("`ordered`: the cells of a `grid` have no order along a line.")
        if self.missing == "keep" and self.na is not None:
            raise InvalidParameter("`missing=keep` and `na` contradict each other: give one.")

    def given(self) -> list[str]:
        """The options that differ from their defaults, but for `keep_values`."""
        changed = (f.name for f in fields(self) if getattr(self, f.name) != f.default)
        return [name for name in changed if name != "keep_values"]

    @property
    def names_a_column(self) -> bool:
        """Whether a column is chosen by something that is no position."""
        named = (*(self.column or ()), *(column.name for column in self.columns or ()))
        return any(not str(column).isdecimal() for column in named)

    @property
    def range_form(self) -> str:
        """How a range is written on the command line, for messages."""
        return "low:high for `bins`" if self.grid is None else "low:high,low:high for `grid`"

    @property
    def range_text(self) -> str:
        """The range as the command line writes it, for messages."""
        return repr(",".join(f"{low}:{high}" for low, high in self.within or ()))

    def require_no_columns(self, who: str) -> None:
        """Refuse what makes no sense for transactions."""
        tables = "column", "columns", "header", "delimiter", "counts", "bins", "grid", "na"
        wrong = self._among(*tables, "decimal", "date_format")
        if wrong:
            raise InvalidParameter(
                f"{who}: transactions, one person per line, know no {_flags(wrong)}; for a table "
                f"leave `pick` out and use `input_format=csv`."
            )

    def _require_types(self) -> None:
        for name in ("header", "counts", "clip", "ordered", "keep_values"):
            flag = getattr(self, name)
            fits = isinstance(flag, bool) or (flag is None and name == "header")
            require(fits, f"`{name}`", "is True or False", flag)
        for name in ("top", "domain_size"):
            size = getattr(self, name)
            fits = size is None or whole(as_python(size), 2, MOST_VALUES)
            require(fits, f"`{name}`", f"must be an integer from 2 to {MOST_VALUES:,}", size)
        for name, choices in (("pick", Pick), ("missing", Missing), ("input_format", Format)):
            known, given = get_args(choices), getattr(self, name)
            fits = given is None or one_of(given, known)
            require(fits, f"`{name}`", f"must be one of {', '.join(known)}", given)
        for name in ("delimiter", "na", "date_format"):
            text = getattr(self, name)
            require(text is None or isinstance(text, str), f"`{name}`", "is a text", text)
        fits = one_of(self.decimal, get_args(Decimal))
        require(fits, "`decimal`", "must be a point or a comma", self.decimal)
        dates = self.date_format is None or "%" in self.date_format
        require(dates, "`date_format`", "looks like %d.%m.%Y", self.date_format)
        if self.date_format is not None and self.decimal != ".":
            raise InvalidParameter("`decimal` is of numbers, `date_format` of dates: give one.")

    def _require_columns(self) -> None:
        if self.columns is None:
            return
        if self.column is not None:
            raise InvalidParameter("`column` is one, `columns` are several: give one of them.")
        if self.grid is not None:
            raise InvalidParameter("`grid` takes its two columns together, as in `column=lat,lon`.")
        if wrong := self._among("pick", *OF_COLUMN):
            raise InvalidParameter(
                f"{_flags(wrong)}: of which column? Say it with its name, as in "
                f"`columns=age(bins=10)`, or in a .toml file."
            )
        names = [column.name for column in self.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        require(twice is None, "`columns`", "must be different ones", twice)
        if len(names) < 2:
            raise InvalidParameter(
                f"`columns` reads several together, and {short(names)} is one: use `column`."
                if names
                else "`columns` needs the names of several columns."
            )

    def _require_range(self) -> None:
        if self.clip and self.bins is None:
            raise InvalidParameter("`clip` is for `bins` of numbers: give both.")
        if self.within is None:
            return
        if self.bins is None and self.grid is None:
            raise InvalidParameter("`within` is the range of `bins` or `grid`: give one of them.")
        if isinstance(self.bins, tuple):
            raise InvalidParameter("`within` is the range of a number of bins: edges say theirs.")
        if len(self.within) != (1 if self.grid is None else 2):
            raise InvalidParameter(f"`within`: {self.range_form}, got {self.range_text}.")

    def _require_other(self) -> None:
        if self.other is None:
            return
        if not self._among("top", "domain", "domain_size"):
            raise InvalidParameter(
                "`other` stands for what `top` or `domain` leaves out: give one of them."
            )
        named = isinstance(self.other, str) and self.other != ""
        named = named and self.other.strip() == self.other
        require(named, "`other`", "must be a label without blanks around it", self.other)

    def _among(self, *names: str) -> list[str]:
        return [name for name in names if name in self.given()]


@dataclass(frozen=True)
class Column:
    """One column of a table: how it is read, and what answers that are none are called.

    `other` stands for what `top`, `domain` or a range leaves out and for missing answers: it is the
    last value. If it is not given, there is one where it is needed.
    """

    name: str | int
    reading: Reading = Reading()
    other: str | None = None


OF_COLUMN = (  # what is said of one column among several, and not of their file
    *("labels", "bins", "within", "clip", "top", "other", "domain", "domain_size", "ordered"),
    *("decimal", "date_format"),
)


def as_table_columns(given: object) -> tuple[Column, ...] | None:
    """Columns that are read together: names, or for each name its options; or a .toml of these.

    >>> [column.name for column in as_table_columns({"sex": {}, "age": {"bins": 10}})]
    ['sex', 'age']
    """
    if given is None:
        return None
    if isinstance(given, str | PathLike) and str(given).endswith(".toml"):
        given = read_toml(Path(given))
    if isinstance(given, Mapping):
        return tuple(_column(name, options) for name, options in given.items())
    listed = _listed(given, "columns")
    return tuple(one if isinstance(one, Column) else _column(one, {}) for one in listed)


def _column(name: object, given: object) -> Column:
    name = as_python(name)
    fine = isinstance(name, str) or whole(name, 1)
    require(fine, "`columns`", "are names or positions", name)
    require(isinstance(given, Mapping), f"`columns`: {name}", "has options with names", given)
    options: dict[str, Any] = {str(k).replace("-", "_"): v for k, v in given.items()}  # type: ignore[attr-defined]
    for option in options:
        if option not in OF_COLUMN:
            hint = did_you_mean(option, OF_COLUMN) or f" There are {', '.join(OF_COLUMN)}."
            raise InvalidParameter(f"`columns`: {name} has no option {short(option)}.{hint}")
    if "labels" in options:  # the values themselves; `domain` may be a file of them
        options["domain"] = _listed(options.pop("labels"), "labels")
    other = options.pop("other", None)
    typed = {"bins": as_bins, "within": as_within, "domain": as_labels}
    known = {key: typed[key](v) if key in typed else v for key, v in options.items()}
    if options.keys() & {"domain", "domain_size"}:
        known["other"] = other
    elif "top" in options:  # nobody is left out of a table
        known["other"] = other = other or OTHER
    try:
        return Column(name, Reading(column=(name,), **known), other)  # type: ignore[arg-type]
    except InvalidParameter as error:
        raise InvalidParameter(f"`columns`: {name}: {error}") from None


def as_columns(given: object) -> tuple[str | int, ...] | None:
    """A name or a position, or several of them."""
    if given is None:
        return None
    one = isinstance(given, str) or whole(as_python(given))
    columns = tuple(map(as_python, [given] if one else _listed(given, "column")))
    fine = len(columns) > 0 and all(isinstance(one, str) or whole(one, 0) for one in columns)
    require(fine, "`column`", "is a name or a position, or a list of them", given)
    return columns  # type: ignore[return-value]


def as_bins(given: object) -> Cut | tuple[NumberOrDate, ...] | None:
    """``20``, ``"log:20"`` and ``"quantiles:20"``, or edges.

    >>> as_bins("log:20"), as_bins([0, 18, 65])
    (Cut(size=20, scale='log'), (0, 18, 65))
    """
    if given is None or isinstance(given, Cut):
        return given
    if whole(size := as_python(given)):
        return Cut(size)
    if isinstance(given, str):
        found = re.fullmatch(r"(?:(quantiles|log):)?\s*(\d+)", given.strip(), re.ASCII)
        require(found is not None, "`bins`", BINS, given)
        assert found is not None
        return Cut(int(found[2]), found[1] or "equal")  # type: ignore[arg-type]
    return tuple(_point(edge, "bins") for edge in _listed(given, "bins"))


def as_grid(given: object) -> tuple[int, int] | None:
    """Numbers of rows and columns: ``(15, 20)``."""
    if given is None:
        return None
    sizes = [as_python(size) for size in _listed(given, "grid")]
    fine = len(sizes) == 2 and all(whole(size, 1, MOST_VALUES) for size in sizes)
    if not fine or not 2 <= sizes[0] * sizes[1] <= MOST_VALUES:  # type: ignore[operator]
        raise InvalidParameter(f"`grid`: {GRID}, got {short(given)}.")
    return sizes[0], sizes[1]  # type: ignore[return-value]


def as_within(given: object) -> tuple[Range, ...] | None:
    """A range ``(0, 100)``, or one for each coordinate of a grid."""
    if given is None:
        return None
    parts = _listed(given, "within")
    pairs = parts if all(map(_is_list, parts)) else [parts]
    return tuple(_range(pair, given) for pair in pairs)


def as_labels(given: object) -> Path | tuple[str, ...] | None:
    """A file that names every possible value, or the values themselves."""
    if given is None:
        return None
    if isinstance(given, str | PathLike):
        return as_path(given, "a file with the domain")
    labels = tuple(str(as_python(value)).strip() for value in _listed(given, "domain"))
    if len(set(labels)) < max(len(labels), 2) or not all(labels):
        raise InvalidParameter(
            f"`domain` holds at least two values, all different and none blank, got "
            f"{short(list(labels))}."
        )
    return labels


def _range(given: object, all_given: object) -> Range:
    ends = [_point(end, "within") for end in _listed(given, "within")]
    if len(ends) != 2:
        raise InvalidParameter(f"`within`: {RANGE}, got {short(all_given)}.")
    return ends[0], ends[1]


def _point(given: object, option: str) -> NumberOrDate:
    given = as_python(given)
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number and not isinstance(given, str | date):
        raise InvalidParameter(f"`{option}` takes numbers or dates, got {short(given)}.")
    return given.strip() if isinstance(given, str) else given  # type: ignore[return-value]


def _is_list(given: object) -> bool:
    listed = isinstance(given, Iterable) and getattr(given, "ndim", 1) > 0
    return listed and not isinstance(given, str | bytes | dict | type)


def _listed(given: object, option: str) -> list[object]:
    if not _is_list(given):
        raise InvalidParameter(f"`{option}` takes a list, got {short(given)}.")
    return list(given)  # type: ignore[call-overload]


def _flags(options: list[str]) -> str:
    return " and ".join(f"`{option}`" for option in options)
