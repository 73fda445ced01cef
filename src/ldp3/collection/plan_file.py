"""What a plan's file says: written by a plan, read back with suspicion."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import exp
from pathlib import Path
from typing import Any

from ldp3.collection.wire import VERSION
from ldp3.domain import Domain, read_domain
from ldp3.errors import InvalidData, InvalidParameter, short, whole
from ldp3.files import read_json
from ldp3.schemes.base import View
from ldp3.shuffling import Shuffled

FORMAT, COUNTS = "ldp3 collection", "ldp3 counts"
CALLED = {FORMAT: "plan", COUNTS: "file of counts"}
WRITTEN_BY = {FORMAT: "plan", COUNTS: "aggregate"}
CLAIM = {"epsilon": "central_epsilon", "delta": "delta", "batch": "batch"}  # by their options
AGAIN = "make the file again with `ldp3 plan`"


def ledger(
    epsilon: float, shuffled: Shuffled | None = None, groups: int = 0, attributes: int = 1
) -> list[str]:
    """What one report and what repeated reports of the same person cost."""
    values = "values" if attributes == 1 else "records"
    e = f"{epsilon:g}"
    last = (
        f"The same report sent again spends nothing more. A client with a memo sends the same "
        f"report for the same value: m different values spend m × {e}, and the server can see "
        f"that a value changed and that two reports are of the same person."
    )
    return [
        f"One report spends ε = {e}: it changes the odds between any two {values} by a factor of "
        f"at most e^{e} = {exp(epsilon):.4g}.",
        f"Fresh reports of the same person add up: m of them spend m × {e}, whether the value "
        f"changed or not, in this collection and in others about the same thing.",
        last if shuffled is None else str(shuffled),  # which no report that is known again keeps
        *_by_lot(epsilon, groups, attributes),
    ]


def _by_lot(epsilon: float, groups: int, attributes: int) -> list[str]:
    """What it means that people are asked different questions."""
    said = []
    if attributes > 1:
        said.append(
            f"ε = {epsilon:g} is for all answers of a person together: a report tells of some of "
            f"the {attributes} attributes, and no more of all of them than the odds above allow."
        )
    if groups > 1:
        said.append(
            f"A report says which of {groups} groups it is of, drawn by lot before the value is "
            f"looked at. A client with a memo stays in its group: a new one every time would be "
            f"another question, at the price of ε each."
        )
    return said


def canonical(content: object) -> str:
    """One text per content: sorted keys, no blanks, ASCII; 4, 4.0 and true differ."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


@contextmanager
def shallow(source: str) -> Iterator[None]:
    """Say in one line that a file is nested more deeply than Python can follow."""
    try:
        yield
    except RecursionError:
        raise InvalidData(f"{source}: is nested too deeply to be a file of ours.") from None


def require_format(given: object, format: str, source: str) -> dict[str, Any]:
    """The fields of a file of ours, of the version that we read."""
    found = given.get("format") if isinstance(given, dict) else None
    if not isinstance(given, dict) or found != format:
        other = CALLED.get(found) if isinstance(found, str) else None
        held = f"is a {other}; needed is a" if other else "is no"
        raise InvalidData(
            f"{source}: {held} {CALLED[format]}, as `ldp3 {WRITTEN_BY[format]}` writes it."
        )
    version = given.get("version")
    if version != VERSION or not whole(version):
        raise InvalidData(
            f"{source}: is of version {short(version, 60)}, this ldp3 reads version {VERSION}; a "
            f"new plan makes a new collection."
        )
    return given


def options_in(fields: dict[str, Any], source: str) -> dict[str, Any]:
    """The options of the plan that a file states; but for the domain they are not checked yet."""
    for key in ("name", "epsilon", "method", "shuffled", "attributes", "groups"):
        if key not in fields:
            raise InvalidData(f"{source}: {key!r} is missing; {AGAIN}.")
    attributes, groups = (_listed(fields, key, source) for key in ("attributes", "groups"))
    domains = [read_domain(one, f"{source}: 'attributes'") for one in attributes]
    if not isinstance(fields["epsilon"], float):  # 1 and 1.0 have different identifiers
        raise _wrong(source, "epsilon", fields["epsilon"])
    if not all(isinstance(one, dict) and isinstance(one.get("protocol"), str) for one in groups):
        raise _wrong(source, "groups", groups)
    scheme = fields.get("scheme")
    if scheme is not None and not isinstance(scheme, str):
        raise _wrong(source, "scheme", scheme)
    if scheme is None:  # one attribute, and everybody is asked all of it
        only = {key: _only(fields, key, source) for key in ("attributes", "groups")}
        asked: dict[str, Any] = {"domain": domains, "protocol": only["groups"]["protocol"]}
    else:
        planned = [_planned(one, domains, source) for one in groups]
        asked = {"domain": domains, "protocol": scheme, "groups": planned}
    claim = fields["shuffled"]
    if claim is not None and (not isinstance(claim, dict) or set(claim) != set(CLAIM)):
        raise _wrong(source, "shuffled", claim)
    return {
        **({} if claim is None else {option: claim[key] for key, option in CLAIM.items()}),
        **{key: fields[key] for key in ("name", "epsilon", "method")},
        **asked,
    }


def _planned(group: dict[str, Any], domains: Sequence[Domain], source: str) -> tuple[Any, ...]:
    """What a group is asked, its share and its protocol, as `Plan` takes them."""
    numbers = {domain.name: number for number, domain in enumerate(domains)}
    view, share = group.get("view"), group.get("share")
    sound = isinstance(view, list) and bool(view) and isinstance(share, str)
    if not sound or not re.fullmatch("[1-9][0-9]{0,19}", str(share)):
        raise _wrong(source, "groups", group)
    parts = []
    for part in view:  # type: ignore[union-attr]
        name, bins = part if isinstance(part, list) and len(part) == 2 else (None, None)
        parts.append((numbers.get(name, -1) if isinstance(name, str) else -1, bins))
    asked = View(tuple(parts))
    if not asked.suits([domain.d for domain in domains]):
        raise _wrong(source, "view", view)
    return asked, int(str(share)), group["protocol"]


def require_same(given: dict[str, Any], expected: dict[str, Any], source: str) -> None:
    """Refuse a file that is not what its own protocol, ε and domain give."""
    group, scheme = expected["groups"][0], expected["scheme"]
    who = f"{group['protocol']} at ε={expected['epsilon']:g}, d={group['d']}"
    if scheme is not None:
        who = f"{scheme} at ε={expected['epsilon']:g}"
    theirs, ours = _pieces(given), _pieces(expected)
    for key in sorted((theirs.keys() | ours.keys()) - {"identifier"}):
        same = key in theirs and canonical(theirs[key]) == canonical(ours.get(key))
        if key not in ours or not same:
            raise InvalidData(
                f"{source}: {key!r} is {short(theirs.get(key), 60)}, but {who} has "
                f"{short(ours.get(key), 60)}; {AGAIN}."
            )
    if given.get("identifier") != expected["identifier"]:
        raise InvalidData(f"{source}: was edited after it was made; {AGAIN}.")


def require_again(path: Path, ours: dict[str, Any]) -> None:
    """Refuse to write over a file, unless it is the same plan."""
    try:
        there = read_json(path)
    except InvalidData:
        there = None
    if not isinstance(there, dict) or there.get("format") != FORMAT:
        raise InvalidParameter(
            f"{path}: exists and is no plan: choose another name, or move it away."
        )
    if canonical(there) != canonical(ours):
        raise InvalidParameter(
            f"{path}: is the plan of another collection, {short(there.get('name'), 60)} "
            f"({_difference(there, ours)}), whose clients and reports need it: choose another "
            f"name, or move it away."
        )


def _difference(there: dict[str, Any], ours: dict[str, Any]) -> str:
    """The first thing that a person chose in which two plans differ."""
    theirs, expected = _pieces(there), _pieces(ours)
    for key in ("name", "scheme", "groups.protocol", "epsilon", "attributes", "method", "shuffled"):
        if canonical(theirs.get(key)) != canonical(expected.get(key)):
            return f"{key} is {short(theirs.get(key), 60)}, not {short(expected.get(key), 60)}"
    return "edited since"


def _pieces(content: dict[str, Any]) -> dict[str, Any]:
    """The fields, those of each group one by one; of the only group without its number."""
    groups = content.get("groups")
    if not isinstance(groups, list) or not all(isinstance(one, dict) for one in groups):
        return content
    pieces = {key: value for key, value in content.items() if key != "groups"}
    for number, group in enumerate(groups):
        start = "groups" if len(groups) == 1 else f"groups.{number}"
        pieces |= {f"{start}.{key}": value for key, value in group.items()}
    return pieces


def _listed(fields: dict[str, Any], key: str, source: str) -> list[Any]:
    if not isinstance(fields[key], list) or not fields[key]:
        raise _wrong(source, key, fields[key])
    return fields[key]


def _only(fields: dict[str, Any], key: str, source: str) -> Any:
    """The only member of a list: without a scheme there is one attribute and one group."""
    if len(fields[key]) != 1:
        raise _wrong(source, key, fields[key])
    return fields[key][0]


def _wrong(source: str, key: str, given: object) -> InvalidData:
    return InvalidData(f"{source}: {key!r} cannot be {short(given, 60)}; {AGAIN}.")
