"""One HTML page that holds everything: text, data, charts and the library that draws them."""

from functools import cache
from pathlib import Path
from typing import Any

from ldp3.errors import InvalidParameter, as_path
from ldp3.files import write_text
from ldp3.reporting.attacked import Attacked
from ldp3.reporting.charts.every import charts
from ldp3.reporting.data import page_data
from ldp3.reporting.findings import Findings
from ldp3.reporting.frequencies import NUMBERS
from ldp3.reporting.glossary import glossary, titles
from ldp3.reporting.origin import command, origin
from ldp3.reporting.overview import overview
from ldp3.reporting.rendering import render, script
from ldp3.reporting.selection import clean, each_dataset, is_attacked
from ldp3.results.table import Results

SCRIPTS = (  # in this order, after the library
    "data.js", "names.js", "charts.js", "saving.js", "table.js", "overview.js", "attacked.js",
    "page.js",
)  # fmt: skip


def report(results: Results, path: str | Path) -> None:
    """Write one self-contained HTML page: words, charts, the full table, how to repeat it."""
    target = page_path(path)
    write_text(target, page(results))


def page_path(path: str | Path) -> Path:
    """Where a page may go; refused before any work is done for it."""
    target = as_path(path, "an .html file")
    if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
        raise InvalidParameter(f"A report is an .html file, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"Cannot write {str(target)!r}: no such folder.")
    return target


def page(results: Results) -> str:
    """The page's text."""
    parts = each_dataset(results)
    found = {n: Findings(clean(part), NUMBERS // len(parts)) for n, part in parts.items()}
    attacked = {n: Attacked(part, found[n]) for n, part in parts.items() if is_attacked(part)}
    attacks = [a for one in attacked.values() for a in one.attacks]
    words, read = glossary(found.values(), attacks), titles(found.values(), attacks)
    context = {
        "name": ", ".join(found),
        "datasets": [_dataset(one, attacked.get(name)) for name, one in found.items()],
        "command": command(results.manifest),
        "words": words,
        "titles": read,
        "data": {
            "datasets": [page_data(one, attacked.get(name)) for name, one in found.items()],
            "overview": overview(found) if len(found) > 1 else [],
            "words": words,
            "titles": read,
        },
    }
    return render("report.html", context, [_library(), *map(script, SCRIPTS)])


def _dataset(found: Findings, attacked: Attacked | None) -> dict[str, Any]:
    """What the page says of one dataset."""
    return {
        "name": found.dataset,
        "facts": _facts(found),
        "answers": [
            {
                "metric": found.metrics.index(metric),
                "epsilon": found.epsilons.index(epsilon),
                "sentences": found.words(metric, epsilon),
            }
            for metric, epsilon in found.sheets
        ],
        "values": _values(found),
        "limit": _limit(found),
        "repeats": _counted(found.repeats, "repeat"),
        "origin": origin(found),
        "charts": list(charts(found)),
        "attacked": "" if attacked is None else _attacked(attacked),
    }


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, whose own short names stay inside."""
    import vl_convert  # holds a JavaScript engine

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(() => {" + bundle.replace("</script", r"<\/script") + "})();"


def _facts(found: Findings) -> str:
    epsilons = ", ".join(f"{epsilon:g}" for epsilon in found.epsilons)
    grid = (
        f"{_counted(len(found.protocols), 'protocol')} × {_counted(len(found.methods), 'method')}"
    )
    return (
        f"{found.n:,} users, {found.d:,} values · ε {epsilons} · {grid} · "
        f"{_counted(found.repeats, 'repeat')}"
    )


def _limit(found: Findings) -> str:
    """What × limit means, where the table has it."""
    if found.combinations["times_limit"].is_null().all():
        return ""
    return (
        "× limit: mean error divided by that of an ideal rule that knows the true frequencies but "
        "not which value has which, and looks at one estimate at a time; no method, only a "
        "yardstick. As a distribution: divided by that of the same rule made to sum to one. A "
        "method that uses the order of the domain, or the sum, may be below 1."
    )


def _attacked(attacked: Attacked) -> str:
    """Who attacks, and what for."""
    targets = attacked.results.manifest.get("targets")
    named = f", who want to raise {', '.join(map(str, targets))}" if targets else ""
    if not attacked.fakes:
        return f"An unknown number of fake users{named}."
    numbers = ", ".join(f"{m:,}" for m in attacked.fakes)
    shares = ", ".join(f"{attacked.share(m):.2%}" for m in attacked.fakes)
    return f"{numbers} fake users ({shares} of all){named}."


def _values(found: Findings) -> str:
    """Which values the frequencies are of."""
    if found.frequencies is None or len(found.frequencies.labels) == found.d:
        return "All values"
    return f"The {len(found.frequencies.labels)} most frequent of {found.d:,} values"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
