"""`ldp3 statement`."""

from pathlib import Path

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.console import Console
from ldp3.printing import show, terminal_width


def statement(
    plan: options.PlanFile,
    /,
    *,
    counts: Path | None = None,
    plugins: options.Plugins = [],  # noqa: B006
    output: options.MaybeOutput = None,
    format: options.AnswerFormat = "markdown",
    quiet: options.Quiet = False,
) -> None:
    """Say on one page what a plan means: for the person asked, the auditor, data protection.

    Parameters
    ----------
    counts
        Counts of the collection, as `ldp3 aggregate` wrote them: how many fake users would swap its
        two most frequent values.
    output
        Write the page to this .html file instead of printing it.
    """
    from ldp3.files import require_no_input
    from ldp3.reporting.statement import statement as make

    if output is not None:
        require_no_input(output, [plan, counts, *plugins])
    made = make(plan, output, counts=counts, plugins=plugins)
    Console(quiet=quiet).notes(said_of(made.data["plan"]["epsilon"]))
    if output is None:
        show(made.render(format, terminal_width(), colours=True))
