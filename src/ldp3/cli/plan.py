"""`ldp3 plan`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter
from ldp3.printing import show, terminal_width, visible, wrapped


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
    within: str | None = None,
    other: str | None = None,
    name: str | None = None,
    plugins: options.Plugins = [],  # noqa: B006
) -> None:
    """Describe a collection in one file, such as pages.ldp3.json, for its clients and its server.

    Parameters
    ----------
    protocol
        Protocol, such as oue or "olh(g=4)".
    domain
        File with every possible value, one per row.
    domain_size
        The values are the integers from 0 to one less than this.
    bins
        The values are numbers, which clients cut themselves: at edges, as 0,18,65,120 (the first
        may be -inf, the last inf), or into this many bins of equal width (20), or of equal width
        on a log scale (log:20).
    within
        Range to cut into bins, low:high, without its upper end.
    other
        The label that stands for every value outside the domain, added to it if it is not there.
        Without it, clients refuse such values.
    name
        What the collection is called; the name of the output by default. Every round has its own.
    """
    from ldp3.collection.bins import edges_from
    from ldp3.collection.plan import Plan
    from ldp3.collection.plan_file import ledger
    from ldp3.files import require_no_input
    from ldp3.postprocessing.base import WHY, build_method
    from ldp3.results import names

    if sum(given is not None for given in (domain, domain_size, bins)) != 1:
        raise InvalidParameter(
            "The domain is needed: give either --domain or --domain-size or --bins."
        )
    if within is not None and bins is None:
        raise InvalidParameter("--within is the range of --bins: give both.")
    require_no_input(output, [domain, *plugins])
    line = ordered or (bins is not None and other is None)
    made = Plan(
        name or output.name.partition(".")[0] or str(output),
        protocol,
        epsilon,
        domain_size or 0,
        None if domain is None else _labels(domain, other),
        other,
        options.chosen_method(method, metric, line, plugins),
        bins=None if bins is None else edges_from(bins, within),
        plugins=plugins,
    )
    build_method(made.method, *made.modules).require_applies(made.oracle)
    Console().notes(said_of(made.epsilon))
    made.save(output)
    payload = made.oracle.layout.size
    protocol = names.protocol(made.protocol)
    show(visible(f"{output}: {made.name}, {protocol}, ε = {made.epsilon:g}, d = {made.d:,}"))
    if made.bins is not None:
        show(f"bins {made.label(0)} … {made.label(len(made.bins) - 2)}, cut by the clients")
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


def _labels(domain: Path, other: str | None) -> tuple[str, ...]:
    from ldp3.collection.coding import labels_in

    labels = tuple(labels_in(domain))
    return labels if other is None or other in labels else (*labels, other)
