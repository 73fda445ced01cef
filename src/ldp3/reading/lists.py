"""Options as Python has them, lists and pairs, in the words of the command line."""

from collections.abc import Iterable
from datetime import date
from os import PathLike
from pathlib import Path

from ldp3.errors import InvalidParameter, as_path, as_python, short

Edges = str | int | Iterable[float | date]


def columns_text(column: object) -> str | int | None:
    """``["lat", "lon"]`` → ``"lat,lon"``."""
    column = as_python(column)
    if column is None or isinstance(column, str) or _is_number(column):
        return column  # type: ignore[return-value]
    names = [str(as_python(name)) for name in _listed(column, "`column`")]
    if any("," in name for name in names):
        raise InvalidParameter(
            f"`column`: among several columns, one whose name holds a comma is given by its "
            f"position, counted from 1, got {short(names)}."
        )
    return ",".join(names)


def bins_text(bins: object) -> str | int | None:
    """``[0, 18, 65]`` → ``"0,18,65"``."""
    bins = as_python(bins)
    if bins is None or isinstance(bins, str) or _is_number(bins):
        return bins  # type: ignore[return-value]
    return ",".join(_point(edge, "`bins`") for edge in _listed(bins, "`bins`"))


def grid_text(grid: object) -> str | None:
    """``(15, 20)`` → ``"15x20"``."""
    if grid is None or isinstance(grid, str):
        return grid
    return "x".join(_point(size, "`grid`") for size in _listed(grid, "`grid`"))


def within_text(within: object) -> str | None:
    """``(0, 100)`` → ``"0:100"``, a pair of them → ``"0:100,0:50"``."""
    if within is None or isinstance(within, str):
        return within
    ends = _listed(within, "`within`")
    if ends and all(isinstance(end, Iterable) and not isinstance(end, str) for end in ends):
        return ",".join(within_text(pair) or "" for pair in ends)
    return ":".join(_point(end, "`within`") for end in ends)


def domain_of(domain: object) -> Path | tuple[str, ...] | None:
    """A file that names every possible value, or the values themselves."""
    if domain is None:
        return None
    if isinstance(domain, str | PathLike):
        return as_path(domain, "a file with the domain")
    labels = tuple(str(as_python(value)).strip() for value in _listed(domain, "`domain`"))
    if len(set(labels)) < max(len(labels), 2) or not all(labels):
        raise InvalidParameter(
            f"`domain` holds at least two values, all different and none blank, got "
            f"{short(list(labels))}."
        )
    return labels


def _listed(given: object, option: str) -> list[object]:
    if isinstance(given, bytes | dict | type) or not isinstance(given, Iterable):
        raise InvalidParameter(f"{option} takes a text or a list, got {short(given)}.")
    if getattr(given, "ndim", 1) not in ((1, 2) if option == "`within`" else (1,)):
        raise InvalidParameter(f"{option} takes a text or a list, got {short(given)}.")
    return list(given)


def _point(given: object, option: str) -> str:
    given = as_python(given)
    if isinstance(given, date):
        return given.isoformat().replace("T", " ")
    if isinstance(given, str) or _is_number(given):
        return str(given).strip()
    raise InvalidParameter(f"{option} takes numbers, got {short(given)}.")


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
