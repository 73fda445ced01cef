"""`ldp3 plan`."""

from collections.abc import Iterator
from math import ceil, inf, log2, sinh, sqrt, tanh
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter, require
from ldp3.printing import percent, show, terminal_width, visible, wrapped

Goal = Literal["mean", "distribution", "quantiles"]
WAVE_IS_BEST = 3.0  # ε, up to which no other protocol here tells a mean with less noise
FEW_REPORTS = 1_000  # counted by what each tells, below which a square wave alone is as good
SHOWN = 12  # groups of a scheme that are printed

if TYPE_CHECKING:
    from ldp3.collection.plan import Plan
    from ldp3.domain import Bins, Domain
    from ldp3.edges import Edges


def plan(
    *,
    protocol: Annotated[
        str | None, flags.PROTOCOL_NAMES, Parameter(name=["--protocol", "-p"])
    ] = None,
    goal: Goal | None = None,
    epsilon: flags.Epsilon,
    output: flags.Output,
    method: flags.Method = None,
    metric: flags.Metric = None,
    ordered: flags.Ordered = False,
    columns: Path | None = None,
    domain: Path | None = None,
    domain_size: Annotated[int | None, flags.WHOLE] = None,
    bins: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    grid: str | None = None,
    within: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    population: Annotated[int | None, flags.WHOLE] = None,
    clip: Annotated[bool, Parameter(negative="")] = False,
    other: str | None = None,
    name: str | None = None,
    shuffled: Annotated[bool, Parameter(negative="")] = False,
    batch: Annotated[int | None, flags.WHOLE] = None,
    delta: float | None = None,
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
) -> None:
    """Plan a collection in one file, such as pages.ldp3.json, for its clients and its server.

    Parameters
    ----------
    protocol
        Protocol, such as oue or "olh(g=4)"; for --columns it is groups by default.
    goal
        What numbers are collected for, in place of a protocol: it chooses one. With --population it
        knows how much of the distribution the noise will leave.
    columns
        TOML file of several attributes, a table for each by name, with labels = ["f", "m"], or
        domain, domain_size, bins, within, other, ordered as they are here; for schemes such as
        groups.
    domain
        File with every possible value, one per row.
    domain_size
        The values are the integers from 0 to one less than this.
    bins
        The values are numbers or dates, which clients cut themselves: at edges, as 0,18,65,120 or
        2026-01-01,2026-07-01,2027-01-01 (the first number may be -inf, the last inf), or into this
        many bins of equal width (20), or of equal width on a log scale (log:20), or into as many
        as the noise of --population reports is worth, with round edges (auto).
    grid
        The values are pairs of numbers, which clients put into the cells of a grid: rows x
        columns, as 15x15; the first of a pair gives the row.
    within
        Range to cut into bins, low:high, or into a grid, low:high,low:high, without upper ends.
    population
        How many people will report, for --bins auto and --goal.
    clip
        Count a number below the range in the first bin and one above it in the last, which take
        everything from there on.
    other
        The label that stands for every value outside the domain, added to it if it is not there.
        Without it, clients refuse such values.
    name
        What the collection is called; the name of the output by default. Every round has its own.
    shuffled
        Claim the central ε that holds if a shuffler that you trust mixes the reports; needs --batch
        and --delta. Clients of such a plan take no memo, and their reports no identifiers.
    batch
        The fewest honest reports that are mixed at a time.
    delta
        The δ of that claim, such as 1e-9: far below one over the batch.
    """
    from ldp3 import specs
    from ldp3.collection.plan import Plan
    from ldp3.domain import Bins, Records
    from ldp3.files import require_no_input
    from ldp3.kinds import look_up
    from ldp3.plugins import load_plugins
    from ldp3.postprocessing.base import WHY, build_method
    from ldp3.protocols.base import FrequencyOracle, build_oracle
    from ldp3.schemes.attributes import by_number

    if sum(given is not None for given in (columns, domain, domain_size, bins, grid)) != 1:
        raise InvalidParameter(
            "The domain is needed: give one of --domain, --domain-size, --bins, --grid, --columns."
        )
    if within is not None and bins is None and grid is None:
        raise InvalidParameter("--within is the range of --bins or --grid: give both.")
    if (batch is not None and delta is not None) != shuffled or (batch is None) != (delta is None):
        raise InvalidParameter("--shuffled, --batch and --delta belong together: give all three.")
    require_no_input(output, [columns, domain, *plugins])
    console = Console(quiet=quiet)
    if columns is not None and protocol is None:
        protocol = "groups"
    if (protocol is None) == (goal is None):
        raise InvalidParameter(
            "A protocol is needed: give -p, or for numbers --goal, and not both."
        )
    if bins == "auto" and population is None:
        raise InvalidParameter("--bins auto and --population belong together: give both.")
    if population is not None and bins != "auto" and goal is None:
        raise InvalidParameter("--population is for --bins auto and --goal: leave it out.")
    chosen = ""
    if protocol is None:
        protocol, chosen = _suited(goal or "mean", epsilon, population)
    values: Domain
    if bins == "auto" and population is not None:
        cls = look_up(FrequencyOracle, specs.parse(protocol)[0], *load_plugins(plugins))
        values = _worth(epsilon, population, cls.needs_order, within, other)
    elif columns is not None:
        values = _attributes(columns, console)
    else:
        values = _values(domain, domain_size, bins, grid, within, other, ordered, console)
    if goal == "mean" and values.ordered and values.line is None:
        raise InvalidParameter(
            f"--goal mean needs numbers, and {values.form} have no place on a line: take --goal "
            f"quantiles."
        )
    if clip:
        if not isinstance(values, Bins):
            raise InvalidParameter("--clip is for --bins of numbers: leave it out.")
        values = values.clipped()
    protocol = by_number(protocol, values)
    sizes = values.sizes if isinstance(values, Records) else ()
    oracle = build_oracle(
        protocol, *load_plugins(plugins), epsilon=epsilon, d=values.d, sizes=sizes
    )
    made = Plan(
        name or output.name.partition(".")[0] or str(output),
        values,
        protocol,
        epsilon,
        flags.chosen_method(method, metric, values, oracle.usual_method, plugins, console),
        batch=batch,
        delta=delta,
        plugins=plugins,
    )
    refine = build_method(made.method, *made.modules)
    refine.require_applies(made.oracle)
    refine.require_suited(values)
    console.notes(said_of(made.epsilon))
    made.save(output)
    if not quiet:
        why = f"for --goal {goal}: {chosen}" if chosen else ""
        show("\n".join(_summary(made, output, why, WHY.get(made.method) if not method else None)))


def _summary(made: "Plan", output: Path, why: str, why_method: str | None) -> Iterator[str]:
    """What a person who made a plan should know of it, line by line."""
    from ldp3.domain import Bins, Grid
    from ldp3.results import names

    values, layout = made.domain, made.oracle.layout
    protocol, method = names.protocol(made.protocol), names.method(made.method)
    yield visible(f"{output}: {made.name}, {protocol}, ε = {made.epsilon:g}, d = {made.d:,}")
    if isinstance(values, Bins):
        yield f"bins {values.label(0)} … {values.label(values.size - 1)}, cut by the clients"
    if isinstance(values, Grid):
        yield f"{values.form}, cut by the clients"
    if why:
        yield why
    yield f"identifier {made.identifier[:14]}"
    yield (
        f"{made.report_bytes:,} bytes a report: {layout.size - layout.head:,} for "
        f"{max(own.report_bits for own in made.oracles):,} bits, "
        + (f"{layout.head} for the group, " if layout.head else "")
        + f"{made.report_bytes - layout.size} for version and identifier"
    )
    yield from _groups_said(made)
    yield f"post-processing by {method}" + (f": {why_method}" if why_method else "")
    yield from (wrapped(line, terminal_width()) for line in made.ledger)


def _groups_said(plan: "Plan") -> list[str]:
    """Who is asked what, of a scheme; the largest group first."""
    from ldp3.randomness import WORDS
    from ldp3.results import names

    called = [attribute.name for attribute in plan.attributes]
    groups = sorted(plan.groups or (), key=lambda group: -group[1])
    lot = (
        f"is in one of {len(groups):,} groups, by lot, and answers it" if groups[1:] else "answers"
    )
    said = [f"everybody {lot} at the whole ε:"]
    for view, share, spec in groups[:SHOWN]:
        parts = [
            called[a] if bins is None else f"{called[a]} in {bins} bins" for a, bins in view.parts
        ]
        said.append(f"  {100 * share / WORDS:5.1f} %  {' × '.join(parts)} ({names.protocol(spec)})")
    if len(groups) > SHOWN:
        said.append(f"  and {len(groups) - SHOWN:,} more, which the file lists")
    above = getattr(plan.oracle, "above_limit", None)
    if above is not None:
        said.append(
            f"its variance is {percent(above)} above what any mechanism with this ε could reach"
        )
    return said if groups else []


def _attributes(path: Path, console: Console) -> "Domain":
    """Several attributes, each given as one is on the command line."""
    from dataclasses import replace

    from ldp3.domain import Labels, Records
    from ldp3.files import read_toml

    known = {"domain", "domain_size", "bins", "grid", "within", "other", "ordered"}
    parts: list[Domain] = []
    for name, section in read_toml(path).items():
        given = section if isinstance(section, dict) else {f"{section} alone": section}
        wrong = next((key for key in given if key not in known | {"labels"}), None)
        kinds = sum(key in given for key in ("labels", "domain", "domain_size", "bins", "grid"))
        if wrong is not None or kinds != 1:
            said = f"has {wrong}" if wrong else "has several of these" if kinds else "has no values"
            raise InvalidParameter(
                f"{path}: [{name}] {said}: an attribute has one of labels, domain, domain_size, "
                f"bins and grid, and may have within, other and ordered."
            )
        other, ordered = given.get("other"), given.get("ordered", False)
        if "labels" in given:
            parts.append(Labels(given["labels"], name=name, other=other, ordered=ordered))
            continue
        file = given.get("domain")
        values = _values(
            None if file is None else path.parent / str(file),
            given.get("domain_size"),
            _word(given.get("bins")),
            _word(given.get("grid")),
            _word(given.get("within")),
            other,
            ordered,
            console,
        )
        parts.append(replace(values, name=name))
    return Records(parts)


def _word(given: object) -> str | None:
    """As it would be typed: a list of edges has commas between them."""
    if given is None:
        return None
    return ",".join(map(str, given)) if isinstance(given, list) else str(given)


def _suited(goal: Goal, epsilon: float, population: int | None) -> tuple[str, str]:
    """The protocol for a goal, and why: by `python -m benchmarks.numbers goals`."""
    from ldp3.protocols.base import MIXTURE

    require(epsilon > 0, "`epsilon`", "must be > 0", epsilon)
    if goal == "mean":
        best = "best" if epsilon <= WAVE_IS_BEST else "well: `ldp3 size --goal mean` compares"
        return "sw", f"the average report of SW tells the mean {best}"
    enough = ceil(FEW_REPORTS / tanh(epsilon / 2) ** 2)
    if population is not None and population < enough:
        return "sw", "so few reports tell the coarse shape only, which SW does best"
    why = "half of the people tell the coarse shape, half the steps in it"
    unsaid = f" (if {enough:,} people or more report: say how many with --population)"
    return MIXTURE, why + ("" if population else unsaid)


def _values(
    domain: Path | None,
    domain_size: int | None,
    bins: str | None,
    grid: str | None,
    within: str | None,
    other: str | None,
    ordered: bool,
    console: Console,
) -> "Domain":
    """The domain that was given, in whichever way."""
    from ldp3.domain import Bins, Grid, Integers
    from ldp3.edges import equal_edges

    if domain is not None:
        return _labels(domain, other, ordered, console)
    if domain_size is not None:
        return Integers(domain_size, other=other, ordered=ordered)
    if bins is not None:
        edges, dates = _edges(bins, within)
        return Bins(edges, dates=dates, other=other)
    rows, columns = flags.grid_in(grid) or (0, 0)
    first, second = _ranges(within, "--grid", 2)
    cells = equal_edges(*first, rows), equal_edges(*second, columns)
    return Grid(*cells, other=other, ordered=ordered)


def _labels(domain: Path, other: str | None, ordered: bool, console: Console) -> "Domain":
    """The values in a file, as they are when data are read with it."""
    import polars as pl

    from ldp3.reading.counting import domain_in, domain_of
    from ldp3.reading.options import Reading

    labels = [label for label in domain_in(domain) if label != other]
    labels += [] if other is None else [other]
    reading = Reading(domain=tuple(labels), other=other, ordered=ordered)
    found, notes = domain_of(pl.Series(labels), None, reading)
    console.notes(notes)
    return found


def _edges(bins: str, within: str | None) -> "tuple[Edges, bool]":
    """The edges that a person means, and whether they are dates."""
    from ldp3.edges import as_edges, days_in, equal_edges, log_edges
    from ldp3.reading.options import Cut

    given = flags.bins_in(bins)
    if not isinstance(given, Cut):
        edges = given or ()
        if within is not None:
            raise InvalidParameter("--within is the range of a number of bins: edges say theirs.")
        dates = any(days_in(edge) is not None for edge in edges)
        return as_edges(edges, dates=dates), dates
    if given.scale == "quantiles":
        raise InvalidParameter(
            "--bins: quantiles tell about the people whom a collection protects; give edges, such "
            "as 0,18,65,120, or a number of bins and --within."
        )
    dates = _of_dates(within)
    ((low, high),) = _ranges(within, "--bins", 1, dates)
    if given.scale == "equal":
        equal = equal_edges(low, high, given.size)
        return (tuple(map(float, map(ceil, equal))) if dates else equal), dates  # whole days
    if low <= 0 or dates:
        raise InvalidParameter(
            f"--within: {within} has no logarithm; begin above 0, or give edges such as 0,1,10,100 "
            f"as --bins."
        )
    return log_edges(low, high, given.size), False


def _worth(
    epsilon: float, population: int, by_order: bool, within: str | None, other: str | None
) -> "Bins":
    """As many bins as the noise is worth, with round edges; of dates, of whole days.

    Near sinh(ε/2)·√n, a power of two; a fifth of that for protocols that do not go by an order,
    whose error grows with the number of bins.
    """
    from ldp3.domain import Bins
    from ldp3.edges import round_edges

    require(epsilon > 0, "`epsilon`", "must be > 0", epsilon)
    require(population >= 1, "`population`", "must be at least 1", population)
    dates = _of_dates(within)
    ((low, high),) = _ranges(within, "--bins auto", 1, dates)
    wanted = max(1.0, sinh(min(epsilon, 20.0) / 2) * sqrt(population))
    size = min(max(2 ** round(log2(wanted)), 32), 1_024)
    most = size if by_order else max(size // 5, 8)
    if not dates:
        return Bins(round_edges(low, high, most), other=other)
    days = ceil((high - low) / most)
    starts = [low + i * days for i in range(ceil((high - low) / days))]
    return Bins([*starts, high], dates=True, other=other)


def _of_dates(within: str | None) -> bool:
    from ldp3.edges import days_in

    return within is not None and all(days_in(end) is not None for end in within.split(":"))


def _ranges(
    within: str | None, option: str, count: int, dates: bool = False
) -> list[tuple[float, float]]:
    """The range of bins, or one for each coordinate of a grid, in numbers or days."""
    from ldp3.edges import days_in, number_in

    if within is None:
        raise InvalidParameter(
            f"{option} needs the range to cut, which nobody may read off private data: "
            f"--within {','.join(['low:high'] * count)}, such as {','.join(['0:100'] * count)}."
        )
    read = days_in if dates else number_in
    found = []
    for low, high in ((read(low), read(high)) for low, high in flags.within_in(within) or ()):
        if low is not None and high is not None and -inf < low < high < inf:
            found.append((low, high))
    if len(found) != count or within.count(":") != count:
        form = ",".join(["low:high"] * count)
        such = f"{form} for {option}, low below high, as numbers or as dates like 2024-07-01"
        raise InvalidParameter(f"--within: {such}, got {within!r}.")
    return found
