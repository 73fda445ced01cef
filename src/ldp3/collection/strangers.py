"""Whose reports these are, where a server can count none of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ldp3.collection import reading
from ldp3.collection.description import FORMAT
from ldp3.collection.plan import Plan
from ldp3.collection.reports import ReportFormat
from ldp3.collection.wire import TAG_BYTES, VERSION
from ldp3.errors import InvalidData, LDPError
from ldp3.files import read_json

NEAR = 1000  # files beside the description to look into, at most, and not the large ones
LARGE = 2**24


def refusal(
    plan: Plan,
    folder: Path,
    paths: Sequence[Path],
    input_format: ReportFormat | None,
    refused: Mapping[str, int],
) -> InvalidData:
    """One line that says what the rows of these files are, none of which is a report of the plan.

    The descriptions in `folder` give a name to another collection.
    """
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    reasons = ", ".join(f"{rows:,} {reason}" for reason, rows in refused.items())
    return InvalidData(
        f"{paths[0]}{more}: no row is a report of {plan.name!r}, nothing was written: {reasons}. "
        f"{_whose(plan, folder, paths, input_format)}"
    )


def _whose(
    plan: Plan, folder: Path, paths: Sequence[Path], input_format: ReportFormat | None
) -> str:
    tag = _first_tag(plan, paths, input_format)
    if tag is None or tag == plan.tag or tag[0] != VERSION:
        return "They may be no reports at all, or damaged."
    identifier = tag[1:].hex()
    found = _described(folder, identifier)
    if found is None:
        return (
            f"The first one is of the collection with the identifier {identifier}: aggregate it "
            f"with that collection's description."
        )
    return f"The first one is of {found[1]!r}: aggregate it with {found[0]}."


def _first_tag(
    plan: Plan, paths: Sequence[Path], input_format: ReportFormat | None
) -> bytes | None:
    """The bytes in front of the first report that has as many."""
    for path in paths:
        for part in reading.parts_of(path, plan.wire, input_format):
            first = reading.first_bytes(part, TAG_BYTES)
            if len(first) == TAG_BYTES:
                return first
    return None


def _described(folder: Path, identifier: str) -> tuple[Path, str] | None:
    """The description in a folder that has this identifier, and what its collection is called."""
    for path in sorted(folder.glob("*.json"))[:NEAR]:
        try:
            given = read_json(path) if path.stat().st_size < LARGE else None
        except (LDPError, OSError):
            continue
        if not isinstance(given, dict) or given.get("format") != FORMAT:
            continue
        if str(given.get("identifier")).startswith(identifier):
            return path, str(given.get("name"))
    return None
