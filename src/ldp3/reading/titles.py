"""What the columns of a table are called, and whether its first row says so."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ldp3.errors import InvalidParameter
from ldp3.reading.evidence import Evidence, find_header
from ldp3.reading.options import Reading


@dataclass(frozen=True)
class Titles:
    """The names of columns, whether the first row holds them, and what a person should know."""

    names: list[str]
    header: bool
    notes: tuple[str, ...] = ()


def titles_of(
    rows: list[list[str]], reading: Reading, source: str, domain: Collection[str] | None
) -> Titles:
    """What the columns of a table are called, where its first row may be a header."""
    width = len(rows[0]) if rows else 1
    plain = [f"column_{place}" for place in range(1, width + 1)]
    header, notes = reading.header, tuple[str, ...]()
    if header is None and names_a_column(reading):
        header = True
    if not header and header is not None and names_a_column(reading):
        raise InvalidParameter(
            f"{source}: without a header a column has no name: choose one by its position from 1."
        )
    if header is None and len(rows) < 2:
        header = False
    if header is None:
        found = _in_domain(rows[0], reading, domain) or find_header(rows, source)
        header = found.header
        what, how = ("a header", "header=False") if header else ("a user, not a header", "header")
        notes = (f"The first row is read as {what}: {found.why}; `{how}` overrules.",)
    return Titles(_unique(rows[0], plain) if header and rows else plain, header, notes)


def _in_domain(
    first: Sequence[str], reading: Reading, domain: Collection[str] | None
) -> Evidence | None:
    """The first row is a user's if its value is one of the domain."""
    place = int(reading.column or 1) if len(first) > 1 and reading.column else 1
    known = len(first) == 1 or reading.column is not None
    if not known or domain is None or not 1 <= place <= len(first):
        return None
    value = first[place - 1].strip()
    return Evidence(False, f"{value!r} is in the domain") if value in domain else None


def names_a_column(reading: Reading) -> bool:
    """Whether a column is chosen by something that is no position."""
    parts = str(reading.column or "1").split(",")
    return not all(part.strip().isdecimal() for part in parts)


def _unique(cells: Sequence[str], plain: list[str]) -> list[str]:
    """Names as the header has them; those that stand there twice, and blanks, with their place."""
    names = [cell.strip() or other for cell, other in zip(cells, plain, strict=True)]
    twice = {name for name, count in Counter(names).items() if count > 1}
    return [f"{n} [{i}]" if n in twice else n for i, n in enumerate(names, 1)]
