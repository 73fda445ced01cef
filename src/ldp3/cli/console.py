"""What the library says, in the words of the command line."""

import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache

from cyclopts import App

from ldp3.progress import Terminal

_OTHERS = {
    "epsilons": "epsilon",
    "plugins": "plugin",
    "formats": "format",
}  # options that a flag spells in another way


def as_flags(text: str) -> str:
    """Options that the library names in backticks as one would type them.

    >>> as_flags("give `input_format=csv`, or leave `top` out")
    'give --input-format csv, or leave --top out'
    >>> as_flags("`header=True` or `header=False`")
    '--header or --no-header'
    """
    return re.sub(r"`([a-z_]+)(?:=([^`\s]*))?`", _flag, text)


def _flag(found: re.Match[str]) -> str:
    flag = "--" + _OTHERS.get(found[1], found[1]).replace("_", "-")
    if flag not in _flags():
        return found[0]  # some other word of Python
    if found[2] in (None, "True"):
        return flag
    if found[2] == "False":
        return flag.replace("--", "--no-", 1)
    return f"{flag} {shlex.quote(found[2])}"


@cache
def _flags() -> set[str]:
    """Every flag of every command."""
    from ldp3.cli.app import app

    found = (c.assemble_argument_collection() for c in _commands(app))
    return {name for arguments in found for argument in arguments for name in argument.names}


def _commands(app: App) -> Iterator[App]:
    """Every command, those of commands included."""
    for each in (app[name] for name in app if not name.startswith("-")):
        if each.default_command is None:
            yield from _commands(each)
        else:
            yield each


class Console(Terminal):
    """Progress and notes of a command."""

    def notes(self, texts: Iterable[str]) -> None:
        """Several things that a person should know."""
        for text in texts:
            self.note(text)

    def note(self, text: str) -> None:
        super().note(as_flags(text))
