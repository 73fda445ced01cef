"""Bins of a line, and cells of a grid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, Self, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.domain.base import Domain, common_fields
from ldp3.edges import (
    as_edges,
    bin_of,
    bins_of,
    days_in,
    middles,
    number_in,
    plain,
    range_labels,
)
from ldp3.errors import (
    MOST_VALUES,
    InvalidParameter,
    require,
    several,
    short,
)


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
        """The middle of each bin; one that is open counts as wide as the one beside it."""
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
    def described(cls, given: dict[str, Any]) -> Self:
        """The domain with these fields, as `describe` writes them."""
        edges, common = (
            _read_edges(given["edges"]),
            common_fields(given, "edges", "closed", "dates"),
        )
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
    def described(cls, given: dict[str, Any]) -> Self:
        """The domain with these fields, as `describe` writes them."""
        rows, columns = given["grid"]
        common = common_fields(given, "grid", "closed")
        return cls(_read_edges(rows), _read_edges(columns), given.get("closed") is True, **common)


def _written(edges: Sequence[float]) -> list[float | None]:
    """Edges as JSON can hold them: an end that is open is null."""
    return [edge if isfinite(edge) else None for edge in edges]


def _read_edges(edges: object) -> list[float]:
    if not isinstance(edges, list) or len(edges) < 2:
        raise InvalidParameter(f"A domain: needs a list of edges, got {short(edges, 60)}.")
    low, *inner, high = edges
    return [-inf if low is None else low, *inner, inf if high is None else high]
