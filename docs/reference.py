"""Writes the reference pages: what the classes, functions and commands say of themselves.

There is one place to edit, the docstring; these pages are made anew with every build of the site.
"""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import ldp3
from ldp3.cli.app import app
from ldp3.kinds import aliases_of, every_kind, find
from ldp3.results.names import written

HEAD = {
    "protocols": "What a user's device sends, and how the server estimates frequencies from it.",
    "methods": "What a server does with estimates: no privacy is spent, errors usually fall.",
    "metrics": "How far an estimate is from the truth.",
    "datasets": "Where true values come from. The synthetic shapes also take `d`, the size of the "
    "domain (128), and `n`, the number of users (1,000,000).",
    "attacks": "What somebody who lies, or looks, can do.",
}
WIDTH = 88  # what fits a code block of the site
BLOCK = re.compile(r"(?<=```pycon\n).*?(?=```)", re.DOTALL)
WORD = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
INLINE = re.compile(r"(?<=\S )\$\$([^$]+)\$\$")  # a formula in the middle of a line
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def write(folder: Path) -> None:
    """Every reference page, into `folder`."""
    folder.mkdir(exist_ok=True)
    for several, kind in every_kind().items():
        (folder / f"{several}.md").write_text(kind_page(several, kind), encoding="utf-8")
    (folder / "api.md").write_text(api_page(ldp3), encoding="utf-8")
    (folder / "commands.md").write_text(commands_page(), encoding="utf-8")


def kind_page(several: str, kind: type) -> str:
    """All of a kind, one section each, in the order of their names."""
    sections = [
        f"## {_title(kind, name)}\n\n{_also(cls, _title(kind, name))}{_spelled(cls)}"
        for name, cls in sorted(find(kind).items())
    ]
    return f"# All {several}\n\n{HEAD[several]}\n\n" + "\n\n".join(sections) + "\n"


def _title(kind: type, name: str) -> str:
    """As people read it, and as it is typed."""
    read = written(kind, name)
    return f"`{name}`" if read == name else f"{read}: `{name}`"


def _spelled(cls: type) -> str:
    """Its description, with parameters as a spec writes them: `pgr(q=4)`."""
    text = described(cls)
    for field, symbol in getattr(cls, "symbols", {}).items():
        text = text.replace(f"`{field}`\n:", f"`{symbol}`\n:")
    return text


def _also(cls: type, title: str) -> str:
    """Other names, each spelling once."""
    names = {_letters(name): name for name in reversed(list(aliases_of(cls)))}
    names.pop(_letters(title.split(":")[0]), None)
    return f"*Also: {', '.join(reversed(list(names.values())))}.*\n\n" if names else ""


def _letters(name: str) -> str:
    return re.sub(r"\W|_", "", name).lower()


def api_page(module: ModuleType) -> str:
    """Every public name: how it is called, what it says, and what it can do."""
    names = sorted(module.__all__, key=str.lower)
    return (
        "# Python reference\n\n" + "\n\n".join(_public(n, getattr(module, n)) for n in names) + "\n"
    )


def _public(name: str, thing: Any) -> str:
    parts = [f"## `ldp3.{name}`", _signature(name, thing), described(thing)]
    if inspect.isclass(thing):
        parts += [_member(n, m) for n, m in vars(thing).items() if not n.startswith("_")]
    return "\n\n".join(p for p in parts if p)


def _member(name: str, member: Any) -> str:
    function = getattr(member, "__func__", member)
    if isinstance(member, property):
        return f"### `.{name}`\n\n{as_markdown(inspect.getdoc(member) or '')}"
    if inspect.isfunction(function):
        return f"### `.{name}`\n\n{_signature(name, function)}\n\n{described(function)}"
    return ""


def _signature(name: str, thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    ours = [_parameter(p) for p in signature.parameters.values() if p.name != "self"]
    returned = signature.return_annotation
    gives = "" if returned in (signature.empty, None) else f" -> {_spelt(_named(returned))}"
    line = f"{name}({', '.join(ours)}){gives}"
    if len(line) > WIDTH:
        line = "\n".join([f"{name}(", *(f"    {one}," for one in ours), f"){gives}"])
    return f"```python\n{line}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    """As it is written; a default that has no spelling is an ellipsis."""
    typed = _spelt(str(parameter.replace(default=parameter.empty)))
    if parameter.default is parameter.empty:
        return typed
    shown = repr(parameter.default)
    return f"{typed} = {'...' if shown.startswith('<') else shown}"


def _named(annotation: Any) -> str:
    return inspect.formatannotation(annotation)


def _spelt(text: str) -> str:
    """Types as people write them, without the modules they come from."""
    unquoted = re.sub(r"(Literal\[[^\]]*\])|'", lambda m: m[1] or "", text)
    return re.sub(r"\b(?:\w+\.)+(?=[A-Za-z_])", "", unquoted)


def commands_page() -> str:
    """What `--help` says, for every command."""
    with patch.object(sys, "argv", ["ldp3"]):  # usage lines begin with what was started
        text = app.generate_docs(output_format="markdown")
    text = re.sub(r"^ldp3 (\w+) \1 ", r"ldp3 \1 ", text, flags=re.MULTILINE)  # a usage of ours
    return re.sub(r"\A.*?(?=^\*\*Compare)", "# Commands\n\n", text, flags=re.DOTALL | re.MULTILINE)


def described(thing: Any) -> str:
    """What it says of itself, with examples that run as they stand."""
    text = as_markdown(inspect.getdoc(thing) or "")
    blocks = "".join(BLOCK.findall(text))
    return BLOCK.sub(lambda first: _imports(thing, blocks) + first[0], text, count=1)


def _imports(thing: Any, session: str) -> str:
    """The lines that bring in what an example takes from its module."""
    known = vars(sys.modules[thing.__module__])
    imported = " ".join(re.findall(r"^>>> .*\bimport (.+)$", session, re.MULTILINE))
    used = set(WORD.findall(session)) - set(WORD.findall(imported))
    modules = [f"import {known[n].__name__} as {n}" for n in used if _is_module(known.get(n))]
    homes: dict[str, list[str]] = {}
    for name in sorted(n for n in used if n in known and not _is_module(known[n])):
        homes.setdefault(_home(name, known[name]), []).append(name)
    names = [f"from {home} import {', '.join(homes[home])}" for home in sorted(homes)]
    lines = [re.sub(r"import (\w+) as \1$", r"import \1", line) for line in sorted(modules)]
    return "".join(f">>> {line}\n" for line in lines + names)


def _is_module(thing: Any) -> bool:
    return isinstance(thing, ModuleType)


def _home(name: str, thing: Any) -> str:
    """Where people import it from: our root if it is public there."""
    return "ldp3" if getattr(ldp3, name, None) is thing else str(thing.__module__)


def as_markdown(doc: str) -> str:
    """A docstring, with its sections, as Markdown.

    >>> print(as_markdown("One.\\n\\nParameters\\n----------\\ng\\n    Cells."))
    One.
    <BLANKLINE>
    **Parameters**
    <BLANKLINE>
    `g`
    : Cells.
    """
    lead, *rest = SECTION.split(INLINE.sub(r"$\1$", doc))
    parts = [_examples(lead.strip())]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        listed = title in {"Parameters", "Attributes", "Returns", "Raises"}
        parts += [f"**{title}**", _definitions(body) if listed else _examples(body.strip())]
    return "\n\n".join(p for p in parts if p)


def _definitions(body: str) -> str:
    items = re.findall(r"^(\S[^\n]*)\n((?:[ ]{4}[^\n]*\n?|\n)*)", body, re.MULTILINE)
    return "\n\n".join(f"`{term}`\n: {' '.join(text.split())}" for term, text in items)


def _examples(body: str) -> str:
    """Lines of a Python session become a block; the rest stays."""
    paragraphs = body.split("\n\n")
    return "\n\n".join(
        f"```pycon\n{p}\n```" if p.lstrip().startswith(">>>") else p for p in paragraphs
    )
