"""The commands of a collection: plan, perturb, aggregate, merge, estimate.

What is slow to import is imported by the command that needs it.
"""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ldp3.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

    from ldp3.arrays import IntArray
    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.files import Batch
    from ldp3.collection.plan import Plan

Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"])]
Format = Literal["raw", "jsonl", "parquet", "arrow"]


def plan(
    *,
    protocol: Annotated[str, Parameter(name=["--protocol", "-p"])],
    epsilon: Annotated[float, Parameter(name=["--epsilon", "-e"])],
    output: Output,
    method: Annotated[str, Parameter(name=["--method", "-m"])] = "norm_sub",
    domain: Path | None = None,
    domain_size: int | None = None,
    other: str | None = None,
    name: str | None = None,
) -> None:
    """Describe a collection in one file, which its clients and its server read.

    Parameters
    ----------
    protocol
        Protocol, such as oue or "olh(g=4)".
    epsilon
        Privacy budget of one report.
    output
        The file to write, such as pages.ldp3.json.
    method
        Post-processing method of the estimate.
    domain
        File with every possible value, one per row.
    domain_size
        The values are the integers from 0 to one less than this.
    other
        The label that stands for every value outside the domain, added to it if it is not there.
        Without it, clients refuse such values.
    name
        What the collection is called; the name of the output by default. Every round has its own.
    """
    from ldp3 import postprocess
    from ldp3.collection.plan import Plan, ledger

    if (domain is None) == (domain_size is None):
        raise InvalidParameter("The domain is needed: give either --domain or --domain-size.")
    labels = None if domain is None else _labels(domain, other)
    size = domain_size if labels is None else len(labels)
    made = Plan(
        name or output.name.partition(".")[0] or str(output),
        protocol,
        epsilon,
        size or 0,
        None if labels is None else tuple(labels),
        other,
        method,
    )
    if not postprocess(method).applies(made.oracle):
        raise InvalidParameter(f"{method} does not apply to {made.protocol}: choose another -m.")
    made.save(output)
    payload = made.wire.payload_bytes
    print(f"{output}: {made.name}, {made.protocol}, ε = {made.epsilon:g}, d = {made.d:,}")
    print(f"identifier {made.identifier[:14]}")
    print(
        f"{made.report_bytes:,} bytes a report: {payload:,} for {made.oracle.report_bits:,} bits, "
        f"{made.report_bytes - payload} for version and identifier"
    )
    print("\n".join(ledger(made.epsilon)))


def perturb(
    description: Path,
    values: Path,
    /,
    *,
    output: Output,
    column: str | None = None,
    header: bool = False,
    ids: bool = False,
    format: Format | None = None,
    quiet: Quiet = False,
) -> None:
    """Randomise a file of values, one report for each row, with the secure generator.

    Reports stand in the order of the rows.

    Parameters
    ----------
    description
        The collection, as `ldp3 plan` wrote it.
    values
        A .txt, .csv or .parquet file with one person's value per row.
    output
        The file of reports to write: .parquet, .arrow, .jsonl or .bin.
    column
        Column that holds the values, by name or by position from 1.
    header
        The first row of a text file holds names, not a value.
    ids
        Give every report a random identifier, so that one that arrives twice counts once.
    format
        What to write, where the ending of the output does not say.
    quiet
        No summary.
    """
    from ldp3.collection.files import format_of, write
    from ldp3.collection.plan import Plan
    from ldp3.collection.values import codes_in
    from ldp3.collection.writing import whole
    from ldp3.datasets.base import Reading

    collection, kind = Plan.load(description), format_of(output, format)
    if ids and kind == "raw":
        raise InvalidParameter("raw bytes hold no identifiers: write .jsonl, .parquet or .arrow.")
    codes = codes_in(values, collection, Reading(column=column, header=header))
    with whole(output) as temporary:
        write(temporary, kind, _perturbed(collection, codes, ids))
    if not quiet:
        print(f"{len(codes):,} reports of {collection.report_bytes:,} bytes in {output}")


def aggregate(
    description: Path,
    reports: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    output: Output,
    format: Format | None = None,
    threads: Annotated[int | None, Parameter(name=["--threads", "-t"])] = None,
    executor: str = "threads",
    quiet: Quiet = False,
) -> None:
    """Count any number of files of reports; rows that cannot be counted are left out and told.

    Parameters
    ----------
    description
        The collection, as `ldp3 plan` wrote it.
    reports
        Files of reports: .parquet, .arrow, .jsonl, .bin.
    output
        The file of counts to write, such as counts.json.
    format
        What the files hold, where their endings do not say.
    threads
        Threads; all cores by default.
    executor
        threads, dask (a cluster of processes on this machine), or the address of a Dask scheduler,
        such as tcp://host:8786, whose workers must see the files; the counts are the same.
    quiet
        No progress and no summary.
    """
    from ldp3.collection.aggregator import Aggregator
    from ldp3.errors import require

    require(threads is None or threads >= 1, "--threads", "must be at least 1", threads)
    _require_once(reports)
    server = Aggregator(description)
    shown = sys.stderr.isatty() and not quiet

    def tick(n: int) -> None:
        if shown:
            print(f"\r{n:,} reports", end="", file=sys.stderr, flush=True)

    try:
        with _pool(executor, threads) as pool:
            server.add_files(reports, format=format, executor=pool, threads=threads, tick=tick)
    finally:
        if shown:
            print(f"\r{' ' * 40}\r", end="", file=sys.stderr, flush=True)
    server.save(output)
    if not quiet:
        print(_summary(server))


@contextmanager
def _pool(executor: str, threads: int | None) -> "Iterator[Executor | None]":
    """Where reports are counted; None for threads."""
    if executor == "threads":
        yield None
    elif executor == "dask" or "://" in executor:
        from ldp3.clusters import cluster_executor
        from ldp3.engine import available_cores

        with cluster_executor(executor, threads or available_cores()) as pool:
            yield pool
    else:
        raise InvalidParameter(
            f"--executor is 'threads', 'dask' or the address of a Dask scheduler, got {executor!r}."
        )


def merge(
    counts: Annotated[list[Path], Parameter(negative=())],
    /,
    *,
    output: Output,
    quiet: Quiet = False,
) -> None:
    """Add up the counts of parts of one collection.

    Parameters
    ----------
    counts
        Files of counts, each of other reports.
    output
        The file of counts to write.
    quiet
        No notes and no summary.
    """
    from ldp3.collection.aggregator import Aggregator

    _require_once(counts)
    whole, *parts = [Aggregator.load(path) for path in counts]
    for part in parts:
        whole.merge(part)
    whole.save(output)
    if quiet:
        return
    if whole.identified and parts:
        print(
            "note: a report that is in two of the parts was counted twice; aggregate the files "
            "together where that can be.",
            file=sys.stderr,
        )
    print(_summary(whole))


def estimate(
    counts: Path,
    /,
    *,
    method: Annotated[str | None, Parameter(name=["--method", "-m"])] = None,
    level: float = 0.95,
    simultaneous: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    format: Literal["table", "csv", "json"] = "table",
) -> None:
    """Estimate the frequencies of a collection, with confidence intervals.

    Parameters
    ----------
    counts
        The counts, as `ldp3 aggregate` or `ldp3 merge` wrote them.
    method
        Post-processing method, if not the plan's.
    level
        Level of the confidence intervals.
    simultaneous
        Intervals that hold for all values at once with this level.
    output
        Write the estimate to a .csv, .json or .parquet file, or an .html page.
    format
        How the estimate is printed.
    """
    from ldp3.collection.aggregator import Aggregator
    from ldp3.collection.estimates import Answer

    answer = Answer.of(Aggregator.load(counts), method, level, simultaneous)
    if output is not None:
        answer.save(output)
    print({"table": answer.text, "csv": answer.csv, "json": answer.json}[format](), end="")


def _require_once(paths: list[Path]) -> None:
    """What is given twice would be counted twice."""
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise InvalidParameter(f"{path} is given twice: it would be counted twice.")
        seen.add(path.resolve())


def _labels(domain: Path, other: str | None) -> list[str]:
    from ldp3.collection.values import labels_in

    labels = labels_in(domain)
    return labels if other is None or other in labels else [*labels, other]


def _perturbed(collection: "Plan", codes: "IntArray", ids: bool) -> "Iterator[Batch]":
    from ldp3 import secure

    rng, step = secure(), collection.oracle.batch
    for start in range(0, len(codes), step):
        reports = collection.oracle.perturb(codes[start : start + step], rng)
        names = [rng.bytes(16).hex() for _ in range(len(reports))] if ids else None
        yield collection.wire.encode(reports), names


def _summary(server: "Aggregator") -> str:
    refused = ", ".join(f"{rows:,} {reason}" for reason, rows in server.refused.items())
    left_out = f"; left out: {refused}" if refused else ""
    return f"{server.n:,} reports of {server.plan.name!r} counted{left_out}"
