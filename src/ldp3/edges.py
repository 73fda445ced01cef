"""Numbers and dates on a line, and the edges that cut it into bins. NumPy suffices for it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, isfinite, isnan, log10

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.errors import MOST_VALUES, InvalidParameter, as_python, short

Edges = tuple[float, ...]
DAY = 86_400_000_000  # microseconds
WHOLE = 32  # from so far apart on, whole numbers are taken for the ends of whole numbers
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY, _LAST_DAY = (each.toordinal() - _EPOCH.toordinal() for each in (date.min, date.max))
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.ASCII)
_DATE = re.compile(
    r"(\d{4})([-/])(\d\d?)\2(\d\d?)(?:[ T](\d\d?):(\d\d?):(\d\d?)(?:\.(\d+))?)?", re.ASCII
)


def number_in(value: object) -> float | None:
    """The number that a value is, or that a text spells; None if it is none, or NaN."""
    value = as_python(value)
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        return inf if value > 0 else -inf
    return None if isnan(number) else number


def days_in(value: object) -> float | None:
    """The days since 1970-01-01 of a date, or of a text that spells one; None if it is none.

    A text is a date, or a date and a time: ``2013-02-01`` or ``2013/02/01 18:30:00``. A time
    that knows its zone counts in UTC.

    >>> days_in("1970-01-02 12:00:00"), days_in(date(1970, 1, 3))
    (1.5, 2.0)
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()  # None if it is not a time
    if isinstance(value, str):
        value = _time_in(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    # rounded twice, as whoever has no integers beyond 2⁵³ must: all clients get the same number
    return float((utc - _EPOCH) // timedelta(microseconds=1)) / DAY


def _time_in(text: str) -> datetime | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, _, *rest, fraction = found.groups(default="0")
    try:
        return datetime(*map(int, (year, *rest, fraction[:6].ljust(6, "0"))))  # type: ignore[arg-type]
    except ValueError:  # no such day
        return None


def day(number: float, fractions: bool = False) -> str:
    """A point in time, given in days: the date, with the time where it is not midnight.

    Times are given to the second, or to the microsecond with `fractions`.

    >>> day(1), day(1.5)
    ('1970-01-02', '1970-01-02 12:00:00')
    """
    unit = 1 if fractions else 1_000_000
    when = _EPOCH + timedelta(microseconds=unit * round(number * DAY / unit))
    if float(number).is_integer():
        return when.date().isoformat()
    return when.replace(tzinfo=None).isoformat(" ", "microseconds" if fractions else "seconds")


def plain(number: float) -> str:
    """A number as people write it: a whole one in full.

    >>> plain(1_500_000), plain(1 / 3)
    ('1500000', '0.333333')
    """
    return f"{number:.0f}" if float(number).is_integer() and abs(number) < 1e15 else f"{number:g}"


def as_edges(
    given: Iterable[object],
    *,
    least: int = 3,
    what: str = "`bins`",
    closed: bool = False,
    dates: bool = False,
) -> Edges:
    """Rising edges as numbers; the first may be -inf and the last inf, so that nothing is outside.

    Dates become days since 1970-01-01. Of a last bin that is `closed`, both ends may be one
    number.

    >>> as_edges([0, "18", 65, float("inf")])
    (0.0, 18.0, 65.0, inf)
    """
    parts = list(given)
    found = [point_in(part, dates) for part in parts]
    edges = [number + 0.0 for number in found if number is not None]  # -0.0 is 0.0
    fine = len(edges) == len(parts) and least <= len(edges) <= MOST_VALUES + 1
    if not fine or not _rising(edges, closed) or not _ends_allowed(edges, dates):
        such = "2013-01-01,2013-07-01,2014-01-01" if dates else "0,18,65,120"
        many = "three or more rising edges" if least == 3 else "two or more rising edges"
        text = short(",".join(map(str, parts)), 60)
        raise InvalidParameter(f"{what}: {many}, such as {such}, got {text}.")
    return tuple(edges)


def point_in(given: object, dates: bool) -> float | None:
    """A place on a line as a number; a date may also be given in days."""
    in_days = isinstance(as_python(given), int | float)
    return days_in(given) if dates and not in_days else number_in(given)


def _rising(edges: Sequence[float], closed: bool) -> bool:
    last_may_repeat = closed and len(edges) > 2 and edges[-2] == edges[-1]
    inner = edges[:-1] if last_may_repeat else edges
    return all(low < high for low, high in pairwise(inner))


def _ends_allowed(edges: Sequence[float], dates: bool) -> bool:
    """Only numbers have open ends; dates lie in the years from 1 to 9999."""
    if dates:
        return edges[0] >= _FIRST_DAY and edges[-1] <= _LAST_DAY
    return all(map(isfinite, edges[1:-1]))


def bin_of(number: float, edges: Sequence[float], closed: bool = False) -> int | None:
    """The bin ``[low, high)`` that holds a number; None outside. An open end holds infinity too."""
    low, high = edges[0], edges[-1]
    high_is_inside = closed or high == inf
    if number < low or number > high or (number == high and not high_is_inside):
        return None
    return min(bisect_right(edges, number), len(edges) - 1) - 1


def bins_of(numbers: FloatArray, edges: Sequence[float], closed: bool = False) -> IntArray:
    """What `bin_of` says of each number, -1 outside."""
    low, *inner, high = edges
    found = np.searchsorted(np.array(inner), numbers, side="right")
    below = (numbers <= high) if closed or high == inf else (numbers < high)
    return np.where((numbers >= low) & below, found, -1)


def middles(edges: Sequence[float]) -> FloatArray:
    """The middle of each bin; one that is open counts as wide as the bin beside it.

    So clipping moves nobody who is not clipped, where bins have equal widths.

    >>> middles([0, 18, 65, inf])
    array([ 9. , 41.5, 88.5])
    """
    ends = list(edges)
    if ends[0] == -inf:
        ends[0] = 2 * ends[1] - ends[2] if isfinite(ends[2]) else ends[1]
    if ends[-1] == inf:
        ends[-1] = 2 * ends[-2] - ends[-3] if isfinite(ends[-3]) else ends[-2]
    return (np.array(ends[:-1]) + np.array(ends[1:])) / 2


def equal_edges(low: float, high: float, size: int) -> Edges:
    """Edges of `size` bins of equal width; each is the float nearest to the true edge.

    So a number that is written like an edge lies on it, which sums of widths do not give.

    >>> equal_edges(0, 1, 10)[3]
    0.3
    """
    (a, b), (c, e) = (Fraction(repr(float(end))).as_integer_ratio() for end in (low, high))
    start, step, unit = a * e * size, c * b - a * e, b * e * size
    return tuple((start + k * step) / unit for k in range(size + 1))


def round_edges(low: float, high: float, most: int) -> Edges:
    """Edges at multiples of 1, 2 or 5 times a power of ten: the narrowest bins, at most so many.

    Between whole numbers that lie far apart no narrower than 1. The first and the last bin may be
    cut short.

    >>> len(round_edges(0, 120, 64)), round_edges(-43, 30, 16)[:4]
    (61, (-43.0, -40.0, -35.0, -30.0))
    """
    far = high - low >= WHOLE and float(low).is_integer() and float(high).is_integer()
    narrow = max((high - low) / most, 1 if far else 0)
    power = floor(log10(narrow)) - 1  # rounding may be on either side
    steps = (Fraction(10) ** (power + i) * k for i in range(3) for k in (1, 2, 5))
    step = next(s for s in steps if s >= Fraction(narrow))
    start, end = (Fraction(repr(float(end))) for end in (low, high))  # as written: 0.1 is a tenth
    first, last = floor(start / step) + 1, ceil(end / step)
    return (float(low), *(float(i * step) for i in range(first, last)), float(high))


def log_edges(low: float, high: float, size: int) -> Edges:
    """Edges of `size` bins of equal width on a logarithmic scale, above 0.

    >>> log_edges(1, 1000, 3)
    (1.0, 10.0, 100.0, 1000.0)
    """
    edges = np.geomspace(low, high, size + 1)
    edges[0], edges[-1] = low, high
    return tuple(edges.tolist())


def range_labels(edges: Sequence[float], closed: bool = False, dates: bool = False) -> list[str]:
    """Half-open ranges with as many digits as tell the edges apart; the last one may be `closed`.

    >>> range_labels([0, 18, 65]), range_labels([0, 1, 2.5], closed=True)
    (['[0, 18)', '[18, 65)'], ['[0, 1)', '[1, 2.5]'])
    """
    texts = _days_apart(edges) if dates else _numbers_apart(edges)
    labels = [f"[{low}, {high})" for low, high in pairwise(texts)]
    return [*labels[:-1], labels[-1][:-1] + "]"] if closed else labels


def _days_apart(days: Sequence[float]) -> list[str]:
    texts = [day(number) for number in days]
    if len(set(texts)) == len(set(days)):
        return texts
    return [day(number, fractions=True) for number in days]


def _numbers_apart(numbers: Sequence[float]) -> list[str]:
    """Numbers with as few digits as tell them apart, at least four; 17 always do."""
    different = len(set(numbers))  # the last of equally many users may be [4, 4]
    for digits in range(4, 17):
        texts = [f"{number:.{digits}g}" for number in numbers]
        if len(set(texts)) == different:
            return texts
    return [f"{number:.17g}" for number in numbers]
