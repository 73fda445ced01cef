"""Lines of the error against ε."""

from ldp3.reporting import palette
from ldp3.reporting.charts.parts import Spec, chart, colours, metric_axis, series, shapes, tooltip
from ldp3.reporting.findings import Findings


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
    dashes = [list(dash) for dash in palette.cycled(palette.DASHES, len(names))]
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
                    "strokeDash": series(by, names, dashes),
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
