"""From a reference as docstrings write it to BibTeX: ``Authors. *Title.* Venue year, section.``"""

import re
import unicodedata
from dataclasses import dataclass

from ldp3.printing import escape_latex

# not the number of a preprint, as in arXiv:2005.00001
_YEAR = r"(?<![\w.:])(?P<year>(?:19|20)\d\d)(?![.\w]?\d)"
_WORK = re.compile(
    r"(?:in this form )?(?P<authors>[^*;]+?)[.,]?\s+"
    r"\*(?P<title>[^*]+?)[.,]?\*[.,]?\s+"
    rf"(?P<venue>[^*;]*?)[,\s]*{_YEAR}"
    r"(?P<section>[^*;]*?)(?:[.;]\s+(?=[A-Z]|in this form)|[.;]?\s*$|;\s)"
)
_JOURNAL = re.compile(r"Journal|Transactions|Annals|Proceedings of the VLDB|PVLDB|Letters|Review")
_FILLERS = {"a", "an", "the", "on", "of", "in", "for", "to", "is", "towards", "how"}


@dataclass(frozen=True)
class Work:
    """One that a docstring refers to."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: str

    @property
    def key(self) -> str:
        """``acharya2019hadamard``: first author, year, first word of the title that says much."""
        words = [_letters(word) for word in re.split(r"[\s-]+", self.title)]
        first = next((w for w in words if w and w not in _FILLERS), "")
        return _letters(self.authors[0].split()[-1]) + self.year + first

    def entry(self, key: str) -> str:
        """As BibTeX; the title keeps its capitals."""
        kind, place = self._kind
        authors = " and ".join(self.authors)
        fields = {"author": authors, "title": f"{{{_tex(self.title)}}}", place: _tex(self.venue)}
        lines = [f"  {name} = {{{text}}}," for name, text in fields.items() if text]
        return "\n".join([f"@{kind}{{{key},", *lines, f"  year = {{{self.year}}},", "}"])

    @property
    def _kind(self) -> tuple[str, str]:
        """Of entry, and the field that names the venue."""
        if not self.venue or "arxiv" in self.venue.lower():
            return "misc", "howpublished"
        if _JOURNAL.search(self.venue):
            return "article", "journal"
        return "inproceedings", "booktitle"


def works(reference: str) -> list[Work]:
    """Every work that can be read out of a reference on one line.

    >>> works("Ye, Barg. *Optimal schemes.* IEEE TIT 2018; Wang et al. *Local.* STOC 2019, §3.")[1]
    Work(authors=('Wang', 'others'), title='Local', venue='STOC', year='2019')
    """
    found = [
        Work(_authors(match["authors"]), match["title"], match["venue"], match["year"])
        for match in _WORK.finditer(reference)
    ]
    return [work for work in found if work.authors and any(map(str.isalnum, work.title))]


def _authors(text: str) -> tuple[str, ...]:
    whole = re.sub(r",?\s+et al\.?$", ", others", text)
    names = map(_tex, re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", whole))
    return tuple(name for name in names if name.strip())


def _letters(word: str) -> str:
    """ASCII letters and digits: Järvelin → jarvelin."""
    plain = unicodedata.normalize("NFKD", word.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain)


def _tex(text: str) -> str:
    return escape_latex(re.sub(r"[{}\\$]", "", text))
