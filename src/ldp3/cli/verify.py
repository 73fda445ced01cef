"""`ldp3 verify`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.printing import show


def verify(
    names: Annotated[list[str] | None, Parameter(name="NAME")] = None,
    /,
    *,
    plugins: options.Plugins = [],  # noqa: B006
    format: Literal["text", "json"] = "text",
) -> int:
    """Check protocols, methods and metrics: privacy, statistics, manners. Exit code 1 on a fault.

    Parameters
    ----------
    names
        Names or specs, such as olh or "olh(g=4)"; everything in the plug-ins by default.
    format
        text for people, json for programs.
    """
    from ldp3.verification.verify import named, rendered
    from ldp3.verification.verify import verify as examine

    verdicts = [examine(name, plugins=plugins) for name in named(names or [], plugins)]
    show(rendered(verdicts, format))
    return 0 if all(v.passed for v in verdicts) else 1
