"""Values with names: labels, and the whole numbers from 0 on."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any, Self, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.domain.base import MOST_INTEGERS, SURROGATES, Domain, common_fields
from ldp3.edges import (
    days_in,
    number_in,
    plain,
)
from ldp3.errors import (
    MOST_VALUES,
    as_python,
    did_you_mean,
    require,
    several,
    whole,
)

_INTEGER = re.compile("0|[1-9][0-9]{0,9}")  # as `str` writes it


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
    def described(cls, given: dict[str, Any]) -> Self:
        """The domain with these fields, as `describe` writes them."""
        return cls(given["integers"], **common_fields(given, "integers"))


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
        writable = not SURROGATES.search("".join(names))
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
    def described(cls, given: dict[str, Any]) -> Self:
        """The domain with these fields, as `describe` writes them."""
        require(isinstance(given["labels"], list), "A domain", "needs a list", given["labels"])
        common = common_fields(given, "labels", "positions")
        return cls(given["labels"], given.get("positions"), **common)
