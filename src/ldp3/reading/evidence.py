"""How a text file is written, by evidence: what separates its columns, and whether it has a header.

Both are decided on a sample from the start of the file, and refused in doubt.
"""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ldp3.errors import InDoubt
from ldp3.reading.options import NA

LINES = 1_000  # that say what separates the columns
ROWS = 10_000  # that say whether there is a header
DELIMITERS = (",", ";", "\t", "|")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
WRITTEN = (["value"], ["value", "count"])
MOSTLY = 0.9  # of the rows: a few ragged ones must not hide what separates the others
RARE = 0.01  # chance that the first user alone holds a value, where there is no header
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d([T ][\d:.]+(Z|[-+][\d:]+)?)?")


@dataclass(frozen=True)
class Evidence:
    """What speaks for a header (or against one), in words."""

    header: bool
    why: str


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
    if len(found) < 2 or usual == "\t" in found:
        return found[0] if len(found) == 1 else usual
    named = " or ".join(NAMES[c] for c in found)
    options = [f"delimiter={'tab' if c == '	' else c}" for c in found]
    raise InDoubt(f"{source}: the columns may be separated by {named}.", *options)


def _share(rows: list[list[str]]) -> float:
    """Share of rows with as many fields as the first; 1 if all have several, so may be ragged."""
    if not rows or len(rows[0]) < 2:
        return 0.0
    if all(len(row) == len(rows[0]) for row in rows):
        return 1.0
    equal = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
    return max(equal, MOSTLY) if all(len(row) > 1 for row in rows) else equal


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
        f"{source}: the first row ({shown}{more}) may be a header or a user{why}.",
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


_MISSING = frozenset(NA.lower().split(","))
