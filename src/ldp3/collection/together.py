"""What a collection of several attributes says of two of them: whether and how they go together."""

from typing import Any

import polars as pl

from ldp3.answers import Answer, PrintedColumn, table
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.estimate_table import too_few
from ldp3.printing import plural
from ldp3.results import names

NOT_DIVIDED = "–: too few people to tell, for nobody may be in that row."
UNEVEN = "Each share is estimated by itself and kept within its interval: they need not sum to one."


def association_answer(
    server: Aggregator, first: str, second: str, confidence: float = 0.95
) -> Answer:
    """Whether two attributes go together, and how much."""
    tables = server.tables()
    found = tables.association(first, second, confidence)
    about = _about(server, confidence) | {"attributes": [first, second]}
    values = pl.DataFrame(
        {
            "p_value": [found.p_value],
            "v": [found.v],
            "low": [found.low],
            "high": [found.high],
            "merged": [found.merged],
            "needed": [found.needed],
        }
    )
    rest = (
        "The p-value is that of Wald's test with the noise of the reports; V goes from 0, "
        "independent, to 1. Both are about the population that the people are a sample of."
    )
    said = [f"{first} and {second}: {found}", *too_few(tables[first, second]), rest]
    return Answer(said, about | {"association": values})


def shares_answer(server: Aggregator, of: str, by: str, confidence: float = 0.95) -> Answer:
    """The shares of the values of one attribute among people with each value of another."""
    plan, tables = server.plan, server.tables()
    frame = tables.share(of, by=by, level=confidence).to_frame()
    title = (
        f"{plan.name}: shares of {of} within each {by}; {plural(server.n, 'report')}, "
        f"{names.protocol(plan.protocol)}, ε = {plan.epsilon:g}; Fieller's intervals with "
        f"confidence {confidence:.4g}, each, for those who reported"
    )
    shown = [PrintedColumn("among", by), PrintedColumn("label", of)]
    shown += [PrintedColumn(name, name, "{:.4f}".format) for name in ("share", "low", "high")]
    empty = frame["share"].has_nulls()
    grid = table(frame, shown, "llrrr", title=title)
    return Answer(
        [grid, UNEVEN, NOT_DIVIDED if empty else "", *too_few(tables[of, by])],
        _about(server, confidence) | {"of": of, "by": by, "shares": frame},
    )


def _about(server: Aggregator, confidence: float) -> dict[str, Any]:
    plan = server.plan
    return {
        "collection": plan.name,
        "identifier": plan.identifier,
        "n": server.n,
        "confidence": confidence,
    }
