"""`ldp3 verify`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags


def verify(
    names: Annotated[list[str] | None, Parameter(name="NAME")] = None,
    /,
    *,
    draws: Annotated[int | None, flags.WHOLE, Parameter(name="--draws")] = None,
    seed: flags.Seed = 0,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
) -> int:
    """Check protocols, methods, metrics and attacks: privacy, statistics, manners.

    The exit code is 1 if a fault was found, and 3 if there was not enough evidence to find one.

    Parameters
    ----------
    names
        Names or specs, such as olh or "olh(g=4)"; everything in the plug-ins by default.
    draws
        Reports of each value that is looked at closely; what is suspicious is drawn again, twice
        and four times as often. By default 40,000, or fewer if the protocol is slow: then the
        answer says how many, and what they cannot show.
    """
    from ldp3.progress import Bar
    from ldp3.verification.base import answer_of
    from ldp3.verification.verify import SILENT, named
    from ldp3.verification.verify import verify as examine

    made = [
        examine(
            name,
            plugins=plugins,
            seed=seed,
            draws=draws,
            progress=SILENT if quiet else Bar("settings"),
        )
        for name in named(names or [], plugins)
    ]
    flags.tell(answer_of(made, brief=quiet), format)
    codes = {examination.exit_code for examination in made}
    return next(code for code in (1, 3, 0) if code in codes)
