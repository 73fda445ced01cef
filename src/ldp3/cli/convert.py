"""`ldp3 convert`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import inputs


def convert(
    data: Annotated[str, Parameter(help="A file, a name, or a spec such as zipf(s=1.3, d=64).")],
    output: Path,
    /,
    *,
    with_counts: bool = False,
    population: flags.Population = None,
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> None:
    """Write any dataset to a .txt, .csv or .parquet file, one value per row.

    Parameters
    ----------
    output
        The file to write.
    with_counts
        Write each value once, with the number of people who hold it (.csv, .parquet).
    """
    from ldp3.datasets.loading import write
    from ldp3.files import require_no_input
    from ldp3.people import one_attribute

    require_no_input(output, [*inputs([data]), reading.domain, *plugins])
    users = one_attribute(flags.loaded(data, reading, plugins))
    Console(quiet=quiet).notes(users.notes)
    write(users if population is None else users.scaled(population), output, with_counts)
