"""Plain English: what a reader whose first language is another one stumbles over is not there."""

import re
from pathlib import Path

import pytest

from ldp3.kinds import every_kind, find

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
)
UNPLAIN = re.compile(r"\b(hardly|scarcely|not to be told|to be told from|albeit|whilst)\b", re.I)
CODE = re.compile(r"^```.*?^```|<!--.*?-->|``.*?``|`[^`]*`|\$[^$]*\$|\]\([^)]*\)", re.S | re.M)
WORDS = {  # of English as well
    "the", "none", "norm", "power", "flood", "steer", "subtract", "mean", "quantile",
    "groups", "pairs", "joint", "interactions", "resolutions",
}  # fmt: skip
SPECS = {name for kind in every_kind().values() for name in find(kind) if "_" in name} | {
    name
    for several in ("protocols", "methods", "metrics", "attacks")
    for name in find(every_kind()[several])
}
NAMES = re.compile(rf"(?<![\w/.#])({'|'.join(SPECS - WORDS)})(?![\w/.(=])")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_page_is_plain_english(page: Path) -> None:
    assert UNPLAIN.findall(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "page",
    # the reference, where a build of the site left it, says what to type
    [p for p in PAGES if p.suffix == ".md" and p.parent.name != "reference"],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_names_outside_code_are_those_of_the_literature(page: Path) -> None:
    words = CODE.sub(" ", page.read_text(encoding="utf-8"))
    assert [line for line in words.splitlines() if NAMES.search(line)] == []


def test_a_name_of_code_in_prose_would_be_seen() -> None:
    assert NAMES.search(CODE.sub(" ", "OLH with norm_sub"))
    assert NAMES.search("| grr | 1.0 |")
    assert not NAMES.search(CODE.sub(" ", "type `norm_sub`, read [the page](grr.md)"))
