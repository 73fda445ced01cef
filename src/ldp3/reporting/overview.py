"""Several datasets side by side, for the page."""

from collections.abc import Mapping
from typing import Any

from ldp3.reporting.findings import Findings
from ldp3.results import verdict
from ldp3.results.verdict import Compared


def compared(found: Mapping[str, Findings], metric: str, epsilon: float) -> list[Compared]:
    """Every combination that ran on all datasets, from the one that never loses much."""
    sheets = [one.sheets.get((metric, epsilon)) for one in found.values()]
    known = [sheet for sheet in sheets if sheet is not None]
    return verdict.compared(known) if len(known) == len(sheets) else []


def overview(found: Mapping[str, Findings]) -> list[dict[str, Any]]:
    """For each metric and ε: sentences and rows, as JSON can hold them."""
    questions = dict.fromkeys(key for one in found.values() for key in one.sheets)
    made = []
    for metric, epsilon in questions:
        rows = compared(found, metric, epsilon)
        if rows:
            made.append(
                {
                    "metric": metric,
                    "epsilon": epsilon,
                    "sentences": verdict.over_datasets(rows, list(found), metric, epsilon),
                    "rows": [_row(row) for row in rows],
                }
            )
    return made


def _row(row: Compared) -> dict[str, Any]:
    return {
        "protocol": row.pair[0],
        "method": row.pair[1],
        "worst": round(row.worst, 5),
        "rank": round(row.rank, 2),
        "best": sum(row.tied),
        "losses": [round(loss, 5) for loss in row.losses],
        "tied": list(row.tied),
    }
