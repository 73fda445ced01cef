"""What the literature calls protocols, methods, metrics and attacks: `norm_sub` is Norm-Sub.

People read these names; what is typed, or stored in a file, is the spec. Either is understood.
"""

from contextlib import suppress
from functools import cache
from typing import Any

from ldp3 import kinds, specs
from ldp3.errors import LDPError
from ldp3.metrics.base import Metric
from ldp3.plugins import loaded
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle

WORDS = "none", "average"  # in place of a method


def protocol(spec: str) -> str:
    """``olh(g=4)`` → OLH(g=4)."""
    return written(FrequencyOracle, spec)


def method(spec: str) -> str:
    """``norm_sub`` → Norm-Sub; the columns none and average are words."""
    return written(PostProcessor, spec)


def metric(spec: str) -> str:
    """``l1`` → ℓ1."""
    return written(Metric, spec)


def unit(spec: str) -> str:
    """``kl`` → nats; nothing where the metric says none."""
    found = _class(Metric, spec)
    return "" if found is None else str(found.unit)


def measure(spec: str) -> str:
    """A metric with its unit, as an axis shows it: ``kl`` → KL (nats)."""
    return f"{metric(spec)} ({unit(spec)})" if unit(spec) else metric(spec)


def reading(spec: str, better: str) -> str:
    """How its numbers are read: ``kl`` → nats, lower is better."""
    return f"{unit(spec)}, {better} is better".removeprefix(", ")


def attack(spec: str) -> str:
    """``mga`` → MGA."""
    from ldp3.attacks.base import Attack  # few tables have one

    return written(Attack, spec)


def fake_users(number: float) -> str:
    """``0.05`` → 5% fake users, ``300`` → 300 fake users."""
    from ldp3.attacks.targets import fake_text

    one = "user" if number == 1 else "users"
    return f"{fake_text(number)} fake {one}"


def written(kind: type, spec: str) -> str:
    """As papers write it; a plug-in that is not at hand keeps its spec.

    >>> written(FrequencyOracle, "olh(g=4)"), written(PostProcessor, "power+norm_sub")
    ('OLH(g=4)', 'Power+Norm-Sub')
    """
    return "+".join(_one(kind, part) for part in specs.split(spec, "+"))


def _one(kind: type, spec: str) -> str:
    found = None if spec in WORDS else _class(kind, spec)
    return spec if found is None else kinds.title_of(found) + spec[len(specs.parse(spec)[0]) :]


def _class(kind: type, spec: str) -> type[Any] | None:
    """What a spec names; None if that is not at hand."""
    return _looked_up(kind, spec, len(loaded()))


@cache
def _looked_up(kind: type, spec: str, files: int) -> type[Any] | None:  # noqa: ARG001
    """Once for each number of plug-in files, as another one may bring the name."""
    with suppress(LDPError):
        name = specs.parse(spec)[0]
        ours = kinds.known(kind, name)
        having = [m for m in loaded() if name in map(kinds.name_of, kinds.defined(m, kind))]
        return kinds.look_up(kind, name, *([] if ours else having[:1]))
    return None
