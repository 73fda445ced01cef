"""`ldp3 report`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter
from ldp3.progress import say

_several = Parameter(consume_multiple=True)
Metrics = Annotated[
    list[str] | None, _several, flags.METRIC_NAMES, Parameter(name=["--metrics", "-u"])
]
Protocols = Annotated[
    list[str] | None, _several, flags.PROTOCOL_NAMES, Parameter(name=["--protocols", "-p"])
]
Methods = Annotated[
    list[str] | None, _several, flags.METHOD_NAMES, Parameter(name=["--methods", "-m"])
]
Epsilons = Annotated[list[str] | None, _several, Parameter(name=["--epsilon", "-e"])]
Formats = Annotated[list[str] | None, _several]


def report(
    results: Annotated[list[Path], Parameter(name="RESULTS...", negative=())],
    /,
    *,
    output: flags.MaybeOutput = None,
    figures: Path | None = None,
    metrics: Metrics = None,
    epsilon: Epsilons = None,
    protocols: Protocols = None,
    methods: Methods = None,
    format: Formats = None,
    quiet: flags.Quiet = False,
) -> None:
    """Show results: one HTML page that works offline, or figures and tables for papers.

    Parameters
    ----------
    results
        What `ldp3 run --output` wrote: a folder, or a .csv, .parquet or .json table, which holds
        less to show. Several are joined, as where a dataset or a protocol was run later.
    output
        Write the page to this .html file.
    figures
        Write figures (PDF, SVG, PNG), tables (LaTeX, Markdown) and BibTeX into this folder.
    metrics
        Show these metrics only.
    epsilon
        Show these ε only.
    protocols
        Show these protocols only.
    methods
        Show these methods only; without any is none.
    format
        What to write into the folder: pdf, svg, png, tex, md, bib; all by default.
    """
    from ldp3.files import require_no_input
    from ldp3.reporting.figures import FORMATS, plot
    from ldp3.reporting.filtering import selected
    from ldp3.reporting.page import page_path
    from ldp3.reporting.page import report as write
    from ldp3.results.table import joined, load_results

    if output is None and figures is None:
        raise InvalidParameter("Say what to write: --output PAGE.html or --figures FOLDER.")
    if output is not None:
        page_path(output)
        require_no_input(output, results)
    if format is not None and figures is None:
        raise InvalidParameter("--format says which --figures to write; a page is HTML.")
    found = selected(
        joined([load_results(one) for one in results]),
        None if metrics is None else flags.specs("-u", metrics),
        None if epsilon is None else flags.numbers(epsilon),
        None if protocols is None else flags.specs("-p", protocols),
        None if methods is None else flags.specs("-m", methods),
    )
    console = Console(quiet=quiet)
    console.notes(said_of(*found.table["epsilon"].unique()))
    if output is not None:
        write(found, output)
        if not quiet:
            say(f"{output}: {output.stat().st_size / 1e6:.1f} MB, works offline.")
    if figures is not None:
        formats = FORMATS if format is None else flags.specs("--format", format)
        made = plot(found, figures, formats=formats)
        if not quiet:
            say(f"{figures}: {len(made)} files.")
