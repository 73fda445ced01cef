"""What a description file says: written by a plan, read back with suspicion."""

import json
from math import exp, inf, isfinite
from pathlib import Path
from typing import Any

from ldp3.collection.wire import VERSION
from ldp3.errors import InvalidData, InvalidParameter, whole
from ldp3.files import read_json

FORMAT = "ldp3 collection"
AGAIN = "make the file again with `ldp3 plan`"


def ledger(epsilon: float) -> list[str]:
    """What one report and what repeated reports of the same person cost."""
    e = f"{epsilon:g}"
    return [
        f"One report spends ε = {e}: it changes the odds between any two values by a factor of at "
        f"most e^{e} = {exp(epsilon):.4g}.",
        f"Fresh reports of the same person add up: m of them spend m × {e}, whether the value "
        f"changed or not, in this collection and in others about the same thing.",
        f"The same report sent again spends nothing more. A client with a memo sends the same "
        f"report for the same value: m different values spend m × {e}, and the server can see "
        f"that a value changed and that two reports are of the same person.",
    ]


def canonical(content: object) -> str:
    """One text per content: sorted keys, no blanks, ASCII; 4, 4.0 and true differ."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def require_format(given: object, format: str, source: str) -> dict[str, Any]:
    """The fields of a file of ours, of the version that we read."""
    if not isinstance(given, dict) or given.get("format") != format:
        raise InvalidData(f"{source}: is no {format!r} file.")
    version = given.get("version")
    if version != VERSION or not whole(version):
        raise InvalidData(
            f"{source}: is of version {_short(version)}, this ldp3 reads version {VERSION}; a "
            f"new plan makes a new collection."
        )
    return given


def plan_options(fields: dict[str, Any], source: str) -> dict[str, Any]:
    """The options of the plan that a description states, which are not checked yet."""
    for key in ("name", "protocol", "epsilon", "d", "method", "outside", "labels"):
        if key not in fields:
            raise InvalidData(f"{source}: {key!r} is missing; {AGAIN}.")
    outside, labels, epsilon = fields["outside"], fields["labels"], fields["epsilon"]
    sound = {
        "outside": outside == "refuse"
        or (isinstance(outside, dict) and list(outside) == ["label"]),
        "labels": labels is None or isinstance(labels, list),
        "epsilon": isinstance(epsilon, float),
        "bins": "bins" not in fields or _sound_edges(fields["bins"]),
    }
    for key, right in sound.items():
        if not right:
            raise InvalidData(f"{source}: {key!r} cannot be {_short(fields[key])}; {AGAIN}.")
    edges = _read_edges(fields["bins"]) if "bins" in fields else None
    return {
        **{key: fields[key] for key in ("name", "protocol", "epsilon", "d", "method")},
        "bins": edges,
        "labels": None if labels is None or edges is not None else tuple(labels),
        "other": None if outside == "refuse" else outside["label"],
    }


def require_same(given: dict[str, Any], expected: dict[str, Any], source: str) -> None:
    """Refuse a description that is not what its own protocol, ε and domain give."""
    for key in sorted((expected.keys() | given.keys()) - {"identifier"}):
        same = key in given and canonical(given[key]) == canonical(expected.get(key))
        if key not in expected or not same:
            raise InvalidData(
                f"{source}: {key!r} is {_short(given.get(key))}, but {expected['protocol']} at "
                f"ε={expected['epsilon']:g}, d={expected['d']} has {_short(expected.get(key))}; "
                f"{AGAIN}."
            )
    if given.get("identifier") != expected["identifier"]:
        raise InvalidData(f"{source}: was edited after it was made; {AGAIN}.")


def require_again(path: Path, ours: dict[str, Any]) -> None:
    """Refuse to write over a file, unless it is the same description."""
    try:
        there = read_json(path)
    except InvalidData:
        there = None
    if not isinstance(there, dict) or there.get("format") != FORMAT:
        raise InvalidParameter(
            f"{path}: exists and is no description of a collection: choose another name, or move "
            f"it away."
        )
    if canonical(there) != canonical(ours):
        raise InvalidParameter(
            f"{path}: describes another collection, {_short(there.get('name'))} "
            f"({_difference(there, ours)}), whose clients and reports need it: choose another "
            f"name, or move it away."
        )


def _difference(there: dict[str, Any], ours: dict[str, Any]) -> str:
    """The first thing that a person chose in which two descriptions differ."""
    for key in ("name", "protocol", "epsilon", "d", "bins", "labels", "outside", "method"):
        if canonical(there.get(key)) != canonical(ours.get(key)):
            return f"{key} is {_short(there.get(key))}, not {_short(ours.get(key))}"
    return "edited since"


def written_edges(edges: tuple[float, ...]) -> list[float | None]:
    """Edges as JSON can hold them: an end that is open is null."""
    return [edge if isfinite(edge) else None for edge in edges]


def _read_edges(edges: list[float | None]) -> tuple[float, ...]:
    ends = {0: -inf, len(edges) - 1: inf}
    return tuple(ends[place] if e is None else e for place, e in enumerate(edges))


def _sound_edges(edges: object) -> bool:
    if not isinstance(edges, list) or len(edges) < 3 or None in edges[1:-1]:
        return False
    return all(e is None or (isinstance(e, float) and isfinite(e)) for e in edges)


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
