"""Figures and tables for papers: column width, small type, told apart without colour.

The figures are the charts of the page, with what answers to a mouse left out. The same results give
the same files, byte for byte: no dates, no random names.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import overload

from ldp3.answers import Answer
from ldp3.errors import InvalidData, as_path, one_of, require, several
from ldp3.files import whole_file, write_text
from ldp3.reporting import print_charts
from ldp3.reporting.charts import Spec
from ldp3.reporting.citations import bibtex, used_by
from ldp3.reporting.filtering import clean, each_dataset, selected
from ldp3.reporting.findings import Findings
from ldp3.results.rendering import against_epsilon, parts
from ldp3.results.sheets import Sheet
from ldp3.results.table import Results

DOTS = 300  # per inch, of a PNG
IMAGES = ("pdf", "svg", "png")
TEXTS = {"tex": "latex", "md": "markdown"}
FORMATS = (*IMAGES, *TEXTS, "bib")


@dataclass(frozen=True)
class Figures:
    """Figures by name, as SVG; a notebook shows them."""

    drawn: Mapping[str, str]

    def _repr_html_(self) -> str:
        shown = []
        for name, text in self.drawn.items():
            data = b64encode(text.encode()).decode()
            shown.append(
                f'<img alt="{escape(name)}" style="max-width:100%" '
                f'src="data:image/svg+xml;base64,{data}">'
            )
        return "<br>".join(shown)


@overload
def plot(
    results: Results,
    path: None = None,
    metrics: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] | None = None,
    *,
    protocols: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
) -> Figures: ...
@overload
def plot(
    results: Results,
    path: str | Path,
    metrics: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] | None = None,
    formats: str | Sequence[str] = FORMATS,
    *,
    protocols: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
) -> list[Path]: ...
def plot(
    results: Results,
    path: str | Path | None = None,
    metrics: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] | None = None,
    formats: str | Sequence[str] = FORMATS,
    *,
    protocols: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
) -> Figures | list[Path]:
    """Figures of results: in a notebook, or every figure and table for a paper in a folder.

    What the results cannot show is left out.

    Parameters
    ----------
    results
        As `benchmark` gives them or `load_results` reads them.
    path
        The folder to write into; the files come back. Without one the figures do, to be looked at:
        those of the first metric and the strictest ε, unless others are named.
    metrics, epsilons, protocols, methods
        Of which; of all by default.
    formats
        What to write: pdf, svg, png (figures), tex, md (tables), bib (references).
    """
    some = selected(results, metrics, epsilons, protocols, methods)
    parts = {name: clean(part) for name, part in each_dataset(some).items()}
    if path is None:
        return _inline(parts, metrics is None, epsilons is None)
    wanted = [formats] if isinstance(formats, str) else several(formats, "`formats`")
    for one in wanted:
        require(one_of(one, FORMATS), "`formats`", f"are {', '.join(FORMATS)}", one)
    folder, names = as_path(path, "a folder"), _file_names(parts)
    written: list[Path] = []
    for name, part in parts.items():
        found, own = Findings(part), folder / names[name] if len(parts) > 1 else folder
        _make(own)
        written += [*_write_texts(found, own, wanted), *_write_figures(found, own, wanted)]
    return written + _write_overviews(clean(some), folder, wanted)


def svg(spec: Spec) -> str:
    """A finished specification as a drawing."""
    import vl_convert  # holds a JavaScript engine

    return str(vl_convert.vegalite_to_svg(spec))


def _inline(parts: Mapping[str, Results], first_metric: bool, first_epsilon: bool) -> Figures:
    drawn: dict[str, str] = {}
    for name, part in parts.items():
        one = selected(part, str(part.table["metric"][0])) if first_metric else part
        found, where = Findings(one), f"{name}: " if len(parts) > 1 else ""
        epsilons = found.epsilons[:1] if first_epsilon else found.epsilons
        drawn |= {where + title: svg(spec) for title, spec in _figures(found, epsilons)}
    return Figures(drawn)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidData(f"{folder}: cannot be written: {error.strerror}.") from error


def _write_texts(found: Findings, folder: Path, formats: Sequence[str]) -> list[Path]:
    names = _file_names(found.metrics)
    texts = {"references.bib": bibtex(used_by(found.results))} if "bib" in formats else {}
    raw = found.results.manifest.get("reference") == "raw"
    for (metric, epsilon), sheet in found.sheets.items():
        answer = Answer(parts([sheet], raw), {})
        for kind, format in TEXTS.items():
            if kind in formats:
                name = f"table-{names[metric]}-{_number(epsilon)}.{kind}"
                texts[name] = answer.render(format)
    for name, text in texts.items():
        write_text(folder / name, text + "\n")
    return [folder / name for name in texts]


def _write_overviews(results: Results, folder: Path, formats: Sequence[str]) -> list[Path]:
    """For each metric one table of all its datasets and ε, where there are several."""
    asked: dict[str, list[Sheet]] = {}
    for sheet in results.sheets():
        asked.setdefault(sheet.metric, []).append(sheet)
    written = []
    for metric, name in _file_names(asked).items():
        for kind, format in TEXTS.items():
            if kind in formats and len(asked[metric]) > 1:
                file = folder / f"overview-{name}.{kind}"
                write_text(file, Answer([against_epsilon(asked[metric])], {}).render(format) + "\n")
                written.append(file)
    return written


def _write_figures(found: Findings, folder: Path, formats: Sequence[str]) -> list[Path]:
    kinds = [kind for kind in IMAGES if kind in formats]
    written: list[Path] = []
    for name, spec in _figures(found, found.epsilons) if kinds else ():
        drawn, files = svg(spec), [folder / f"{name}.{kind}" for kind in kinds]
        for file in files:
            save_drawing(drawn, file)
        written += files
    return written


def save_drawing(drawn: str, file: Path) -> None:
    """In the format that the file's ending says."""
    import vl_convert

    made: dict[str, Callable[[], bytes]] = {
        ".svg": drawn.encode,
        ".pdf": lambda: _sorted(vl_convert.svg_to_pdf(drawn)),
        ".png": lambda: vl_convert.svg_to_png(drawn, ppi=DOTS),
    }
    content = made[file.suffix]()
    with whole_file(file) as temporary:
        temporary.write_bytes(content)


def _sorted(pdf: bytes) -> bytes:
    """With the names in its dictionaries in order, which else come in another one each time."""
    block = re.compile(rb"(?:^ +/\w+ \d+ 0 R\n)+", re.MULTILINE)
    return block.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)


def _figures(found: Findings, epsilons: Sequence[float]) -> Iterator[tuple[str, Spec]]:
    """Every figure that these findings can fill, and what to call it; `epsilons` one by one."""
    names = _file_names(found.metrics)
    for metric, epsilon in ((m, e) for m, e in found.sheets if e in epsilons):
        where = f"{names[metric]}-{_number(epsilon)}"
        yield f"heatmap-{where}", print_charts.heat(found, metric, epsilon)
        if found.sizes_differ:
            yield f"size-{where}", print_charts.sizes(found, metric, epsilon)
        if found.frequencies is not None and metric == found.metrics[0]:
            drawn = print_charts.frequencies(found, found.frequencies, epsilon)
            yield f"frequencies-{_number(epsilon)}", drawn
    for metric, name in names.items():
        if len(found.epsilons) > 1:
            yield f"error-by-method-{name}", print_charts.error(found, metric, "method")
            yield f"error-by-protocol-{name}", print_charts.error(found, metric, "protocol")
        if len(found.methods) > 1:
            yield f"wins-{name}", print_charts.wins(found, metric)


def _file_names(given: Iterable[str]) -> dict[str, str]:
    """What files call metrics or datasets, each by a name of its own."""
    names: dict[str, str] = {}
    for one in given:
        plain = re.sub(r"[^A-Za-z0-9.]+", "_", one).strip("_.") or "unnamed"
        others = (plain, *(f"{plain}_{i}" for i in range(2, len(names) + 2)))
        names[one] = next(name for name in others if name not in names.values())
    return names


def _number(epsilon: float) -> str:
    """All digits that tell it from any other number, and no more."""
    return repr(epsilon).removesuffix(".0")
