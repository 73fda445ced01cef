"""`ldp3 attack budget`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.errors import InvalidParameter
from ldp3.printing import show, terminal_width, wrapped


def budget(
    published: Path,
    /,
    *,
    population: Annotated[int, options.WHOLE],
    protocol: Annotated[str, options.PROTOCOL_NAMES, Parameter(name=["--protocol", "-p"])],
    column: str = "frequency",
    plugins: options.Plugins = [],  # noqa: B006
) -> int:
    """Find ε from published frequencies: exit code 1 if they betray it.

    Needs the number of reports and the protocol, and neither the truth nor any report.

    Parameters
    ----------
    published
        A .csv, .json or .parquet file with a column of frequencies, one row for each value.
    population
        Number of reports.
    protocol
        How they were collected, such as oue.
    column
        The column of the frequencies.
    """
    from ldp3.threats.budget import budget
    from ldp3.threats.tables import frequencies_in, oracles

    frequencies = frequencies_in(published, column)
    if population < 1:
        raise InvalidParameter(f"`population` must be at least 1, got {population}.")
    found = budget(frequencies, population, oracles(protocol, len(frequencies), plugins))
    if not found.epsilons:
        show("Nothing found: these frequencies do not lie on the lattice of any ε.")
        return 0
    names = " or ".join(f"{e:.10g}" for e in found.epsilons)
    said = (
        f"They betray ε = {names}: all differ by multiples of 1/(n(p-q)); numbers without such a "
        f"lattice look like this with probability {found.p_value:.1g} at most."
    )
    show(wrapped(said, terminal_width()))
    return 1
