"""What the names on a page mean, each in one line."""

from collections.abc import Iterable
from contextlib import suppress

from ldp3 import kinds, specs
from ldp3.docstrings import summary
from ldp3.errors import LDPError
from ldp3.reporting.findings import Findings
from ldp3.results.names import written


def glossary(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """Metrics, protocols, methods and attacks as results name them; plug-ins that are here, too."""
    every = kinds.every_kind()
    words = {name: said for name in attacks if (said := meaning(every["attacks"], name))}
    for one in found:
        for names, kind in (
            (one.metrics, every["metrics"]),
            (one.protocols, every["protocols"]),
            (one.methods, every["methods"]),
        ):
            words |= {name: said for name in names if (said := meaning(kind, name))}
    return words


def titles(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """What people read in place of each name, where that is another spelling."""
    every = kinds.every_kind()
    named = [(attack, every["attacks"]) for attack in attacks]
    for one in found:
        named += [(name, every["metrics"]) for name in one.metrics]
        named += [(name, every["protocols"]) for name in one.protocols]
        named += [(name, every["methods"]) for name in one.methods]
    read = {name: written(kind, name) for name, kind in named}
    return {name: words for name, words in read.items() if words != name}


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
