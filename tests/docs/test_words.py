"""Plain English: what a reader whose first language is another one stumbles over is not there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
)
UNPLAIN = re.compile(r"\b(hardly|scarcely|not to be told|to be told from|albeit|whilst)\b", re.I)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_is_plain_english(page: Path) -> None:
    assert UNPLAIN.findall(page.read_text(encoding="utf-8")) == []
