"""`ldp3 list`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3 import answers
from ldp3.cli import flags
from ldp3.printing import show

Kind = Literal["protocols", "methods", "metrics", "attacks", "datasets"]


_GIVEN = {"protocols": ("epsilon", "d", "sizes"), "attacks": ("targets", "honest")}  # by a run


def list_(
    kinds: Annotated[list[Kind] | None, Parameter(name="KIND")] = None,
    /,
    *,
    plugins: flags.Plugins = [],  # noqa: B006
    cite: bool = False,
    used: Path | None = None,
    format: flags.AnswerFormat = "text",
) -> None:
    """Show every protocol, method, metric, attack and dataset: one line, parameters, reference.

    Parameters
    ----------
    kinds
        What to show; everything by default.
    cite
        Print the references as BibTeX instead.
    used
        Only what these results used.
    """
    from ldp3.kinds import every_kind, find, installed_names
    from ldp3.plugins import load_plugins

    modules = load_plugins(plugins)
    known = {name: kind for name, kind in every_kind().items() if not kinds or name in kinds}
    shown: dict[str, list[type]] = {
        name: list(find(kind, *modules).values()) for name, kind in known.items()
    }
    if used is not None:
        from ldp3.reporting.citations import used_by
        from ldp3.results.table import load_results

        chosen = used_by(load_results(used), *modules)
        shown = {name: [cls for cls in found if cls in chosen] for name, found in shown.items()}
    if cite:
        from ldp3.reporting.citations import bibtex

        show(bibtex(cls for found in shown.values() for cls in found))
        return
    import polars as pl

    rows = [_described(name, cls) for name, found in shown.items() for cls in found]
    rows += [
        {"kind": name, "name": other, "summary": f"From the installed package {package}."}
        for name, found in shown.items()
        for other, package in (installed_names(known[name]).items() if found else ())
    ]
    parts: list[answers.Passage] = []
    for name in shown:
        own = [row for row in rows if row["kind"] == name]
        if own:
            entries = {row["name"] + row.get("parameters", ""): _lines(row) for row in own}
            parts += [answers.Heading(name), answers.Terms(entries)]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    flags.tell(answers.Answer(parts, {"things": frame}), format)


def _described(kind: str, cls: type) -> dict[str, str]:
    """Name and parameters, the first line of the docstring, the reference."""
    from dataclasses import MISSING

    from ldp3.kinds import name_of, reference, summary
    from ldp3.specs import parameters, symbol

    tuned = [
        symbol(cls, f.name) + ("" if f.default is MISSING else f"={f.default!r}")
        for f in parameters(cls, *_GIVEN.get(kind, ()))
    ]
    return {
        "kind": kind,
        "name": name_of(cls),
        "parameters": f"({', '.join(tuned)})" if tuned else "",
        "summary": f"{summary(cls)}.",
        "suits": _suits(cls),
        "instead": getattr(cls, "instead", ""),
        "reference": reference(cls),
    }


def _suits(cls: type) -> str:
    """Which values it is for, and which errors: those of some protocols hang together."""
    said = ["For values in order."] if getattr(cls, "needs_order", False) else []
    if not getattr(cls, "takes_covariance", True):
        said.append("Not for sw and resolutions, whose errors hang together.")
    return " ".join(said)


def _lines(row: dict[str, str]) -> list[str]:
    instead = row.get("instead", "")
    lines = [
        row.get("suits", ""),
        f"Not in `all`: take {instead}." if instead else "",
        row.get("reference", ""),
    ]
    return [row["summary"], *filter(None, lines)]
