"""`ldp3 estimate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.aggregate import loaded_counts
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter

if TYPE_CHECKING:
    from ldp3.answers import Answer
    from ldp3.collection.aggregator import Aggregator


def estimate(
    counts: Path,
    /,
    *,
    method: flags.Method = None,
    metric: flags.Metric = None,
    mean: flags.Mean = False,
    quantiles: flags.Quantiles = [],  # noqa: B006
    above: flags.Above = [],  # noqa: B006
    below: flags.Below = [],  # noqa: B006
    between: flags.Between = [],  # noqa: B006
    table: flags.Attributes = [],  # noqa: B006
    share: str | None = None,
    by: str | None = None,
    association: flags.Attributes = [],  # noqa: B006
    confidence: flags.Confidence = 0.95,
    simultaneous: bool = False,
    guaranteed: Annotated[bool, Parameter(negative="")] = False,
    plugins: flags.Plugins = [],  # noqa: B006
    output: flags.MaybeOutput = None,
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
) -> None:
    """Estimate the frequencies of a collection, with confidence intervals.

    The method is the plan's, unless another one is given, or a metric that it should serve. Values
    whose order means something, as bins, are printed in it, others by frequency. With --mean,
    --quantiles, --above, --below or --between these are told instead of the single values.

    Of several attributes say which table, as in --table sex age; or --share page --by country, the
    shares within each country; or --association sex age, whether and how much they go together.

    Parameters
    ----------
    counts
        The counts, as `ldp3 aggregate` or `ldp3 merge` wrote them.
    table
        Of several attributes: the table of these.
    share
        Of several attributes: the shares of the values of this one, among people with each value
        of another.
    by
        The other one: within whose values the shares are.
    association
        Of several attributes: whether these two go together, and how much.
    simultaneous
        Intervals that hold for all values at once with this confidence.
    guaranteed
        Of --mean, --quantiles and shares: intervals that hold for every number of reports, not only
        nearly for many. They are wider.
    output
        Write the estimate to a .csv, .json or .parquet file, an .html page, or, of values in order,
        draw it: .svg, .png or .pdf.
    """
    from ldp3.collection.estimate_table import CollectionEstimate
    from ldp3.collection.numbers import told
    from ldp3.files import require_no_input

    if output is not None:
        require_no_input(output, [counts, *plugins])
    console = Console(quiet=quiet)
    (server,) = loaded_counts([counts], plugins, console)
    if metric is not None:
        plan = server.plan
        method = flags.chosen_method(
            method, metric, plan.domain, plan.oracle.usual_method, plugins, console
        )
    asked = flags.asked(mean, quantiles, above, below, between)
    if association or share is not None or by is not None:
        if asked or table or method or output or simultaneous or guaranteed:
            raise InvalidParameter(
                "--share and --association are told by themselves: beside them are --confidence "
                "and --format (csv or json for a file) and nothing else."
            )
        flags.tell(_together(server, association, share, by, confidence), format)
        return
    if asked:
        if output is not None or simultaneous:
            raise InvalidParameter(
                "--output and --simultaneous are for single values: leave them out; --format csv "
                "or json is for programs."
            )
        flags.tell(told(server, asked, method, confidence, guaranteed, table), format)
        return
    if guaranteed:
        raise InvalidParameter("--guaranteed is for --mean, --quantiles and shares: leave it out.")
    found = CollectionEstimate.of(server, method, confidence, simultaneous, table)
    if output is not None and output.suffix == ".html":
        from ldp3.files import write_text
        from ldp3.reporting.estimate_page import estimate_page

        write_text(output, estimate_page(found))
    elif output is not None and output.suffix[1:] in ("svg", "png", "pdf"):
        from ldp3.reporting.estimate_page import drawing
        from ldp3.reporting.figures import save_drawing

        if not (drawn := drawing(found)):
            raise InvalidParameter(
                f"{output}: only values in order are drawn, of a protocol that says how their "
                f"errors hang together; write .csv, .json, .parquet or .html."
            )
        save_drawing(str(drawn), output)
    elif output is not None:
        found.save(output)
    flags.tell(found.answer(), format)


def _together(
    server: "Aggregator",
    association: list[str],
    share: str | None,
    by: str | None,
    confidence: float,
) -> "Answer":
    from ldp3.collection.estimate_table import association_answer, shares_answer

    if association:
        if len(association) != 2 or share is not None or by is not None:
            raise InvalidParameter("--association takes two attributes, and nothing beside it.")
        return association_answer(server, association[0], association[1], confidence)
    if share is None or by is None:
        raise InvalidParameter("--share says of which attribute, --by within which: both.")
    return shares_answer(server, share, by, confidence)
