r"""What a command tells, and the one way to show it.

An `Answer` holds what people read (sentences, tables, code, notes) and what programs get: plain
data, and rows with full numbers under plain keys. Every format is made here, for all answers alike:
a new one is its name in `Format` and its line in `_RENDER`.

LaTeX needs booktabs. A small table takes one column of a paper, a larger one both (`table*`). Where
it is wider still, its rows go across; where even that is too wide, the deviations go.

In CSV, a text that begins like a formula gets an apostrophe in front, as spreadsheets write text:
they show it and never run it. Reading takes it off again, so nothing is lost. Numbers, also
negative ones, stay as they are.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, Literal, get_args

from ldp3.errors import InvalidParameter, one_of, short
from ldp3.printing import (
    BEST,
    GOOD,
    QUIET,
    columns,
    escape_latex,
    escape_markdown,
    markdown_table,
    styled,
    unstyled,
    visible,
    wrapped,
)

if TYPE_CHECKING:
    import polars as pl

Format = Literal["text", "markdown", "latex", "json", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
Mark = Literal["best", "tied", "row"]  # the best of all, what is tied with it, the best of its row
ROOM = 3  # characters beside a number, for its mark
COLUMN, PAGE = 240, 505  # points of text in a paper of two columns
# points of a letter, a digit, one in a deviation, a sign there, and between columns
_LETTER, _DIGIT, _SMALL, _SIGN, _GAP = 5.0, 4.25, 3.6, 6.5, 6.0
_SYMBOLS = {"ε": r"$\varepsilon$", "×": r"$\times$", "±": r"$\pm$", "≈": r"$\approx$",
            "ℓ1": r"$\ell_1$", "ℓ2": r"$\ell_2$", "ℓ∞": r"$\ell_\infty$", "·": r"$\cdot$",
            "–": "--", "█": r"\rule{.4em}{1.4ex}"}  # fmt: skip
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
# what a spreadsheet would run, and what it would not though it begins alike
_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@dataclass(frozen=True)
class PrintedCell:
    """A number in a table, its deviation, and what is to be noticed of it."""

    text: str
    deviation: str = ""
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class PrintedTable:
    """Rows for people to read.

    Parameters
    ----------
    heads, rows
        A row has a name for its first cell.
    align
        A letter for each column, `l` or `r`; the last one stands for all that follow.
    title, legend, note
        What stands above it, and below it before and after the words for its marks.
    marks
        What each mark means here.
    footers
        How many of the last rows are about columns, and stand apart.
    across
        What the first column is called where rows go across; nothing where they must not.
    bare
        The legend of a table that has no room for deviations.
    label
        What LaTeX refers to it by.
    """

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[PrintedCell]]]
    align: str = "lr"
    title: str = ""
    legend: str = ""
    note: str = ""
    marks: Mapping[Mark, str] = field(default_factory=dict)
    footers: int = 0
    across: str = ""
    bare: str = ""
    label: str = ""

    @property
    def cells(self) -> list[list[PrintedCell]]:
        """Heads and rows alike."""
        rows = [[PrintedCell(name), *cells] for name, cells in self.rows]
        return [[PrintedCell(head) for head in self.heads], *rows]

    def said(self, signs: Mapping[Mark, str], legend: str | None = None) -> str:
        """What stands below it: the legend, the marks that are in it, the note."""
        there = {mark for _, row in self.rows for cell in row for mark in cell.marks}
        marks = [f"{signs[mark]} {words}" for mark, words in self.marks.items() if mark in there]
        explained = f"{', '.join(marks)}." if marks else ""
        said = self.legend if legend is None else legend
        return " ".join(filter(None, [said, explained, self.note]))


@dataclass(frozen=True)
class PrintedColumn:
    """Of a table that is made of rows with names: which one, its head, how people read it."""

    key: str
    head: str
    show: Callable[[Any], str] = str


@dataclass(frozen=True)
class Heading:
    """Of what follows."""

    words: str


@dataclass(frozen=True)
class Snippet:
    """Lines to copy as they are."""

    lines: str
    language: str = "python"


@dataclass(frozen=True)
class Items:
    """Things to know, one below the other."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Terms:
    """Names, and sentences about each."""

    entries: Mapping[str, Sequence[str]]


Passage = str | Heading | PrintedTable | Snippet | Items | Terms  # a text is a paragraph


@dataclass(frozen=True)
class Answer:
    """What a command tells.

    Parameters
    ----------
    parts
        What people read, the verdict first; what is empty is not shown.
    data
        What programs get: facts, and data frames by name. JSON has all of it.
    table
        The rows of CSV; those of the first data frame if not given.
    """

    parts: Sequence[Passage]
    data: Mapping[str, Any]
    table: "pl.DataFrame | None" = None

    def render(self, format: str = "text", width: int | None = None, colours: bool = False) -> str:
        """In one of the formats; text in lines of at most `width`.

        With `colours` there are signs in text that `show` turns into those of a terminal.
        """
        if not one_of(format, FORMATS):
            raise InvalidParameter(f"format is {', '.join(FORMATS)}, got {short(format)}.")
        made = _RENDER[format](self, width)
        return made if colours else unstyled(made)


def table(
    frame: "pl.DataFrame", shown: Sequence[PrintedColumn], align: str = "lr", **about: Any
) -> PrintedTable:
    """Some columns of a data frame, as people read them; what is not known is a dash."""
    rows = [
        [
            "–" if value is None else column.show(value)
            for column, value in zip(shown, row, strict=True)
        ]
        for row in frame.select(column.key for column in shown).iter_rows()
    ]
    return PrintedTable([column.head for column in shown], plain_rows(rows), align, **about)


def plain_rows(rows: Sequence[Sequence[str]]) -> list[tuple[str, list[PrintedCell]]]:
    """Rows of a table from words."""
    return [(first, [PrintedCell(word) for word in others]) for first, *others in rows]


class _Writer(ABC):
    """Parts in a format for people, one after the other."""

    def written(self, answer: Answer) -> str:
        """All of it."""
        return "\n\n".join(filter(None, map(self._part, answer.parts)))

    def _part(self, part: Passage) -> str:
        match part:
            case str():
                return self.paragraph(part) if part else ""
            case Heading():
                return self.heading(part.words)
            case PrintedTable():
                return self.table(part)
            case Snippet():
                return self.code(part) if part.lines else ""
            case Items():
                return self.items(part.lines) if part.lines else ""
            case Terms():
                return self.terms(part.entries) if part.entries else ""

    @abstractmethod
    def paragraph(self, words: str) -> str: ...
    @abstractmethod
    def heading(self, words: str) -> str: ...
    @abstractmethod
    def table(self, part: PrintedTable) -> str: ...
    @abstractmethod
    def code(self, part: Snippet) -> str: ...
    @abstractmethod
    def items(self, lines: Sequence[str]) -> str: ...
    @abstractmethod
    def terms(self, entries: Mapping[str, Sequence[str]]) -> str: ...


@dataclass(frozen=True)
class _Text(_Writer):
    """Plain text, in lines of at most `width`; columns that do not fit follow below."""

    width: int | None = None

    def paragraph(self, words: str) -> str:
        return wrapped(words, self.width)

    def heading(self, words: str) -> str:
        lines = wrapped(words, self.width)
        return f"{lines}\n{'─' * max(map(len, lines.split(chr(10))))}"

    def table(self, part: PrintedTable) -> str:
        cells = part.cells
        marked = any(cell.marks for row in cells for cell in row)
        last = len(part.rows) - part.footers
        rows = [
            [row[0].text, *(self._cell(cell, marked, quiet=place > last) for cell in row[1:])]
            for place, row in enumerate(cells)
        ]
        said = part.said({"best": "**", "tied": "≈", "row": "*"})
        words = [wrapped(one, self.width) if one else "" for one in (part.title, said)]
        grid = columns(rows, part.align, self.width)
        return "\n\n".join(filter(None, [words[0], grid, words[1]]))

    def _cell(self, cell: PrintedCell, marked: bool, quiet: bool) -> str:
        """A number, and beside it room for a mark where some have one."""
        number = f"{cell.text} ± {cell.deviation}" if cell.deviation else cell.text
        first, tied = "best" in cell.marks, "tied" in cell.marks
        mark = "**" if first else "*" * ("row" in cell.marks) + "≈" * tied
        look = QUIET if quiet else BEST if first else GOOD if tied else ""
        words = f"{number} {mark}" if mark else number
        room = len(number) + ROOM - len(words) if marked else 0
        return styled(words, look) + " " * room

    def code(self, part: Snippet) -> str:
        return indent(part.lines, "    ")

    def items(self, lines: Sequence[str]) -> str:
        inner = None if self.width is None else self.width - 2
        items = (indent(wrapped(line, inner), "  ") for line in lines)
        return "\n".join(item.replace(" ", "·", 1) for item in items)

    def terms(self, entries: Mapping[str, Sequence[str]]) -> str:
        made = []
        for term, lines in entries.items():
            made += [f"  {visible(term)}", *(wrapped(one, self.width, " " * 6) for one in lines)]
        return "\n".join(made)


class _Markdown(_Writer):
    """Markdown; what comes from the data is kept from being read as markup."""

    def paragraph(self, words: str) -> str:
        return escape_markdown(words)

    def heading(self, words: str) -> str:
        return f"## {escape_markdown(words)}"

    def table(self, part: PrintedTable) -> str:
        rows = [[self._cell(cell) for cell in row] for row in part.cells]
        said = part.said({"best": "★", "tied": "≈", "row": "bold:"})
        parts = [escape_markdown(part.title), markdown_table(rows, part.align)]
        return "\n\n".join(filter(None, [*parts, escape_markdown(said)]))

    def _cell(self, cell: PrintedCell) -> str:
        number = f"{cell.text} ± {cell.deviation}" if cell.deviation else cell.text
        number = escape_markdown(number)
        number = f"**{number}**" if cell.marks & {"best", "row"} else number
        return number + (" ★" if "best" in cell.marks else " ≈" if "tied" in cell.marks else "")

    def code(self, part: Snippet) -> str:
        return f"```{part.language}\n{part.lines}\n```"

    def items(self, lines: Sequence[str]) -> str:
        return "\n".join(f"- {escape_markdown(line)}" for line in lines)

    def terms(self, entries: Mapping[str, Sequence[str]]) -> str:
        return "\n".join(
            f"- **{escape_markdown(term)}**: {escape_markdown(' '.join(lines))}"
            for term, lines in entries.items()
        )


class _Latex(_Writer):
    """LaTeX for a paper of two columns."""

    def paragraph(self, words: str) -> str:
        escaped = escape_latex(words)
        for symbol, command in _SYMBOLS.items():
            escaped = escaped.replace(symbol, command)
        raised = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
        return raised.sub(lambda found: f"$^{{{found[0].translate(_RAISED)}}}$", escaped)

    def heading(self, words: str) -> str:
        return rf"\subsection*{{{self.paragraph(words)}}}"

    def table(self, part: PrintedTable) -> str:
        """With deviations and as it is, if there is room."""
        deviations = any(cell.deviation for row in part.cells for cell in row)
        ways = [(shown, turned) for shown in (deviations, False) for turned in (False, True)]
        tries = [(*way, self._grid(part, *way)) for way in ways if part.across or not way[1]]
        fits = (one for one in tries if _points(one[2]) <= PAGE)
        shown, turned, grid = next(fits, tries[-1])
        kind = "table" if _points(grid) <= COLUMN else "table*"
        rows = [" & ".join(text for text, _ in row) + r" \\" for row in grid]
        if part.footers and not turned:
            rows.insert(len(rows) - part.footers, r"\midrule")
        said = part.said(
            {"best": "underlined:", "tied": "≈", "row": "bold:"},
            part.legend if shown or not part.bare else part.bare,
        )
        caption = f"{part.title}. {said}" if part.title else said
        lines = [
            r"\centering",
            rf"\caption{{{self.paragraph(caption)}}}" if caption else "",
            rf"\label{{{part.label}}}" if part.label else "",
            r"\footnotesize",
            r"\setlength{\tabcolsep}{3pt}",
            rf"\begin{{tabular}}{{{'l' if turned else part.align[0]}{'r' * (len(grid[0]) - 1)}}}",
            *(f"  {row}" for row in [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]),
            r"\end{tabular}",
        ]
        inner = indent("\n".join(filter(None, lines)), "  ")
        return f"\\begin{{{kind}}}\n{inner}\n\\end{{{kind}}}"

    def _grid(self, part: PrintedTable, deviations: bool, turned: bool) -> "_Grid":
        rows = part.cells
        if turned:
            rows = [list(row) for row in zip(*rows, strict=True)]
            rows[0][0] = PrintedCell(part.across)
        return [[self._cell(cell, deviations) for cell in row] for row in rows]

    def _cell(self, cell: PrintedCell, deviations: bool) -> tuple[str, float]:
        """What is written, and about how many points it takes."""
        if not cell.marks and not cell.deviation:
            return self.paragraph(cell.text), len(cell.text) * _LETTER
        number, tied = _digits(cell.text), r"^{\approx}" if "tied" in cell.marks else ""
        number = rf"\mathbf{{{number}}}" if cell.marks & {"best", "row"} else number
        number = rf"\underline{{{number}}}" if "best" in cell.marks else number
        points = len(cell.text) * _DIGIT + _SIGN * bool(tied)
        if not (cell.deviation and deviations):
            return f"${number}{tied}$", points
        spread = rf"{{\scriptstyle\pm{_digits(cell.deviation)}}}"
        return f"${number}{spread}{tied}$", points + len(cell.deviation) * _SMALL + _SIGN

    def code(self, part: Snippet) -> str:
        return f"\\begin{{verbatim}}\n{part.lines}\n\\end{{verbatim}}"

    def items(self, lines: Sequence[str]) -> str:
        items = "\n".join(rf"  \item {self.paragraph(line)}" for line in lines)
        return f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"

    def terms(self, entries: Mapping[str, Sequence[str]]) -> str:
        items = "\n".join(
            rf"  \item[{self.paragraph(term)}] {self.paragraph(' '.join(lines))}"
            for term, lines in entries.items()
        )
        return f"\\begin{{description}}\n{items}\n\\end{{description}}"


_Grid = list[list[tuple[str, float]]]


def _points(grid: _Grid) -> float:
    """About how wide a table is, in footnotesize."""
    widest = [max(points for _, points in column) for column in zip(*grid, strict=True)]
    return sum(widest) + _GAP * (len(widest) - 1)


def _digits(number: str) -> str:
    """In a formula, where a comma would stand apart."""
    return number.replace(",", "{,}").replace("–", "-")


def _json(answer: Answer) -> str:
    return json.dumps(_plain(answer.data), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """As JSON can hold it: frames as rows, what is no number as null."""
    if hasattr(value, "to_dicts"):
        return _plain(value.to_dicts())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _csv(answer: Answer) -> str:
    frames = (value for value in answer.data.values() if hasattr(value, "write_csv"))
    chosen = answer.table if answer.table is not None else next(frames)
    return write_csv(chosen).rstrip("\n")


_RENDER: dict[str, Callable[[Answer, int | None], str]] = {
    "text": lambda answer, width: _Text(width).written(answer),
    "markdown": lambda answer, _: _Markdown().written(answer),
    "latex": lambda answer, _: _Latex().written(answer),
    "json": lambda answer, _: _json(answer),
    "csv": lambda answer, _: _csv(answer),
}


def write_csv(frame: "pl.DataFrame") -> str:
    """The rows as CSV that a spreadsheet shows and never runs.

    >>> import polars as pl
    >>> print(write_csv(pl.DataFrame({"label": ["=1+1", "-5", "home"]})), end="")
    label
    '=1+1
    -5
    home
    """
    import polars as pl

    text = pl.col(pl.String)
    formula = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    guarded = pl.when(formula).then("'" + text).otherwise(text).name.keep()
    return frame.with_columns(guarded).write_csv()


def read_csv(source: Path | BytesIO, schema: dict[str, Any]) -> "pl.DataFrame":
    """What `write_csv` wrote, as it was."""
    import polars as pl

    text = pl.col(pl.String)
    guarded = text.str.contains(_FORMULA) & text.str.starts_with("'")
    frame = pl.read_csv(source, schema_overrides=schema)
    return frame.with_columns(pl.when(guarded).then(text.str.slice(1)).otherwise(text).name.keep())
