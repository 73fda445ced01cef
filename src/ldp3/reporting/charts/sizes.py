"""Error against the size of a report."""

from math import log2

from ldp3.reporting.charts.parts import Spec, chart, colours, metric_axis, shapes, tooltip
from ldp3.reporting.findings import Findings


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
