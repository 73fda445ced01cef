"""From what a person or a plan says to a domain."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from ldp3.domain.base import Domain, common_fields
from ldp3.domain.bins import Bins, Grid
from ldp3.domain.labels import Integers, Labels
from ldp3.domain.records import Records
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    LDPError,
    as_python,
    require,
    short,
    whole,
)


def read_domain(given: object, source: str) -> Domain:
    """The domain that a plan describes; whatever it does not know is refused.

    >>> read_domain(Bins([0, 18, 65]).describe(), "a plan").labels
    ('[0, 18)', '[18, 65)')
    """
    known: dict[str, Callable[[dict[str, Any]], Domain]] = {
        "labels": Labels.described,
        "integers": Integers.described,
        "edges": Bins.described,
        "grid": Grid.described,
        "attributes": _records,
    }
    kinds = [known[key] for key in known if isinstance(given, dict) and key in given]
    if not isinstance(given, dict) or len(kinds) != 1:
        raise InvalidData(f"{source}: no domain is described by {short(given, 60)}.")
    try:
        domain = kinds[0](given)
    except (LDPError, KeyError, TypeError, ValueError) as error:
        why = error if isinstance(error, LDPError) else "something is missing or wrong."
        raise InvalidData(f"{source}: {short(given, 60)} is no domain: {why}") from None
    again = domain.describe()
    if json.dumps(again, sort_keys=True) != json.dumps(given, sort_keys=True):
        raise InvalidData(f"{source}: the domain {short(given, 60)} is not in its usual form.")
    return domain


def _records(given: dict[str, Any]) -> Records:
    attributes = given["attributes"]
    require(isinstance(attributes, list), "A domain", "needs a list", attributes)
    parts = [read_domain(one, "an attribute") for one in attributes]
    return Records(parts, **common_fields(given, "attributes"))


def as_domain(given: object) -> Domain:
    """A domain, or what stands for one: a size, or a list of labels.

    >>> as_domain(3) == Integers(3), as_domain(["a", "b"]) == Labels(["a", "b"])
    (True, True)
    """
    if isinstance(given, Domain):
        return given
    if whole(size := as_python(given)):
        return Integers(size)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict | set | frozenset):
        return Labels(given)  # type: ignore[arg-type]
    raise InvalidParameter(
        f"A domain is a size, a list of labels, Bins, a Grid or Records, got {short(given)}."
    )
