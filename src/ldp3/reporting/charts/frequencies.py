"""True and estimated frequencies, value by value."""

from ldp3.reporting.charts.parts import COLOURS, Spec, chart, series

KINDS = ["truth", "before post-processing", "after"]


def frequencies(values: int) -> Spec:
    """True frequencies as bars, estimates before and after post-processing as points."""
    colour = series("kind", KINDS, ["var(--bar)", COLOURS[1], COLOURS[0]])
    shape = series("kind", KINDS, ["square", "diamond", "circle"])
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
