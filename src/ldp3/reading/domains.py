"""Files that name every possible value, one per row."""

from pathlib import Path

from ldp3.errors import InvalidData
from ldp3.reading.columns import choose
from ldp3.reading.counting import text_of
from ldp3.reading.evidence import figure
from ldp3.reading.files import open_file
from ldp3.reading.options import Reading
from ldp3.reading.order import LABEL
from ldp3.reading.users import Users


def domain_in(path: Path, column: str | int | None = None) -> list[str]:
    """Every possible value, in the order of the file, which has no header.

    Every value occurs once, so there is no telling a header from a value; one that stands over
    numbers, or has the name of the `column` that holds the data, is refused.
    """
    users = open_file(path, Reading(header=False))
    if len(users.schema()) != 1:
        raise InvalidData(f"{path}: a domain file has one column, one value per row.")
    labels = read_domain(choose(users, Reading()))
    first, *rest = labels
    if first == str(column) or (not figure(first) and all(map(figure, rest))):
        raise InvalidData(f"{path}: the first row, {first!r}, seems to be a header; delete it.")
    return labels


def read_domain(users: Users) -> list[str]:
    """The values in the rows, each once."""
    labels = users.collect(users.frame.select(text_of(users).alias(LABEL)))[LABEL]
    labels = labels.head(len(labels) - users.blank_rows_at_end())
    if (labels == "").any():
        blank = int((labels == "").arg_max() or 0)
        raise users.error(f"{users.place(blank)} is blank; a domain holds one value per row.")
    if labels.is_duplicated().any():
        row = int(labels.is_first_distinct().arg_min() or 0)
        raise users.error(f"{users.place(row)}: {labels[row]!r} is in the domain twice.")
    if len(labels) < 2:
        raise users.error("a domain holds at least two values.")
    return labels.to_list()
