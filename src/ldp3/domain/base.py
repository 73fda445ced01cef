"""What every domain can say of its values."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.edges import (
    day,
    plain,
    point_in,
)
from ldp3.errors import (
    InvalidParameter,
    InvalidValue,
    as_python,
    require,
    short,
)

MOST_INTEGERS = 2**31
SURROGATES = re.compile("[\ud800-\udfff]")  # halves of a character, which no file can hold


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

        >>> from ldp3 import Labels
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


def is_text(given: object) -> bool:
    """Whether it is a text that is not blank and can be written to a file."""
    return isinstance(given, str) and bool(given.strip()) and not SURROGATES.search(given)


def common_fields(given: dict[str, Any], *own: str) -> dict[str, Any]:
    """The fields of every domain; one that nobody knows is refused."""
    rest = {key: value for key, value in given.items() if key not in own}
    require(set(rest) == {"name", "ordered", "other"}, "A domain", "has other fields", list(rest))
    return rest
