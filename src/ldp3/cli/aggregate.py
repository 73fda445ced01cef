"""`ldp3 aggregate`."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.collection.reports import ReportFormat
from ldp3.errors import InvalidParameter, require
from ldp3.files import real_path, require_no_input
from ldp3.printing import plural, show

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ldp3.collection.aggregator import Aggregator


def aggregate(
    plan: flags.PlanFile,
    reports: Annotated[list[str], Parameter(name="REPORTS...", negative=())],
    /,
    *,
    output: flags.Output,
    input_format: ReportFormat | None = None,
    threads: flags.Threads = None,
    executor: flags.Executor = "threads",
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
) -> None:
    """Count any number of files of reports; rows that cannot be counted are reported by reason.

    Where no row can be counted at all, nothing is written. The workers of a Dask cluster must see
    the files. Threads are as fast as processes here. The database of `ldp3 serve` is read as it is
    at this moment, also while reports arrive.

    Parameters
    ----------
    reports
        Files of reports: .parquet, .arrow, .jsonl, .bin; folders of them; addresses that fsspec
        knows, such as s3://bucket/folder; databases of `ldp3 serve`: .sqlite, postgresql://….
    input_format
        What the files hold, where their endings do not say.
    """
    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.databases import is_store
    from ldp3.collection.report_parts import foreign_reports

    require(threads is None or threads >= 1, "--threads", "must be at least 1", threads)
    require_once(reports)
    require_no_input(output, [plan, *reports, *plugins])
    server = Aggregator(plan, plugins)
    console = Console(quiet=quiet)
    console.notes(said_of(server.plan.epsilon))
    shown = sys.stderr.isatty() and not quiet

    def tick(n: int) -> None:
        if shown:
            print(f"\r{n:,} reports", end="", file=sys.stderr, flush=True)

    stores = [one for one in reports if is_store(one)]
    files = [one for one in reports if one not in stores]
    for address in stores:
        server.add_store(address)
    try:
        with _pool(executor, threads, console) as pool:
            server.add_files(
                files, input_format=input_format, executor=pool, threads=threads, tick=tick
            )
    finally:
        if shown:
            print(f"\r{' ' * 40}\r", end="", file=sys.stderr, flush=True)
    if server.refused and not server.n and files:
        raise foreign_reports(server.plan, plan.parent, files, input_format, server.refused)
    server.save(output)
    if not quiet:
        show(summary(server))
    if server.repeated:
        console.note(repeats(server, plan))


@contextmanager
def _pool(executor: str, threads: int | None, console: Console) -> "Iterator[Executor | None]":
    """Where reports are counted; None for threads."""
    if executor == "threads":
        yield None
    elif executor == "dask" or "://" in executor:
        from ldp3.experiment.dask import cluster_executor
        from ldp3.progress import available_cores

        with cluster_executor(executor, threads or available_cores(), console.note) as pool:
            yield pool
    else:
        raise InvalidParameter(
            f"--executor is 'threads', 'dask' or the address of a Dask scheduler, got {executor!r}."
        )


def require_once(paths: Sequence[Path | str]) -> None:
    """What is given twice would be counted twice."""
    seen: set[object] = set()
    for path in paths:
        if (real := path if "://" in str(path) else real_path(path)) in seen:
            raise InvalidParameter(f"{path} is given twice: it would be counted twice.")
        seen.add(real)


def loaded_counts(
    paths: Sequence[Path], plugins: Sequence[Path], console: Console
) -> "list[Aggregator]":
    """What files of counts hold, and what a person should know of them."""
    from ldp3.collection.aggregator import Aggregator

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        servers = [Aggregator.load(path, plugins) for path in paths]
    console.notes(str(one.message) for one in told)
    for epsilon in sorted({server.plan.epsilon for server in servers}):
        console.notes(said_of(epsilon))
    return servers


def repeats(server: "Aggregator", plan: Path) -> str:
    """What repeated hash seeds mean."""
    return (
        f"{server.repeated:,} reports or more have the hash seed of another one, which honest "
        f"clients never do: copies, or fake users. See `ldp3 inspect {plan} REPORTS`."
    )


def summary(server: "Aggregator") -> str:
    """What was counted, and what was not."""
    refused = ", ".join(f"{rows:,} {reason}" for reason, rows in server.refused.items())
    left_out = f"; left out: {refused}" if refused else ""
    counted = f"{plural(server.n, 'report')} of {server.plan.name!r} counted{left_out}"
    claim = server.plan.shuffled
    return counted if claim is None else f"{counted}\n{claim.said_of(server.n, server.identified)}"
