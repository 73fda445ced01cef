"""The charts of the page as Vega-Lite specifications; the page's script puts the data in.

`{metric}` stands for the metric that is shown. Colours of text and lines are the page's own (CSS
variables), so a chart follows light, dark and paper as the page does.
"""

from math import log2
from typing import Any

from ldp3.reporting import palette
from ldp3.reporting.findings import Findings

Spec = dict[str, Any]

COLOURS = [f"var(--series-{i})" for i in range(len(palette.COLOURS))]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
CELL = 34  # height of a cell of the heat map
KINDS = ("truth", "before post-processing", "after")
CONFIG: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
        "gridColor": "var(--grid)",
        "domainColor": "var(--rule)",
        "tickColor": "var(--rule)",
        "labelFontSize": 12,
        "titleFontSize": 12,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--soft)",
        "labelFontSize": 12,
        "orient": "bottom",
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
        "labelLimit": 220,
    },
    "view": {"stroke": None},
}


def charts(found: Findings) -> dict[str, Spec]:
    """Every chart that these findings can fill, by the place on the page."""
    out = {"heat": heat(found)}
    if len(found.epsilons) > 1:
        out["error-method"] = error(found, "method", found.methods)
        out["error-protocol"] = error(found, "protocol", found.protocols)
    if len(found.methods) > 1:
        out["wins"] = wins(found)
    if found.sizes_differ:
        out["sizes"] = sizes(found)
    if found.frequencies is not None:
        out["frequencies"] = frequencies(len(found.frequencies.labels))
    return out


def heat(found: Findings) -> Spec:
    """The mean of every protocol and method; brighter is better."""
    return _chart(
        "Heat map of the mean {metric} by protocol and post-processing method.",
        height=CELL * len(found.protocols),
        encoding={
            "y": {"field": "protocol", "type": "nominal", "sort": found.protocols, "title": None},
            "x": {
                "field": "method",
                "type": "nominal",
                "sort": found.methods,
                "title": None,
                "axis": {"orient": "top", "labelAngle": -35, "labelAlign": "left"},
            },
            "tooltip": _tooltip("protocol", "method", "mean", "low", "high", "rank", "tied"),
        },
        layer=[
            {
                "mark": {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 2},
                "encoding": {
                    "color": {
                        "field": "shade",
                        "type": "quantitative",
                        "scale": {"scheme": "viridis", "domain": [0, 1]},
                        "legend": None,
                    }
                },
            },
            _on_cell("text", dy=-3, size=12),
            _on_cell("mark", dy=9, size=11),
        ],
    )


def _on_cell(field: str, dy: int, size: int) -> Spec:
    return {
        "mark": {"type": "text", "fontSize": size, "dy": dy},
        "encoding": {
            "text": {"field": field},
            "color": {
                "condition": {"test": "datum.shade > 0.55", "value": "#111"},
                "value": "#fff",
            },
        },
    }


def error(found: Findings, by: str, names: list[str]) -> Spec:
    """The mean against ε with its confidence band, one line per method or protocol."""
    chosen = {"condition": {"param": "chosen", "value": 1}, "value": 0.12}
    x: Spec = {
        "field": "epsilon",
        "type": "quantitative",
        "title": "ε",
        "scale": {"nice": False, "padding": 12},
        "axis": {"values": found.epsilons, "format": "~g", "labelOverlap": True},
    }
    far = found.epsilons[-1] >= 8 * found.epsilons[0]
    x["scale"] |= {"type": "log"} if far else {"zero": False}
    series = {
        "color": _coloured(by, names),
        "shape": _scaled(by, names, palette.cycled(SHAPES, len(names))),
    }
    return _chart(
        "Mean {metric} against epsilon with 95 % confidence bands.",
        height=380,
        encoding={"x": x, "color": series["color"]},
        layer=[
            {
                "mark": {"type": "area", "clip": True},
                "encoding": {
                    "y": _value("low"),
                    "y2": {"field": "high"},
                    "opacity": {"condition": {"param": "chosen", "value": 0.18}, "value": 0.03},
                },
            },
            {
                "mark": {"type": "line", "strokeWidth": 2, "clip": True},
                "encoding": {
                    "y": _value("mean"),
                    "strokeDash": _scaled(
                        by, names, [list(d) for d in palette.cycled(palette.DASHES, len(names))]
                    ),
                    "opacity": chosen,
                },
            },
            {
                "params": [
                    {
                        "name": "chosen",
                        "select": {"type": "point", "fields": [by], "toggle": "true"},
                        "bind": "legend",
                    },
                    {  # the wheel alone scrolls the page
                        "name": "zoom",
                        "select": {"type": "interval", "zoom": "wheel![event.ctrlKey]"},
                        "bind": "scales",
                    },
                ],
                "mark": {"type": "point", "filled": True, "size": 70, "clip": True},
                "encoding": {
                    "y": _value("mean"),
                    "shape": series["shape"],
                    "opacity": chosen,
                    "tooltip": _tooltip("protocol", "method", "epsilon", "mean", "low", "high"),
                },
            },
        ],
    )


def wins(found: Findings) -> Spec:
    """How often each method is the best on the same estimate."""
    return _chart(
        "How often each method has the best {metric} of those applied to the same estimate.",
        height=24 * len(found.methods),
        encoding={
            "y": {"field": "method", "type": "nominal", "sort": found.methods, "title": None},
            "x": {
                "field": "rate",
                "type": "quantitative",
                "title": "share of collections won",
                "scale": {"domain": [0, 1.08], "nice": False},
                "axis": {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]},
            },
        },
        layer=[
            {
                "mark": {"type": "bar", "cornerRadiusEnd": 2},
                "encoding": {
                    "color": {**_coloured("method", found.methods), "legend": None},
                    "tooltip": _tooltip("method", "rate"),
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "color": "var(--ink)"},
                "encoding": {"text": {"field": "rate", "type": "quantitative", "format": ".0%"}},
            },
        ],
    )


def sizes(found: Findings) -> Spec:
    """Error against the size of a report: without post-processing (hollow) and at its best."""
    shape = _scaled("protocol", found.protocols, palette.cycled(SHAPES, len(found.protocols)))
    tooltip = _tooltip("protocol", "bits", "best", "method", "raw")
    return _chart(
        "The {metric} of each protocol, raw and at its best, against the size of a report.",
        height=300,
        encoding={
            "x": {
                "field": "beside",
                "type": "quantitative",
                "title": "bits per report",
                "scale": {"type": "log", "nice": False, "padding": 20},
                "axis": {"format": ",d", "values": _powers(found)},
            },
            "color": _coloured("protocol", found.protocols),
            "tooltip": tooltip,
        },
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
                "encoding": {"y": _value("best"), "y2": {"field": "raw"}},
            },
            {
                "mark": {"type": "point", "filled": False, "size": 80, "strokeWidth": 2},
                "encoding": {"y": _value("raw"), "shape": shape},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"y": _value("best"), "shape": shape},
            },
        ],
    )


def frequencies(values: int) -> Spec:
    """True frequencies as bars, estimates before and after post-processing as points."""
    colour = _scaled("kind", list(KINDS), ["var(--bar)", COLOURS[1], COLOURS[0]])
    shape = _scaled("kind", list(KINDS), ["square", "diamond", "circle"])
    return _chart(
        "True frequencies, and estimates before and after post-processing.",
        height=(17 if values > 12 else 26) * values,
        encoding={
            "y": {
                "field": "place",
                "type": "ordinal",
                "title": None,
                "axis": {"labelExpr": "names[datum.value]", "labelLimit": 130, "ticks": False},
            },
            "x": {
                "field": "frequency",
                "type": "quantitative",
                "title": "frequency",
                "axis": {"tickCount": 5},
            },
            "color": colour,
            "tooltip": [
                {"field": "label", "title": "value"},
                {"field": "kind", "title": "which"},
                {"field": "frequency", "format": ".4~g"},
            ],
        },
        layer=[
            {
                "transform": [{"filter": "datum.kind == 'truth'"}],
                "mark": {"type": "bar", "cornerRadiusEnd": 2},
            },
            {
                "transform": [{"filter": "datum.kind != 'truth'"}],
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.9},
                "encoding": {"shape": shape},
            },
        ],
    )


def _chart(description: str, **parts: Any) -> Spec:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": description,
        "data": {"name": "rows"},
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "top": 5, "right": 14, "bottom": 5},
        "config": CONFIG,
        **parts,
    }


def _value(field: str) -> Spec:
    """The metric's axis; the script makes it logarithmic where the numbers are far apart."""
    return {
        "field": field,
        "type": "quantitative",
        "title": "{metric}",
        "scale": {"zero": False, "nice": False, "padding": 12},
        "axis": {"format": "~g", "tickCount": 6},
    }


def _scaled(field: str, names: list[str], values: list[Any]) -> Spec:
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": names, "range": values},
        "legend": {"title": None, "columns": "as many as fit"},
    }


def _coloured(field: str, names: list[str]) -> Spec:
    return _scaled(field, names, palette.colours(names, COLOURS))


def _tooltip(*fields: str) -> list[Spec]:
    titles = {
        "low": "95 % from",
        "high": "95 % to",
        "epsilon": "ε",
        "raw": "without",
        "rate": "won",
    }
    words = {"protocol", "method", "tied", "rank", "bits"}
    return [
        {"field": f, "title": titles.get(f, f)}
        | ({} if f in words else {"format": ".0%" if f == "rate" else ".4~g"})
        for f in fields
    ]


def _powers(found: Findings) -> list[int]:
    """Ticks for sizes: powers of two, few enough to read."""
    low, high = min(found.bits.values()), max(found.bits.values())
    step = max(1, round(log2(high / low) / 5))
    return [2**i for i in range(0, high.bit_length() + 1, step) if low / 2 < 2**i < high * 2]
