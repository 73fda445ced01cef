"""Words, numbers and tables for people: at a terminal, in Markdown, in LaTeX.

Labels, names and file names are other people's texts. Here they lose whatever a terminal, a
renderer or a compiler would obey; files of data keep them as they are.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from textwrap import fill
from unicodedata import combining, east_asian_width

from ldp3.errors import LDPError

GAP = "  "
Rows = Sequence[Sequence[str]]  # the first one holds the heads
# control characters but the tab, direction marks, other line ends, halves of characters
_OBEYED = re.compile(
    r"[\x00-\x08\n-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


# how our own words look at a terminal, by characters that mean nothing to anybody else
BEST, GOOD, QUIET, _END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_LOOKS = {BEST: "\x1b[1;32m", GOOD: "\x1b[32m", QUIET: "\x1b[2m", _END: "\x1b[0m"}


def styled(words: str, look: str) -> str:
    """Words that look so at a terminal, and nowhere else: see `unstyled`."""
    return f"{look}{words}{_END}" if words and look else words


def unstyled(text: str) -> str:
    """The words alone."""
    return text if text.isascii() else text.translate(dict.fromkeys(map(ord, _LOOKS), ""))


def visible(words: str) -> str:
    r"""One line in which nothing works on the terminal: escapes as JSON writes them.

    >>> print(visible("\x1b[31mred\n"))
    \u001b[31mred\u000a
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", words)


def show(text: str, end: str = "\n") -> None:
    """Print a result: the only way to standard output."""
    lines = "\n".join(map(visible, text.split("\n")))
    shown = _coloured(lines) if _in_colour() else unstyled(lines)
    try:
        print(shown, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise LDPError(f"The result cannot be printed: {error.strerror}.") from error


def _coloured(lines: str) -> str:
    return lines.translate({ord(look): code for look, code in _LOOKS.items()})


def _in_colour() -> bool:
    """At a terminal, unless it or a person (no-color.org) says that it is plain.

    Of the windows of Windows, the one that names its session shows colours; older ones show codes.
    """
    obeyed = os.name != "nt" or "WT_SESSION" in os.environ
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and obeyed and not plain


def number(value: float, digits: int = 3) -> str:
    """So many significant digits, or more where a whole number has more, without an exponent.

    What is below a ten-thousandth or from a billion on has one: people cannot count the zeros.

    >>> number(0.012345), number(9.97, digits=2), number(1234.5), number(0.00001234)
    ('0.0123', '10', '1,234', '1.23e-05')
    """
    long = 10**digits <= round(abs(value)) < 1e9
    return f"{value:,.0f}" if long else f"{value:.{digits}g}"


def percent(share: float, digits: int = 2) -> str:
    """A share of one as people say it.

    >>> percent(0.0123), percent(0.996), percent(11.8)
    ('1.2 %', '100 %', '1,180 %')
    """
    return f"{number(100 * share, digits)} %"


def plural(number: int, one: str, several: str = "") -> str:
    """So many of something.

    >>> plural(1, "row"), plural(1234, "row"), plural(2, "person")
    ('1 row', '1,234 rows', '2 people')
    """
    several = several or ("people" if one == "person" else f"{one}s")
    return f"{number:,} {one if number == 1 else several}"


def duration(seconds: float) -> str:
    """A time, in the unit that people would use.

    >>> duration(0.0123), duration(59.87), duration(600)
    ('12 ms', '59.9 s', '10 min')
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def terminal_width() -> int | None:
    """How many characters fit in a line of the terminal; any number where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wrapped(words: str, width: int | None = None, indent: str = "") -> str:
    """One paragraph in lines of at most `width`; a word that is longer has a line of its own.

    >>> print(wrapped("as good as can be told", 12))
    as good as
    can be told
    """
    line = visible(words)
    if width is None:
        return indent + line
    together = line.replace(" %", "\u00a0%")  # a number and its unit
    lines = fill(
        together,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\u00a0%", " %")


def columns(rows: Rows, align: str = "l", width: int | None = None) -> str:
    """Plain text; columns that do not fit into `width` follow below, beside the first one again.

    `align` has a letter for each column, `l` or `r`; the last one stands for all that follow.

    >>> print(columns([["value", "share"], ["home", "9.5"], ["cart", "90.5"]], "lr"))
    value  share
    home     9.5
    cart    90.5
    """
    shown = [[visible(cell) for cell in row] for row in rows]
    first, *others = map(_padded, zip(*shown, strict=True), _sides(align, rows))
    blocks = _blocks(first, others, width)
    lines = ([GAP.join(row).rstrip() for row in zip(*block, strict=True)] for block in blocks)
    return "\n\n".join(map("\n".join, lines))


def markdown_table(rows: Rows, align: str = "l") -> str:
    """A Markdown table of cells that are Markdown already; `align` as for `columns`.

    >>> print(markdown_table([["value", "share"], ["home", "**9.5**"]], "lr"))
    | value | share |
    | --- | ---: |
    | home | **9.5** |
    """
    rule = ["---:" if side == "r" else "---" for side in _sides(align, rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def escape_markdown(words: str) -> str:
    r"""What shows these words in Markdown, in one line, and never works as markup.

    >>> print(escape_markdown("norm_sub | <b>"))
    norm\_sub \| \<b\>
    """
    words = visible(words.replace("\n", " "))
    for character in "\\`*_{}[]<>|#":
        words = words.replace(character, "\\" + character)
    return words


def escape_latex(words: str) -> str:
    r"""What shows these words in LaTeX, and is never a command.

    >>> print(escape_latex(r"norm_sub & 5 % \input"))
    norm\_sub \& 5 \% \textbackslash{}input
    """
    return "".join(_LATEX.get(character, character) for character in visible(words))


def _sides(align: str, rows: Rows) -> str:
    return align.ljust(len(rows[0]), align[-1])


def _padded(cells: Sequence[str], side: str) -> list[str]:
    lengths = list(map(_length, cells))
    width = max(lengths)
    pairs = zip(cells, (" " * (width - length) for length in lengths), strict=True)
    return [blank + cell if side == "r" else cell + blank for cell, blank in pairs]


def _length(cell: str) -> int:
    """In columns of a terminal: a Chinese character takes two, an accent of its own none.

    >>> _length("中a"), _length("e\N{COMBINING ACUTE ACCENT}")
    (3, 1)
    """
    bare = unstyled(cell)
    if bare.isascii():
        return len(bare)
    wide = sum(east_asian_width(c) in "WF" for c in bare)
    return len(bare) + wide - sum(combining(c) > 0 for c in bare)


def _blocks(
    first: list[str], others: list[list[str]], width: int | None
) -> Iterator[list[list[str]]]:
    """Columns that fit beside the first one, at least one at a time."""
    block, used = [first], _length(first[0])
    for column in others:
        needed = len(GAP) + _length(column[0])
        if width is not None and used + needed > width and len(block) > 1:
            yield block
            block, used = [first], _length(first[0])
        block.append(column)
        used += needed
    yield block
