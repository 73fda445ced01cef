"""What the charts share: how they look, the metric's axis, colours and shapes, tooltips."""

from typing import Any

from ldp3.reporting import palette

Spec = dict[str, Any]

COLOURS = [f"var(--series-{i})" for i in range(len(palette.COLOURS))]
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
TITLES = {
    "low": "95 % from",
    "high": "95 % to",
    "std": "one collection ±",
    "epsilon": "ε",
    "raw": "without",
    "rate": "won",
    "clean": "without attack",
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


def series(field: str, names: list[str], looks: list[Any]) -> Spec:
    """A colour, shape or dash for each name; the script says how many columns the legend has."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {"domain": names, "range": looks},
        "legend": {"title": None, "columns": "as many as fit"},
    }


def colours(field: str, names: list[str]) -> Spec:
    """A colour of the page for each name."""
    return series(field, names, palette.colours(names, COLOURS))


def shapes(field: str, names: list[str]) -> Spec:
    """A shape for each name."""
    return series(field, names, palette.cycled(SHAPES, len(names)))


def tooltip(*fields: str) -> list[Spec]:
    """What the mouse shows: words as they are, numbers short."""
    return [{"field": f, "title": TITLES.get(f, f), **FORMATS.get(f, {})} for f in fields]
