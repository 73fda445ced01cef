"""Tables as papers print them: plain text, Markdown, LaTeX; and as CSV.

LaTeX needs booktabs. A small table takes one column of a paper, a larger one both (`table*`). Where
it is wider still, the methods go down and the protocols across; where even that is too wide, the
standard deviations go.

In CSV, a text that begins like a formula gets an apostrophe in front, as spreadsheets write text:
they show it and never run it. Reading takes it off again, so nothing is lost. Numbers, also
negative ones, stay as they are.
"""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ldp3.printing import (
    BEST,
    GOOD,
    QUIET,
    columns,
    escape_latex,
    escape_markdown,
    markdown_table,
    styled,
    wrapped,
)
from ldp3.results import names
from ldp3.results.sheets import Sheet
from ldp3.results.verdict import (
    Compared,
    combination,
    compared,
    over_datasets,
    percent,
    winner,
    winners,
)

FORMATS = ("table", "markdown", "latex", "json", "csv")
TIMES = "× limit"
EPSILONS = 3  # more of them stand across one table
ROWS = 24  # of such a table
SHOWN = 8  # combinations in a table of several datasets
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
COLUMN, PAGE = 240, 505  # points of text in a paper of two columns
# points of a letter, a digit, one in a deviation, a sign there, and between columns
_LETTER, _DIGIT, _SMALL, _SIGN, _GAP = 5.0, 4.25, 3.6, 6.5, 6.0
_SYMBOLS = {"ε": r"$\varepsilon$", "×": r"$\times$", "ℓ1": r"$\ell_1$", "ℓ2": r"$\ell_2$",
            "ℓ∞": r"$\ell_\infty$", "·": r"$\cdot$"}  # fmt: skip
Printed = tuple[str, float]  # what is written in LaTeX, and about how many points it takes
Grid = list[list[Printed]]
# what a spreadsheet would run, and what it would not though it begins alike
_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def texts(sheets: Sequence[Sheet], width: int | None = None) -> list[str]:
    """Plain text: a table for each question; one against ε where there are many ε."""
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    for sheet in sheets:
        asked = sheet.metric, sheet.dataset, sheet.n, sheet.d, sheet.attack
        groups.setdefault(asked, []).append(sheet)
    made = []
    for group in groups.values():
        one = len(group) > EPSILONS
        made += [against_epsilon(group, width)] if one else [text(s, width) for s in group]
    return made


def text(sheet: Sheet, width: int | None = None) -> str:
    """Plain text; columns that do not fit into `width` follow below."""
    first = ["", *map(names.protocol, sheet.protocols), "wins"]
    first += [TIMES] if sheet.limited else []
    rows = zip(first, *(_aligned(sheet, column) for column in sheet.columns), strict=True)
    table = columns(list(rows), "l", width)
    title, legend, won = (wrapped(s, width) for s in (_title(sheet), _legend(sheet), winner(sheet)))
    return "\n\n".join([title, table, legend, won])


def against_epsilon(sheets: Sequence[Sheet], width: int | None = None) -> str:
    """Plain text: combinations down, from the best on average, ε across."""
    ordered = sorted(sheets, key=lambda sheet: sheet.epsilon)
    ranks = [_ranks(sheet) for sheet in ordered]
    pairs = list(dict.fromkeys(pair for rank in ranks for pair in rank))
    last = len(pairs) + 1  # where it was not run
    pairs.sort(key=lambda pair: sum(rank.get(pair, last) for rank in ranks))
    head = ["ε", *(f"{sheet.epsilon:g}  " for sheet in ordered)]
    rows = [[_named(pair), *(_mean(sheet, pair) for sheet in ordered)] for pair in pairs[:ROWS]]
    left = len(pairs) - ROWS
    more = f" {left} more combinations are in every other format." if left > 0 else ""
    legend = (
        f"Mean over {ordered[0].repeats} repeats; ** best at its ε, ≈ tied with it; "
        f"ordered by the average rank.{more}"
    )
    title = wrapped(_title(ordered[0], across=True), width)
    said = [wrapped(words, width) for words in (legend, winners(ordered))]
    return "\n\n".join([title, columns([head, *rows], "lr", width), *said])


def markdown(sheet: Sheet) -> str:
    """A Markdown table: the best of each row in bold."""

    def cell(protocol: str, column: str) -> str:
        number, mark = sheet.number(protocol, column), sheet.mark(protocol, column)
        number = f"**{number}**" if "*" in mark else number
        return number + (" ★" if mark == "**" else " ≈" if "≈" in mark else "")

    head = ["protocol", *(escape_markdown(names.method(c)) for c in sheet.columns)]
    rows = [
        [escape_markdown(names.protocol(p)), *(cell(p, c) for c in sheet.columns)]
        for p in sheet.protocols
    ]
    wins = ["wins", *(sheet.win(c) for c in sheet.columns)]
    times = [[TIMES, *(sheet.times_limit(c) for c in sheet.columns)]] if sheet.limited else []
    body = markdown_table([head, *rows, wins, *times], "lr")
    legend = f"★ best of all, ≈ tied with it, bold: best of the row.{_yardstick(sheet)}"
    said = f"{_scale(sheet)} {legend}\n\n{escape_markdown(winner(sheet))}"
    return f"{escape_markdown(_title(sheet))}\n\n{body}\n\n{said}"


def _ranks(sheet: Sheet) -> dict[tuple[str, str], int]:
    ordered = sorted(sheet.means, key=sheet.means.__getitem__, reverse=sheet.better == "higher")
    return {pair: rank for rank, pair in enumerate(ordered, 1)}


def _named(pair: tuple[str, str]) -> str:
    protocol, method = names.protocol(pair[0]), names.method(pair[1])
    return protocol if method == "none" else f"{protocol} {method}"


def _mean(sheet: Sheet, pair: tuple[str, str]) -> str:
    if pair not in sheet.means:
        return "–  "
    mark = "**" if pair in sheet.firsts else "≈" if pair in sheet.tied else ""
    return _marked(f"{sheet.means[pair]:#.3g}".rstrip("."), mark, _look(sheet, *pair))


def _look(sheet: Sheet, protocol: str, column: str) -> str:
    pair = protocol, column
    return BEST if pair in sheet.firsts else GOOD if pair in sheet.tied else ""


def _title(sheet: Sheet, across: bool = False) -> str:
    if not sheet.by_users:
        way = "exact simulation"
    else:
        every = set(sheet.by_users) == set(sheet.protocols)
        way = "by users" if every else f"by users: {', '.join(map(names.protocol, sheet.by_users))}"
    attack = "" if sheet.attack == "none" else f" under {names.attack(sheet.attack)}"
    where = "against ε" if across else f"at ε = {sheet.epsilon:g}"
    return (
        f"{names.metric(sheet.metric)} ({sheet.better} is better) {where}{attack} · "
        f"{sheet.dataset}: n = {sheet.n:,}, d = {sheet.d:,}, {way}"
    )


def _scale(sheet: Sheet) -> str:
    factor = f"× 10{str(sheet.exponent).translate(_SUPERSCRIPT)}, " if sheet.exponent else ""
    if sheet.repeats == 1:
        return f"{factor}a single repeat."
    return f"{factor}mean ± standard deviation over {sheet.repeats} repeats."


def _legend(sheet: Sheet) -> str:
    tied = ", ≈ tied with it" if sheet.tied else ""
    return f"{_scale(sheet)} ** best of all{tied}, * best of its row.{_yardstick(sheet)}"


def _yardstick(sheet: Sheet) -> str:
    if not sheet.limited:
        return ""
    return (
        f" {TIMES}: error divided by that of an ideal rule that knows the true frequencies but not "
        "which value has which."
    )


def _aligned(sheet: Sheet, column: str) -> list[str]:
    """A column from head to wins; marks stand beside the numbers, not under the head."""
    head = names.method(column)
    numbers = [head, *(sheet.number(p, column) for p in sheet.protocols), sheet.win(column)]
    marks = ["", *(sheet.mark(p, column) for p in sheet.protocols), ""]
    if sheet.limited:
        numbers, marks = [*numbers, sheet.times_limit(column)], [*marks, ""]
    widest = max(len(sheet.number(p, c)) for p in sheet.protocols for c in sheet.columns)
    width = max(widest, *(len(names.method(c)) for c in sheet.columns))
    looks = ["", *(_look(sheet, p, column) for p in sheet.protocols), QUIET]
    looks += [QUIET] if sheet.limited else []
    cells = zip(numbers, marks, looks, strict=True)
    return [" " * (width - len(number)) + _marked(number, *look) for number, *look in cells]


def _marked(number: str, mark: str, look: str) -> str:
    """A number and room for its mark."""
    return styled(f"{number} {mark}" if mark else number, look) + " " * (3 - len(mark) - bool(mark))


def across_datasets(sheets: Sequence[Sheet], width: int | None = None) -> list[str]:
    """For each question that was asked on several datasets: a table and sentences."""
    groups: dict[tuple[object, ...], list[Sheet]] = {}
    for sheet in sheets:
        groups.setdefault((sheet.metric, sheet.epsilon, sheet.attack), []).append(sheet)
    made = ((group, compared(group)) for group in groups.values() if len(group) > 1)
    return [_losses(group, rows, width) for group, rows in made if rows]


def _losses(sheets: Sequence[Sheet], rows: Sequence[Compared], width: int | None) -> str:
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
    words = " ".join(over_datasets(rows, datasets, first.metric, first.epsilon))
    return "\n\n".join(
        [wrapped(title, width), columns([head, *lines], "lr", width), wrapped(words, width)]
    )


def latex(sheet: Sheet) -> str:
    """The best of each protocol in bold, the best of all underlined, what is tied with it marked.

    >>> import numpy as np
    >>> runs = {("grr", "none"): np.array([0.5, 0.7]), ("grr", "norm_sub"): np.array([0.4, 0.6])}
    >>> sheet = Sheet("l1", "visits", 1_000, 20, 1.0, "none", "lower", (), runs)
    >>> print(latex(sheet).splitlines()[3])
      \\label{tab:visits-l1-1}
    """
    whole, bare = _grid(sheet, deviations=sheet.repeats > 1), _grid(sheet, deviations=False)
    tries = [whole, _turned(whole), bare, _turned(bare)]
    grid = next((grid for grid in tries if _width(grid) <= PAGE), tries[-1])
    deviations = sheet.repeats > 1 and (grid is tries[0] or grid is tries[1])
    kind = "table" if _width(grid) <= COLUMN else "table*"
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            r"  \centering",
            rf"  \caption{{{_caption(sheet, deviations)}}}",
            rf"  \label{{{label(sheet)}}}",
            r"  \footnotesize",
            r"  \setlength{\tabcolsep}{3pt}",
            rf"  \begin{{tabular}}{{l{'r' * (len(grid[0]) - 1)}}}",
            *("    " + line for line in _lines(grid, len(sheet.protocols))),
            r"  \end{tabular}",
            rf"\end{{{kind}}}",
        ]
    )


def label(sheet: Sheet) -> str:
    r"""What `\ref` calls the table: ``tab:flights-l1-1``."""
    words = [sheet.dataset, sheet.metric, f"{sheet.epsilon:g}"]
    words += [] if sheet.attack == "none" else [sheet.attack]
    return "tab:" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-") for word in words)


def _grid(sheet: Sheet, deviations: bool) -> Grid:
    """Heads, a row for each protocol, and how often each method wins."""
    heads = [names.method(c) for c in sheet.columns]
    rows = [
        [
            _words(names.protocol(protocol)),
            *(_cell(sheet, protocol, c, deviations) for c in sheet.columns),
        ]
        for protocol in sheet.protocols
    ]
    wins = [_words("wins"), *(_words(sheet.win(c)) for c in sheet.columns)]
    times = [_words("× limit"), *(_words(sheet.times_limit(c)) for c in sheet.columns)]
    head = [_words("protocol"), *map(_words, heads)]
    return [head, *rows, wins, *([times] if sheet.limited else [])]


def _turned(grid: Grid) -> Grid:
    """Methods down, protocols across."""
    turned = [list(row) for row in zip(*grid, strict=True)]
    turned[0][0] = _words("method")
    return turned


def _lines(grid: Grid, protocols: int) -> list[str]:
    """The rows between rules; wins stand apart where they are rows."""
    rows = [" & ".join(text for text, _ in row) + r" \\" for row in grid]
    if grid[0][0][0] == "protocol":
        rows.insert(1 + protocols, r"\midrule")
    return [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]


def _width(grid: Grid) -> float:
    """About how many points the table takes, in footnotesize."""
    widest = [max(points for _, points in column) for column in zip(*grid, strict=True)]
    return sum(widest) + _GAP * (len(widest) - 1)


def _cell(sheet: Sheet, protocol: str, column: str, deviations: bool) -> Printed:
    mean, _, deviation = sheet.number(protocol, column).partition(" ± ")
    if mean == "–":
        return "--", _LETTER
    mark, number = sheet.mark(protocol, column), mean.replace(",", "{,}")
    number = rf"\mathbf{{{number}}}" if "*" in mark else number
    number = rf"\underline{{{number}}}" if mark == "**" else number
    tied = r"^{\approx}" if "≈" in mark else ""
    points = len(mean) * _DIGIT + _SIGN * bool(tied)
    if not (deviation and deviations):
        return f"${number}{tied}$", points
    spread = rf"{{\scriptstyle\pm{deviation.replace(',', '{,}')}}}"
    return f"${number}{spread}{tied}$", points + len(deviation) * _SMALL + _SIGN


def _caption(sheet: Sheet, deviations: bool) -> str:
    better = f"{_text(names.metric(sheet.metric))} ({sheet.better} is better)"
    attack = "" if sheet.attack == "none" else f", under {escape_latex(names.attack(sheet.attack))}"
    data = f"{escape_latex(sheet.dataset)}: $n = {_number(sheet.n)}$, $d = {_number(sheet.d)}$"
    factor = rf"In units of $10^{{{sheet.exponent}}}$; " if sheet.exponent else ""
    what = r"mean $\pm$ standard deviation" if deviations else "mean"
    repeats = "a single repeat" if sheet.repeats == 1 else f"{what} over {sheet.repeats} repeats"
    said = f"{factor}{repeats}"
    marks = r"Bold: best of its protocol; underlined: best of all; $\approx$: tied with it."
    return (
        rf"{better} at $\varepsilon = {sheet.epsilon:g}${attack}. {data}. "
        f"{said[0].upper()}{said[1:]}. {marks}"
    )


def _words(words: str) -> Printed:
    return _text(words), len(words) * _LETTER


def _text(words: str) -> str:
    escaped = escape_latex(words)
    for symbol, command in _SYMBOLS.items():
        escaped = escaped.replace(symbol, command)
    return escaped


def _number(value: int) -> str:
    return f"{value:,}".replace(",", "{,}")


def write_csv(table: pl.DataFrame) -> str:
    """The table as CSV that a spreadsheet shows and never runs.

    >>> print(write_csv(pl.DataFrame({"label": ["=1+1", "-5", "home"]})), end="")
    label
    '=1+1
    -5
    home
    """
    text = pl.col(pl.String)
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    guarded = pl.when(formula).then("'" + text).otherwise(text).name.keep()
    return table.with_columns(guarded).write_csv()


def read_csv(source: Path | io.BytesIO, schema: dict[str, Any]) -> pl.DataFrame:
    """What `write_csv` wrote, as it was."""
    text = pl.col(pl.String)
    guarded = text.str.contains(_FORMULA) & text.str.starts_with("'")
    table = pl.read_csv(source, schema_overrides=schema)
    return table.with_columns(pl.when(guarded).then(text.str.slice(1)).otherwise(text).name.keep())


RENDER: dict[str, Callable[[Sheet], str]] = {"markdown": markdown, "latex": latex}
