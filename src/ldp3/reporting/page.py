"""One HTML page that holds everything: text, data, charts and the library that draws them."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from ldp3 import kinds, specs
from ldp3.errors import InvalidParameter, LDPError, as_path
from ldp3.files import write_text
from ldp3.kinds import summary
from ldp3.printing import plural
from ldp3.reporting.charts import charts
from ldp3.reporting.filtering import clean, each_dataset, is_attacked
from ldp3.reporting.findings import NUMBERS_CARRIED, Findings
from ldp3.reporting.html import render, script
from ldp3.reporting.page_data import overview, page_data
from ldp3.reporting.under_attack import UnderAttack
from ldp3.results import names
from ldp3.results.names import written
from ldp3.results.sheets import Sheet
from ldp3.results.table import Results

SCRIPTS = (  # in this order, after the library
    "data.js", "names.js", "charts.js", "saving.js", "table.js", "overview.js", "attacked.js",
    "page.js",
)  # fmt: skip
# what repeats a run, by what its manifest calls it
FLAGS = {
    "-e": "epsilons",
    "-p": "protocols",
    "-m": "methods",
    "-u": "metrics",
    "-r": "repeats",
    "--seed": "seed",
    "--simulate": "simulate",
    "--reference": "reference",
}
ATTACK_FLAGS = {flag: key for flag, key in FLAGS.items() if key != "reference"} | {
    "--attack": "attacks",
    "--targets": "targets",
    "--fake-users": "fake_users",
}


def report(results: Results, path: str | Path) -> None:
    """Write one self-contained HTML page: words, charts, the full table, how to repeat it."""
    target = page_path(path)
    write_text(target, page(results))


def page_path(path: str | PathLike[str], other: str = "") -> Path:
    """Where a page may go, with .html or the other ending; refused before any work is done."""
    target = as_path(path, "an .html file")
    if target.suffix.lower() not in (".html", ".htm", other or ".html") or target.is_dir():
        kinds = f"an .html or {other}" if other else "an .html"
        raise InvalidParameter(f"A page is {kinds} file, got {str(target)!r}.")
    if not target.parent.is_dir():
        raise InvalidParameter(f"Cannot write {str(target)!r}: no such folder.")
    return target


def page(results: Results, heading: str = "", said: str = "") -> str:
    """The page's text; with a heading of its own, and a sentence below it."""
    parts = each_dataset(results)
    found = {n: Findings(clean(part), NUMBERS_CARRIED // len(parts)) for n, part in parts.items()}
    attacked = {n: UnderAttack(part, found[n]) for n, part in parts.items() if is_attacked(part)}
    attacks = [a for one in attacked.values() for a in one.attacks]
    words, read = glossary(found.values(), attacks), titles(found.values(), attacks)
    context = {
        "name": heading or ", ".join(found),
        "heading": heading,
        "said": said,
        "datasets": [
            {"name": name, **_dataset(one, attacked.get(name))} for name, one in found.items()
        ],
        "command": command(results.manifest),
        "words": words,
        "titles": read,
        "data": {
            "datasets": [
                {"name": name, **page_data(one, attacked.get(name))} for name, one in found.items()
            ],
            "overview": overview(found) if len(found) > 1 else [],
            "words": words,
            "titles": read,
        },
    }
    return render("report.html", context, [_library(), *map(script, SCRIPTS)])


def _dataset(found: Findings, attacked: UnderAttack | None) -> dict[str, Any]:
    """What the page says of one dataset."""
    return {
        "facts": _facts(found),
        "answers": [
            {
                "metric": found.metrics.index(metric),
                "epsilon": found.epsilons.index(epsilon),
                "sentences": found.words(metric, epsilon),
            }
            for metric, epsilon in found.sheets
        ],
        "tables": [
            _table(found.sheets[found.metrics[0], e])
            for e in found.epsilons
            if (found.metrics[0], e) in found.sheets
        ],
        "values": _values(found),
        "limit": _limit(found),
        "repeats": plural(found.repeats, "repeat"),
        "origin": origin(found),
        "charts": list(charts(found)),
        "attacked": "" if attacked is None else _attacked(attacked),
    }


def _table(sheet: Sheet) -> dict[str, Any]:
    """What is read where scripts are off."""
    factor = f", in units of {10.0**sheet.exponent:g}" if sheet.exponent else ""
    read = names.reading(sheet.metric, sheet.better)
    return {
        "said": f"Mean {names.metric(sheet.metric)} ({read}) at ε = {sheet.epsilon:g}{factor}. "
        f"★ best of all, ≈ tied with it.",
        "methods": [names.method(m) for m in sheet.methods],
        "rows": [
            {"protocol": names.protocol(p), "cells": [_cell(sheet, p, m) for m in sheet.methods]}
            for p in sheet.protocols
        ],
    }


def _cell(sheet: Sheet, protocol: str, method: str) -> str:
    cell = sheet.cell(protocol, method)
    mark = " ★" if "best" in cell.marks else " ≈" if "tied" in cell.marks else ""
    return cell.text + mark


@cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, whose own short names stay inside."""
    import vl_convert  # holds a JavaScript engine

    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(() => {" + bundle.replace("</script", r"<\/script") + "})();"


def _facts(found: Findings) -> str:
    epsilons = ", ".join(f"{epsilon:g}" for epsilon in found.epsilons)
    grid = f"{plural(len(found.protocols), 'protocol')} × {plural(len(found.methods), 'method')}"
    return (
        f"{found.n:,} people, {found.d:,} values · ε {epsilons} · {grid} · "
        f"{plural(found.repeats, 'repeat')}"
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


def _attacked(attacked: UnderAttack) -> str:
    """Who attacks, and what for."""
    targets = attacked.results.manifest.get("targets")
    named = f", who want to raise {', '.join(map(str, targets))}" if targets else ""
    numbers = ", ".join(f"{m:,}" for m in attacked.fakes)
    shares = ", ".join(f"{attacked.share(m):.2%}" for m in attacked.fakes)
    return f"{numbers} fake users ({shares} of all){named}."


def _values(found: Findings) -> str:
    """Which values the frequencies are of."""
    if found.frequencies is None or len(found.frequencies.labels) == found.d:
        return "All values"
    if found.frequencies.together:
        return f"All {found.d:,} values, neighbours together"
    return f"The {len(found.frequencies.labels)} most frequent of {found.d:,} values"


def origin(found: Findings) -> dict[str, str]:
    """Data, seed and versions, and what is left out; what is not known is not among them."""
    manifest = found.results.manifest
    ways = " and ".join(found.results.table["simulate"].unique(maintain_order=True))
    own = [entry for entry in _data(manifest) if entry.get("name") == found.dataset]
    facts = {
        "Dataset": f"{found.dataset}: {found.n:,} people, {found.d:,} values",
        "SHA-256 of the data": own[0].get("digest") if own else None,
        "Seed": manifest.get("seed"),
        "Simulation": "every person's value perturbed" if ways == "users" else ways,
        "Reference": manifest.get("reference"),
        "Notes": " ".join(_texts(manifest.get("notes"))),
        "Plug-ins": _pairs(manifest.get("plugins")),
        "Versions": _pairs(manifest.get("versions")),
        **{f"Left out: {what}": why for what, why in found.left_out.items()},
    }
    return {what: str(said) for what, said in facts.items() if said not in (None, "")}


def command(manifest: Mapping[str, Any]) -> str | None:
    """The command that was given; for a run from Python, one that gives the same table."""
    if isinstance(manifest.get("command"), str):
        return str(manifest["command"])
    data = [entry["name"] for entry in _data(manifest) if isinstance(entry.get("name"), str)]
    attacked = "fake_users" in manifest
    flags = ATTACK_FLAGS if attacked else FLAGS
    if not data or not all(key in manifest for key in flags.values()):
        return None
    words = ["ldp3", *(["attack", "poison"] if attacked else ["run"]), "-d", *data]
    for flag, key in flags.items():
        value = manifest[key] if isinstance(manifest[key], list) else [manifest[key]]
        words += [flag, *(_word(one) for one in value if key != "attacks" or one != "none")]
    if manifest.get("population") is not None:
        words += ["--population", _word(manifest["population"])]
    plugins = manifest.get("plugins")
    files = [name for name in plugins if name.endswith(".py")] if isinstance(plugins, dict) else []
    return shlex.join([*words, *(["--plugin", *files] if files else [])])


def _data(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = manifest.get("data")
    return [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []


def _texts(given: object) -> list[str]:
    return [note for note in given if isinstance(note, str)] if isinstance(given, list) else []


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _pairs(found: object) -> str:
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{key} {value}" for key, value in found.items())


def glossary(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """Metrics, protocols, methods and attacks as results name them; plug-ins that are here, too."""
    return {name: said for name, kind in _named(found, attacks) if (said := meaning(kind, name))}


def titles(found: Iterable[Findings], attacks: Iterable[str] = ()) -> dict[str, str]:
    """What people read in place of each name, where that is another spelling."""
    named = _named(found, attacks)
    return {name: read for name, kind in named if (read := written(kind, name)) != name}


def _named(found: Iterable[Findings], attacks: Iterable[str]) -> Iterator[tuple[str, type]]:
    """Everything that results name, and its kind."""
    every = kinds.every_kind()
    yield from ((name, every["attacks"]) for name in attacks)
    for one in found:
        yield from ((name, every["metrics"]) for name in one.metrics)
        yield from ((name, every["protocols"]) for name in one.protocols)
        yield from ((name, every["methods"]) for name in one.methods)


def meaning(kind: type, spec: str) -> str:
    """The first line of what the class says of itself; of a chain, all of them.

    >>> meaning(kinds.every_kind()["methods"], "base_pos+none")
    'Negative estimates become zero; then: No post-processing'
    """
    said = []
    for part in specs.split(spec, "+"):
        with suppress(LDPError):
            said.append(summary(kinds.look_up(kind, specs.parse(part)[0])))
    return "; then: ".join(said)
