"""What `ldp3 report` does."""

from collections.abc import Iterator
from pathlib import Path

from ldp3.errors import InvalidParameter
from ldp3.reporting.figures import plot
from ldp3.reporting.page import page_path
from ldp3.reporting.page import report as write
from ldp3.results import load_results


def report(path: Path, page: Path | None, figures: Path | None) -> Iterator[str]:
    """Write what was asked for; a line for each."""
    if page is None and figures is None:
        raise InvalidParameter("Say what to write: --output PAGE.html or --figures FOLDER.")
    if page is not None:
        page_path(page)
    results = load_results(path)
    if page is not None:
        write(results, page)
        yield f"{page}: {page.stat().st_size / 1e6:.1f} MB, works offline."
    if figures is not None:
        yield f"{figures}: {len(plot(results, figures))} files."
