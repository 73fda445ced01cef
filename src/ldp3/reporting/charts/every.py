"""Every chart of the page."""

from ldp3.reporting.charts import attacked
from ldp3.reporting.charts.error import error
from ldp3.reporting.charts.frequencies import frequencies
from ldp3.reporting.charts.heat import heat
from ldp3.reporting.charts.parts import Spec
from ldp3.reporting.charts.sizes import sizes
from ldp3.reporting.charts.wins import wins
from ldp3.reporting.findings import Findings


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


def attacked_charts(found: Findings) -> dict[str, Spec]:
    """The charts of what attacks do, by the place on the page."""
    return {
        "worst": attacked.worst(found),
        "gain": attacked.gain(found),
        "weight": attacked.weight(found),
        "success": attacked.success(found),
    }
