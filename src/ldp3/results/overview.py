"""Several datasets side by side: which combination never loses much."""

from collections.abc import Sequence
from dataclasses import dataclass

from ldp3.printing import columns, wrapped
from ldp3.results import names
from ldp3.results.sheets import Sheet
from ldp3.results.winner import combination, listed, percent

Pair = tuple[str, str]
SHOWN = 8  # combinations in a table for people
MUCH = 0.1  # a loss that people notice


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

    @property
    def rank(self) -> float:
        """The average place."""
        return sum(self.ranks) / len(self.ranks)


def compared(sheets: Sequence[Sheet]) -> list[Compared]:
    """Every combination that ran on all datasets, from the one that never loses much.

    The sheets are of one question on different datasets. None where some dataset has no ratio to
    its best, as where that is 0.
    """
    if not sheets or not all(min(sheet.means.values()) > 0 for sheet in sheets):
        return []
    pairs = [p for p in sheets[0].means if all(p in sheet.means for sheet in sheets)]
    places = [_places(sheet) for sheet in sheets]
    rows = [
        Compared(
            pair,
            tuple(_loss(sheet, pair) for sheet in sheets),
            tuple(place[pair] for place in places),
            tuple(pair in sheet.firsts or pair in sheet.tied for sheet in sheets),
        )
        for pair in pairs
    ]
    return sorted(rows, key=lambda row: (row.worst, sum(row.losses)))


def said(
    rows: Sequence[Compared], datasets: Sequence[str], metric: str, epsilon: float
) -> list[str]:
    """What to choose where one choice must serve all of them."""
    first = rows[0]
    where = datasets[first.losses.index(first.worst)]
    always = [combination(*row.pair) for row in rows if all(row.tied)]
    loses = "never loses much" if first.worst <= MUCH else "loses least at its worst"
    who = f"At ε = {epsilon:g} over {len(datasets)} datasets, {combination(*first.pair)}"
    called = names.metric(metric)
    sentences = [
        f"{who} {loses}: its {called} is at most {percent(first.worst)} worse than the best of a "
        f"dataset ({where})."
        if first.worst
        else f"{who} measured best by {called} on every one."
    ]
    if always:
        return [*sentences, f"Best or tied with the best on every dataset: {listed(always)}."]
    return [*sentences, "No combination is best or tied with the best on every dataset."]


def texts(sheets: Sequence[Sheet], width: int | None = None) -> list[str]:
    """For each question that was asked on several datasets: a table and sentences."""
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    for sheet in sheets:
        groups.setdefault((sheet.metric, sheet.epsilon, sheet.attack), []).append(sheet)
    made = ((group, compared(group)) for group in groups.values() if len(group) > 1)
    return [_text(group, rows, width) for group, rows in made if rows]


def _text(sheets: Sequence[Sheet], rows: Sequence[Compared], width: int | None) -> str:
    first, datasets = sheets[0], [sheet.dataset for sheet in sheets]
    attack = "" if first.attack == "none" else f" under {names.attack(first.attack)}"
    asked = f"{names.metric(first.metric)} at ε = {first.epsilon:g}{attack}"
    title = f"{asked}: loss against the best, by dataset"
    head = ["", "at most", "average rank", "best or tied", *datasets]
    lines = [
        [
            combination(*row.pair),
            percent(row.worst),
            f"{row.rank:.1f}",
            f"{sum(row.tied)} of {len(datasets)}",
            *map(percent, row.losses),
        ]
        for row in rows[:SHOWN]
    ]
    words = " ".join(said(rows, datasets, first.metric, first.epsilon))
    return "\n\n".join(
        [wrapped(title, width), columns([head, *lines], "lr", width), wrapped(words, width)]
    )


def _loss(sheet: Sheet, pair: Pair) -> float:
    ratio = sheet.means[pair] / sheet.means[sheet.best]
    return max(ratio - 1 if sheet.better == "lower" else 1 - ratio, 0.0)


def _places(sheet: Sheet) -> dict[Pair, int]:
    losses = {pair: _loss(sheet, pair) for pair in sheet.means}
    return {pair: 1 + sum(x < own for x in losses.values()) for pair, own in losses.items()}
