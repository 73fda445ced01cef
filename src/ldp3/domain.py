"""What values there are: labels, whole numbers, bins of a line, cells of a grid; or records.

A domain is made once, when data are read or a plan is written. Whoever codes a value, prints one or
asks whether values have an order asks it. It is written into every plan, so that a client in any
language codes values the same way. Nothing but NumPy is needed here.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import product
from math import inf, isfinite, prod
from typing import Any, ClassVar, Protocol, Self, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.edges import (
    as_edges,
    bin_of,
    bins_of,
    day,
    days_in,
    middles,
    number_in,
    plain,
    point_in,
    range_labels,
)
from ldp3.errors import (
    MOST_VALUES,
    InvalidData,
    InvalidParameter,
    InvalidValue,
    LDPError,
    as_python,
    did_you_mean,
    require,
    several,
    short,
    whole,
)

MOST_INTEGERS = 2**31
MOST_RECORDS = 2**63 - 1  # the number of a record is a whole number of 64 bits
_INTEGER = re.compile("0|[1-9][0-9]{0,9}")  # as `str` writes it
_SURROGATES = re.compile("[\ud800-\udfff]")  # halves of a character, which no file can hold


class GoesByOrder(Protocol):
    """What may go by the order of the values: a protocol, a method, a metric."""

    @property
    def needs_order(self) -> bool: ...


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
    most: ClassVar[int] = MOST_INTEGERS

    def __post_init__(self) -> None:
        require(is_text(self.name), "A domain", "has a name that is not blank", self.name)
        fine = self.other is None or (is_text(self.other) and self.other.strip() == self.other)
        require(fine, "`other`", "must be a label without blanks around it", self.other)
        require(isinstance(self.ordered, bool), "`ordered`", "is True or False", self.ordered)
        self._settle()
        require(2 <= self.d <= self.most, "A domain", f"has 2 to {self.most:,} values", self.d)
        if self.other is not None:
            own = self.place(self.other) is None and not self._is_label(self.other)
            require(own, "`other`", "must differ from the other values", self.other)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # no caches

    @abstractmethod
    def _settle(self) -> None:
        """Check the fields of its own and bring them into one form."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are besides `other`."""

    @abstractmethod
    def place(self, value: object) -> int | None:
        """The number of a value that is not `other`; None if it is outside."""

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

    @property
    def in_days(self) -> bool:
        """Whether its line is one of dates: places there are days since 1970-01-01."""
        return False

    def point(self, given: object) -> float:
        """The place on the line that a person means; dates are days since 1970-01-01."""
        found = point_in(given, self.in_days)
        if found is None:
            such = "a date such as 2024-07-01" if self.in_days else "a number"
            raise InvalidParameter(f"{short(given)} is not {such}.")
        return found

    def said(self, point: float, number: Callable[[float], str] = plain) -> str:
        """A place on the line as people write it: numbers in this form, dates as dates."""
        return day(point) if self.in_days else number(point)

    def code(self, value: object) -> int:
        """The number of a value; one outside becomes `other`, or is refused.

        >>> Labels(["red", "green"], other="another").code("mauve")
        2
        """
        if not isinstance(value, np.datetime64):  # as an integer it would forget that it is a date
            value = as_python(value)
        code = self.place(value)
        if code is not None:
            return code
        if self.other is not None:  # its own label, too
            return self.size
        raise InvalidValue(f"{short(value)} is not in the domain ({self.form}).{self._hint(value)}")

    def label(self, code: int) -> str:
        """What a value is called."""
        if not 0 <= code < self.d:
            raise InvalidValue(f"The domain has the codes from 0 to {self.d - 1}, got {code}.")
        return self._label(code) if self.other is None or code < self.size else self.other

    def _is_label(self, text: str) -> bool:
        return any(self._label(code) == text for code in range(self.size))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What all values are called, in order."""
        own = self._own_labels()
        return own if self.other is None else (*own, self.other)

    def _own_labels(self) -> tuple[str, ...]:
        return tuple(map(self._label, range(self.size)))

    def in_order(self) -> Self:
        """The same values, whose order means something."""
        return self if self.ordered else replace(self, ordered=True)

    def suits(self, thing: GoesByOrder) -> bool:
        """Whether a protocol, a method or a metric means something here: it may need an order."""
        return self.in_line or not thing.needs_order

    @property
    def in_line(self) -> bool:
        """Whether every value has a place in an order that means something; `other` has none."""
        return self.ordered and self.other is None

    @property
    def without_order(self) -> str:
        """Why what goes by an order means nothing here."""
        no_place = f"in which {self.other!r} has no place"
        return no_place if self.ordered else f"and {self.form} have none"

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
            "attributes": Records,
        }
        kinds = [known[key] for key in known if isinstance(given, dict) and key in given]
        if not isinstance(given, dict) or len(kinds) != 1:
            raise InvalidData(f"{source}: no domain is described by {short(given, 60)}.")
        try:
            domain = kinds[0]._from(given)
        except (LDPError, KeyError, TypeError, ValueError) as error:
            why = error if isinstance(error, LDPError) else "something is missing or wrong."
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
        require(whole(self.count, 1), "A domain", wanted, self.count)

    @property
    def size(self) -> int:
        return self.count

    def place(self, value: object) -> int | None:
        if isinstance(value, str):
            value = int(value) if _INTEGER.fullmatch(value := value.strip()) else None
        return value if whole(value, 0, self.size - 1) else None

    @property
    def line(self) -> FloatArray | None:
        return None if self.other is not None else np.arange(self.size, dtype=np.float64)

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
        names = [str(name) for name in several(self.names, "labels")]
        wrong = next((name for name in names if not name or name.strip() != name), None)
        require(wrong is None, "Labels", "must be texts without blanks around them", wrong)
        writable = not _SURROGATES.search("".join(names))
        require(writable, "Labels", "must be texts that a file can hold", "half a character")
        require(len(set(names)) == len(names), "Labels", "must differ", "one twice")
        require(len(names) <= MOST_VALUES, "Labels", f"are at most {MOST_VALUES:,}", len(names))
        own = tuple(name for name in names if name != self.other)
        object.__setattr__(self, "names", own)
        if self.positions is not None:
            line = tuple(map(number_in, several(self.positions, "positions")))
            fine = len(line) == len(own) and all(x is not None and isfinite(x) for x in line)
            require(fine, "Positions", "are finite numbers, one for each label", self.positions)
            object.__setattr__(self, "positions", line)

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def line(self) -> FloatArray | None:
        if self.positions is None or self.other is not None:
            return None
        return np.array(self.positions, dtype=np.float64)

    @property
    def in_days(self) -> bool:
        return self.positions is not None and number_in(self.names[0]) is None

    def point(self, given: object) -> float:
        return super().point(given) if self.positions is not None else self.code(given)

    def said(self, point: float, number: Callable[[float], str] = plain) -> str:
        return super().said(point, number) if self.positions is not None else self.label(int(point))

    def place(self, value: object) -> int | None:
        """The label of this text; a number, a date or a truth is the label that spells it."""
        if isinstance(value, bool):
            value = str(value).lower()
        if isinstance(value, str):
            return self._codes.get(value.strip())
        if isinstance(value, int | float):
            exact = self._codes.get(str(value)) if whole(value) else None
            return self.numbers.get(value) if exact is None else exact
        return self.days.get(days_in(value))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def numbers(self) -> dict[float | None, int]:
        """The code of each number that a label spells."""
        return self._spelt(number_in)

    @cached_property
    def days(self) -> dict[float | None, int]:
        """The code of each date that a label spells, in days since 1970-01-01."""
        return self._spelt(days_in)

    def _spelt(self, read: Callable[[str], float | None]) -> dict[float | None, int]:
        """The first label for each number that one spells."""
        found = ((read(name), code) for name, code in reversed(self._codes.items()))
        return {number: code for number, code in found if number is not None}

    def _label(self, code: int) -> str:
        return self.names[code]

    def _own_labels(self) -> tuple[str, ...]:
        return tuple(self.names)

    def _is_label(self, text: str) -> bool:
        return text in self._codes

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
        edges = as_edges(several(self.edges, "`bins`"), closed=self.closed, dates=self.dates)
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "ordered", True)

    @property
    def size(self) -> int:
        return len(self.edges) - 1

    @property
    def line(self) -> FloatArray | None:
        """The middle of each bin; of one that is open, its end."""
        return middles(self.edges) if self.other is None else None

    @property
    def in_days(self) -> bool:
        return self.dates

    def said(self, point: float, number: Callable[[float], str] = plain) -> str:
        in_whole_days = self.dates and all(edge == round(edge) for edge in self.edges)
        return super().said(round(point) if in_whole_days else point, number)

    def clipped(self) -> "Bins":
        """The same bins, of which the first takes all below it and the last all above."""
        if self.dates or self.other is not None:
            raise InvalidParameter(
                "`clip` is for `bins` of numbers, and leaves no value outside for `other`."
            )
        return Bins((-inf, *self.edges[1:-1], inf), name=self.name)

    def place(self, value: object) -> int | None:
        number = days_in(value) if self.dates else number_in(value)
        return None if number is None else bin_of(number, self.edges, self.closed)

    def codes(self, numbers: FloatArray) -> IntArray:
        """The bin of each number (or day), -1 outside: what `place` says, for many."""
        return bins_of(numbers, self.edges, self.closed)

    @cached_property
    def _texts(self) -> list[str]:
        return range_labels(self.edges, self.closed, self.dates)

    def _label(self, code: int) -> str:
        return self._texts[code]

    @property
    def form(self) -> str:
        low, high = self.said(self.edges[0]), self.said(self.edges[-1])
        what, below = "dates" if self.dates else "numbers", "" if self.closed else "below "
        return f"the {what} from {low} to {below}{high}"

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
            what = f"`{name}`"
            given = several(getattr(self, name), what)
            edges = as_edges(given, least=2, what=what, closed=self.closed)
            object.__setattr__(self, name, edges)
        require(self.size <= MOST_VALUES, "A grid", f"has at most {MOST_VALUES:,} cells", self.size)
        require(not self.ordered, "A grid", "has no order along a line", "`ordered`")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows) - 1, len(self.columns) - 1

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def place(self, value: object) -> int | None:
        if not isinstance(value, list | tuple | np.ndarray) or np.shape(value) != (2,):
            return None
        first, second = map(number_in, value)
        row = None if first is None else bin_of(first, self.rows, self.closed)
        column = None if second is None else bin_of(second, self.columns, self.closed)
        return None if row is None or column is None else row * self.shape[1] + column

    def codes(self, first: FloatArray, second: FloatArray) -> IntArray:
        """The cell of each pair, -1 outside: what `place` says, for many."""
        row = bins_of(first, self.rows, self.closed)
        column = bins_of(second, self.columns, self.closed)
        return np.where((row < 0) | (column < 0), -1, row * self.shape[1] + column)

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


@final
@dataclass(frozen=True)
class Records(Domain):
    """Several attributes at once: a value is a record, which has one value of each of them.

    Records are numbered as odometers count: the last attribute runs fastest.

    Parameters
    ----------
    parts
        The domain of each attribute; their names differ.

    Examples
    --------
    >>> people = Records([Labels(["f", "m"], name="sex"), Bins([0, 18, 65, 120], name="age")])
    >>> people.d, people.code({"sex": "m", "age": 17}), people.label(3)
    (6, 3, 'm, [0, 18)')
    >>> people.columns(np.array([3, 5]))
    array([[1, 0],
           [1, 2]])
    """

    parts: Sequence[Domain]
    name: str = field(default="record", kw_only=True)
    most: ClassVar[int] = MOST_RECORDS

    def _settle(self) -> None:
        parts = tuple(several(self.parts, "`parts`"))
        fine = all(isinstance(part, Domain) and not isinstance(part, Records) for part in parts)
        require(fine, "Records", "are of attributes, a domain each", self.parts)
        object.__setattr__(self, "parts", parts)
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        require(twice is None, "Records", "have attributes whose names differ", twice)
        require(len(parts) > 0, "Records", "have at least one attribute", self.parts)
        few = self.size <= MOST_RECORDS
        require(
            few, "Records", "have fewer than 2⁶³ combinations: merge values", f"{self.size:.1e}"
        )
        plain = self.other is None and not self.ordered
        require(plain, "Records", "have no order; `other` belongs to an attribute", self.other)

    @property
    def names(self) -> tuple[str, ...]:
        """What the attributes are called."""
        return tuple(part.name for part in self.parts)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(part.d for part in self.parts)

    @property
    def size(self) -> int:
        return prod(self.sizes)

    def part(self, name: str) -> Domain:
        """The attribute of this name."""
        return self.parts[self.number(name)]

    def number(self, attribute: str | int) -> int:
        """Which attribute this is, by name or by its number from 0."""
        number = as_python(attribute)
        if whole(number, 0, len(self.parts) - 1):
            return int(number)
        if number in self.names:
            return self.names.index(number)
        hint = did_you_mean(str(number), self.names) or f" There are {', '.join(self.names)}."
        raise InvalidParameter(f"There is no attribute {short(number)}.{hint}")

    def only(self, *attributes: str | int) -> "Records":
        """The records of some of the attributes, in this order."""
        parts = [self.parts[self.number(attribute)] for attribute in attributes]
        return Records(parts, name=", ".join(part.name for part in parts))

    def code(self, value: object) -> int:
        """The number of a record: a mapping from names to values, or the values in their order.

        An attribute that a record lacks is refused; None is its `other`, if it has one.
        """
        code = 0
        for part, given in zip(self.parts, self._values(value), strict=True):
            try:
                code = code * part.d + part.code(given)
            except InvalidValue as error:
                raise InvalidValue(f"{part.name}: {error}") from None
        return code

    def _values(self, record: object) -> list[object]:
        """The values of a record in the order of the attributes."""
        if isinstance(record, Mapping):
            wrong = next((key for key in record if key not in self.names), None)
            if wrong is not None:
                hint = did_you_mean(str(wrong), self.names) or f" It has {', '.join(self.names)}."
                raise InvalidValue(f"A record here has no {short(wrong)}.{hint}")
            lacking = [name for name in self.names if name not in record]
            if lacking:
                raise InvalidValue(f"A record says every attribute: {', '.join(lacking)} lacks.")
            return [record[name] for name in self.names]
        if not isinstance(record, list | tuple | np.ndarray) or len(record) != len(self.parts):
            raise InvalidValue(f"A record has {', '.join(self.names)}, got {short(record)}.")
        return list(record)

    def place(self, value: object) -> int | None:
        try:
            return self.code(value)
        except InvalidValue:
            return None

    def columns(self, codes: IntArray) -> IntArray:
        """The codes of all attributes of numbered records, one row each."""
        table = np.empty((len(codes), len(self.parts)), dtype=np.int64)
        rest = np.asarray(codes, dtype=np.int64)
        for j in reversed(range(len(self.parts))):
            rest, table[:, j] = np.divmod(rest, self.sizes[j])
        return table

    def codes(self, columns: IntArray) -> IntArray:
        """The numbers of records that are given by the codes of their attributes."""
        code = np.zeros(len(columns), dtype=np.int64)
        for j, size in enumerate(self.sizes):
            code = code * size + columns[:, j]
        return code

    def _label(self, code: int) -> str:
        (row,) = self.columns(np.array([code]))
        return ", ".join(part.label(c) for part, c in zip(self.parts, row.tolist(), strict=True))

    def _own_labels(self) -> tuple[str, ...]:
        few = self.size <= MOST_VALUES
        require(few, "Records", f"are listed up to {MOST_VALUES:,} of them", self.size)
        return tuple(map(", ".join, product(*(part.labels for part in self.parts))))

    @property
    def form(self) -> str:
        return f"records of {', '.join(self.names)}"

    @property
    def _content(self) -> dict[str, Any]:
        return {"attributes": [part.describe() for part in self.parts]}

    @classmethod
    def _from(cls, given: dict[str, Any]) -> Self:
        attributes = given["attributes"]
        require(isinstance(attributes, list), "A domain", "needs a list", attributes)
        parts = [Domain.read(one, "an attribute") for one in attributes]
        return cls(parts, **_common(given, "attributes"))


def as_domain(given: object) -> Domain:
    """A domain, or what stands for one: a size, or a list of labels.

    >>> as_domain(3) == Integers(3), as_domain(["a", "b"]) == Labels(["a", "b"])
    (True, True)
    """
    if isinstance(given, Domain):
        return given
    if whole(size := as_python(given)):
        return Integers(size)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict | set | frozenset):
        return Labels(given)  # type: ignore[arg-type]
    raise InvalidParameter(
        f"A domain is a size, a list of labels, Bins, a Grid or Records, got {short(given)}."
    )


def is_text(given: object) -> bool:
    """Whether it is a text that is not blank and can be written to a file."""
    return isinstance(given, str) and bool(given.strip()) and not _SURROGATES.search(given)


def _common(given: dict[str, Any], *own: str) -> dict[str, Any]:
    """The fields of every domain; one that nobody knows is refused."""
    rest = {key: value for key, value in given.items() if key not in own}
    require(set(rest) == {"name", "ordered", "other"}, "A domain", "has other fields", list(rest))
    return rest


def _written(edges: Sequence[float]) -> list[float | None]:
    """Edges as JSON can hold them: an end that is open is null."""
    return [edge if isfinite(edge) else None for edge in edges]


def _read_edges(edges: object) -> list[float]:
    if not isinstance(edges, list) or len(edges) < 2:
        raise InvalidParameter(f"A domain: needs a list of edges, got {short(edges, 60)}.")
    low, *inner, high = edges
    return [-inf if low is None else low, *inner, inf if high is None else high]
