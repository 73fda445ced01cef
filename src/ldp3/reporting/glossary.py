"""What the names on a page mean, each in one line."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from ldp3 import kinds, specs
from ldp3.errors import LDPError
from ldp3.kinds import summary
from ldp3.reporting.findings import Findings
from ldp3.results.names import written


def glossary(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """Metrics, protocols, methods and attacks as results name them; plug-ins that are here, too."""
    return {name: said for name, kind in _named(found, attacks) if (said := meaning(kind, name))}


def titles(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """What people read in place of each name, where that is another spelling."""
    named = _named(found, attacks)
    return {name: read for name, kind in named if (read := written(kind, name)) != name}


def _named(found: Iterable[Findings], attacks: Iterable[str]) -> Iterator[tuple[str, type]]:
    """Everything that results name, and its kind."""
    every = kinds.every_kind()
    yield from ((name, every["attacks"]) for name in attacks)
    for one in found:
        yield from ((name, every["metrics"]) for name in one.metrics)
        yield from ((name, every["protocols"]) for name in one.protocols)
        yield from ((name, every["methods"]) for name in one.methods)


def meaning(kind: type, spec: str) -> str:
    """The first line of what the class says of itself; of a chain, all of them.

    >>> meaning(kinds.every_kind()["methods"], "base_pos+none")
    'Negative estimates become zero; then: No post-processing'
    """
    said = []
    for part in specs.split(spec, "+"):
        with suppress(LDPError):
            said.append(summary(kinds.look_up(kind, specs.parse(part)[0])))
    return "; then: ".join(said)
