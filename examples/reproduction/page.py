"""Markdown tables, and where they go on the page."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from ldp3 import kinds
from ldp3.printing import markdown_table
from ldp3.results.names import written

WORDS = "the", "none"  # as English has them, not as protocol and method


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, numbers to the right."""
    return markdown_table([[read(cell) for cell in row] for row in (head, *rows)], "lr")


def read(text: str) -> str:
    """With the literature's names in place of specs, but for those with parameters.

    >>> read("ss + norm_sub on kosarak"), read("zipf(s=1.3)")
    ('SS + Norm-Sub on Kosarak', 'zipf(s=1.3)')
    """
    return re.sub(r"(?<![\w`(])[a-z]\w*(?![\w(=`])", lambda m: _names().get(m[0], m[0]), text)


@cache
def _names() -> dict[str, str]:
    every = {n: written(k, n) for k in kinds.every_kind().values() for n in kinds.find(k)}
    return {name: title for name, title in every.items() if name not in WORDS}


def fill(page: Path, name: str, text: str) -> None:
    """Replace what stands between the page's marks ``<!-- name -->`` and ``<!-- end name -->``."""
    old = page.read_text(encoding="utf-8")
    new = _marks(name).sub(lambda m: f"{m[1]}\n{text.strip()}\n\n{m[2]}", old)
    page.write_text(new, encoding="utf-8")


def require_marks(page: Path, names: Iterable[str]) -> None:
    """Refuse a page that cannot be filled, before anything is measured."""
    if not page.is_file():
        raise SystemExit(f"--write needs a page that exists, got '{page}'.")
    text = page.read_text(encoding="utf-8")
    for name in names:
        if len(_marks(name).findall(text)) != 1:
            raise SystemExit(f"{page} must hold '<!-- {name} -->' and '<!-- end {name} -->' once.")


def _marks(name: str) -> re.Pattern[str]:
    return re.compile(f"(<!-- {name} -->\n).*(<!-- end {name} -->)", re.DOTALL)
