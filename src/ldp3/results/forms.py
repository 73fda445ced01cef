"""Tables as papers print them: plain text, Markdown, LaTeX, HTML."""

from collections.abc import Callable, Sequence

from ldp3.printing import columns, escape_latex, escape_markdown, markdown_table, visible
from ldp3.results.sheets import Sheet
from ldp3.results.winner import winner

FORMATS = ("table", "markdown", "latex", "json", "csv")
TIMES = "× limit"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def text(sheet: Sheet, width: int | None = None) -> str:
    """Plain text; columns that do not fit into `width` follow below."""
    names = ["", *sheet.protocols, "wins", *([TIMES] if sheet.limited else [])]
    rows = zip(names, *(_aligned(sheet, column) for column in sheet.columns), strict=True)
    shown = visible(_title(sheet)), columns(list(rows), "l", width), _legend(sheet)
    return "\n\n".join([*shown, visible(winner(sheet))])


def markdown(sheet: Sheet) -> str:
    """A Markdown table: the best of each row in bold."""

    def cell(protocol: str, column: str) -> str:
        number, mark = sheet.number(protocol, column), sheet.mark(protocol, column)
        number = f"**{number}**" if "*" in mark else number
        return number + (" ★" if mark == "**" else " ≈" if "≈" in mark else "")

    head = ["protocol", *map(escape_markdown, sheet.columns)]
    rows = [[escape_markdown(p), *(cell(p, c) for c in sheet.columns)] for p in sheet.protocols]
    wins = ["wins", *(sheet.win(c) for c in sheet.columns)]
    times = [[TIMES, *(sheet.times_limit(c) for c in sheet.columns)]] if sheet.limited else []
    body = markdown_table([head, *rows, wins, *times], "lr")
    legend = f"★ best of all, ≈ tied with it, bold: best of the row.{_yardstick(sheet)}"
    said = f"{_scale(sheet)} {legend}\n\n{escape_markdown(winner(sheet))}"
    return f"{escape_markdown(_title(sheet))}\n\n{body}\n\n{said}"


def latex(sheet: Sheet) -> str:
    """A LaTeX table for booktabs: the best of each row in bold, the best of all underlined."""

    def cell(protocol: str, column: str) -> str:
        number = sheet.number(protocol, column, r" \pm ").replace("–", "-")
        mark = sheet.mark(protocol, column)
        number = rf"\mathbf{{{number}}}" if "*" in mark else number
        number = rf"\underline{{{number}}}" if mark == "**" else number
        tied = r"^{\approx}" if "≈" in mark else ""
        return f"${number}{tied}$"

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    names = [escape_latex(c) for c in sheet.columns]
    wins = [sheet.win(c).replace("%", r"\%") for c in sheet.columns]
    caption = escape_latex(_title(sheet)).replace("ε", r"$\varepsilon$").replace("×", r"$\times$")
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
                "    " + line([escape_latex(p), *(cell(p, c) for c in sheet.columns)])
                for p in sheet.protocols
            ),
            r"    \midrule",
            "    " + line(["wins", *wins]),
            *(
                ["    " + line([r"$\times$ limit", *map(sheet.times_limit, sheet.columns)])]
                if sheet.limited
                else []
            ),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
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
    return f"{_scale(sheet)} ** best of all{tied}, * best of its row.{_yardstick(sheet)}"


def _yardstick(sheet: Sheet) -> str:
    if not sheet.limited:
        return ""
    return f" {TIMES}: error over that of a rule that knows the frequencies but not whose they are."


def _aligned(sheet: Sheet, column: str) -> list[str]:
    """A column from head to wins; marks stand beside the numbers, not under the head."""
    numbers = [column, *(sheet.number(p, column) for p in sheet.protocols), sheet.win(column)]
    marks = ["", *(sheet.mark(p, column) for p in sheet.protocols), ""]
    if sheet.limited:
        numbers, marks = [*numbers, sheet.times_limit(column)], [*marks, ""]
    widest = max(len(sheet.number(p, c)) for p in sheet.protocols for c in sheet.columns)
    width = max(widest, *map(len, sheet.columns))
    return [f"{n:>{width}} {m:<2}" for n, m in zip(numbers, marks, strict=True)]
