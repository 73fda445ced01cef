"""The estimate of a real collection as one HTML page, without a single script."""

from collections.abc import Mapping
from typing import Any, Protocol

import polars as pl

from ldp3.reporting.rendering import render


class Estimated(Protocol):
    """What a collection says about its people.

    `table` has `label frequency low high processed`, one row per value, and `processed_low
    processed_high` if the method knows them; `about` says the collection, protocol, epsilon, n,
    refused (reports by reason), confidence, simultaneous, interval (what one is for), method, and
    in `remarks` what must be known of the method.
    """

    @property
    def table(self) -> pl.DataFrame: ...
    @property
    def about(self) -> Mapping[str, Any]: ...


def estimate_page(answer: Estimated) -> str:
    """Labels, frequencies, intervals and post-processed values, as bars and numbers."""
    about, table = answer.about, answer.table
    each = "for all values at once" if about["simultaneous"] else "each"
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in about["refused"].items())
    top = max(float(x) for name in ("high", "processed") for x in table[name]) or 1.0
    context = {
        "name": about["collection"],
        "facts": f"{about['n']:,} reports · {about['protocol']}, ε = {about['epsilon']:g} · "
        f"{about['confidence']:.4g} confidence, {each}",
        "interval": about["interval"],
        "method": about["method"],
        "left_out": f"Reports left out: {left_out}." if left_out else "",
        "remarks": about.get("remarks", []),
        "between": "processed_low" in table.columns,
        "rows": [_row(top, *row) for row in table.rows()],
    }
    return render("estimate.html", context)


def _row(
    top: float, label: str, frequency: float, low: float, high: float, processed: float,
    *between: float,
) -> dict[str, Any]:  # fmt: skip
    """The numbers of one value, and where its marks stand in a chart that ends at `top`."""

    def share(x: float) -> str:
        return f"{100 * min(max(x, 0.0), top) / top:.2f}%"

    return {
        "label": label,
        "bar": share(processed),
        "low": share(low),
        "width": share(high - low),
        "point": share(frequency),
        "numbers": [f"{x:.5f}" for x in (frequency, low, high, processed, *between)],
    }
