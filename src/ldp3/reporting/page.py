"""One HTML page that holds everything: text, data, charts and the library that draws them.

Nothing is loaded from anywhere, and the page's own policy forbids it. The policy also names the
only two scripts that may run by their hashes: whatever a label or a file name holds stays text.
"""

import json
import re
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ldp3.errors import InvalidParameter, LDPError
from ldp3.reporting import palette
from ldp3.reporting.charts import charts
from ldp3.reporting.findings import Findings
from ldp3.reporting.words import combination
from ldp3.results import Results

COLUMNS = (
    "metric", "epsilon", "protocol", "method", "mean", "std", "low", "high", "min", "max",
    "count", "rank", "tied", "bits", "simulate",
)  # fmt: skip


def report(results: Results, path: str | Path) -> None:
    """Write one self-contained HTML page: words, charts, the full table, how to repeat it."""
    target = page_path(path)
    text = page(results)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LDPError(f"Cannot write {str(target)!r}: {error.strerror}.") from error


def page_path(path: str | Path) -> Path:
    """Where a page may go; refused before any work is done for it."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
        raise InvalidParameter(f"A report is an .html file, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"Cannot write {str(target)!r}: no such folder.")
    return target


def page(results: Results) -> str:
    """The page's text."""
    found = Findings(results)
    library, script = _library(), _file("page.js")
    name, n, d = found.about
    return _filled(
        _file("page.html"),
        {
            "policy": _policy(library, script),
            "style": style(),
            "dataset": escape(name),
            "facts": escape(
                f"{n:,} users, {d:,} values · ε {', '.join(f'{e:g}' for e in found.epsilons)} · "
                f"{len(found.protocols)} {_plural('protocol', found.protocols)} × "
                f"{len(found.methods)} {_plural('method', found.methods)} · "
                f"{found.repeats} repeat{'s' * (found.repeats > 1)}"
            ),
            "sections": "\n".join(_sections(found)),
            "data": json.dumps(_data(found), separators=(",", ":")).replace("<", "\\u003c"),
            "library": library,
            "script": script,
        },
    )


def style() -> str:
    """How our pages look."""
    colours = {"light": _series(palette.COLOURS), "dark": _series(palette.DARK)}
    return _filled(_file("page.css"), colours)


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    import vl_convert  # holds a JavaScript engine

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle.replace("</script", r"<\/script")


def _sections(found: Findings) -> list[str]:
    drawn = charts(found)
    own = {
        "Error against ε": "error-method" in drawn,
        "Win rates": "wins" in drawn,
        "Error against report size": "sizes" in drawn,
        "True and estimated frequencies": "frequencies" in drawn,
    }
    parts = [_answers(found), _heat()]
    if own["Error against ε"]:
        parts.append(_error())
    pair = [_wins()] * own["Win rates"] + [_sizes()] * own["Error against report size"]
    parts.append(f'<div class="pair">{"".join(pair)}</div>')
    if found.frequencies is not None:
        parts.append(
            _frequencies(len(found.frequencies.labels), found.frequencies.d, found.repeats)
        )
    return [*parts, _table(), _origin(found)]


def _answers(found: Findings) -> str:
    said: list[str] = []
    for metric, epsilon in found.sheets:
        words = "".join(f"<p>{escape(s)}</p>" for s in found.words(metric, epsilon))
        place = f"{found.metrics.index(metric)} {found.epsilons.index(epsilon)}"
        hidden = " hidden" if said else ""
        said.append(f'<div class="answer" data-answer="{place}"{hidden}>{words}</div>')
    return f'<section id="answer"><h2>What to deploy</h2>{"".join(said)}</section>'


def _heat() -> str:
    return _section(
        "heat",
        "Every protocol with every method",
        "Mean <b data-now=metric></b> (<span data-now=better></span> is better) at ε = "
        "<span data-now=epsilon></span>, <span data-now=scale></span>. Brighter is better; ★ best "
        "of all, ≈ not to be told from it.",
    )


def _error() -> str:
    return _section(
        "error",
        "Error against ε",
        "Mean and 95 % confidence band. A click in the legend picks a line, one more adds it."
        '<span class="mouse"> Drag moves, Ctrl and the wheel zoom, a double click goes back.'
        "</span>",
        '<label>Compare <select id="series"></select></label>'
        '<label><input type="checkbox" id="ratio"> divided by the best line</label>',
    )


def _wins() -> str:
    return _section(
        "wins",
        "Win rates",
        "How often each method is the best of those applied to the same estimate, over all "
        "protocols and repeats; shared wins are shared.",
    )


def _sizes() -> str:
    return _section(
        "sizes",
        "Error against report size",
        "Each protocol without post-processing (hollow) and with its best method (filled); equal "
        "sizes stand side by side.",
    )


def _frequencies(shown: int, d: int, repeats: int) -> str:
    which = "All values" if shown == d else f"The {shown} most frequent of {d:,} values"
    return _section(
        "frequencies",
        "True and estimated frequencies",
        f"{which}. Estimates are averages over {repeats} repeat{'s' * (repeats > 1)}: noise "
        f"averages out, what stays is what post-processing moves.",
        '<label>Protocol <select id="protocol"></select></label>'
        '<label>Method <select id="method"></select></label>',
    )


def _section(name: str, title: str, note: str, controls: str = "") -> str:
    controls = f'<div class="controls">{controls}</div>' if controls else ""
    return (
        f'<section id="{name}-section"><h2>{title}</h2><p class="note">{note}</p>{controls}'
        f'<div class="chart" id="{name}"></div></section>'
    )


def _table() -> str:
    return (
        '<section id="table-section" class="long"><h2>All numbers</h2>'
        '<p class="note">A click on a head sorts. Tied: not to be told from the best of its metric '
        "and ε.</p>"
        '<div class="controls"><label><input type="checkbox" id="only"> only the metric and ε '
        "chosen above</label></div>"
        '<div class="scroll"><table><thead><tr id="head"></tr></thead><tbody id="rows"></tbody>'
        '</table></div><p><button type="button" class="more" id="more" hidden></button></p>'
        "</section>"
    )


def _origin(found: Findings) -> str:
    """Data, seed, versions, and the command; from the manifest, which may hold anything."""
    manifest = found.results.manifest
    name, n, d = found.about
    ways = " and ".join(found.results.table["simulate"].unique(maintain_order=True))
    facts = {
        "Dataset": f"{name}: {n:,} users, {d:,} values",
        "SHA-256 of the data": manifest.get("digest"),
        "Seed": manifest.get("seed"),
        "Simulation": "every user perturbed" if ways == "users" else ways,
        "Reference": manifest.get("reference"),
        "Plug-ins": _pairs(manifest.get("plug-ins")),
        "Versions": _pairs(manifest.get("versions")),
        **{f"Left out: {what}": why for what, why in found.left_out.items()},
    }
    rows = "".join(
        f"<dt>{escape(key)}</dt><dd>{escape(str(value))}</dd>"
        for key, value in facts.items()
        if value not in (None, "")
    )
    repeat = command(manifest)
    shown = (
        f"<p>To repeat it:</p><pre id=command>{escape(repeat)}</pre>"
        if repeat
        else '<p class="note">No manifest stands beside this table, so seed, versions and command '
        "are not known.</p>"
    )
    return (
        f'<section id="origin"><h2>Data and how to repeat it</h2><dl>{rows}</dl>{shown}</section>'
    )


def command(manifest: Mapping[str, Any]) -> str | None:
    """The command that was given; for a run from Python, one that gives the same table."""
    if isinstance(manifest.get("command"), str):
        return str(manifest["command"])
    flags = {"-d": "dataset", "-e": "epsilons", "-p": "protocols", "-m": "methods",
             "-u": "metrics", "-r": "repeats", "--seed": "seed", "--simulate": "simulate",
             "--reference": "reference"}  # fmt: skip
    if not all(key in manifest for key in flags.values()):
        return None
    words = ["ldp3", "run"]
    for flag, key in flags.items():
        value = manifest[key]
        words += [flag, *(_word(v) for v in (value if isinstance(value, list) else [value]))]
    return shlex.join(words)


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _pairs(found: object) -> str:
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{key} {value}" for key, value in found.items())


def _data(found: Findings) -> dict[str, Any]:
    """What the script works on."""
    names: dict[str, list[Any]] = {
        "metric": found.metrics,
        "epsilon": found.epsilons,
        "protocol": found.protocols,
        "method": found.methods,
    }
    places = {key: {name: i for i, name in enumerate(values)} for key, values in names.items()}
    rows = [
        [places[c][v] if c in places else _short(v) for c, v in zip(COLUMNS, row, strict=True)]
        for row in found.cells.select(COLUMNS).rows()
    ]
    leader = found.candidates(*next(iter(found.sheets)))[0]
    return {
        **names,
        "cells": {"columns": COLUMNS, "rows": rows},
        "sheets": [_sheet(found, *key) for key in found.sheets],
        "leader": {"protocol": leader.protocol, "method": leader.method},
        "frequencies": _shown(found),
        "charts": charts(found),
    }


def _sheet(found: Findings, metric: str, epsilon: float) -> dict[str, Any]:
    sheet = found.sheets[metric, epsilon]
    return {
        "metric": metric,
        "epsilon": epsilon,
        "better": sheet.better,
        "factor": 10.0**sheet.exponent,
        "scale": f"in units of {10.0**sheet.exponent:g}",
        "best": combination(*sheet.best),
        "wins": [{"method": m, "rate": _short(rate)} for m, rate in sheet.wins.items()],
        "sizes": [
            {key: _short(value) for key, value in row.items()}
            for row in found.sizes(metric, epsilon)
        ],
    }


def _shown(found: Findings) -> dict[str, Any] | None:
    given = found.frequencies
    if given is None:
        return None
    return {
        "labels": given.labels,
        "truth": [_short(f) for f in given.truth],
        "means": [
            {"epsilon": e, "protocol": p, "method": m, "values": [_short(f, 4) for f in values]}
            for (e, p, m), values in given.means.items()
        ],
    }


def _short(value: Any, digits: int = 6) -> Any:
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _policy(*scripts: str) -> str:
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        f"base-uri 'none'; form-action 'none'"
    )


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """All places at once: a part that looks like a place is not one."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def _file(name: str) -> str:
    return files("ldp3.reporting").joinpath(name).read_text(encoding="utf-8")


def _series(colours: Sequence[str]) -> str:
    return " ".join(f"--series-{i}: {colour};" for i, colour in enumerate(colours))


def _plural(word: str, things: list[str]) -> str:
    return word if len(things) == 1 else word + "s"
