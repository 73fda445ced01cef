"""Bars of the win rates."""

from ldp3.reporting.charts.parts import Spec, chart, colours, tooltip
from ldp3.reporting.findings import Findings


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
