"""What a shell completes: names where names are asked for, and the script that makes it ask."""

from functools import partial
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ldp3.printing import show

Shell = Literal["bash", "zsh", "fish", "powershell"]


def _names(kind: str, _: Any) -> list[tuple[str, str]]:
    """Every name of a kind, with what it is in a line."""
    from ldp3.kinds import every_kind, find, installed_names, summary

    base: type[Any] = every_kind()[kind]
    ours = [(name, summary(cls)) for name, cls in find(base).items()]
    return ours + list(installed_names(base).items())


PROTOCOL, METHOD, METRIC, ATTACK = (
    Parameter(completer=partial(_names, kind))
    for kind in ("protocols", "methods", "metrics", "attacks")
)


def show_completion(shell: Annotated[Shell, Parameter(name="SHELL")], /) -> None:
    """Print what `--install-completion` installs, for those who keep such files themselves.

    Parameters
    ----------
    shell
        The shell that is to read it.
    """
    from ldp3.cli.app import app

    show(app.generate_completion(shell=shell), end="")
