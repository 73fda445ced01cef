"""BibTeX for what was used.

A class says in the *References* of its docstring what it comes from; `references.bib` holds works
with all that an entry can say. The two meet by the title, so neither knows keys of the other. What
refers to no work there, as a plug-in may, gets an entry that holds the reference as it is written.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from types import ModuleType

from ldp3 import kinds, specs
from ldp3.errors import LDPError
from ldp3.kinds import reference
from ldp3.printing import escape_latex
from ldp3.results.table import Results

TOOLKIT = "balioglu2025ldp3"


def bibtex(classes: Iterable[type]) -> str:
    """The entries that these classes refer to, each once, the toolkit's paper first."""
    known = entries()
    titles = {key: _plain(title(entry)) for key, entry in known.items()}
    cited = {TOOLKIT: known[TOOLKIT]}
    for cls in classes:
        text = reference(cls)
        found = [key for key, name in titles.items() if name in _plain(text)]
        cited |= {key: known[key] for key in found}
        if text and not found:
            name, note = kinds.name_of(cls), escape_latex(text)
            cited[name] = f"@misc{{{name},\n  note = {{{note}}},\n}}"
    return "\n\n".join(cited.values())


def used_by(results: Results, *plugins: ModuleType) -> list[type]:
    """What a run used and is at hand, which plug-ins may not be."""
    found: list[type] = []
    for kind in kinds.every_kind().values():
        for spec in results.table[kinds.called(kind)].unique(maintain_order=True):
            for part in specs.split(spec, "+"):
                with suppress(LDPError):
                    found.append(kinds.look_up(kind, specs.parse(part)[0], *plugins))
    return found


def entries() -> dict[str, str]:
    """Every entry of `references.bib` by its key."""
    text = files("ldp3.reporting").joinpath("references.bib").read_text(encoding="utf-8")
    return {match[1]: match[0] for match in re.finditer(r"@\w+\{(\w+),\n.*?\n\}", text, re.DOTALL)}


def title(entry: str) -> str:
    """The title of an entry."""
    return re.findall(r"^  title = \{(.*)\},$", entry, re.MULTILINE)[0]


def _plain(text: str) -> str:
    """Letters and digits alone: neither braces nor the case of a title matter."""
    return "".join(filter(str.isalnum, text.lower()))
