"""A heat map of all combinations."""

from ldp3.reporting.charts.parts import Spec, chart, tooltip
from ldp3.reporting.findings import Findings

ROW = 34  # pixels per protocol


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
