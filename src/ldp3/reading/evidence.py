"""How a text file is written, by evidence: what separates its columns, and whether it has a header.

Both are decided on a sample from the start of the file, and refused in doubt.
"""

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ldp3.errors import InDoubt, InvalidParameter
from ldp3.reading.options import NA, Reading

LINES = 1_000  # that say what separates the columns
ROWS = 10_000  # that say whether there is a header
TAB = "\t"
NAMES = {",": "comma", ";": "semicolon", TAB: "tab", "|": "bar"}  # of what may separate columns
WRITTEN = (["value"], ["value", "count"])  # by `ldp3 convert`
MOSTLY = 0.9  # of the rows: a few ragged ones must not hide what separates the others
RARE = 0.01  # chance that the first user alone holds a value, where there is no header
csv.field_size_limit(2**31 - 1)  # Python's own, 128 KiB, is no fault of a file
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d([T ][\d:.]+(Z|[-+][\d:]+)?)?")
_MISSING = frozenset(NA.lower().split(","))


@dataclass(frozen=True)
class Evidence:
    """What speaks for a header (or against one), in words."""

    header: bool
    why: str


@dataclass(frozen=True)
class Titles:
    """The names of columns, whether the first row holds them, and what a person should know."""

    names: list[str]
    header: bool
    notes: tuple[str, ...] = ()


def rows_of(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The first rows of a text, blank lines left out."""
    rows = []
    for row in csv.reader(lines, delimiter=separator):
        if row:
            rows.append(row)
        if len(rows) == ROWS:
            break
    return rows


def find_delimiter(
    lines: Sequence[str], candidates: Sequence[str], usual: str | None, source: str
) -> str | None:
    """What separates the columns; `usual` if nothing seems to."""
    shares = {c: _share(rows_of(lines[:LINES], c)) for c in candidates}
    likely = [c for c, share in shares.items() if share >= MOSTLY]
    exact = [c for c in likely if shares[c] == 1]
    found = exact or likely
    if not found:
        return usual
    if len(found) == 1:
        return found[0]
    if usual == TAB and usual in found:  # the ending says so
        return usual
    named = " or ".join(NAMES[c] for c in found)
    options = [f"delimiter={'tab' if c == TAB else c}" for c in found]
    raise InDoubt(f"{source}: the columns may be separated by {named}.", *options)


def _share(rows: list[list[str]]) -> float:
    """Share of rows with as many fields as the first; 1 if all have several, so may be ragged."""
    if not rows or len(rows[0]) < 2:
        return 0.0
    if all(len(row) == len(rows[0]) for row in rows):
        return 1.0
    equal = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
    return max(equal, MOSTLY) if all(len(row) > 1 for row in rows) else equal


def titles_of(
    rows: list[list[str]], reading: Reading, source: str, domain: Collection[str] | None
) -> Titles:
    """What the columns of a table are called, where its first row may be a header."""
    width = len(rows[0]) if rows else 1
    plain = [f"column_{place}" for place in range(1, width + 1)]
    header, notes = _header(rows, reading, source, domain)
    names = _unique(rows[0], plain) if header and rows else plain
    return Titles(names, header, notes)


def _header(
    rows: list[list[str]], reading: Reading, source: str, domain: Collection[str] | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether the first row is a header, as said or by evidence, which is told."""
    if reading.header is False and reading.names_a_column:
        raise InvalidParameter(
            f"{source}: without a header a column has no name: choose one by its position from 1."
        )
    if reading.header is not None or reading.names_a_column:
        return reading.header is not False, ()
    if len(rows) < 2:
        return False, ()
    found = _in_domain(rows[0], reading, domain) or find_header(rows, source)
    what, how = ("a header", "header=False") if found.header else ("a value", "header")
    note = f"The first row is read as {what}: {found.why}; `{how}` overrules."
    return found.header, (note,)


def _in_domain(
    first: Sequence[str], reading: Reading, domain: Collection[str] | None
) -> Evidence | None:
    """The first row is a person's if its value is one of the domain."""
    if domain is None or (len(first) > 1 and reading.column is None):
        return None
    place = int(reading.column[0]) if reading.column is not None and len(first) > 1 else 1
    if not 1 <= place <= len(first):
        return None
    value = first[place - 1].strip()
    return Evidence(False, f"{value!r} is in the domain") if value in domain else None


def _unique(cells: Sequence[str], plain: list[str]) -> list[str]:
    """Names as the header has them; those that stand there twice, and blanks, with their place."""
    names = [cell.strip() or other for cell, other in zip(cells, plain, strict=True)]
    twice = {name for name, count in Counter(names).items() if count > 1}
    return [f"{n} [{i}]" if n in twice else n for i, n in enumerate(names, 1)]


def find_header(rows: list[list[str]], source: str) -> Evidence:
    """Whether the first row holds names; refused where nothing says so, or columns disagree."""
    if rows[0] in WRITTEN:
        return Evidence(True, "it is the one that `ldp3 convert` writes")
    found = [e for cells in zip(*_rectangle(rows), strict=True) if (e := _column(list(cells)))]
    if found and len({evidence.header for evidence in found}) == 1:
        return found[0]
    shown = ", ".join(repr(cell.strip()) for cell in rows[0][:4])
    more = ", …" if len(rows[0]) > 4 else ""
    why = f"; {found[0].why}, but {_opposite(found).why}" if found else ""
    raise InDoubt(
        f"{source}: the first row ({shown}{more}) may be a header or a value{why}.",
        "header=True",
        "header=False",
    )


def _opposite(found: list[Evidence]) -> Evidence:
    return next(e for e in found if e.header != found[0].header)


def _rectangle(rows: list[list[str]]) -> list[list[str]]:
    """Rows of equal length: a ragged one is refused later, by its line."""
    return [row for row in rows if len(row) == len(rows[0])]


def _column(cells: list[str]) -> Evidence | None:
    """What one column says about its first cell."""
    first, *below = (cell.strip() for cell in cells)
    rest = [cell for cell in below if not _missing(cell)]
    if _missing(first):
        return None
    if figure(first):
        return Evidence(False, f"{first!r} is no name")
    if not rest:
        return None
    if all(map(figure, rest)):
        return Evidence(True, f"numbers or dates stand under {first!r}")
    if first in rest:
        return Evidence(False, f"{first!r} occurs again below")
    if not _fits_in_order(first, below) and _stands_alone(rest):
        return Evidence(True, f"{first!r} occurs nowhere else in a column whose values repeat")
    return None


def _fits_in_order(first: str, below: list[str]) -> bool:
    """Whether users are sorted, the first too: then the first value may well be a rare one."""
    folded = [cell.casefold() for cell in (first, *below)]
    return all(a <= b for a, b in pairwise(folded))


def _stands_alone(rest: list[str]) -> bool:
    """Whether a first user with a value of their own would be a rare coincidence."""
    counts = Counter(rest)
    alone = sum(count == 1 for count in counts.values())
    return (alone == 0 and len(counts) > 1) or alone + 1 <= RARE * len(rest)


def figure(cell: str) -> bool:
    """Whether a cell is a number, a date, or another text of digits without letters."""
    if _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell):
        return True
    return any(c.isdigit() for c in cell) and not any(c.isalpha() for c in cell)


def _missing(cell: str) -> bool:
    return cell == "" or cell.lower() in _MISSING
