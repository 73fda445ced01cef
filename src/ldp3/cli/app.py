"""The command line: parse, call, print.

Results go to stdout; progress, notes and mistakes to stderr. A person's mistake is one line and
exit code 2; a bug of ours is a traceback. What is slow to import is imported by the commands.
"""

import inspect
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from cyclopts import App, CycloptsError, Group, Parameter, UnusedCliTokensError
from ldp3.terminal import Progress, Stop, say

from ldp3 import __version__
from ldp3.collection import commands
from ldp3.datasets.base import Reading
from ldp3.errors import InvalidParameter, LDPError, blame

if TYPE_CHECKING:
    from ldp3.bench import Bench
    from ldp3.journal import Journal

    from ldp3.results import Results
    from ldp3.types import Dataset


def _shown(default: object) -> str | None:
    """A default as one would type it; what is off by default needs no word."""
    if default is None or default is False or default == []:
        return None
    return " ".join(default) if isinstance(default, list) else str(default)


app = App(
    name="ldp3",
    help="Local differential privacy: compare every protocol and post-processing on your data.",
    version=__version__,
    default_parameter=Parameter(negative=(), show_default=_shown),
)
_READING = Group("Reading the dataset", sort_key=2)
_OUTPUT = Group("Output", sort_key=1)
Several = Parameter(consume_multiple=True)


@dataclass(frozen=True)
class FileOptions(Reading):
    """How the dataset's file is read."""

    keep_values: Annotated[bool, Parameter(parse=False)] = False  # no command needs their order


_AS_IT_IS = FileOptions()


@app.command
def run(
    *,
    epsilon: Annotated[list[str], Several, Parameter(name=["--epsilon", "-e"])] = ["1"],  # noqa: B006
    protocols: Annotated[list[str], Several, Parameter(name=["--protocols", "-p"])] = ["paper"],  # noqa: B006
    methods: Annotated[list[str], Several, Parameter(name=["--methods", "-m"])] = ["paper"],  # noqa: B006
    repeat: Annotated[int, Parameter(name=["--repeat", "-r"])] = 10,
    threads: Annotated[int | None, Parameter(name=["--threads", "-t"])] = None,
    dataset: Annotated[str, Parameter(name=["--dataset", "-d"])] = "flights",
    metric: Annotated[list[str], Several, Parameter(name=["--metric", "-u"])] = ["l1"],  # noqa: B006
    seed: int = 0,
    simulate: Literal["exact", "users"] = "exact",
    population: int | None = None,
    reference: Literal["truth", "raw"] = "truth",
    executor: str = "threads",
    plugin: Annotated[list[Path], Several] = [],  # noqa: B006
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], group=_OUTPUT)] = None,
    fresh: Annotated[bool, Parameter(group=_OUTPUT)] = False,
    keep_estimates: Annotated[bool, Parameter(group=_OUTPUT)] = False,
    format: Annotated[
        Literal["table", "markdown", "latex", "json", "csv"], Parameter(group=_OUTPUT)
    ] = "table",
    report: Annotated[Path | None, Parameter(group=_OUTPUT)] = None,
    dry_run: Annotated[bool, Parameter(group=_OUTPUT)] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], group=_OUTPUT)] = False,
    reading: Annotated[FileOptions, Parameter(name="*", group=_READING)] = _AS_IT_IS,
) -> int:
    """Benchmark protocols and post-processing methods on a dataset.

    Without options: the paper's protocols and methods on the embedded dataset at ε = 1.

    Parameters
    ----------
    epsilon
        Privacy budgets, separated by spaces or commas.
    protocols
        Protocols, such as grr or "olh(g=4)"; paper, all. See `ldp3 list protocols`.
    methods
        Post-processing methods, such as norm_sub or power+norm_sub; paper, all. None is always
        among them.
    repeat
        Independent collections for each protocol and ε.
    threads
        Threads, or processes; all cores by default.
    dataset
        A file, a name, or a spec such as "zipf(s=1.3, d=1024, n=10_000_000)".
    metric
        Utility metrics, such as l1 or kl; paper, all.
    seed
        Where all randomness starts: the same seed, the same table.
    simulate
        exact draws what the server would count from its exact law, where the protocol knows it;
        users perturbs the value of every user.
    population
        Answer for this many users, distributed as in the dataset.
    reference
        What metrics compare with: the truth, or the raw estimate before post-processing.
    executor
        threads, processes, dask (a cluster of processes on this machine), or the address of a Dask
        scheduler, such as tcp://host:8786; the numbers are the same.
    plugin
        Python files with more protocols, methods or metrics.
    output
        Write the table to a .csv, .parquet or .json file, or everything into a folder. The same
        command goes on where it was interrupted. Results hold the true frequencies of the data.
    fresh
        Start over, whatever the output holds.
    keep_estimates
        Keep the frequencies of every repeat (in a folder), so that a new metric needs no new run.
    format
        How the summary is printed.
    report
        Write a page with charts to this .html file too.
    dry_run
        Print the grid, the expected time and memory, and stop.
    quiet
        No progress and no notes.
    """
    from ldp3.bench import Bench
    from ldp3.journal import open_journal

    from ldp3.experiment import experiment
    from ldp3.results import load_results

    notes: Callable[[str], None] = (lambda text: None) if quiet else say  # noqa: ARG005
    if keep_estimates and (output is None or output.suffix):
        raise InvalidParameter("--keep-estimates needs a folder to keep them in: --output FOLDER.")
    if report is not None:
        _page_path(report)
    data = _load(dataset, reading, plugin)
    for note in data.notes:
        notes(f"note: {note}")
    if population is not None:
        data = data.scaled(population)
    bench = Bench(
        experiment(
            data, _numbers(epsilon), _specs("-p", protocols), _specs("-m", methods),
            _specs("-u", metric), repeats=repeat, seed=seed, simulate=simulate,
            reference=reference, keep=keep_estimates, plugins=plugin,
        )
    )  # fmt: skip
    for note in bench.notes:
        notes(f"note: {note}")
    if dry_run:
        return _dry_run(bench, threads)
    journal = None
    if output is not None:
        journal = open_journal(output, bench.experiment, fresh)
        if journal is None:
            notes(
                f"note: {output} holds this run already and is left alone; --fresh runs it again."
            )
            _show(load_results(output), format, report)
            return 0
    return _measure(bench, journal, executor, threads, format, report, notes, quiet)


def _measure(
    bench: "Bench",
    journal: "Journal | None",
    executor: str,
    threads: int | None,
    format: str,
    report: Path | None,
    notes: Callable[[str], None],
    quiet: bool,
) -> int:
    """Run what is left to run, print, and say how to go on if it was stopped."""
    from ldp3.collecting import collect

    from ldp3 import engine
    from ldp3.kernels import on_compile

    ex = bench.experiment
    outcomes = [] if journal is None else journal.outcomes
    keep = outcomes.append if journal is None else journal.append
    before = sum(o.block.stop - o.block.start for o in outcomes)
    if before:
        notes(f"note: {before} of {ex.cells} cells are done already; going on.")
    on_compile(lambda: notes("compiling kernels (first run only)…"))
    began = time.monotonic()
    with Stop() as stop, Progress(ex.cells, before, quiet=quiet) as progress:
        done = {o.block for o in outcomes}
        running = engine.run(
            bench, executor, threads, done=done, tick=progress.tick, stopped=stop.asked,
            note=lambda text: notes(f"note: {text}"),
        )  # fmt: skip
        with closing(running):
            for outcome in running:
                keep(outcome)
    cells = sum(o.block.stop - o.block.start for o in outcomes)
    command = shlex.join(["ldp3", *sys.argv[1:]])
    results = collect(bench, outcomes, command=command, elapsed=time.monotonic() - began)
    if cells == ex.cells and journal is not None:
        journal.finish(results)
    if cells:
        _show(results, format, report if cells == ex.cells else None)
    if cells == ex.cells:
        return 0
    say(f"Stopped with {cells} of {ex.cells} cells done: {_how_to_go_on(journal)}")
    if journal is not None:
        journal.close()
    return 128 + (stop.signal or 0)


def _how_to_go_on(journal: "Journal | None") -> str:
    if journal is None:
        return "with --output they would have been kept."
    return f"they are kept in {journal.path}; the same command goes on from there."


def _dry_run(bench: "Bench", threads: int | None) -> int:
    from ldp3.forecast import forecast

    ex, expected = bench.experiment, forecast(bench, threads)
    by_users = [c.spec for p, c in enumerate(ex.protocols) if bench.way(p) == "users"]
    print(f"dataset    {ex.data.name}: n = {ex.data.n:,}, d = {ex.data.d:,}")
    print(f"epsilon    {' '.join(f'{e:g}' for e in ex.epsilons)}")
    for name, choices in (
        ("protocols", ex.protocols), ("methods", ex.methods), ("metrics", ex.metrics)
    ):  # fmt: skip
        print(f"{name:<10} {' '.join(c.spec for c in choices)}")
    print(f"simulate   {'exact' if not by_users else 'by users: ' + ' '.join(by_users)}")
    print(f"cells      {ex.cells:,} = protocols × epsilons × {ex.repeats} repeats")
    print(f"rows       {ex.cells * len(ex.methods) * len(ex.metrics):,} at most")
    print(
        f"time       about {_duration(expected.elapsed)} on {expected.threads} threads with a core "
        f"each, after start-up; extrapolated from one cell of each protocol:"
    )
    for spec, seconds in expected.seconds.items():
        print(f"           {spec}: {_duration(seconds)} of processor time")
    print(f"memory     about {expected.memory / 1e9:.1f} GB")
    return 0


@app.command
def recommend(
    *,
    dataset: Annotated[str, Parameter(name=["--dataset", "-d"])],
    epsilon: Annotated[list[str], Several, Parameter(name=["--epsilon", "-e"])] = ["1"],  # noqa: B006
    metric: Annotated[list[str], Several, Parameter(name=["--metric", "-u"])] = ["l1"],  # noqa: B006
    population: int | None = None,
    protocols: Annotated[list[str], Several, Parameter(name=["--protocols", "-p"])] = ["all"],  # noqa: B006
    methods: Annotated[list[str], Several, Parameter(name=["--methods", "-m"])] = ["all"],  # noqa: B006
    confidence: float = 0.95,
    margin: float = 0.01,
    threads: Annotated[int | None, Parameter(name=["--threads", "-t"])] = None,
    seed: int = 0,
    plugin: Annotated[list[Path], Several] = [],  # noqa: B006
    format: Annotated[Literal["text", "markdown", "json"], Parameter(group=_OUTPUT)] = "text",
    save: Annotated[Path | None, Parameter(group=_OUTPUT)] = None,
    reading: Annotated[FileOptions, Parameter(name="*", group=_READING)] = _AS_IT_IS,
) -> None:
    """Say which protocol and method to deploy on data like a sample, and what is as good.

    Parameters
    ----------
    dataset
        The sample: a file, a name, or a spec such as "zipf(s=1.3, d=1024, n=10_000)".
    epsilon
        Privacy budgets, separated by spaces or commas: an answer for each.
    metric
        Utility metrics, such as l1 or kl: an answer for each.
    population
        How many users there will be; as many as the sample has by default.
    protocols
        What to choose from, such as grr or "olh(g=4)"; paper, all.
    methods
        What to choose from, such as norm_sub or power+norm_sub; paper, all. None is always among
        them.
    confidence
        Probability with which every truly best combination is among those called tied.
    margin
        Stop when those left differ by at most this share of the error.
    threads
        Threads; all cores by default.
    seed
        Where all randomness starts: the same seed, the same answer.
    plugin
        Python files with more protocols, methods or metrics.
    format
        How the answer is printed.
    save
        Write the description file of a collection with what was chosen, for clients and server.
    """
    from ldp3.kernels import on_compile
    from ldp3.recommendation.choosing import recommend

    budgets, metrics = _numbers(epsilon), _specs("-u", metric)
    if save is not None and len(budgets) * len(metrics) > 1:
        raise InvalidParameter("--save is for one choice: give one epsilon and one metric.")
    on_compile(lambda: say("compiling kernels (first run only)…"))
    data = _load(dataset, reading, plugin)
    found = recommend(
        data, budgets, _specs("-p", protocols), _specs("-m", methods), metrics,
        population=population, confidence=confidence, margin=margin, seed=seed, threads=threads,
        plugins=plugin,
    )  # fmt: skip
    print(found.render(format))
    if save is not None:
        found.plan(data.labels).save(save)


@app.command
def report(
    results: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    figures: Path | None = None,
) -> None:
    """Show results: one HTML page that works offline, or figures and tables for papers.

    Parameters
    ----------
    results
        What `ldp3 run --output` wrote: a folder, or a .csv, .parquet or .json table, which holds
        less to show.
    output
        Write the page to this .html file.
    figures
        Write figures (PDF, SVG, PNG), tables (LaTeX, Markdown) and BibTeX into this folder.
    """
    from ldp3.reporting.command import report

    for line in report(results, output, figures):
        say(line)


@app.command
def convert(
    dataset: str,
    output: Path,
    /,
    *,
    with_counts: bool = False,
    population: int | None = None,
    reading: Annotated[FileOptions, Parameter(name="*", group=_READING)] = _AS_IT_IS,
) -> None:
    """Write any dataset to a .txt, .csv or .parquet file, one value per row.

    Parameters
    ----------
    dataset
        A file, a name, or a spec such as "zipf(s=1.3, d=1024, n=10_000_000)".
    output
        The file to write.
    with_counts
        Write each value once, with the number of its users (.csv, .parquet).
    population
        Scale the histogram to this many users first.
    """
    from ldp3.datasets.convert import write

    data = _load(dataset, reading, [])
    for note in data.notes:
        say(f"note: {note}")
    write(data if population is None else data.scaled(population), output, with_counts)


for command in (
    commands.plan, commands.perturb, commands.aggregate, commands.merge, commands.estimate
):  # fmt: skip
    app.command(command)


Kind = Literal["protocols", "methods", "metrics", "datasets"]


@app.command(name="list")
def list_(
    kinds: Annotated[list[Kind] | None, Parameter(name="KIND")] = None,
    /,
    *,
    plugin: Annotated[list[Path], Several] = [],  # noqa: B006
    cite: bool = False,
    used: Path | None = None,
) -> None:
    """Show every protocol, method, metric and dataset: one line, parameters, reference.

    Parameters
    ----------
    kinds
        What to show; everything by default.
    plugin
        Python files with more of them.
    cite
        Print the references as BibTeX instead.
    used
        Only what these results used.
    """
    from ldp3 import catalog
    from ldp3.datasets.base import Source
    from ldp3.metrics.base import Metric
    from ldp3.postprocessing.base import PostProcessor
    from ldp3.protocols.base import FrequencyOracle

    modules = [catalog.plugin(path.resolve()) for path in plugin]
    known: dict[str, type] = {
        "protocols": FrequencyOracle,
        "methods": PostProcessor,
        "metrics": Metric,
        "datasets": Source,
    }
    shown: dict[str, list[type]] = {
        name: list(catalog.find(kind, *modules).values())
        for name, kind in known.items()
        if not kinds or name in kinds
    }
    if used is not None:
        from ldp3.reporting.citations import used_by
        from ldp3.results import load_results

        chosen = used_by(load_results(used), *modules)
        shown = {name: [cls for cls in found if cls in chosen] for name, found in shown.items()}
    if cite:
        from ldp3.reporting.citations import bibtex

        print(bibtex(cls for found in shown.values() for cls in found))
        return
    for name, found in shown.items():
        if found:
            print(name)
            print("\n".join(map(_described, found)))
            for other, package in catalog.installed_names(known[name]).items():
                print(f"  {other}\n      From the installed package {package}.")
            print()


@app.command
def verify(
    names: Annotated[list[str] | None, Parameter(name="NAME")] = None,
    /,
    *,
    plugin: Annotated[list[Path], Several] = [],  # noqa: B006
    format: Literal["text", "json"] = "text",
) -> int:
    """Check protocols, methods and metrics: privacy, statistics, manners. Exit code 1 on a fault.

    Parameters
    ----------
    names
        Names or specs, such as olh or "olh(g=4)"; everything in the plug-ins by default.
    plugin
        Python files with more of them.
    format
        text for people, json for programs.
    """
    from ldp3.verification.command import named, rendered
    from ldp3.verification.command import verify as examine

    verdicts = [examine(name, plugins=plugin) for name in named(names or [], plugin)]
    print(rendered(verdicts, format))
    return 0 if all(v.passed for v in verdicts) else 1


@app.command
def new(kind: Literal["protocol", "method", "metric"], name: str, /) -> None:
    """Write NAME.py and test_NAME.py into the current folder: a start that works and verifies.

    Parameters
    ----------
    kind
        What it is.
    name
        What it is called, in snake_case.
    """
    from ldp3.templates import new as write

    code, test = write(kind, name, Path())
    print(f"Wrote {code} and {test}. Next: ldp3 verify {code.stem} --plugin {code}")


def _described(cls: type) -> str:
    """Name and parameters, the first line of the docstring, the reference."""
    from dataclasses import fields

    from ldp3.catalog import name_of

    from ldp3.protocols.base import FrequencyOracle

    given = ("epsilon", "d") if issubclass(cls, FrequencyOracle) else ()  # by the experiment
    parameters = [
        f.name if f.default is MISSING else f"{f.name}={f.default!r}"
        for f in fields(cls)
        if f.init and f.name not in given
    ]
    name = name_of(cls) + (f"({', '.join(parameters)})" if parameters else "")
    text = inspect.getdoc(cls) or ""
    reference = text.partition("References\n----------\n")[2].partition("\n\n")[0]
    first = re.sub(r"\$(\w+)\$", r"\1", text.partition("\n")[0])
    first = first.partition("$")[0].rstrip(" :.,")  # formulas are for the documentation
    lines = [f"  {name}", f"      {first}."]
    return "\n".join(lines + ([f"      {' '.join(reference.split())}"] if reference else []))


def _load(dataset: str, reading: Reading, plugins: Sequence[Path]) -> "Dataset":
    from ldp3 import catalog
    from ldp3.datasets.loading import load

    return load(dataset, reading, *(catalog.plugin(path.resolve()) for path in plugins))


def _specs(flag: str, values: Sequence[str]) -> list[str]:
    """Separated by spaces or commas; commas inside parentheses belong to the spec."""
    from ldp3.catalog import split

    specs = [spec for value in values for spec in split(value, ",")]
    if not specs:
        raise InvalidParameter(f"{flag} needs at least one value.")
    return specs


def _numbers(values: Sequence[str]) -> list[float]:
    numbers = []
    for text in _specs("-e", values):
        try:
            numbers.append(float(text))
        except ValueError:
            raise InvalidParameter(f"-e: epsilon must be a number > 0, got {text!r}.") from None
    return numbers


def _show(results: "Results", format: str, page: Path | None) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(results.render(format, width))
    if page is not None:
        from ldp3.reporting.page import report

        report(results, page)


def _page_path(page: Path) -> None:
    """Refuse a page that cannot be written before hours of work, not after."""
    from ldp3.reporting.page import page_path

    page_path(page)


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def main() -> NoReturn:
    """Run a command and exit with its code."""
    try:
        code = app(
            sys.argv[1:], exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
    except UnusedCliTokensError as error:
        say(f"ldp3: Unexpected {shlex.join(error.unused_tokens or [])!r}. See ldp3 --help.")
        sys.exit(2)
    except (LDPError, CycloptsError) as error:
        say(f"ldp3: {' '.join(str(error).split())}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("ldp3: stopped.")
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        said = blame(error)
        if said is None:
            raise
        say(f"ldp3: {said}. Mend the plug-in.")
        sys.exit(2)
    sys.exit(code)
