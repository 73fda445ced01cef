"""`ldp3 plan`."""

import re
from math import ceil, inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter, require
from ldp3.printing import show, terminal_width, visible, wrapped

if TYPE_CHECKING:
    from ldp3.domain import Domain
    from ldp3.edges import Edges


def plan(
    *,
    protocol: Annotated[str, options.PROTOCOL_NAMES, Parameter(name=["--protocol", "-p"])],
    epsilon: options.Epsilon,
    output: options.Output,
    method: options.Method = None,
    metric: options.Metric = None,
    ordered: options.Ordered = False,
    domain: Path | None = None,
    domain_size: Annotated[int | None, options.WHOLE] = None,
    bins: str | None = None,
    grid: str | None = None,
    within: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    other: str | None = None,
    name: str | None = None,
    plugins: options.Plugins = [],  # noqa: B006
) -> None:
    """Plan a collection in one file, such as pages.ldp3.json, for its clients and its server.

    Parameters
    ----------
    protocol
        Protocol, such as oue or "olh(g=4)".
    domain
        File with every possible value, one per row.
    domain_size
        The values are the integers from 0 to one less than this.
    bins
        The values are numbers or dates, which clients cut themselves: at edges, as 0,18,65,120 or
        2026-01-01,2026-07-01,2027-01-01 (the first number may be -inf, the last inf), or into this
        many bins of equal width (20), or of equal width on a log scale (log:20).
    grid
        The values are pairs of numbers, which clients put into the cells of a grid: rows x
        columns, as 15x15; the first of a pair gives the row.
    within
        Range to cut into bins, low:high, or into a grid, low:high,low:high, without upper ends.
    other
        The label that stands for every value outside the domain, added to it if it is not there.
        Without it, clients refuse such values.
    name
        What the collection is called; the name of the output by default. Every round has its own.
    """
    from ldp3.collection.plan import Plan
    from ldp3.collection.plan_file import ledger
    from ldp3.domain import Bins, Grid
    from ldp3.files import require_no_input
    from ldp3.postprocessing.base import WHY, build_method
    from ldp3.results import names

    if sum(given is not None for given in (domain, domain_size, bins, grid)) != 1:
        raise InvalidParameter(
            "The domain is needed: give one of --domain, --domain-size, --bins, --grid."
        )
    if within is not None and bins is None and grid is None:
        raise InvalidParameter("--within is the range of --bins or --grid: give both.")
    require_no_input(output, [domain, *plugins])
    values = _values(domain, domain_size, bins, grid, within, other)
    values = values.in_order() if ordered else values
    made = Plan(
        name or output.name.partition(".")[0] or str(output),
        values,
        protocol,
        epsilon,
        options.chosen_method(method, metric, values, plugins),
        plugins=plugins,
    )
    build_method(made.method, *made.modules).require_applies(made.oracle)
    Console().notes(said_of(made.epsilon))
    made.save(output)
    payload = made.oracle.layout.size
    protocol = names.protocol(made.protocol)
    show(visible(f"{output}: {made.name}, {protocol}, ε = {made.epsilon:g}, d = {made.d:,}"))
    if isinstance(values, Bins):
        show(f"bins {values.label(0)} … {values.label(values.size - 1)}, cut by the clients")
    if isinstance(values, Grid):
        show(f"{values.form}, cut by the clients")
    show(f"identifier {made.identifier[:14]}")
    show(
        f"{made.report_bytes:,} bytes a report: {payload:,} for {made.oracle.report_bits:,} bits, "
        f"{made.report_bytes - payload} for version and identifier"
    )
    show(
        f"post-processing by {names.method(made.method)}"
        + ("" if method else f": {WHY[made.method]}")
    )
    show("\n".join(wrapped(line, terminal_width()) for line in ledger(made.epsilon)))


def _values(
    domain: Path | None,
    domain_size: int | None,
    bins: str | None,
    grid: str | None,
    within: str | None,
    other: str | None,
) -> "Domain":
    """The domain that was given, in whichever way."""
    from ldp3.domain import Bins, Grid, Integers, Labels
    from ldp3.edges import equal_edges
    from ldp3.reading.domains import domain_in

    if domain is not None:
        return Labels(domain_in(domain), other=other)
    if domain_size is not None:
        return Integers(domain_size, other=other)
    if bins is not None:
        edges, dates = _edges(bins, within)
        return Bins(edges, dates=dates, other=other)
    rows, columns = _shape(str(grid))
    first, second = _ranges(within, "--grid", 2)
    return Grid(equal_edges(*first, rows), equal_edges(*second, columns), other=other)


def _edges(bins: str, within: str | None) -> "tuple[Edges, bool]":
    """The edges that a person means, and whether they are dates.

    Quantiles are no edges to plan with: they tell about the people whom a collection protects.
    """
    from ldp3.edges import MOST_VALUES, as_edges, days_in, equal_edges, log_edges

    cut = re.fullmatch(r"(log:)?\s*(\d+)", bins.strip())
    if cut is None and within is None:
        edges = bins.split(",")
        dates = days_in(edges[0]) is not None
        return as_edges(edges, dates=dates), dates
    if cut is None:
        raise InvalidParameter(f"--within goes with a number of --bins, got {bins!r}.")
    size = int(cut[2])
    require(2 <= size <= MOST_VALUES, "--bins", f"must be from 2 to {MOST_VALUES:,}", size)
    dates = within is not None and all(days_in(end) is not None for end in within.split(":"))
    ((low, high),) = _ranges(within, "--bins", 1, dates)
    if not cut[1]:
        equal = equal_edges(low, high, size)
        return (tuple(map(float, map(ceil, equal))) if dates else equal), dates  # whole days
    if low <= 0 or dates:
        raise InvalidParameter(
            f"--within: {within} has no logarithm; begin above 0, or give edges such as 0,1,10,100 "
            f"as --bins."
        )
    return log_edges(low, high, size), False


def _ranges(
    within: str | None, option: str, count: int, dates: bool = False
) -> list[tuple[float, float]]:
    """``low:high`` for bins, one for each coordinate of a grid."""
    from ldp3.edges import days_in, number_in

    if within is None:
        raise InvalidParameter(
            f"{option} needs the range to cut, which nobody may read off private data: "
            f"--within {','.join(['low:high'] * count)}, such as {','.join(['0:100'] * count)}."
        )
    read = days_in if dates else number_in
    found = []
    for part in within.split(","):
        ends = [read(end) for end in part.split(":")]
        low, high = ends if len(ends) == 2 else (None, None)
        if low is not None and high is not None and -inf < low < high < inf:
            found.append((low, high))
    if not len(found) == count == within.count(",") + 1:
        form = ",".join(["low:high"] * count)
        raise InvalidParameter(f"--within: {form} for {option}, got {within!r}.")
    return found


def _shape(grid: str) -> tuple[int, int]:
    """``15x20``: 15 rows, 20 columns."""
    found = re.fullmatch(r"\s*(\d{1,8})\s*[x×X]\s*(\d{1,8})\s*", grid)
    if found is None or not int(found[1]) * int(found[2]):
        raise InvalidParameter(f"--grid: rows x columns, such as 15x15, got {grid!r}.")
    return int(found[1]), int(found[2])
