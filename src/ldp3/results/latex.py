"""Tables for papers in two columns, with booktabs.

A small table takes one column, a larger one both (`table*`). Where it is wider still, the methods
go down and the protocols across; where even that is too wide, the standard deviations go.
"""

import re

from ldp3.printing import escape_latex
from ldp3.results import names
from ldp3.results.sheets import Sheet

COLUMN, PAGE = 240, 505  # points of text
# points of a letter, a digit, one in a deviation, a sign there, and between columns
_LETTER, _DIGIT, _SMALL, _SIGN, _GAP = 5.0, 4.25, 3.6, 6.5, 6.0
_SYMBOLS = {"ε": r"$\varepsilon$", "×": r"$\times$", "ℓ1": r"$\ell_1$", "ℓ2": r"$\ell_2$",
            "ℓ∞": r"$\ell_\infty$", "·": r"$\cdot$"}  # fmt: skip
Cell = tuple[str, float]  # what is written, and about how many points it takes
Grid = list[list[Cell]]


def table(sheet: Sheet) -> str:
    """The best of each protocol in bold, the best of all underlined, what is tied with it marked.

    >>> import numpy as np
    >>> runs = {("grr", "none"): np.array([0.5, 0.7]), ("grr", "norm_sub"): np.array([0.4, 0.6])}
    >>> sheet = Sheet("l1", "visits", 1_000, 20, 1.0, "none", "lower", (), runs)
    >>> print(table(sheet).splitlines()[3])
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


def _cell(sheet: Sheet, protocol: str, column: str, deviations: bool) -> Cell:
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


def _words(words: str) -> Cell:
    return _text(words), len(words) * _LETTER


def _text(words: str) -> str:
    escaped = escape_latex(words)
    for symbol, command in _SYMBOLS.items():
        escaped = escaped.replace(symbol, command)
    return escaped


def _number(value: int) -> str:
    return f"{value:,}".replace(",", "{,}")
