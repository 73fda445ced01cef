"""`ldp3 list`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.printing import show, terminal_width, wrapped

Kind = Literal["protocols", "methods", "metrics", "attacks", "datasets"]


_GIVEN = ("epsilon", "d", "targets", "honest")  # by the experiment


def list_(
    kinds: Annotated[list[Kind] | None, Parameter(name="KIND")] = None,
    /,
    *,
    plugins: options.Plugins = [],  # noqa: B006
    cite: bool = False,
    used: Path | None = None,
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
    for name, found in shown.items():
        if found:
            show(name)
            show("\n".join(map(_described, found)))
            for other, package in installed_names(known[name]).items():
                show(f"  {other}\n      From the installed package {package}.")
            show("")


def _described(cls: type) -> str:
    """Name and parameters, the first line of the docstring, the reference."""
    from dataclasses import MISSING

    from ldp3.kinds import name_of, reference, summary
    from ldp3.specs import parameters, symbol

    tuned = [
        symbol(cls, f.name) + ("" if f.default is MISSING else f"={f.default!r}")
        for f in parameters(cls, *_GIVEN)
    ]
    name = name_of(cls) + (f"({', '.join(tuned)})" if tuned else "")
    said = [f"{summary(cls)}."]
    if instead := getattr(cls, "instead", ""):
        said.append(f"Not in `all`: take {instead}.")
    said += [reference(cls)] if reference(cls) else []
    width = terminal_width()
    return "\n".join([f"  {name}", *(wrapped(words, width, " " * 6) for words in said)])
