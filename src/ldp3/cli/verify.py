"""`ldp3 verify`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.printing import show


def verify(
    names: Annotated[list[str] | None, Parameter(name="NAME")] = None,
    /,
    *,
    draws: Annotated[int, options.WHOLE, Parameter(name="--draws")] = 40_000,
    seed: options.Seed = 0,
    plugins: options.Plugins = [],  # noqa: B006
    format: Literal["text", "json"] = "text",
) -> int:
    """Check protocols, methods, metrics and attacks: privacy, statistics, manners.

    The exit code is 1 if a fault was found, and 3 if there was not enough evidence to find one.

    Parameters
    ----------
    names
        Names or specs, such as olh or "olh(g=4)"; everything in the plug-ins by default.
    draws
        Reports of each value that is looked at closely; what is suspicious is drawn again, twice
        and four times as often. Fewer make a slow protocol bearable, and may not be enough.
    format
        text for people, json for programs.
    """
    from ldp3.verification.verify import named, rendered
    from ldp3.verification.verify import verify as examine

    every = named(names or [], plugins)
    verdicts = [examine(name, plugins=plugins, seed=seed, draws=draws) for name in every]
    show(rendered(verdicts, format))
    codes = {verdict.exit_code for verdict in verdicts}
    return next(code for code in (1, 3, 0) if code in codes)
