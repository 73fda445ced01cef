"""Links in the texts of the repository: those within lead somewhere, those out are well-formed."""

import re
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]
)
SOURCES = [
    *TEXTS,
    ROOT / "CITATION.cff",
    ROOT / "pyproject.toml",
    *(ROOT / "docs" / "notebooks").glob("*.ipynb"),
    *(ROOT / "src").rglob("*.py"),
]
ADDRESS = re.compile(r"https?:[^\s\"'`<>|\])]+")
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")
MADE = ("reference", "leaderboard.html")  # by a build of the site, and by a benchmark


def test_every_link_to_a_file_leads_there() -> None:
    for text in TEXTS:
        links = [link for link in LINK.findall(text.read_text(encoding="utf-8")) if ":" not in link]
        for link in links:
            path, _, heading = link.partition("#")
            target = text.parent / path if path else text
            if any(part in MADE for part in Path(path).parts):
                continue
            assert target.exists(), (text, link)
            if heading and target.suffix == ".md":
                assert heading in headings(target), (text, link)


def headings(page: Path) -> set[str]:
    """The headings of a page, as its links name them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in found}


def test_every_address_is_well_formed() -> None:
    known = re.compile(r"([a-z0-9-]+\.)+[a-z]{2,}|localhost|127\.0\.0\.1")
    unsafe = "www.w3.org", "localhost", "127.0.0.1"
    for source in SOURCES:
        for address in ADDRESS.findall(source.read_text(encoding="utf-8")):
            if not set("…{") & set(address):  # an address as such, or one that is put together
                parts = urlsplit(address)
                assert known.fullmatch(parts.hostname or ""), (source, address)
                assert parts.scheme == "https" or parts.hostname in unsafe, (source, address)
