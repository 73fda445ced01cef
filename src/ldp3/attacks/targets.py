"""Who is attacked: ``top:10``, ``bottom:10``, ``random:10``, or labels."""

import re
from collections.abc import Sequence

import numpy as np

from ldp3.errors import InvalidParameter, did_you_mean
from ldp3.randomness import stream
from ldp3.types import Dataset

RULE = re.compile(r"(top|bottom|random):(\d+)")


def target_codes(data: Dataset, given: str | Sequence[str], seed: int = 0) -> tuple[int, ...]:
    """The codes of the targets; of equally frequent values, the first ones count as rarer.

    >>> from ldp3 import Labels
    >>> colours = Dataset("colours", Labels(["red", "green", "blue"]), np.array([5, 1, 3]))
    >>> target_codes(colours, "top:2"), target_codes(colours, ["green"])
    ((0, 2), (1,))
    """
    names = [given] if isinstance(given, str) else list(given)
    rule = RULE.fullmatch(names[0]) if len(names) == 1 else None
    if rule is None:
        return tuple(dict.fromkeys(_code(data, name) for name in names))
    how, r = rule[1], int(rule[2])
    if not 1 <= r <= data.d:
        raise InvalidParameter(
            f"`targets`: {names[0]} asks for {r} of the {data.d} values of {data.name}: "
            f"take 1 to {data.d}."
        )
    order = np.argsort(data.histogram, kind="stable")
    if how == "random":
        order = stream(seed, "targets", data.digest).permutation(data.d)
    chosen = order[::-1][:r] if how == "top" else order[:r]
    return tuple(sorted(map(int, chosen)))


def _code(data: Dataset, name: str) -> int:
    labels = list(data.labels)
    if name not in labels:
        otherwise = " `targets` are labels, or top:10, bottom:10, random:10."
        hint = did_you_mean(name, labels) or otherwise
        raise InvalidParameter(f"{data.name}: no value is called {name!r}.{hint}")
    return labels.index(name)
