"""`ldp3 merge`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.aggregate import require_once, summary
from ldp3.cli.console import Console
from ldp3.files import require_no_input
from ldp3.printing import show


def merge(
    counts: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    output: options.Output,
    plugins: options.Plugins = [],  # noqa: B006
    quiet: options.Quiet = False,
) -> None:
    """Add up the counts of parts of one collection.

    Parameters
    ----------
    counts
        Files of counts, each of other reports.
    """
    from ldp3.collection.aggregator import Aggregator

    require_once(counts)
    require_no_input(output, [*counts, *plugins])
    whole, *parts = [Aggregator.load(path, plugins) for path in counts]
    for part in parts:
        whole.merge(part)
    Console(quiet=quiet).notes(said_of(whole.plan.epsilon))
    whole.save(output)
    if quiet:
        return
    if whole.identified and parts:
        Console().note(
            "a report that is in two of the parts was counted twice; aggregate the files together "
            "where that can be."
        )
    show(summary(whole))
