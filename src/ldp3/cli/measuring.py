"""What `ldp3 run` and `ldp3 attack poison` share: data that is read, a lab that runs."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.config import expanded
from ldp3.cli.data import datasets, inputs
from ldp3.cli.speaking import Console
from ldp3.files import require_no_input

if TYPE_CHECKING:
    from ldp3.experiment.lab import Lab
    from ldp3.reading.options import Reading
    from ldp3.results.table import Results
    from ldp3.types import Dataset


def users(
    data: Sequence[str],
    reading: "Reading",
    plugins: Sequence[Path],
    population: int | None,
    written: Sequence[Path | None],
    console: Console,
) -> "list[Dataset]":
    """The datasets, with as many users as asked for; none of their files is written to."""
    for path in filter(None, written):
        require_no_input(path, [*inputs(data), reading.domain, *plugins])
    found, notes = datasets(data, reading, plugins)
    console.notes(notes)
    return [one if population is None else one.scaled(population) for one in found]


def announced(lab: "Lab", console: Console) -> None:
    """Say what a person should know before the run."""
    console.notes([*lab.notes, *said_of(*lab.experiment.epsilons)])


def measured(
    lab: "Lab",
    executor: str,
    threads: int | None,
    output: Path | None,
    fresh: bool,
    console: Console,
) -> "Results":
    """The results, with the command that made them."""
    from ldp3.experiment.run import run

    if not console.quiet:
        options.announce_compiling()
    with console:
        about = {"command": shlex.join(["ldp3", *expanded(sys.argv[1:])])}
        return run(
            lab, executor, threads, output=output, fresh=fresh, progress=console, about=about
        )
