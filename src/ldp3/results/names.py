"""What the literature calls protocols, methods and metrics: `norm_sub` is Norm-Sub, `l1` is ℓ1."""

from contextlib import suppress

from ldp3 import kinds, specs
from ldp3.errors import LDPError


def written(kind: type, spec: str) -> str:
    """As papers write it; a plug-in that is not at hand keeps its spec.

    >>> from ldp3.postprocessing.base import PostProcessor
    >>> from ldp3.protocols.base import FrequencyOracle
    >>> written(FrequencyOracle, "olh(g=4)"), written(PostProcessor, "power+norm_sub")
    ('OLH(g=4)', 'Power+Norm-Sub')
    """
    return "+".join(_one(kind, part) for part in specs.split(spec, "+"))


def _one(kind: type, spec: str) -> str:
    if spec == "none":
        return spec
    with suppress(LDPError):
        name = specs.parse(spec)[0]
        return _title(kinds.look_up(kind, name)) + spec[len(name) :]
    return spec


def _title(cls: type) -> str:
    """The class's own name, or its alias with a hyphen or a script ℓ."""
    spellings = [a for a in kinds.aliases_of(cls) if a.startswith("ℓ") and " " not in a]
    same = kinds.plain(cls.__name__)
    spellings += [a for a in kinds.aliases_of(cls) if kinds.plain(a) == same and a != a.lower()]
    return spellings[0] if spellings else cls.__name__
