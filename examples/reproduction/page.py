"""Markdown tables, and where they go on the page."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ldp3.printing import markdown_table


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, numbers to the right."""
    return markdown_table([head, *rows], "lr")


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
