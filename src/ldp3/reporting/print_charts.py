"""The charts of the page, finished for print: column width, small type, no mouse."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import BoolArray, FloatArray
from ldp3.printing import visible
from ldp3.reporting import charts
from ldp3.reporting.charts import Spec
from ldp3.reporting.findings import Findings, Frequencies
from ldp3.results import names
from ldp3.results.sheets import Sheet

WIDTH = 245  # points: one of two columns, 3.4 inches
SMALLER = {"size": 0.25, "strokeWidth": 0.5, "fontSize": 0.6}  # than on the page
CONFIG: Spec = {
    "background": "white",
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",  # the first comes with the converter
    "axis": {
        "labelFontSize": 8,
        "titleFontSize": 8.5,
        "titleFontWeight": "normal",
        "labelColor": "black",
        "titleColor": "black",
        "titlePadding": 4,
        "labelPadding": 2,
        "tickSize": 3,
        "tickWidth": 0.6,
        "domainWidth": 0.6,
        "tickColor": "black",
        "domainColor": "black",
        "gridColor": "#d8d8d8",
        "gridWidth": 0.4,
    },
    "axisX": {"grid": False},
    "legend": {
        "orient": "top",
        "labelFontSize": 7.5,
        "labelColor": "black",
        "labelLimit": 200,
        "symbolSize": 30,
        "symbolStrokeWidth": 0,  # or a line's dashes go round its symbol
        "symbolOpacity": 1,
        "rowPadding": 1,
        "columnPadding": 7,
        "offset": 4,
        "padding": 0,
    },
    "title": {"fontSize": 8.5, "fontWeight": "normal", "offset": 5},
    "view": {"stroke": None},
}
INKS = {  # in place of the page's colours
    **{f"var(--series-{i})": colour for i, colour in enumerate(charts.COLOURS)},
    "var(--paper)": "white",
    "var(--ink)": "black",
    "var(--bar)": "#c3cad2",
}
LOG: Spec = {"type": "log", "nice": False, "padding": 6}
COLUMNS = 4  # of a legend


def heat(found: Findings, metric: str, epsilon: float) -> Spec:
    """The mean of every protocol and method."""
    sheet = found.sheets[metric, epsilon]
    pairs = list(sheet.means)
    tied = np.array([pair in sheet.tied | sheet.firsts for pair in pairs])
    shade = shades(np.array(list(sheet.means.values())), sheet.better, tied)
    rows = [
        {"protocol": p, "method": m, "shade": float(s), "text": _cell(sheet, p, m),
         "bold": (p, m) in sheet.row_best}
        for (p, m), s in zip(pairs, shade, strict=True)
    ]  # fmt: skip
    spec = _printed(charts.heat(found), rows, _titles(found), height=15 * len(sheet.protocols))
    spec["width"] = max(WIDTH, 32 * len(sheet.methods))
    factor = f", in units of {10.0**sheet.exponent:g}" if sheet.exponent else ""
    title = f"{names.measure(metric)} at ε = {epsilon:g}{factor}"
    spec["title"] = {"text": title, "orient": "bottom"}
    bare = {"domain": False, "ticks": False}
    spec["encoding"]["x"]["axis"] |= bare
    spec["encoding"]["y"]["axis"] = bare
    cells, text, _ = spec["layer"]
    cells["mark"]["strokeWidth"] = 0
    cells["encoding"]["color"]["legend"] = None
    text["mark"]["dy"] = 0
    # outlined and not bold: with a second font the same figure makes another PDF each time
    bold = {"transform": [{"filter": "datum.bold"}], "mark": {**text["mark"], "strokeWidth": 0.4}}
    bold["encoding"] = {**text["encoding"], "stroke": text["encoding"]["color"]}
    spec["layer"] = [cells, text, bold]
    return spec


def _cell(sheet: Sheet, protocol: str, method: str) -> str:
    cell = sheet.cell(protocol, method)
    mark = "*" if "best" in cell.marks else "≈" if "tied" in cell.marks else ""
    return cell.text + mark


def shades(means: FloatArray, better: str, tied: BoolArray | None = None) -> FloatArray:
    """1 for the best and what is tied with it; of the others, the best as a share of their error.

    Where there is no ratio: from 1 at the best through ½ at the median towards 0.
    """
    if np.nanmin(means) > 0:
        shade = np.nanmin(means) / means if better == "lower" else means / np.nanmax(means)
    else:
        best = np.nanmin(means) if better == "lower" else np.nanmax(means)
        far = np.abs(means - best)
        middle = float(np.nanmedian(far)) or 1.0
        shade = middle / (middle + far)
    return np.asarray(shade if tied is None else np.where(tied, 1.0, shade))


def error(found: Findings, metric: str, by: str) -> Spec:
    """The mean against ε with its confidence band, on the best protocol or with the best method.

    Best is what leads at the strictest ε.
    """
    leader = found.candidates(metric, next(e for m, e in sorted(found.sheets) if m == metric))[0]
    other = "protocol" if by == "method" else "method"
    fixed = getattr(leader, other)
    rows = found.combinations.filter(pl.col(other) == fixed, metric=metric)
    rows = rows.with_columns(pl.col("low", "high").fill_null(pl.col("mean")))
    read = names.protocol(fixed) if other == "protocol" else names.method(fixed)
    label = f"{names.measure(metric)}, {read}"
    return _lines(found, by, rows.to_dicts(), label)


def _lines(found: Findings, by: str, rows: Sequence[Mapping[str, Any]], label: str) -> Spec:
    among = found.methods if by == "method" else found.protocols
    return _printed(charts.error(found, by, among), rows, _titles(found), label, height=140)


def wins(found: Findings, metric: str) -> Spec:
    """How often each method is the best on the same estimate: against ε, or as bars."""
    epsilons = [e for e in found.epsilons if (metric, e) in found.sheets]
    rates = {e: found.sheets[metric, e].wins for e in epsilons}
    title = f"share of wins ({names.metric(metric)})"
    if len(epsilons) == 1:
        rows = [{"method": m, "rate": rate} for m, rate in rates[epsilons[0]].items()]
        spec = _printed(charts.wins(found), rows, _titles(found), height=11 * len(rows))
        spec["encoding"]["x"]["title"] = f"{title[:-1]}, ε = {epsilons[0]:g})"
        return spec
    points = [
        {"method": method, "epsilon": e, "mean": rate, "low": rate, "high": rate}
        for e, wins in rates.items()
        for method, rate in wins.items()
    ]
    spec = _lines(found, "method", points, title)
    for layer in spec["layer"]:
        layer["encoding"]["y"] |= {"axis": {"format": "%", "tickCount": 5}, "scale": {}}
    return spec


def sizes(found: Findings, metric: str, epsilon: float) -> Spec:
    """Error against the size of a report: without post-processing (hollow) and at its best."""
    label = f"{names.measure(metric)} at ε = {epsilon:g}"
    rows = found.sizes(metric, epsilon)
    return _printed(charts.sizes(found), rows, _titles(found), label, height=120)


MEANS = "means over all repeats"  # in which the noise of a single collection is gone


def frequencies(found: Findings, given: Frequencies, epsilon: float) -> Spec:
    """True frequencies, and the leader's estimates before and after post-processing."""
    leader = found.candidates(found.metrics[0], epsilon)[0]
    series = {"truth": given.truth, "before": given.means.get((epsilon, leader.protocol, "none"))}
    after = names.method(leader.method)
    if leader.method != "none":
        series[after] = given.means.get((epsilon, leader.protocol, leader.method))
    rows = [
        {"kind": kind, "place": place, "frequency": float(value)}
        for kind, values in series.items()
        if values is not None
        for place, value in enumerate(values)
    ]
    kinds = ["truth", "before", after][: len(series)]
    spec = _printed(charts.frequencies(len(given.labels), kinds), rows, height=110)
    spec["params"] = [{"name": "names", "value": [visible(label) for label in given.labels]}]
    by = names.protocol(leader.protocol)
    # values go across here, as a column is wide and a page's figure must not be high
    x, y = spec["encoding"]["x"], spec["encoding"]["y"]
    spec["encoding"] |= {
        "x": {
            **y,
            "axis": {**y["axis"], "labelAngle": -90, "labelFontSize": 5.5, "labelLimit": 60},
        },
        "y": {**x, "title": [f"frequency ({by}, ε = {epsilon:g})", MEANS]},
    }
    spec["layer"] = [spec["layer"][0], spec["layer"][2]]  # without ranges of single collections
    return spec


def _titles(found: Findings) -> dict[str, str]:
    """Names as the literature writes them."""
    methods = {name: names.method(name) for name in found.methods}
    return {name: names.protocol(name) for name in found.protocols} | methods


def _printed(
    spec: Spec,
    rows: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str] = {},
    label: str = "",
    height: int | None = None,
) -> Spec:
    """A chart in a column's width, with these rows; `label` is said of the metric."""
    known = [row.get(name) for row in rows for name in ("mean", "low", "high", "best", "raw")]
    values = [value for value in known if value is not None]
    far = bool(values) and min(values) > 0 and max(values) > 4 * min(values)
    made: Spec = _filled(spec, titles, label, _logarithmic(values) if far else None)
    made |= {"width": WIDTH, "config": CONFIG, "padding": 2}
    made |= {} if height is None else {"height": height}
    read = [{name: titles.get(one, one) for name, one in row.items()} for row in rows]
    made["datasets"] = {"rows": read}
    made["encoding"].pop("tooltip", None)
    for layer in made["layer"]:
        _still(layer)
    return made


def _logarithmic(values: Sequence[float]) -> Spec:
    """Ticks of a logarithmic axis: 1, 2, 5, 10, … times a power of ten, of many powers these."""
    powers = range(floor(log10(min(values))), ceil(log10(max(values))) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return {"values": [tick for tick in ticks if min(values) / 2 < tick < max(values) * 2]}


def _filled(part: Any, titles: Mapping[str, str], label: str, ticks: Spec | None) -> Any:
    """With the metric's label, the colours of print, and names as people read them.

    `ticks` are those of the metric, where its numbers are far apart.
    """
    if isinstance(part, list):
        return [_filled(inner, titles, label, ticks) for inner in part]
    if isinstance(part, str):
        return titles.get(part, INKS.get(part, part)).replace("{metric}", label)
    if not isinstance(part, dict):
        return part
    made = {key: _filled(inner, titles, label, ticks) for key, inner in part.items()}
    if part.get("title") == "{metric}" and ticks:
        made |= {"scale": LOG, "axis": {**made["axis"], **ticks}}
    if "columns" in made:
        made["columns"] = COLUMNS
    return made


def _still(layer: Spec) -> None:
    """Without what answers to a mouse, in smaller type and lines.

    What is cut off, or translucent as a whole, would make another file each time.
    """
    mark, encoding = layer["mark"], layer.get("encoding", {})
    layer.pop("params", None)
    encoding.pop("tooltip", None)
    for cut in ("clip", "cornerRadiusEnd"):
        mark.pop(cut, None)
    faint = encoding.pop("opacity", {}).get("condition", {}).get("value", mark.get("opacity", 1))
    mark |= {"opacity": 1, "fillOpacity": faint, "strokeOpacity": faint}
    mark |= {key: mark[key] * share for key, share in SMALLER.items() if key in mark}
