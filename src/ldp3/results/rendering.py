"""What people read of results: the tables that papers print, and what is best in sentences."""

import re
from collections.abc import Sequence

from ldp3.answers import Mark, Passage, PrintedCell, PrintedTable, plain_rows
from ldp3.printing import number, percent
from ldp3.results import names
from ldp3.results.axes import said, said_short, without
from ldp3.results.sheets import Sheet
from ldp3.results.verdict import (
    RAW,
    at_each,
    combination,
    comparisons,
    throughout,
    verdict_on,
)

TIMES = "× limit"
EPSILONS = 3  # more of them stand across one table
ROWS = 24  # of such a table
SHOWN = 8  # combinations in a table of several datasets
MARKS: dict[Mark, str] = {"best": "best of all", "tied": "tied with it", "row": "best of its row"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def parts(sheets: Sequence[Sheet], raw: bool = False) -> list[Passage]:
    """What is best and a table for each question; one table against ε where there are many ε.

    Compared with `raw` estimates, nothing is best.
    """
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    for sheet in sheets:
        asked = sheet.metric, sheet.n, sheet.d, without(sheet.at, "epsilon")
        groups.setdefault(asked, []).append(sheet)
    made: list[Passage] = []
    several = len({sheet.dataset for sheet in sheets}) > 1
    for group in groups.values():
        on = f"{group[0].dataset}: " if several else ""
        if len(group) > EPSILONS:
            verdicts = [verdict_on(sheet) for sheet in sorted(group, key=lambda one: one.epsilon)]
            said = f"{at_each(verdicts)} {throughout(verdicts)}"
            made += [RAW if raw else f"{on}{said}", against_epsilon(group)]
        else:
            for sheet in group:
                said = " ".join(verdict_on(sheet).sentences())
                made += [RAW if raw else f"{on}{said}", sheet_table(sheet)]
    return made if raw else [*across_datasets(sheets), *made]


def sheet_table(sheet: Sheet) -> PrintedTable:
    """Protocols down; none, average and each method across; wins and × limit below."""
    rows = [
        (names.protocol(p), [sheet.cell(p, column) for column in sheet.columns])
        for p in sheet.protocols
    ]
    rows.append(("wins", [PrintedCell(sheet.win(column)) for column in sheet.columns]))
    if sheet.limited:
        rows.append((TIMES, [PrintedCell(sheet.times_limit(column)) for column in sheet.columns]))
    return PrintedTable(
        ["protocol", *map(names.method, sheet.columns)],
        rows,
        title=_title(sheet),
        legend=_scale(sheet),
        bare=_scale(sheet, deviations=False),
        note=_yardstick(sheet),
        marks=MARKS,
        footers=2 if sheet.limited else 1,
        across="method",
        label=label(sheet),
    )


def against_epsilon(sheets: Sequence[Sheet]) -> PrintedTable:
    """Combinations down, from the best on average; ε across, of one dataset after the other."""
    datasets = list(dict.fromkeys(sheet.dataset for sheet in sheets))
    ordered = sorted(sheets, key=lambda sheet: (datasets.index(sheet.dataset), sheet.epsilon))
    ranks = [_ranks(sheet) for sheet in ordered]
    pairs = list(dict.fromkeys(pair for rank in ranks for pair in rank))
    last = len(pairs) + 1  # where it was not run
    pairs.sort(key=lambda pair: sum(rank.get(pair, last) for rank in ranks))
    left = len(pairs) - ROWS
    more = f" {left} more combinations are in JSON and CSV." if left > 0 else ""
    heads, title = ["ε", *(f"{sheet.epsilon:g}" for sheet in ordered)], _title(ordered[0], True)
    if len(datasets) > 1:
        heads = ["dataset, ε", *(f"{sheet.dataset}, {sheet.epsilon:g}" for sheet in ordered)]
        read = names.reading(ordered[0].metric, ordered[0].better)
        sizes = dict.fromkeys(f"{one.dataset}: n = {one.n:,}, d = {one.d:,}" for one in ordered)
        title = f"{names.metric(ordered[0].metric)} ({read}) against ε · {'; '.join(sizes)}"
    return PrintedTable(
        heads,
        [(_named(pair), [_mean(sheet, pair) for sheet in ordered]) for pair in pairs[:ROWS]],
        title=title,
        legend=f"Mean over {ordered[0].repeats} repeats.",
        note=f"Ordered by the average rank.{more}",
        marks={"best": "best at its ε", "tied": "tied with it"},
        across=heads[0],
        label=f"tab:overview-{_plain(ordered[0].metric)}",
    )


def across_datasets(sheets: Sequence[Sheet]) -> list[Passage]:
    """For each question that was asked on several datasets: what loses how much on each."""
    made: list[Passage] = []
    for found in comparisons(sheets):
        asked = f"{names.metric(found.metric)} {said(found.at)}"
        lines = [
            [
                combination(*row.pair),
                percent(row.worst),
                f"{row.rank:.1f}",
                f"{sum(row.tied)} of {len(found.datasets)}",
                *map(percent, row.losses),
            ]
            for row in found.rows[:SHOWN]
        ]
        heads = ["", "at most", "average rank", "best or tied", *found.datasets]
        title = f"{asked}: loss against the best, by dataset"
        made += [" ".join(found.sentences()), PrintedTable(heads, plain_rows(lines), title=title)]
    return made


def label(sheet: Sheet) -> str:
    r"""What `\ref` calls the table: ``tab:flights-l1-1``."""
    words = [sheet.dataset, sheet.metric, *said_short(sheet.at)]
    return "tab:" + "-".join(map(_plain, words))


def _plain(word: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-")


def _ranks(sheet: Sheet) -> dict[tuple[str, str], int]:
    ordered = sorted(sheet.means, key=sheet.means.__getitem__, reverse=sheet.better == "higher")
    return {pair: rank for rank, pair in enumerate(ordered, 1)}


def _named(pair: tuple[str, str]) -> str:
    protocol, method = names.protocol(pair[0]), names.method(pair[1])
    return protocol if method == "none" else f"{protocol} {method}"


def _mean(sheet: Sheet, pair: tuple[str, str]) -> PrintedCell:
    if pair not in sheet.means:
        return PrintedCell("–")
    return PrintedCell(number(sheet.means[pair]), marks=sheet.marks(*pair) - {"row"})


def _title(sheet: Sheet, across: bool = False) -> str:
    if not sheet.by_users:
        way = "exact simulation"
    else:
        every = set(sheet.by_users) == set(sheet.protocols)
        way = "by users" if every else f"by users: {', '.join(map(names.protocol, sheet.by_users))}"
    where = f"against ε {said(sheet.at, 'epsilon')}".rstrip() if across else said(sheet.at)
    return (
        f"{names.metric(sheet.metric)} ({names.reading(sheet.metric, sheet.better)}) {where} · "
        f"{sheet.dataset}: n = {sheet.n:,}, d = {sheet.d:,}, {way}"
    )


def _scale(sheet: Sheet, deviations: bool = True) -> str:
    factor = f"× 10{str(sheet.exponent).translate(_SUPERSCRIPT)}, " if sheet.exponent else ""
    if sheet.repeats == 1:
        return f"{factor}a single repeat."
    what = "mean ± standard deviation" if deviations else "mean"
    return f"{factor}{what} over {sheet.repeats} repeats."


def _yardstick(sheet: Sheet) -> str:
    if not sheet.limited:
        return ""
    return (
        f"{TIMES}: error divided by that of an ideal rule that knows the true frequencies but not "
        "which value has which."
    )
