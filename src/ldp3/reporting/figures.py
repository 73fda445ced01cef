"""Figures and tables for papers: column width, small type, told apart without colour.

The same results give the same files, byte for byte: no dates, no random names.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ldp3.errors import InvalidData, as_path
from ldp3.files import whole_file, write_text
from ldp3.reporting import drawings
from ldp3.reporting.citations import bibtex, used_by
from ldp3.reporting.findings import Findings
from ldp3.results import forms
from ldp3.results.table import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE: dict[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"],  # both come with Matplotlib
    "text.parse_math": False,  # a dollar in a label starts no formula
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,  # TrueType: conferences refuse Type 3
    "svg.hashsalt": "ldp3",
    "figure.dpi": 300,
}
METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def plot(results: Results, path: str | Path) -> list[Path]:
    """Write every figure (PDF, SVG, PNG), table (LaTeX, Markdown) and reference into a folder.

    What the results cannot show is not written; the files that are come back.
    """
    found, folder = Findings(results), as_path(path, "a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidData(f"{folder}: cannot be written: {error.strerror}.") from error
    return [*_write_texts(found, folder), *_write_figures(found, folder)]


def _write_texts(found: Findings, folder: Path) -> list[Path]:
    names = _file_names(found.metrics)
    texts = {"references.bib": bibtex(used_by(found.results))}
    for (metric, epsilon), sheet in found.sheets.items():
        for suffix, render in ((".tex", forms.latex), (".md", forms.markdown)):
            texts[f"table-{names[metric]}-{_number(epsilon)}{suffix}"] = render(sheet)
    for name, text in texts.items():
        write_text(folder / name, text + "\n")
    return [folder / name for name in texts]


def _write_figures(found: Findings, folder: Path) -> list[Path]:
    from matplotlib import style

    written: list[Path] = []
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a label in a script that no font here has
        for name, figure in _figures(found):
            files = {kind: folder / f"{name}.{kind}" for kind in METADATA}
            save(figure, files)
            written += files.values()
    return written


def save(figure: "Figure", files: Mapping[str, Path]) -> None:
    """In every format, each cut to what is drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    box = figure.get_tightbbox(renderer).padded(0.02)
    for kind, file in files.items():
        with whole_file(file) as temporary:
            figure.savefig(temporary, format=kind, metadata=METADATA[kind], bbox_inches=box)


def _figures(found: Findings) -> Iterator[tuple[str, "Figure"]]:
    """Every figure that these findings can fill, and what to call it."""
    names = _file_names(found.metrics)
    for metric, epsilon in found.sheets:
        where = f"{names[metric]}-{_number(epsilon)}"
        yield f"heatmap-{where}", drawings.heat(found, metric, epsilon)
        if found.sizes_differ:
            yield f"size-{where}", drawings.sizes(found, metric, epsilon)
        if found.frequencies is not None and metric == found.metrics[0]:
            drawn = drawings.frequencies(found, found.frequencies, epsilon)
            yield f"frequencies-{_number(epsilon)}", drawn
    for metric, name in names.items():
        if len(found.epsilons) > 1:
            yield f"error-by-method-{name}", drawings.error(found, metric, "method")
            yield f"error-by-protocol-{name}", drawings.error(found, metric, "protocol")
        if len(found.methods) > 1:
            yield f"wins-{name}", drawings.wins(found, metric)


def _file_names(metrics: Iterable[str]) -> dict[str, str]:
    """What files call the metrics, each by a name of its own."""
    names: dict[str, str] = {}
    for metric in metrics:
        plain = re.sub(r"[^A-Za-z0-9.]+", "_", metric).strip("_")
        others = (plain, *(f"{plain}_{i}" for i in range(2, len(names) + 2)))
        names[metric] = next(name for name in others if name not in names.values())
    return names


def _number(epsilon: float) -> str:
    """All digits that tell it from any other number, and no more."""
    return repr(epsilon).removesuffix(".0")
