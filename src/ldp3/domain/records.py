"""Several attributes at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, ClassVar, final

import numpy as np

from ldp3.arrays import IntArray
from ldp3.domain.base import Domain
from ldp3.errors import (
    MOST_VALUES,
    InvalidParameter,
    InvalidValue,
    as_python,
    did_you_mean,
    require,
    several,
    short,
    whole,
)

MOST_RECORDS = 2**63 - 1  # the number of a record is a whole number of 64 bits


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
    >>> from ldp3 import Bins, Labels
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
        fewer = "have fewer than 2⁶³ combinations: merge values, or leave attributes out"
        require(few, "Records", fewer, f"{self.size:.1e}")
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
                raise InvalidValue(
                    f"A record has every attribute, this one no {', '.join(lacking)}."
                )
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
