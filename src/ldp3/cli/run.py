"""`ldp3 run`."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.config import datasets, is_results, told
from ldp3.cli.console import Console
from ldp3.cli.data import users
from ldp3.errors import InvalidParameter
from ldp3.printing import duration, show
from ldp3.progress import say

if TYPE_CHECKING:
    from ldp3.experiment.grid import Keep
    from ldp3.experiment.simulator import Simulator
    from ldp3.people import Dataset, Table
    from ldp3.results.table import Results


def run(
    *,
    epsilon: flags.Epsilons = ["1"],  # noqa: B006
    protocols: flags.Protocols = ["paper"],  # noqa: B006
    methods: flags.Methods = ["paper"],  # noqa: B006
    repeats: Annotated[int | None, flags.WHOLE, Parameter(name=["--repeats", "-r"])] = None,
    threads: flags.Threads = None,
    data: Annotated[flags.Data | None, Parameter(show_default=lambda _: "flights")] = None,
    metrics: flags.Metrics = ["l1"],  # noqa: B006
    seed: flags.Seed = 0,
    simulate: Literal["exact", "users"] = "exact",
    population: flags.Population = None,
    reference: Literal["truth", "raw"] = "truth",
    executor: flags.Executor = "threads",
    plugins: flags.Plugins = [],  # noqa: B006
    output: flags.MaybeOutput = None,
    fresh: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    keep_estimates: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    format: flags.AnswerFormat = "text",
    report: Annotated[Path | None, Parameter(group=flags.OUTPUT)] = None,
    dry_run: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    config: Annotated[Path | None, Parameter(group=flags.OUTPUT)] = None,
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> int:
    """Benchmark protocols and post-processing methods on one or several datasets.

    Without options: the paper's protocols and methods on the embedded dataset at ε = 1.

    Parameters
    ----------
    repeats
        Independent collections for each protocol and ε. If not given: 10, 20, 40, … until what is
        best is settled, or to a ceiling that follows from the data and the grid.
    simulate
        exact draws what the server would count from its exact law, where the protocol knows it;
        users perturbs the value of every person.
    reference
        What metrics compare with: the truth, or the raw estimate before post-processing.
    output
        Write the table to a .csv, .parquet or .json file, or everything into a folder. The same
        command goes on where it was interrupted, one with more repeats where it ended. Results hold
        the true frequencies of the data.
    fresh
        Start over, whatever the output holds.
    keep_estimates
        Keep the frequencies of every repeat (in a folder), so that a new metric needs no new run.
    report
        Write a page with charts to this .html file too.
    dry_run
        Print the grid, the expected time and memory, and stop.
    config
        A .toml file with any of these options; or the results of a run, whose grid and data are
        taken again, and neither plug-ins nor output. What the command line says as well wins.
    """
    from ldp3.experiment.grid import experiment
    from ldp3.experiment.repeats import prepared

    if keep_estimates and output is None:
        raise InvalidParameter("`keep_estimates` needs a folder to keep them in: --output FOLDER.")
    if report is not None:
        _refuse_page(report)
    console = Console(quiet=quiet)
    repeated = config if config is not None and is_results(config) else None
    if repeated is not None and data is None:
        given: Sequence[Dataset | Table] = datasets(repeated, population)
    else:
        named = ["flights"] if data is None else data
        given = users(named, reading, plugins, population, [output, report], console)
    asked = experiment(
        given,
        flags.numbers(epsilon),
        flags.specs("-p", protocols),
        flags.specs("-m", methods),
        flags.specs("-u", metrics),
        repeats=repeats,
        seed=seed,
        simulate=simulate,
        reference=reference,
        keep=_keep(keep_estimates, output, report),
        plugins=plugins,
    )
    if repeated is not None:
        console.notes(told(repeated, given))
        # what did not apply to all was left out then, and is now
        asked = replace(asked, methods=tuple(replace(c, asked=False) for c in asked.methods))
    simulator = prepared(asked)
    announced(simulator, console)
    if dry_run:
        return _dry_run(simulator, threads)
    results = measured(simulator, executor, threads, output, fresh, console)
    if len(results.table):
        _show(results, format, report if results.complete else None)
    if results.complete:
        return 0
    say(f"Stopped with {_done(results)} of {simulator.experiment.size} cells done: {_kept(output)}")
    return 128 + (console.signal or 0)


def _keep(estimates: bool, output: Path | None, report: Path | None) -> "Keep":
    """No more than what will be shown or written: a table alone holds scores."""
    if estimates:
        return "estimates"
    folder = output is not None and not output.suffix
    return "means" if folder or report is not None else "scores"


def _done(results: "Results") -> int:
    from ldp3.results.axes import CELL

    return len(results.table.select(CELL).unique())


def _kept(output: Path | None) -> str:
    if output is None:
        return "with --output they would have been kept."
    return f"they are kept in {output}.journal; the same command goes on from there."


def _show(results: "Results", format: str, page: Path | None) -> None:
    with flags.telling(results.answer(), format):
        if page is not None:
            from ldp3.reporting.page import report

            report(results, page)


def _refuse_page(page: Path) -> None:
    """Refuse a page that cannot be written before hours of work, not after."""
    from ldp3.reporting.page import page_path

    page_path(page)


def _dry_run(simulator: "Simulator", threads: int | None) -> int:
    from ldp3.experiment.schedule import forecast

    ex, expected = simulator.experiment, forecast(simulator, threads)
    by_users = list(
        dict.fromkeys(c.protocol for c in simulator.cells if simulator.way(c) == "users")
    )
    for one in ex.datasets:
        show(f"data       {one.name}: n = {one.n:,}, d = {one.d:,}")
    show(f"epsilon    {' '.join(f'{e:g}' for e in ex.epsilons)}")
    for name, choices in (
        ("protocols", ex.protocols),
        ("methods", ex.methods),
        ("metrics", ex.metrics),
    ):
        show(f"{name:<10} {' '.join(c.spec for c in choices)}")
    show(f"simulate   {'exact' if not by_users else 'by users: ' + ' '.join(by_users)}")
    most = "" if ex.repeats_asked else " at most"
    show(f"cells      {ex.size:,}{most} = data × protocols × epsilons × {ex.repeats} repeats")
    show(f"rows       {ex.size * len(ex.methods) * len(ex.metrics):,} at most")
    show(
        f"time       about {duration(expected.elapsed)}{most} on {expected.threads} threads with "
        f"a core each, after start-up; extrapolated from one cell of each protocol:"
    )
    for spec, seconds in expected.seconds.items():
        show(f"           {spec}: {duration(seconds)} of processor time")
    show(f"memory     about {expected.memory / 1e9:.1f} GB")
    return 0


def announced(simulator: "Simulator", console: Console) -> None:
    """Say what a person should know before the run."""
    console.notes([*simulator.notes, *said_of(*simulator.experiment.epsilons)])


def measured(
    simulator: "Simulator",
    executor: str,
    threads: int | None,
    output: Path | None,
    fresh: bool,
    console: Console,
) -> "Results":
    """The results, with the command that made them."""
    from ldp3.experiment.run import run as execute

    with flags.announcing_compiling(console.quiet), console:
        about = {"command": shlex.join(["ldp3", *sys.argv[1:]])}
        return execute(
            simulator, executor, threads, output=output, fresh=fresh, progress=console, about=about
        )
