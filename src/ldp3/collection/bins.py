"""Numbers in a collection: every client cuts them at the same edges, which the plan says."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from math import inf, isfinite, isnan

import numpy as np

from ldp3.errors import InvalidParameter, as_python

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.ASCII)
MOST = 2**24


def as_edges(given: Iterable[object]) -> tuple[float, ...]:
    """Rising edges as numbers; the first may be -inf and the last inf, so that nothing is outside.

    >>> as_edges([0, 18, 65, float("inf")])
    (0.0, 18.0, 65.0, inf)
    """
    parts = list(given)
    edges = [number + 0.0 for part in parts if (number := number_in(part)) is not None]
    rising = len(edges) == len(parts) and all(low < high for low, high in pairwise(edges))
    if len(edges) < 3 or not rising or not all(map(isfinite, edges[1:-1])):
        text = ",".join(map(str, parts))
        raise InvalidParameter(
            f"`bins`: three or more rising edges, such as 0,18,65,120, got "
            f"{(text if len(text) <= 60 else text[:57] + '…')!r}."
        )
    return tuple(edges)


def edges_from(bins: str, within: str | None = None) -> tuple[float, ...]:
    """The edges that a person means: ``0,18,65,120``, or ``20`` or ``log:20`` with a range.

    Quantiles are no edges to plan with: they tell about the people whom a collection protects.

    >>> edges_from("log:3", "1:1000")
    (1.0, 10.0, 100.0, 1000.0)
    """
    cut = re.fullmatch(r"(log:)?\s*(\d+)", bins.strip())
    if cut is None and within is None:
        return as_edges(part.strip() for part in bins.split(","))
    if cut is None:
        raise InvalidParameter(f"`within` goes with a number of bins, got the edges {bins!r}.")
    if within is None:
        raise InvalidParameter(
            f"`bins={bins}` needs the range to cut, which nobody may read off private data: "
            f"`within=low:high`, such as 0:100."
        )
    low, high = _range(within, logarithmic=bool(cut[1]))
    if not 2 <= int(cut[2]) <= MOST:
        raise InvalidParameter(f"`bins`: a number from 2 to {MOST:,}, got {bins!r}.")
    edges = (np.geomspace if cut[1] else np.linspace)(low, high, int(cut[2]) + 1)
    edges[0], edges[-1] = low, high
    return as_edges(edges.tolist())


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


def bin_of(value: object, edges: tuple[float, ...]) -> int | None:
    """The bin `[low, high)` that holds a number; None outside, and for what is no number.

    An end that is open holds infinity too.
    """
    number = number_in(value)
    if number is None or not edges[0] <= number <= edges[-1]:
        return None
    if number == edges[-1] < inf:
        return None
    return min(bisect_right(edges, number), len(edges) - 1) - 1


def _range(within: str, logarithmic: bool) -> tuple[float, float]:
    ends = [number_in(part) for part in within.split(":")]
    low, high = ends if len(ends) == 2 else (None, None)
    if low is None or high is None or not -inf < low < high < inf:
        raise InvalidParameter(f"`within`: low:high, such as 0:100, got {within!r}.")
    if logarithmic and low <= 0:
        raise InvalidParameter(
            f"`within`: {low:g} has no logarithm; begin above 0, or give edges such as 0,1,10,100 "
            f"as `bins`."
        )
    return low, high
