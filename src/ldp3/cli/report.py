"""`ldp3 report`."""

from pathlib import Path

from ldp3.budget import said_of
from ldp3.cli import options
from ldp3.cli.speaking import Console
from ldp3.errors import InvalidParameter
from ldp3.progress import say


def report(
    results: Path,
    /,
    *,
    output: options.MaybeOutput = None,
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
    from ldp3.files import require_no_input
    from ldp3.reporting.figures import plot
    from ldp3.reporting.page import page_path
    from ldp3.reporting.page import report as write
    from ldp3.results.storage import load_results

    if output is None and figures is None:
        raise InvalidParameter("Say what to write: --output PAGE.html or --figures FOLDER.")
    if output is not None:
        page_path(output)
        require_no_input(output, [results])
    found = load_results(results)
    Console().notes(said_of(*found.table["epsilon"].unique()))
    if output is not None:
        write(found, output)
        say(f"{output}: {output.stat().st_size / 1e6:.1f} MB, works offline.")
    if figures is not None:
        say(f"{figures}: {len(plot(found, figures))} files.")
