"""`ldp3 statement`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.printing import show, terminal_width


def statement(
    plan: flags.PlanFile,
    /,
    *,
    counts: Path | None = None,
    data: Annotated[Path | None, Parameter(name=["--data", "-d"])] = None,
    plugins: flags.Plugins = [],  # noqa: B006
    output: flags.MaybeOutput = None,
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
    reading: flags.ColumnFlags = flags.ONE_COLUMN,
) -> None:
    """Say on one page what a plan means: for the person asked, the auditor, data protection.

    Parameters
    ----------
    counts
        Counts of the collection, as `ldp3 aggregate` wrote them: how many fake users would swap its
        two most frequent values.
    data
        The same of a sample: a file with one person's value per row, as `ldp3 perturb` takes it.
    output
        Write the page to this .html or .md file instead of printing it.
    """
    import numpy as np

    from ldp3.collection.coding import codes_in
    from ldp3.collection.plan import as_plan
    from ldp3.files import require_no_input
    from ldp3.reporting.statement import statement as make

    if output is not None:
        require_no_input(output, [plan, counts, data, *plugins])
    console, sample = Console(quiet=quiet), None
    if data is not None:
        collection = as_plan(plan, plugins)
        people = codes_in(data, collection, reading.of(collection.domain))
        console.notes(people.notes)
        sample = np.bincount(people.codes, minlength=collection.d)
    made = make(plan, output, counts=counts, sample=sample, plugins=plugins)
    console.notes(said_of(made.data["plan"]["epsilon"]))
    if output is None:
        show(made.render(format, terminal_width(), colours=True))
