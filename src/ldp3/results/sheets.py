"""Tables as papers print them: protocols down; none, average and each method across."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray
from ldp3.results import ties

FORMATS = ("table", "markdown", "latex", "json", "csv")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Sheet:
    """One question: a metric on a dataset at one ε under one attack.

    Parameters
    ----------
    metric, dataset, n, d, epsilon, attack
        What is asked.
    better
        Whether ``lower`` or ``higher`` is better.
    by_users
        The protocols that were run by perturbing every user, and not by exact simulation.
    runs
        One value per repeat for each protocol and method.
    """

    metric: str
    dataset: str
    n: int
    d: int
    epsilon: float
    attack: str
    better: str
    by_users: tuple[str, ...]
    runs: ties.Runs

    @cached_property
    def protocols(self) -> list[str]:
        """The rows."""
        return list(dict.fromkeys(protocol for protocol, _ in self.runs))

    @cached_property
    def methods(self) -> list[str]:
        """The columns, but for the average."""
        return list(dict.fromkeys(method for _, method in self.runs))

    @cached_property
    def columns(self) -> list[str]:
        """none, average, each method."""
        others = [m for m in self.methods if m != "none"]
        none = ["none"] if "none" in self.methods else []
        return [*none, *(["average"] if len(others) > 1 else []), *others]

    def values(self, protocol: str, column: str) -> FloatArray | None:
        """The repeats of one cell; the average is over the methods other than none."""
        if column != "average":
            return self.runs.get((protocol, column))
        shown = [v for (p, m), v in self.runs.items() if p == protocol and m != "none"]
        return np.mean(shown, axis=0) if shown else None

    @cached_property
    def means(self) -> dict[tuple[str, str], float]:
        """The mean of each protocol and method."""
        return {pair: float(values.mean()) for pair, values in self.runs.items()}

    @cached_property
    def best(self) -> tuple[str, str]:
        """The best of all."""
        return ties.leader(self.means, self.better)

    @cached_property
    def tied(self) -> set[tuple[str, str]]:
        """What cannot be told from the best of all, without it."""
        return ties.ties(self.runs, self.better) - {self.best}

    @cached_property
    def row_best(self) -> set[tuple[str, str]]:
        """The best of each row."""
        rows = ({k: m for k, m in self.means.items() if k[0] == p} for p in self.protocols)
        return {ties.leader(row, self.better) for row in rows}

    @cached_property
    def wins(self) -> dict[str, float]:
        """How often each method is the best on the same estimate."""
        return ties.win_rates(self.runs, self.better)

    @cached_property
    def exponent(self) -> int:
        """Power of ten to factor out: typical numbers then have one digit before the dot."""
        sizes = [abs(mean) for mean in self.means.values() if mean]
        return floor(log10(float(np.median(sizes)))) if sizes else 0

    def number(self, protocol: str, column: str, plus_minus: str = " ± ") -> str:
        """``3.08 ± 0.12``, scaled; a dash where the method does not apply."""
        values = self.values(protocol, column)
        if values is None:
            return "–"
        mean, std = values.mean() / 10.0**self.exponent, ties.spread(values)
        if std is None:
            return f"{mean:.2f}"
        return f"{mean:.2f}{plus_minus}{std / 10.0**self.exponent:.2f}"

    @property
    def repeats(self) -> int:
        """The most that any cell has."""
        return max(map(len, self.runs.values()))


def sheets(table: pl.DataFrame, better: Mapping[str, str]) -> list[Sheet]:
    """One sheet for each question that a table of results answers."""
    made = []
    for question, part in table.group_by(ties.QUESTION, maintain_order=True):
        asked: Any = dict(zip(ties.QUESTION, question, strict=True))
        by_users = part.filter(simulate="users")["protocol"].unique(maintain_order=True)
        made.append(
            Sheet(
                **asked,
                better=better[asked["metric"]],
                by_users=tuple(by_users),
                runs=ties.runs(part),
            )
        )
    return made


def text(sheet: Sheet, width: int | None = None) -> str:
    """Plain text; columns that do not fit into `width` follow below."""
    names = ["", *sheet.protocols, "wins"]
    left = max(map(len, names))
    columns = [_aligned(sheet, column) for column in sheet.columns]
    fit = len(columns) if width is None else max((width - left) // (len(columns[0][0]) + 2), 1)
    blocks = []
    for start in range(0, len(columns), fit):
        lines = zip((n.ljust(left) for n in names), *columns[start : start + fit], strict=True)
        blocks.append("\n".join("  ".join(line).rstrip() for line in lines))
    return "\n\n".join([_title(sheet), *blocks, _legend(sheet)])


def markdown(sheet: Sheet) -> str:
    """A Markdown table: the best of each row in bold."""

    def cell(protocol: str, column: str) -> str:
        number, mark = sheet.number(protocol, column), _mark(sheet, protocol, column)
        number = f"**{number}**" if "*" in mark else number
        return number + (" ★" if mark == "**" else " ≈" if "≈" in mark else "")

    head = ["protocol", *sheet.columns]
    rows = [[p, *(cell(p, c) for c in sheet.columns)] for p in sheet.protocols]
    rows += [["wins", *(_win(sheet, c) for c in sheet.columns)]]
    lines = [head, ["---", *("---:" for _ in sheet.columns)], *rows]
    body = "\n".join("| " + " | ".join(_escaped(line)) + " |" for line in lines)
    legend = "★ best of all, ≈ tied with it, bold: best of the row."
    return f"{_title(sheet)}\n\n{body}\n\n{_scale(sheet)} {legend}"


def latex(sheet: Sheet) -> str:
    """A LaTeX table for booktabs: the best of each row in bold, the best of all underlined."""

    def cell(protocol: str, column: str) -> str:
        number = sheet.number(protocol, column, r" \pm ").replace("–", "-")
        mark = _mark(sheet, protocol, column)
        number = rf"\mathbf{{{number}}}" if "*" in mark else number
        number = rf"\underline{{{number}}}" if mark == "**" else number
        tied = r"^{\approx}" if "≈" in mark else ""
        return f"${number}{tied}$"

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    names = [_tex(c) for c in sheet.columns]
    wins = [_win(sheet, c).replace("%", r"\%") for c in sheet.columns]
    caption = _tex(_title(sheet)).replace("ε", r"$\varepsilon$").replace("×", r"$\times$")
    scale = (
        (rf"$\times 10^{{{sheet.exponent}}}$, " if sheet.exponent else "")
        + rf"mean $\pm$ standard deviation over {sheet.repeats} repeats; bold: best of its row; "
        r"underlined: best of all; $\approx$: tied with it."
    )
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{caption}. {scale}}}",
            rf"  \begin{{tabular}}{{l{'r' * len(names)}}}",
            r"    \toprule",
            "    " + line(["protocol", *names]),
            r"    \midrule",
            *(
                "    " + line([_tex(p), *(cell(p, c) for c in sheet.columns)])
                for p in sheet.protocols
            ),
            r"    \midrule",
            "    " + line(["wins", *wins]),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
    )


def html(sheet: Sheet) -> str:
    """An HTML table for notebooks."""

    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{c}</{tag}>" for c in cells) + "</tr>"

    def cell(protocol: str, column: str) -> str:
        number, mark = sheet.number(protocol, column), _mark(sheet, protocol, column)
        return f"<b>{number}</b> {mark}" if "*" in mark else f"{number} {mark}"

    body = [row("td", [escape(p), *(cell(p, c) for c in sheet.columns)]) for p in sheet.protocols]
    head = row("th", ["", *map(escape, sheet.columns)])
    foot = row("td", ["wins", *(_win(sheet, c) for c in sheet.columns)])
    return (
        f"<table><caption>{escape(_title(sheet))}<br>{escape(_legend(sheet))}</caption>"
        f"<thead>{head}</thead><tbody>{''.join(body)}{foot}</tbody></table>"
    )


RENDER: dict[str, Callable[[Sheet], str]] = {"markdown": markdown, "latex": latex}


def _title(sheet: Sheet) -> str:
    if not sheet.by_users:
        way = "exact simulation"
    else:
        every = set(sheet.by_users) == set(sheet.protocols)
        way = "by users" if every else f"by users: {', '.join(sheet.by_users)}"
    attack = "" if sheet.attack == "none" else f" under {sheet.attack}"
    return (
        f"{sheet.metric} ({sheet.better} is better) at ε = {sheet.epsilon:g}{attack} · "
        f"{sheet.dataset}: n = {sheet.n:,}, d = {sheet.d:,}, {way}"
    )


def _scale(sheet: Sheet) -> str:
    factor = f"× 10{str(sheet.exponent).translate(_SUPERSCRIPT)}, " if sheet.exponent else ""
    if sheet.repeats == 1:
        return f"{factor}a single repeat."
    return f"{factor}mean ± standard deviation over {sheet.repeats} repeats."


def _legend(sheet: Sheet) -> str:
    tied = ", ≈ not to be told from it" if sheet.tied else ""
    return f"{_scale(sheet)} ** best of all{tied}, * best of its row."


def _mark(sheet: Sheet, protocol: str, column: str) -> str:
    pair = protocol, column
    if pair == sheet.best:
        return "**"
    return "*" * (pair in sheet.row_best) + "≈" * (pair in sheet.tied)


def _win(sheet: Sheet, column: str) -> str:
    return "" if column == "average" else f"{sheet.wins[column]:.0%}"


def _aligned(sheet: Sheet, column: str) -> list[str]:
    """A column from head to wins; marks stand beside the numbers, not under the head."""
    numbers = [column, *(sheet.number(p, column) for p in sheet.protocols), _win(sheet, column)]
    marks = ["", *(_mark(sheet, p, column) for p in sheet.protocols), ""]
    widest = max(len(sheet.number(p, c)) for p in sheet.protocols for c in sheet.columns)
    width = max(widest, *map(len, sheet.columns))
    return [f"{n:>{width}} {m:<2}" for n, m in zip(numbers, marks, strict=True)]


def _escaped(cells: Sequence[str]) -> list[str]:
    return [cell.replace("|", r"\|").replace("_", r"\_") for cell in cells]


def _tex(words: str) -> str:
    for character in "&%$#_{}":
        words = words.replace(character, "\\" + character)
    return words
