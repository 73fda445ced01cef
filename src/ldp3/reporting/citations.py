"""BibTeX for what was used.

A class says in the *References* of its docstring what it comes from. `references.bib` holds each of
those works once; the two meet by the title, so neither knows keys of the other.
"""

import inspect
import re
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from types import ModuleType

from ldp3 import catalog
from ldp3.errors import UnknownName
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.results import Results

TOOLKIT = "balioglu2025ldp3"
KINDS: dict[str, type] = {
    "protocol": FrequencyOracle,
    "method": PostProcessor,
    "metric": Metric,
}


def bibtex(classes: Iterable[type]) -> str:
    """The entries that these classes refer to, each once, the toolkit's paper first.

    A work that we have no entry for, as a plug-in's may be, is a comment to follow up.
    """
    known, found, unknown = entries(), [TOOLKIT], []
    for cls in classes:
        text = reference(cls)
        keys = [key for key, entry in known.items() if _plain(title(entry)) in _plain(text)]
        found += [key for key in keys if key not in found]
        if text and not keys:
            unknown.append(f"% {catalog.name_of(cls)}: {text}")
    return "\n\n".join([*(known[key] for key in found), *dict.fromkeys(unknown)])


def used_by(results: Results, *plugins: ModuleType) -> list[type]:
    """The protocols, methods and metrics of a run that are at hand; plug-ins may not be."""
    found: list[type] = []
    for column, kind in KINDS.items():
        for spec in results.table[column].unique(maintain_order=True):
            for part in catalog.split(spec, "+"):
                with suppress(UnknownName):
                    found.append(catalog.look_up(kind, catalog.parse(part)[0], *plugins))
    return found


def reference(cls: type) -> str:
    """What a class comes from, in its own words."""
    text = inspect.getdoc(cls) or ""
    return " ".join(text.partition("References\n----------\n")[2].partition("\n\n")[0].split())


def entries() -> dict[str, str]:
    """Every entry by its key."""
    text = files("ldp3.reporting").joinpath("references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in re.finditer(r"@\w+\{(\w+),\n.*?\n\}", text, re.DOTALL)}


def title(entry: str) -> str:
    """The title of an entry."""
    return re.findall(r"^  title = \{(.*)\},$", entry, re.MULTILINE)[0]


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
