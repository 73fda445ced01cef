"""Tables as papers print them: plain text, Markdown, LaTeX, HTML."""

from collections.abc import Callable, Sequence

from ldp3.printing import (
    BEST,
    GOOD,
    QUIET,
    columns,
    escape_markdown,
    markdown_table,
    styled,
    wrapped,
)
from ldp3.results import latex, names
from ldp3.results.sheets import Sheet
from ldp3.results.winner import winner, winners

FORMATS = ("table", "markdown", "latex", "json", "csv")
TIMES = "× limit"
EPSILONS = 3  # more of them stand across one table
ROWS = 24  # of such a table
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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


RENDER: dict[str, Callable[[Sheet], str]] = {"markdown": markdown, "latex": latex.table}


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
