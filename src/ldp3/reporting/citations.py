"""BibTeX for what was used.

A class says in the *References* of its docstring what it comes from. `references.bib` holds works
with all that an entry can say; the two meet by the title, so neither knows keys of the other. A
work that it does not hold, as of a new protocol or a plug-in, gets an entry from the docstring.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from itertools import chain, count
from types import ModuleType

from ldp3 import kinds, specs
from ldp3.errors import LDPError
from ldp3.kinds import reference
from ldp3.reporting.works import Work, works
from ldp3.results.table import Results

TOOLKIT = "balioglu2025ldp3"


def bibtex(classes: Iterable[type]) -> str:
    """The entries that these classes refer to, each once, the toolkit's paper first.

    A reference that says no work in our way of writing is a comment to follow up.
    """
    known = entries()
    keys = {_plain(title(entry)): key for key, entry in known.items()}
    cited, comments = [TOOLKIT], []
    for cls in classes:
        text = reference(cls)
        found = works(text)
        for work in found:
            if _plain(work.title) not in keys:
                keys[_plain(work.title)] = key = _new_key(work, known)
                known[key] = work.entry(key)
        cited += [keys[_plain(work.title)] for work in found]
        if text and not found:
            comments.append(f"% {kinds.name_of(cls)}: {text}")
    return "\n\n".join([*(known[key] for key in dict.fromkeys(cited)), *dict.fromkeys(comments)])


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


def _new_key(work: Work, taken: Iterable[str]) -> str:
    """The work's own key; where another work has it, with a number."""
    keys = chain([work.key], (f"{work.key}_{i}" for i in count(2)))
    return next(key for key in keys if key not in taken)


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
