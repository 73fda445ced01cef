"""The estimate of a real collection as one HTML page, which sorts."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import polars as pl
from markupsafe import Markup, escape

from ldp3.collection.estimate_table import UP_TO, heads
from ldp3.display import distribution
from ldp3.printing import plural
from ldp3.reporting.html import render, script
from ldp3.results import names

MOST_LINES = 40  # of a table that is shown at a glance


class Estimated(Protocol):
    """What a collection says about its people.

    `table` has `label frequency low high processed users above_noise`, one row per value, and
    `processed_low processed_high` if the method knows them; `about` says the collection, protocol,
    epsilon, n, ordered (whether the values are), single (whether they are read one by one, not as
    the share up to each), refused (reports by reason), confidence, simultaneous, interval (what one
    is for), method, in `remarks` what must be known of the method, in `marks` what the mark means.
    """

    @property
    def table(self) -> pl.DataFrame: ...
    @property
    def about(self) -> Mapping[str, Any]: ...


def estimate_page(answer: Estimated) -> str:
    """Labels, frequencies, intervals and post-processed values, as bars and numbers."""
    context = {**estimate_context(answer), "sorts": True}
    return render("estimate.html", context, [script("estimate.js")])


def estimate_context(
    answer: Estimated, ordered: bool | None = None, most: int | None = None
) -> dict[str, Any]:
    """What goes into the table, in the order of the domain or by frequency; `most` rows of it."""
    about, table = answer.about, answer.table.with_row_index("place")
    single = about["single"]
    each = "for all values at once" if about["simultaneous"] else "each"
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in about["refused"].items())
    drawn = ("high", "processed") if single else ("processed",)
    top = max(float(x) for name in drawn for x in table[name]) or 1.0
    columns = heads(table, about) | {"users": "people"} | ({} if single else UP_TO)
    ordered = bool(about.get("ordered")) if ordered is None else ordered
    by = "frequency" if single else "processed"
    shown = table if ordered else table.sort(by, descending=True, maintain_order=True)
    return {
        "name": ", ".join(
            filter(None, [about["collection"], " × ".join(about.get("attributes", []))])
        ),
        "facts": f"{plural(about['n'], 'report')} · {names.protocol(about['protocol'])}, "
        f"ε = {about['epsilon']:g} · {about['confidence']:.4g} confidence, {each}",
        "single": single,
        "interval": about["interval"],
        "method": names.method(about["method"]),
        "left_out": f"Reports left out: {left_out}." if left_out else "",
        "remarks": about.get("remarks", []),
        "marks": about.get("marks", ""),
        "heads": list(columns.values()),
        "rows": [_row(top, row, columns) for row in shown.head(most or len(shown)).to_dicts()],
        "ordered": ordered,
        "drawing": drawing(answer),
        "heat": heat_map(answer),
    }


def heat_map(answer: Estimated) -> str:
    """A table of two attributes: the darker, the more people; nothing if there are too many."""
    cross = answer.about.get("cross")
    if not cross or len(cross[0]) > MOST_LINES or len(cross[1]) > MOST_LINES:
        return ""
    rows, columns = cross
    shares = answer.table["processed"].to_numpy().reshape(len(rows), len(columns))
    dark = 0.75 * np.maximum(shares, 0) / max(float(shares.max()), 1e-12)
    head = "".join(f'<th scope="col">{escape(label)}</th>' for label in columns)
    lines = []
    for label, line, shades in zip(rows, shares, dark, strict=True):
        cells = "".join(
            f'<td style="background:rgba(31,119,180,{shade:.2f})">{x:.1%}</td>'
            for x, shade in zip(line, shades, strict=True)
        )
        lines.append(f'<tr><th class="text" scope="row">{escape(label)}</th>{cells}</tr>')
    named = " × ".join(answer.about["attributes"])
    return Markup(
        f'<div class="scroll"><table class="heat"><thead><tr><th class="text">{escape(named)}</th>'
        f"{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def drawing(answer: Estimated) -> str:
    """The values in order, drawn; nothing where they have none."""
    if "up_to" not in answer.table.columns:
        return ""
    numbers = (answer.table[name].to_numpy() for name in ("processed", "up_to", "up_to_low",
                                                          "up_to_high"))  # fmt: skip
    return Markup(distribution(answer.table["label"].to_list(), *numbers))


def _row(top: float, row: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """The numbers of one value, and where its marks stand in a chart that ends at `top`."""

    def share(x: float) -> str:
        return f"{100 * min(max(x, 0.0), top) / top:.2f}%"

    return {
        "label": row["label"],
        "place": row["place"],
        "above": row["above_noise"],
        "bar": share(row["processed"]),
        "low": share(row["low"]),
        "width": share(row["high"] - row["low"]),
        "point": share(row["frequency"]),
        "numbers": [f"{row[name]:{',' if name == 'users' else '.5f'}}" for name in columns],
    }
