"""The charts as Vega-Lite specifications, for the page and for print.

`{metric}` stands for the metric that is shown, colours of text and lines are those of the page (CSS
variables), so that a chart there follows light, dark and paper as the page does. The page's scripts
put the data in; `figures` does for print.

Okabe and Ito's colours but for yellow and black, and four more that keep apart from them; `DARK`
has the same hues for a dark page. Ten colours, seven markers and four dashes repeat only together,
after 140 lines. What was not post-processed is grey.
"""

from collections.abc import Sequence
from math import log2
from typing import Any, TypeVar

from ldp3.reporting.findings import Findings

T = TypeVar("T")
Spec = dict[str, Any]

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
    "#56b4e9", "#aa4466", "#8f8f1f", "#44aa99", "#7b68c8",
)  # fmt: skip
DARK = (
    "#4aa8e0", "#ff8a3d", "#2fc79a", "#e59ac3", "#f5b942",
    "#a5daf7", "#e07a9b", "#c5c54a", "#6fd0c0", "#a79bf0",
)  # fmt: skip
GREY = "#808080"
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 2), (2, 2), (8, 2, 2, 2))
SERIES = [f"var(--series-{i})" for i in range(len(COLOURS))]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
TITLES = {
    "low": "95 % from",
    "high": "95 % to",
    "std": "one collection ±",
    "epsilon": "ε",
    "raw": "without",
    "rate": "won",
    "clean": "without attack",
    "fake_users": "fake users",
    "weight": "honest votes",
}
NUMBERS = ("epsilon", "mean", "low", "high", "std", "best", "raw", "clean", "gain", "weight")
FORMATS = {**{f: {"format": ".4~g"} for f in NUMBERS}, "rate": {"format": ".0%"}}
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
ROW = 34  # pixels per protocol in a heat map
KINDS = ["truth", "before post-processing", "after"]  # of frequencies


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
    """The mean of every protocol and method; the brighter, the closer to the best."""
    return chart(
        "Heat map of the mean {metric} by protocol and post-processing method.",
        height=ROW * len(found.protocols),
        encoding={
            "y": {"field": "protocol", "type": "nominal", "sort": found.protocols, "title": None},
            "x": {
                "field": "method",
                "type": "nominal",
                "sort": found.methods,
                "title": None,
                "axis": {"orient": "top", "labelAngle": -35, "labelAlign": "left"},
            },
            "tooltip": tooltip("protocol", "method", "mean", "low", "high", "std", "rank", "tied"),
        },
        layer=[
            {
                "mark": {"type": "rect", "stroke": "var(--paper)", "strokeWidth": 2},
                "encoding": {
                    "color": {
                        "field": "shade",
                        "type": "quantitative",
                        "scale": {"scheme": "viridis", "domain": [0, 1]},
                        "legend": {
                            "title": None,
                            "values": [0.1, 0.25, 0.5, 0.8, 1],
                            "labelExpr": "{shades}",  # the script knows which way is better
                            "gradientLength": 240,
                            "labelOverlap": False,
                            "direction": "horizontal",
                        },
                    }
                },
            },
            _written("text", dy=-3, size=12),
            _written("mark", dy=9, size=11),
        ],
    )


def _written(field: str, dy: int, size: int) -> Spec:
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
    return chart(
        "{metric} against epsilon with bands.",
        height=380,
        encoding={"x": x, "color": colours(by, names)},
        layer=[
            {
                "mark": {"type": "area", "clip": True},
                "encoding": {
                    "y": metric_axis("low"),
                    "y2": {"field": "high"},
                    "opacity": {"condition": {"param": "chosen", "value": 0.18}, "value": 0.03},
                },
            },
            {
                "mark": {"type": "line", "strokeWidth": 2, "clip": True},
                "encoding": {
                    "y": metric_axis("mean"),
                    "strokeDash": dashes(by, names),
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
                    "y": metric_axis("mean"),
                    "shape": shapes(by, names),
                    "opacity": chosen,
                    "tooltip": tooltip("protocol", "method", "epsilon", "mean", "low", "high"),
                },
            },
        ],
    )


def wins(found: Findings) -> Spec:
    """How often each method is the best on the same estimate."""
    return chart(
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
                    "color": {**colours("method", found.methods), "legend": None},
                    "tooltip": tooltip("method", "rate"),
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
    shape = shapes("protocol", found.protocols)
    return chart(
        "The {metric} of each protocol, raw and at its best, against the size of a report.",
        height=300,
        encoding={
            "x": {
                "field": "position",
                "type": "quantitative",
                "title": "bits per report",
                "scale": {"type": "log", "nice": False, "padding": 20},
                "axis": {"format": ",d", "values": _powers_of_two(found)},
            },
            "color": colours("protocol", found.protocols),
            "tooltip": tooltip("protocol", "bits", "best", "method", "raw"),
        },
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
                "encoding": {"y": metric_axis("best"), "y2": {"field": "raw"}},
            },
            {
                "mark": {"type": "point", "filled": False, "size": 80, "strokeWidth": 2},
                "encoding": {"y": metric_axis("raw"), "shape": shape},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"y": metric_axis("best"), "shape": shape},
            },
        ],
    )


def _powers_of_two(found: Findings) -> list[int]:
    """Ticks for sizes: powers of two, few enough to read."""
    low, high = min(found.bits.values()), max(found.bits.values())
    step = max(1, round(log2(high / low) / 5))
    return [2**i for i in range(0, high.bit_length() + 1, step) if low / 2 < 2**i < high * 2]


def frequencies(values: int, kinds: Sequence[str] = KINDS) -> Spec:
    """True frequencies as bars, estimates before and after post-processing as points."""
    colour = series("kind", kinds, ["var(--bar)", SERIES[1], SERIES[0]])
    shape = series("kind", kinds, ["square", "diamond", "circle"])
    return chart(
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
            {  # where one collection's estimates lie
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.55},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative"},
                    "x2": {"field": "high"},
                },
            },
            {
                "transform": [{"filter": "datum.kind != 'truth'"}],
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.9},
                "encoding": {"shape": shape},
            },
        ],
    )


def chart(description: str, height: int, encoding: Spec, layer: list[Spec]) -> Spec:
    """As wide as its place on the page; `encoding` is what all layers share."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": description,
        "data": {"name": "rows"},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "top": 5, "right": 14, "bottom": 5},
        "config": CONFIG,
        "encoding": encoding,
        "layer": layer,
    }


def metric_axis(field: str) -> Spec:
    """The metric upwards; the script makes it logarithmic where the numbers are far apart."""
    return {
        "field": field,
        "type": "quantitative",
        "title": "{metric}",
        "scale": {"zero": False, "nice": False, "padding": 12},
        "axis": {"format": "~g", "tickCount": 6},
    }


def series(field: str, names: Sequence[str], looks: list[Any]) -> Spec:
    """A colour, shape or dash for each name; the script says how many columns the legend has."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": list(names), "range": looks},
        "legend": {"title": None, "columns": "as many as fit"},
    }


def colours(field: str, names: list[str]) -> Spec:
    """A colour of the page for each name."""
    return series(field, names, hues(names, SERIES))


def shapes(field: str, names: list[str]) -> Spec:
    """A shape for each name."""
    return series(field, names, cycled(SHAPES, len(names)))


def dashes(field: str, names: Sequence[str]) -> Spec:
    """Dashes of its own for each line."""
    return series(field, names, [list(dash) for dash in cycled(DASHES, len(names))])


def tooltip(*fields: str) -> list[Spec]:
    """What the mouse shows: words as they are, numbers short."""
    return [{"field": f, "title": TITLES.get(f, f), **FORMATS.get(f, {})} for f in fields]


def hues(names: Sequence[str], among: Sequence[str] = COLOURS) -> list[str]:
    """One colour per name."""
    others = [name for name in names if name != "none"]
    return [GREY if n == "none" else among[others.index(n) % len(among)] for n in names]


def cycled(values: Sequence[T], count: int) -> list[T]:
    """The first `count` of the values, over and over."""
    return [values[i % len(values)] for i in range(count)]
