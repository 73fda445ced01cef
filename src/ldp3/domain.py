"""What values there are: labels, whole numbers, bins of a line, cells of a grid.

A domain is made once, when data are read or a plan is written. Whoever codes a value, prints one or
asks whether values have an order asks it. It is written into every plan, so that a client in any
language codes values the same way. Nothing but NumPy is needed here.
"""

import json
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import inf, isfinite, isnan
from typing import Any, Self, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    InvalidValue,
    as_python,
    did_you_mean,
    require,
    several,
    short,
    whole,
)

MOST_VALUES = 2**24  # with labels or edges: a larger domain is a mistake before it is a domain
MOST_INTEGERS = 2**31
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Edges = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Domain(ABC):
    """The values that people can hold, numbered from 0 to d-1.

    Parameters
    ----------
    name
        What the values are: the question, or the title of their column.
    other
        The label of a last value that stands for everything outside; None if that is refused.
    ordered
        Whether the order of the values means something.
    """

    name: str = "value"
    other: str | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        require(_is_text(self.name), "A domain", "has a name that is not blank", self.name)
        fine = self.other is None or (_is_text(self.other) and self.other.strip() == self.other)
        require(fine, "`other`", "must be a label without blanks around it", self.other)
        require(isinstance(self.ordered, bool), "`ordered`", "is True or False", self.ordered)
        self._settle()
        low, high = 2, MOST_INTEGERS
        require(low <= self.d <= high, "A domain", f"has {low} to {high:,} values", self.d)

    @abstractmethod
    def _settle(self) -> None:
        """Check the fields of its own and bring them into one form."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are besides `other`."""

    @abstractmethod
    def place(self, value: object) -> int | None:
        """The number of a value; None if it is outside."""

    @abstractmethod
    def _label(self, code: int) -> str:
        """What a value besides `other` is called."""

    @property
    @abstractmethod
    def form(self) -> str:
        """The values in words."""

    @property
    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """The fields of its own, as JSON can hold them."""

    @property
    def d(self) -> int:
        """How many values there are."""
        return self.size + (self.other is not None)

    @property
    def line(self) -> FloatArray | None:
        """Where the values lie on a line, if each of them has a place there."""
        return None

    def code(self, value: object) -> int:
        """The number of a value; one outside becomes `other`, or is refused.

        >>> Labels(["red", "green"], other="another").code("mauve")
        2
        """
        value = as_python(value)
        code = self.place(value)
        if code is not None:
            return code
        if self.other is not None:
            return self.size
        raise InvalidValue(f"{short(value)} is not in the domain ({self.form}).{self._hint(value)}")

    def label(self, code: int) -> str:
        """What a value is called."""
        return self.other if code == self.size and self.other is not None else self._label(code)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What all values are called, in order."""
        return tuple(map(self.label, range(self.d)))

    def in_order(self) -> Self:
        """The same values, whose order means something."""
        return self if self.ordered else replace(self, ordered=True)

    def describe(self) -> dict[str, Any]:
        """What a plan says of it."""
        common = {"name": self.name, "ordered": self.ordered, "other": self.other}
        return {**common, **self._content}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what a plan says of it: two domains with one digest code values alike."""
        text = json.dumps(self.describe(), sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()

    def _hint(self, value: object) -> str:  # noqa: ARG002
        return ""

    @staticmethod
    def read(given: object, source: str) -> "Domain":
        """The domain that a plan describes; whatever it does not know is refused.

        >>> Domain.read(Bins([0, 18, 65]).describe(), "a plan").labels
        ('[0, 18)', '[18, 65)')
        """
        known: dict[str, type[Domain]] = {
            "labels": Labels,
            "integers": Integers,
            "edges": Bins,
            "grid": Grid,
        }
        kinds = [known[key] for key in known if isinstance(given, dict) and key in given]
        if not isinstance(given, dict) or len(kinds) != 1:
            raise InvalidData(f"{source}: no domain is described by {short(given, 60)}.")
        try:
            domain = kinds[0]._from(given)
        except (InvalidParameter, KeyError, TypeError, ValueError) as error:
            why = error if isinstance(error, InvalidParameter) else "something is missing or wrong."
            raise InvalidData(f"{source}: {short(given, 60)} is no domain: {why}") from None
        again = domain.describe()
        if json.dumps(again, sort_keys=True) != json.dumps(given, sort_keys=True):
            raise InvalidData(f"{source}: the domain {short(given, 60)} is not in its usual form.")
        return domain

    @classmethod
    @abstractmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        """The domain with these fields, as `describe` writes them."""


@final
@dataclass(frozen=True)
class Integers(Domain):
    """The whole numbers from 0 on.

    >>> Integers(3).code(2), Integers(3).label(2)
    (2, '2')
    """

    count: int

    def _settle(self) -> None:
        object.__setattr__(self, "count", as_python(self.count))
        wanted = f"has an integer from 2 to {MOST_INTEGERS:,} as its size"
        require(whole(self.count, 2, MOST_INTEGERS), "A domain", wanted, self.count)

    @property
    def size(self) -> int:
        return self.count

    def place(self, value: object) -> int | None:
        if isinstance(value, str):
            text = value.strip()
            if text == self.other:
                return self.size
            if not (text.isascii() and text.isdecimal() and text == str(int(text))):
                return None
            value = int(text)
        return value if whole(value, 0, self.size - 1) else None

    def _label(self, code: int) -> str:
        return str(code)

    @property
    def form(self) -> str:
        return f"the integers from 0 to {self.size - 1}"

    @property
    def _content(self) -> dict[str, Any]:
        return {"integers": self.count}

    @classmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        return cls(given["integers"], **_common(given, "integers"))


@final
@dataclass(frozen=True)
class Labels(Domain):
    """Values that are names; `other`, where there is one, is the last.

    Parameters
    ----------
    names
        One text for each value.
    positions
        Where the values lie on a line, if their names are numbers or dates.

    Examples
    --------
    >>> Labels(["yes", "no"], other="no answer").labels
    ('yes', 'no', 'no answer')
    """

    names: Sequence[str]
    positions: Sequence[float] | None = None

    def _settle(self) -> None:
        names = tuple(str(name) for name in several(self.names, "labels"))
        own = tuple(name for name in names if name != self.other)
        texts = all(_is_text(name) and name.strip() == name for name in own)
        require(texts, "Labels", "must be texts without blanks around them", "something else")
        require(len(set(names)) == len(names), "Labels", "must differ", "one twice")
        require(len(own) <= MOST_VALUES, "Labels", f"are at most {MOST_VALUES:,}", len(own))
        object.__setattr__(self, "names", own)
        if self.positions is not None:
            line = tuple(float(place) for place in several(self.positions, "positions"))
            fine = len(line) == self.d and all(map(isfinite, line))
            require(fine, "Positions", "are finite numbers, one for each value", self.positions)
            object.__setattr__(self, "positions", line)

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def line(self) -> FloatArray | None:
        return None if self.positions is None else np.array(self.positions)

    def place(self, value: object) -> int | None:
        known = isinstance(value, str) or whole(value)
        return self._codes.get(str(value).strip()) if known else None

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    def _label(self, code: int) -> str:
        return self.names[code]

    @property
    def form(self) -> str:
        return f"{self.d} labels"

    def _hint(self, value: object) -> str:
        return did_you_mean(str(value), self.names)

    @property
    def _content(self) -> dict[str, Any]:
        line = {} if self.positions is None else {"positions": list(self.positions)}
        return {"labels": list(self.names), **line}

    @classmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        require(isinstance(given["labels"], list), "A domain", "needs a list", given["labels"])
        common = _common(given, "labels", "positions")
        return cls(given["labels"], given.get("positions"), **common)


@final
@dataclass(frozen=True)
class Bins(Domain):
    """Numbers or dates, cut at rising edges into the bins ``[low, high)``; they have an order.

    Parameters
    ----------
    edges
        Three or more. The first may be -inf and the last inf, so that nothing is outside. For
        dates: days since 1970-01-01.
    closed
        Whether the last edge belongs to the last bin.
    dates
        Whether the values are dates.

    Examples
    --------
    >>> ages = Bins([0, 18, 65, 120], other="no answer")
    >>> ages.code(17.5), ages.code("18"), ages.code(130), ages.label(1)
    (0, 1, 3, '[18, 65)')
    """

    edges: Sequence[float]
    closed: bool = False
    dates: bool = False

    def _settle(self) -> None:
        edges = as_edges(several(self.edges, "`bins`"), closed=self.closed)
        finite = isfinite(edges[0]) and isfinite(edges[-1])
        require(finite or not self.dates, "`bins`", "of dates have two ends", self.edges)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "ordered", True)

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    @property
    def line(self) -> FloatArray | None:
        """The middle of each bin; of one that is open, its end."""
        if self.other is not None:
            return None
        low, high = np.array(self.edges[:-1]), np.array(self.edges[1:])
        middle = (low + high) / 2
        return np.where(np.isfinite(low), np.where(np.isfinite(high), middle, low), high)

    def place(self, value: object) -> int | None:
        if value == self.other and isinstance(value, str):
            return self.size
        number = days_in(value) if self.dates else number_in(value)
        return None if number is None else bin_of(number, self.edges, self.closed)

    def codes(self, numbers: FloatArray) -> IntArray:
        """The bin of each number, -1 outside: what `place` says, for many."""
        found = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right")
        low, high = self.edges[0], self.edges[-1]
        below = numbers <= high if self.closed or high == inf else numbers < high
        return np.where((numbers >= low) & below, found, -1)

    @cached_property
    def _texts(self) -> list[str]:
        if self.dates:
            return half_open([day(edge) for edge in self.edges], self.closed)
        return range_labels(self.edges, self.closed)

    def _label(self, code: int) -> str:
        return self._texts[code]

    @property
    def form(self) -> str:
        ends = [day(e) if self.dates else f"{e:g}" for e in (self.edges[0], self.edges[-1])]
        what = "dates" if self.dates else "numbers"
        return f"the {what} from {ends[0]} to {'' if self.closed else 'below '}{ends[1]}"

    @property
    def _content(self) -> dict[str, Any]:
        flags = {name: True for name in ("closed", "dates") if getattr(self, name)}
        return {"edges": _written(self.edges), **flags}

    @classmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        edges, common = _read_edges(given["edges"]), _common(given, "edges", "closed", "dates")
        return cls(edges, given.get("closed") is True, given.get("dates") is True, **common)


@final
@dataclass(frozen=True)
class Grid(Domain):
    """Pairs of numbers in the cells of a grid, row by row from the smallest: r0c0, r0c1, …

    Parameters
    ----------
    rows, columns
        The edges of either coordinate: the first of a pair gives the row.
    closed
        Whether the last edges belong to the last cells.

    Examples
    --------
    >>> Grid([40, 41, 42], [-75, -74, -73]).code((40.7, -73.9))
    1
    """

    rows: Sequence[float]
    columns: Sequence[float]
    closed: bool = False

    def _settle(self) -> None:
        for name in ("rows", "columns"):
            edges = as_edges(several(getattr(self, name), f"`{name}`"), 2, name, self.closed)
            object.__setattr__(self, name, edges)
        require(not self.ordered, "A grid", "has no order along a line", "`ordered`")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows) - 1, len(self.columns) - 1

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def place(self, value: object) -> int | None:
        if value == self.other and isinstance(value, str):
            return self.size
        if not isinstance(value, list | tuple | np.ndarray) or len(value) != 2:
            return None
        found = []
        for part, edges in zip(value, (self.rows, self.columns), strict=True):
            number = number_in(part)
            found.append(None if number is None else bin_of(number, edges, self.closed))
        row, column = found
        return None if row is None or column is None else row * self.shape[1] + column

    def _label(self, code: int) -> str:
        row, column = divmod(code, self.shape[1])
        return f"r{row}c{column}"

    @property
    def form(self) -> str:
        (rows, columns), (r, c) = self.shape, (self.rows, self.columns)
        ends = f"({r[0]:g}, {c[0]:g}) to ({r[-1]:g}, {c[-1]:g})"
        return f"pairs of numbers in a grid of {rows} × {columns} cells from {ends}"

    @property
    def _content(self) -> dict[str, Any]:
        closed = {"closed": True} if self.closed else {}
        return {"grid": [_written(self.rows), _written(self.columns)], **closed}

    @classmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        rows, columns = given["grid"]
        common = _common(given, "grid", "closed")
        return cls(_read_edges(rows), _read_edges(columns), given.get("closed") is True, **common)


def as_domain(given: object) -> Domain:
    """A domain, or what stands for one: a size, or a list of labels.

    >>> as_domain(3) == Integers(3), as_domain(["a", "b"]) == Labels(["a", "b"])
    (True, True)
    """
    if isinstance(given, Domain):
        return given
    if whole(size := as_python(given)):
        return Integers(size)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict):
        return Labels(list(given))
    raise InvalidParameter(
        f"A domain is a size, a list of labels, Bins or a Grid, got {short(given)}."
    )


# numbers and dates


def number_in(value: object) -> float | None:
    """The number that a value is, or that a text spells; None if it is none, or NaN."""
    value = as_python(value)
    if isinstance(value, str):
        value = float(value) if _NUMBER.fullmatch(value := value.strip()) else None
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        return inf if value > 0 else -inf
    return None if isnan(number) else number


def days_in(value: object) -> float | None:
    """The days since 1970-01-01 of a date, or of a text that spells one; None if it is none.

    >>> days_in("1970-01-02 12:00:00"), days_in(date(1970, 1, 3))
    (1.5, 2.0)
    """
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("datetime64[us]").item()
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace("/", "-"))
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    return (value.replace(tzinfo=UTC) - _EPOCH).total_seconds() / 86_400


def day(number: float) -> str:
    """A point in time, given in days: the date, with the time where it is not midnight.

    >>> day(1), day(1.5)
    ('1970-01-02', '1970-01-02 12:00:00')
    """
    when = np.datetime64(round(number * 86_400_000_000), "us").item()
    return when.strftime("%Y-%m-%d" if float(number).is_integer() else "%Y-%m-%d %H:%M:%S")


# edges


def as_edges(
    given: Iterable[object], least: int = 3, what: str = "bins", closed: bool = False
) -> Edges:
    """Rising edges as numbers; the first may be -inf and the last inf, so that nothing is outside.

    Of a last bin that is `closed`, both ends may be one number.

    >>> as_edges([0, 18, 65, float("inf")])
    (0.0, 18.0, 65.0, inf)
    """
    parts = list(given)
    edges = [number + 0.0 for part in parts if (number := number_in(part)) is not None]
    rising = len(edges) == len(parts) and all(low < high for low, high in pairwise(edges))
    if closed and len(edges) == len(parts) and len(edges) > 2 and edges[-2] == edges[-1]:
        rising = all(low < high for low, high in pairwise(edges[:-1]))
    enough = least <= len(edges) <= MOST_VALUES + 1
    if not enough or not rising or not all(map(isfinite, edges[1:-1])):
        such = "three or more rising edges" if least == 3 else "rising edges"
        text = short(",".join(map(str, parts)), 60)
        raise InvalidParameter(f"`{what}`: {such}, such as 0,18,65,120, got {text}.")
    return tuple(edges)


def bin_of(number: float, edges: Sequence[float], closed: bool = False) -> int | None:
    """The bin ``[low, high)`` that holds a number; None outside. An open end holds infinity too."""
    if not edges[0] <= number <= edges[-1] or (number == edges[-1] < inf and not closed):
        return None
    return min(bisect_right(edges, number), len(edges) - 1) - 1


def equal_edges(low: float, high: float, size: int) -> Edges:
    """Edges of `size` bins of equal width; each is the float nearest to the true edge.

    So a number that is written like an edge lies on it, which sums of widths do not give.

    >>> equal_edges(0, 1, 10)[3]
    0.3
    """
    (a, b), (c, e) = (_ratio(end) for end in (low, high))
    start, step, whole_ = a * e * size, c * b - a * e, b * e * size
    return tuple((start + k * step) / whole_ for k in range(size + 1))


def log_edges(low: float, high: float, size: int) -> Edges:
    """Edges of `size` bins of equal width on a logarithmic scale.

    >>> log_edges(1, 1000, 3)
    (1.0, 10.0, 100.0, 1000.0)
    """
    edges = np.geomspace(low, high, size + 1)
    edges[0], edges[-1] = low, high
    return tuple(edges.tolist())


def _ratio(number: float) -> tuple[int, int]:
    """The decimal number that a float prints as, as a ratio of whole numbers."""
    from fractions import Fraction

    return Fraction(repr(float(number))).as_integer_ratio()


def range_labels(edges: Sequence[float], closed: bool = False) -> list[str]:
    """Half-open ranges with as many digits as tell the edges apart; the last one may be `closed`.

    >>> range_labels([0, 18, 65])
    ['[0, 18)', '[18, 65)']
    """
    different = len(set(edges))  # the last of equally many users may be [4, 4]
    return half_open(
        next(
            texts
            for digits in range(4, 18)
            if len(set(texts := [f"{edge:.{digits}g}" for edge in edges])) == different
        ),
        closed,
    )


def half_open(texts: Sequence[str], closed: bool = False) -> list[str]:
    """Each text with the next: ``[a, b)``."""
    labels = [f"[{low}, {high})" for low, high in pairwise(texts)]
    return [*labels[:-1], labels[-1][:-1] + "]"] if closed else labels


# as JSON


def _is_text(given: object) -> bool:
    """Whether it is a text that is not blank and can be written to a file."""
    return (
        isinstance(given, str) and bool(given.strip()) and not re.search("[\ud800-\udfff]", given)
    )


def _common(given: dict[str, Any], *own: str) -> dict[str, Any]:
    """The fields of every domain; one that nobody knows is refused."""
    rest = {key: value for key, value in given.items() if key not in own}
    require(set(rest) == {"name", "ordered", "other"}, "A domain", "has other fields", list(rest))
    return rest


def _written(edges: Sequence[float]) -> list[float | None]:
    """Edges as JSON can hold them: an end that is open is null."""
    return [edge if isfinite(edge) else None for edge in edges]


def _read_edges(edges: object) -> list[float]:
    require(isinstance(edges, list), "A domain", "needs a list", edges)
    assert isinstance(edges, list)
    first, last = edges[0] is None, edges[-1] is None
    return [-inf if first else edges[0], *edges[1:-1], inf if last else edges[-1]]
