"""Markdown tables, and where they go on the page."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, numbers to the right."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill(page: Path, name: str, text: str) -> None:
    """Replace what stands between the page's marks ``<!-- name -->`` and ``<!-- end name -->``."""
    old = page.read_text(encoding="utf-8")
    pattern = re.compile(f"(<!-- {name} -->\n).*(<!-- end {name} -->)", re.DOTALL)
    new, found = pattern.subn(lambda m: f"{m[1]}\n{text.strip()}\n\n{m[2]}", old)
    if found != 1:
        raise SystemExit(f"{page} must hold '<!-- {name} -->' and '<!-- end {name} -->' once.")
    page.write_text(new, encoding="utf-8")
