"""Several datasets side by side: which combination never loses much, or least."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ldp3.reporting.findings import Findings
from ldp3.results.sheets import Sheet
from ldp3.results.winner import combination, listed

Pair = tuple[str, str]


@dataclass(frozen=True)
class Compared:
    """One combination on every dataset.

    Parameters
    ----------
    pair
        Protocol and method.
    losses
        By how much it is worse than the best of each dataset, as a share of that: 0.05 is 5 % more
        error, or 5 % less of a score of which more is better.
    ranks
        Its place on each dataset, 1 for the best; equal ones share it.
    tied
        Whether it is the best there or tied with it.
    """

    pair: Pair
    losses: tuple[float, ...]
    ranks: tuple[int, ...]
    tied: tuple[bool, ...]

    @property
    def worst(self) -> float:
        """The largest loss."""
        return max(self.losses)


def compared(found: Mapping[str, Findings], metric: str, epsilon: float) -> list[Compared]:
    """Every combination that ran on all datasets, from the one that never loses much.

    None where some dataset has no ratio to its best, as where that is 0.
    """
    sheets = [one.sheets.get((metric, epsilon)) for one in found.values()]
    if not sheets or any(sheet is None or not _has_ratios(sheet) for sheet in sheets):
        return []
    known: list[Sheet] = [sheet for sheet in sheets if sheet is not None]
    pairs = [p for p in known[0].means if all(p in sheet.means for sheet in known)]
    places = [_places(sheet) for sheet in known]
    rows = [
        Compared(
            pair,
            tuple(_loss(sheet, pair) for sheet in known),
            tuple(place[pair] for place in places),
            tuple(pair in sheet.firsts or pair in sheet.tied for sheet in known),
        )
        for pair in pairs
    ]
    return sorted(rows, key=lambda row: (row.worst, sum(row.losses)))


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
                    "sentences": said(rows, list(found), metric, epsilon),
                    "rows": [_row(row) for row in rows],
                }
            )
    return made


def said(rows: list[Compared], names: list[str], metric: str, epsilon: float) -> list[str]:
    """What to choose where one choice must serve all of them."""
    first = rows[0]
    where = names[first.losses.index(first.worst)]
    always = [combination(*row.pair) for row in rows if all(row.tied)]
    sentences = [
        f"At ε = {epsilon:g} over {len(names)} datasets, {combination(*first.pair)} is the safest "
        f"choice: its {metric} is at most {_percent(first.worst)} worse than the best of a dataset"
        + (f" ({where})." if first.worst else ".")
    ]
    if always:
        return [*sentences, f"Best or tied with the best on every dataset: {listed(always)}."]
    return [*sentences, "No combination is best or tied with the best on every dataset."]


def _row(row: Compared) -> dict[str, Any]:
    return {
        "protocol": row.pair[0],
        "method": row.pair[1],
        "worst": round(row.worst, 5),
        "rank": round(sum(row.ranks) / len(row.ranks), 2),
        "best": sum(row.tied),
        "losses": [round(loss, 5) for loss in row.losses],
        "tied": list(row.tied),
    }


def _has_ratios(sheet: Sheet) -> bool:
    return min(sheet.means.values()) > 0


def _loss(sheet: Sheet, pair: Pair) -> float:
    ratio = sheet.means[pair] / sheet.means[sheet.best]
    return max(ratio - 1 if sheet.better == "lower" else 1 - ratio, 0.0)


def _places(sheet: Sheet) -> dict[Pair, int]:
    losses = {pair: _loss(sheet, pair) for pair in sheet.means}
    return {pair: 1 + sum(x < own for x in losses.values()) for pair, own in losses.items()}


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:,.0f} %"
