"""What is best, in sentences: on one dataset, at several ε, and on several datasets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ldp3.printing import percent
from ldp3.results import names
from ldp3.results.sheets import Sheet
from ldp3.results.ties import ALPHA

Pair = tuple[str, str]
MUCH = 0.1  # a loss that people notice
NAMED = 6  # combinations named in a sentence, at most
ALIKE = 2  # of those that are the same
SURE = f"{100 * (1 - ALPHA):g} % confidence"


def winner(sheet: Sheet) -> str:
    """Who won, and who is tied with it.

    >>> import numpy as np
    >>> runs = {("ss", "none"): np.array([1.0, 1.1]), ("grr", "none"): np.array([7.0, 9.0])}
    >>> print(winner(Sheet("l1", "x", 9, 2, 1.0, "none", "lower", (), runs)))
    SS without post-processing measured best, but 2 repeats do not separate the others from it.
    """
    others = len(sheet.runs) - len(sheet.firsts)
    name = _names(sheet, sheet.firsts)
    if not others:
        return f"{name}: nothing else was measured."
    if not sheet.tied:
        only = "the other one is" if others == 1 else f"each of the {others} others is"
        return f"{name} is best: {only} worse at {SURE}."
    if len(sheet.tied) == others:
        some = "one repeat does" if sheet.repeats == 1 else f"{sheet.repeats} repeats do"
        return f"{name} measured best, but {some} not separate the others from it."
    it = "it" if len(sheet.firsts) == 1 else "them"
    return (
        f"{name} measured best; tied with {it} after {sheet.repeats} repeats{_behind(sheet)}: "
        f"{_names(sheet, sheet.tied)}."
    )


def winners(sheets: Sequence[Sheet]) -> str:
    """Who measured best at each of several ε, and who is best or tied with it at all of them."""
    where: dict[str, list[str]] = {}
    for sheet in sheets:
        where.setdefault(combination(*sheet.best), []).append(f"{sheet.epsilon:g}")
    won = [f"{name} at ε = {listed(some, len(some))}" for name, some in where.items()]
    good = [sheet.firsts | sheet.tied for sheet in sheets]
    always = [combination(*pair) for pair in sheets[0].runs if all(pair in some for some in good)]
    said = f"Measured best: {listed(won, len(won))}."
    if not always:
        return f"{said} Nothing is best or tied with the best at every ε."
    return f"{said} Best or tied with the best at every ε: {listed(always)}."


def _names(sheet: Sheet, pairs: Iterable[tuple[str, str]]) -> str:
    """From best to worst; what gave the same numbers, in the order of the table."""
    sign = 1 if sheet.better == "lower" else -1
    order = [p for p in sheet.runs if p in pairs]
    if set(order) == sheet.firsts and len(order) > 1:
        return f"{listed([combination(*p) for p in order], ALIKE)} (the same numbers)"
    order.sort(key=lambda p: sign * sheet.means[p])
    return listed([combination(*p) for p in order])


def _behind(sheet: Sheet) -> str:
    """How far the tied are behind, as measured."""
    best = sheet.means[sheet.best]
    far = max(abs(sheet.means[pair] - best) for pair in sheet.tied)
    return f" (up to {percent(far / abs(best))} behind)" if best else ""


def combination(protocol: str, method: str) -> str:
    """OLH with Norm-Sub, OLH without post-processing."""
    processed = "without post-processing" if method == "none" else f"with {names.method(method)}"
    return f"{names.protocol(protocol)} {processed}"


def listed(things: Sequence[str], most: int = NAMED) -> str:
    """``a, b and c``; of many the first few, and how many more."""
    shown = [*things[:most], *([f"{len(things) - most} more"] if len(things) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


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


def over_datasets(
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


def _loss(sheet: Sheet, pair: Pair) -> float:
    ratio = sheet.means[pair] / sheet.means[sheet.best]
    return max(ratio - 1 if sheet.better == "lower" else 1 - ratio, 0.0)


def _places(sheet: Sheet) -> dict[Pair, int]:
    losses = {pair: _loss(sheet, pair) for pair in sheet.means}
    return {pair: 1 + sum(x < own for x in losses.values()) for pair, own in losses.items()}
