"""Tables for people: plain text in columns, and Markdown."""

from collections.abc import Iterator, Sequence

GAP = "  "
Rows = Sequence[Sequence[str]]  # the first one holds the heads


def columns(rows: Rows, align: str = "l", width: int | None = None) -> str:
    """Plain text; columns that do not fit into `width` follow below, beside the first one again.

    `align` has a letter for each column, `l` or `r`; the last one stands for all that follow.

    >>> print(columns([["value", "share"], ["home", "9.5"], ["cart", "90.5"]], "lr"))
    value  share
    home     9.5
    cart    90.5
    """
    first, *others = map(_padded, zip(*rows, strict=True), _sides(align, rows))
    blocks = _blocks(first, others, width)
    return "\n\n".join("\n".join(map(_line, zip(*block, strict=True))) for block in blocks)


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
    for character in "\\`*_{}[]<>|#":
        words = words.replace(character, "\\" + character)
    return words.replace("\n", " ")


def escape_latex(words: str) -> str:
    r"""What shows these words in LaTeX.

    >>> print(escape_latex("norm_sub & 5 %"))
    norm\_sub \& 5 \%
    """
    for character in "&%$#_{}":
        words = words.replace(character, "\\" + character)
    return words


def _sides(align: str, rows: Rows) -> str:
    return align.ljust(len(rows[0]), align[-1])


def _padded(cells: Sequence[str], side: str) -> list[str]:
    width = max(map(len, cells))
    return [cell.rjust(width) if side == "r" else cell.ljust(width) for cell in cells]


def _blocks(
    first: list[str], others: list[list[str]], width: int | None
) -> Iterator[list[list[str]]]:
    """Columns that fit beside the first one, at least one at a time."""
    block, used = [first], len(first[0])
    for column in others:
        needed = len(GAP) + len(column[0])
        if width is not None and used + needed > width and len(block) > 1:
            yield block
            block, used = [first], len(first[0])
        block.append(column)
        used += needed
    yield block


def _line(cells: Sequence[str]) -> str:
    return GAP.join(cells).rstrip()
