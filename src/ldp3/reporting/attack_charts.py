"""What attacks do: gain against fake users, worst errors, weight against ε, guessed values."""

from ldp3.reporting.charts import Spec, chart, colours, heat, shapes, tooltip
from ldp3.reporting.findings import Findings

SHARE = {"format": ".2~%"}


def attack_charts(found: Findings) -> dict[str, Spec]:
    """The charts of what attacks do, by the place on the page."""
    return {
        "worst": _worst(found),
        "gain": _gain(found),
        "weight": _weight(found),
        "success": _success(found),
    }


def _worst(found: Findings) -> Spec:
    """The worst mean of every protocol and method over the attacks."""
    spec = heat(found)
    told = "protocol", "method", "attack", "fake_users", "mean", "clean"
    spec["encoding"]["tooltip"] = tooltip(*told)
    return spec


def _gain(found: Findings) -> Spec:
    """What the targets gain against the share of fake users: lines by formula, points measured."""
    axis = {"axis": {**SHARE, "tickCount": 5}}
    return chart(
        "Gain of the targets against the share of fake users.",
        height=300,
        encoding={
            "x": {**_number("share", "share of fake users"), **axis},
            "y": {**_number("gain", "gain of the targets"), "axis": {"tickCount": 6}},
            "color": colours("protocol", found.protocols),
        },
        layer=[
            {
                "transform": [{"filter": "datum.kind == 'formula'"}],
                "mark": {"type": "line", "strokeWidth": 1.5},
            },
            {
                "transform": [{"filter": "datum.kind == 'measured' && datum.method != 'none'"}],
                "mark": {"type": "point", "filled": False, "size": 45, "opacity": 0.7},
                "encoding": {"shape": shapes("protocol", found.protocols), "tooltip": _measured()},
            },
            {
                "transform": [{"filter": "datum.kind == 'measured' && datum.method == 'none'"}],
                "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                "encoding": {"shape": shapes("protocol", found.protocols), "tooltip": _measured()},
            },
        ],
    )


def _weight(found: Findings) -> Spec:
    """How many honest votes one fake report weighs, against ε."""
    logarithmic = {"scale": {"type": "log", "nice": False, "padding": 10}}
    few = {"axis": {"format": "~g", "tickCount": 5}}
    return chart(
        "How many honest votes one fake report weighs, against epsilon.",
        height=300,
        encoding={
            "x": {**_number("epsilon", "ε"), **logarithmic, **few},
            "y": {**_number("weight", "honest votes per fake report"), **logarithmic, **few},
            "color": colours("protocol", found.protocols),
        },
        layer=[
            {"mark": {"type": "line", "strokeWidth": 1.5}},
            {
                "transform": [{"filter": "datum.ran"}],
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    "shape": shapes("protocol", found.protocols),
                    "tooltip": tooltip("protocol", "epsilon", "weight"),
                },
            },
        ],
    )


def _success(found: Findings) -> Spec:
    """How often a person's value is guessed, against the number of reports that were seen."""
    return chart(
        "How often a person's value is guessed after some reports.",
        height=300,
        encoding={
            "x": {
                **_number("reports", "reports of one person"),
                "scale": {"type": "log", "nice": False, "padding": 10},
                "axis": {"values": [1, 2, 5, 10, 20, 50, 100], "format": "d"},
            },
            "y": {
                **_number("success", "values guessed"),
                "scale": {"domain": [0, 1]},
                "axis": {"format": "%", "tickCount": 5},
            },
            "color": colours("protocol", found.protocols),
        },
        layer=[
            {"mark": {"type": "line", "strokeWidth": 1.5}},
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    "shape": shapes("protocol", found.protocols),
                    "tooltip": [
                        *tooltip("protocol", "reports"),
                        {"field": "success", "title": "guessed", "format": ".1%"},
                        {"field": "simulated"},
                    ],
                },
            },
        ],
    )


def _number(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title}


def _measured() -> list[Spec]:
    share = {"field": "share", "title": "fake users", **SHARE}
    return [*tooltip("protocol", "method"), share, *tooltip("gain")]
