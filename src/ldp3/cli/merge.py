"""`ldp3 merge`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.aggregate import loaded_counts, require_once, summary
from ldp3.cli.console import Console
from ldp3.files import require_no_input
from ldp3.printing import show


def merge(
    counts: Annotated[list[Path], Parameter(name="COUNTS...", negative=())],
    /,
    *,
    output: flags.Output,
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
) -> None:
    """Add up the counts of parts of one collection.

    Parameters
    ----------
    counts
        Files of counts, each of other reports.
    """
    require_once(counts)
    require_no_input(output, [*counts, *plugins])
    console = Console(quiet=quiet)
    whole, *parts = loaded_counts(counts, plugins, console)
    for part in parts:
        whole.merge(part)
    whole.save(output)
    if whole.identified and parts:
        console.note(
            "a report that is in two of the parts was counted twice; aggregate the files together "
            "where that can be."
        )
    if not quiet:
        show(summary(whole))
