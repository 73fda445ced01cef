"""Where bins end: equally wide, of equally many users, on a log scale, or as given."""

import re
from datetime import UTC, datetime

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.edges import day, equal_edges, log_edges
from ldp3.errors import InvalidParameter
from ldp3.reading.missing import plural
from ldp3.reading.numbers import Line
from ldp3.reading.options import MOST_VALUES
from ldp3.reading.users import COUNT, VALUE, Users

Range = tuple[float, float]
FORM = "a number of bins, quantiles:20, log:20 or rising edges"


def number_of_bins(bins: str | int | None) -> tuple[str, int] | None:
    """How the line is cut and into how many bins: ``"log:20"``; None for given edges."""
    match = re.fullmatch(r"(?:(quantiles|log):)?\s*(\d+)", str(bins).strip())
    if match is None:
        return None
    if not 2 <= int(match[2]) <= MOST_VALUES:
        raise InvalidParameter(f"`bins`: a number of at least 2, got {bins!r}.")
    return match[1] or "equal", int(match[2])


def edges_of(
    users: Users, line: Line, bins: str | int | None, within: Range | None
) -> tuple[Users, FloatArray]:
    """The edges of the bins, rising, and what a person should know of them."""
    chosen = number_of_bins(bins)
    if chosen is None:
        return users, _given(str(bins), within, line.dates)
    scale, size = chosen
    low, high = within or spread(users, line)
    if scale == "quantiles":
        return _quantiles(users, size, low, high, within)
    if scale == "log":
        return users, _logarithmic(users, size, low, high, within)
    edges = np.array(equal_edges(low, high, size))
    if line.dates and line.whole and low == round(low) and high == round(high):
        edges = np.ceil(edges)  # no day lies between the two, so the bins stay what they are
        if len(np.unique(edges)) < len(edges):
            raise users.error(f"{size} bins are too many for {plural(int(high - low), 'day')}.")
    return users, edges


def spread(users: Users, line: Line) -> Range:
    """The smallest and the largest number, which must differ."""
    if line.low is None or line.high is None:
        raise users.error("holds no users; at least two different values are needed.")
    if line.low == line.high:
        held = day(line.low) if line.dates else f"{line.low:g}"
        raise users.error(f"every user holds {held}; at least two different values are needed.")
    return line.low, line.high


def ranges(within: str | None, option: str, lines: list[Line]) -> list[Range] | list[None]:
    """``"low:high"``, or one for each coordinate, separated by commas."""
    if within is None:
        return [None] * len(lines)
    form = ",".join(["low:high"] * len(lines))
    parts = within.split(",")
    if len(parts) != len(lines):
        raise InvalidParameter(f"`within`: {form} for {option}, got {within!r}.")
    found = [
        _points(part, ":", "`within`", f"{form} for {option}", line.dates)
        for part, line in zip(parts, lines, strict=True)
    ]
    if any(len(r) != 2 or not r[0] < r[1] for r in found):
        raise InvalidParameter(f"`within`: {form} for {option}, got {within!r}.")
    return [(low, high) for low, high in found]


def _given(bins: str, within: Range | None, dates: bool) -> FloatArray:
    edges = np.array(_points(bins, ",", "`bins`", FORM, dates))
    if within or len(edges) < 3 or not (np.diff(edges) > 0).all():
        such = "2013-01-01,2013-07-01,2014-01-01" if dates else "0,18,65,120"
        raise InvalidParameter(
            f"`bins`: three or more rising edges, such as {such}, without `within`, got {bins!r}."
        )
    return edges


def _points(text: str, separator: str, option: str, form: str, dates: bool) -> list[float]:
    try:
        numbers = [_point(part.strip(), dates) for part in text.split(separator)]
    except ValueError:
        numbers = [np.nan]
    if not np.isfinite(numbers).all():
        what = f"{form}, as dates like 2013-02-01" if dates else form
        raise InvalidParameter(f"{option}: {what}, got {text!r}.")
    return numbers


def _point(text: str, dates: bool) -> float:
    if not dates:
        return float(text)
    when = datetime.strptime(text.replace("/", "-"), "%Y-%m-%d").replace(tzinfo=UTC)
    return float((when - datetime(1970, 1, 1, tzinfo=UTC)).days)


def _logarithmic(
    users: Users, size: int, low: float, high: float, within: Range | None
) -> FloatArray:
    if low <= 0:
        what = f"`within={low:g}:{high:g}`" if within else f"the smallest number, {low:g},"
        raise users.error(
            f"{what} has no logarithm; give a range above 0 with `within`, or edges such as "
            f"0,1,10,100 as `bins`."
        )
    return np.array(log_edges(low, high, size))


def _quantiles(
    users: Users, size: int, low: float, high: float, within: Range | None
) -> tuple[Users, FloatArray]:
    """Edges at which the users below are as near as can be to equal parts of all."""
    weight = pl.col(COUNT).sum() if COUNT in users.schema() else pl.len().alias(COUNT)
    inside = pl.col(VALUE).is_between(low, high, closed="left" if within else "both")
    counted = users.frame.filter(inside).group_by(VALUE).agg(weight.cast(pl.Int64))
    table = users.collect(counted).filter(pl.col(COUNT) > 0).sort(VALUE)
    if len(table) < 2:
        raise users.error("fewer than two different values lie inside the range.")
    below = np.append(0, table[COUNT].cum_sum().to_numpy())  # users below each value
    goals = np.arange(1, size) * below[-1] / size
    places = np.clip(np.searchsorted(below, goals), 1, len(table) - 1)
    nearer = goals - below[places - 1] < below[places] - goals
    places = np.unique(np.clip(places - nearer, 1, len(table) - 1))
    edges = np.concatenate([[low], table[VALUE].to_numpy()[places], [high]])
    if len(edges) <= size:
        users = users.noting(f"Only {len(edges) - 1} bins: many users hold the same value.")
    return users, edges
