"""What a description file says: written by a plan, read back with suspicion."""

import json
from math import exp
from typing import Any

from ldp3.collection.wire import VERSION
from ldp3.errors import InvalidData, whole

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
            f"{source}: is of version {_short(version)}, this ldp3 reads version {VERSION}."
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
    }
    for key, right in sound.items():
        if not right:
            raise InvalidData(f"{source}: {key!r} cannot be {_short(fields[key])}; {AGAIN}.")
    return {
        **{key: fields[key] for key in ("name", "protocol", "epsilon", "d", "method")},
        "labels": labels if labels is None else tuple(labels),
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


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
