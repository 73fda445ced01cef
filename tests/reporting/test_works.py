import re

import pytest

from ldp3 import kinds
from ldp3.kinds import reference
from ldp3.reporting.citations import entries, title
from ldp3.reporting.works import works

FOUND: list[dict[str, type]] = [kinds.find(kind) for kind in kinds.every_kind().values()]
OURS = [cls for found in FOUND for cls in found.values()]


def test_every_field_is_found() -> None:
    [work] = works("Acharya, Sun, and Zhang. *Hadamard response: little & good.* AISTATS 2019, §3.")
    assert work.key == "acharya2019hadamard"
    assert work.entry("some_key") == "\n".join(
        [
            "@inproceedings{some_key,",
            "  author = {Acharya and Sun and Zhang},",
            r"  title = {{Hadamard response: little \& good}},",
            "  booktitle = {AISTATS},",
            "  year = {2019},",
            "}",
        ]
    )


def test_several_works_are_told_apart() -> None:
    found = works(
        "Ye, Barg. *On optimal schemes.* Annals of Things, 2018; in this form Wang et al. *Local.* "
        "STOC 2019, ch. 4 (the best). Järvelin. *The gain, 1999.* arXiv:2005.00001, 2021."
    )
    assert [work.key for work in found] == ["ye2018optimal", "wang2019local", "jarvelin2021gain"]
    kinds_of_entry = [re.findall(r"@(\w+)|(journal|booktitle|howpublished) =", w.entry("x"))
                      for w in found]  # fmt: skip
    assert [[a or b for a, b in each] for each in kinds_of_entry] == [
        ["article", "journal"], ["inproceedings", "booktitle"], ["misc", "howpublished"],
    ]  # fmt: skip
    assert found[1].authors == ("Wang", "others")


def test_what_our_docstrings_refer_to_has_the_key_that_our_entries_have() -> None:
    known = {title(entry).lower().replace("{", "").replace("}", ""): key
             for key, entry in entries().items()}  # fmt: skip
    found = {work.title.lower(): work.key for cls in OURS for work in works(reference(cls))}
    assert len(found) >= 12
    assert {key for name, key in found.items() if known.get(name, key) != key} == set()


@pytest.mark.parametrize(
    "text",
    ["", "Authors. *Title.* Venue, year, section.", "Ye, Barg, USENIX Security 2017, §4.2.",
     "Ye. *Title.* arXiv:2005.00001.", "{}. *A* STOC 2001.", "Ye. *?!* STOC 2001."],
)  # fmt: skip
def test_what_says_no_work_gives_none(text: str) -> None:
    assert works(text) == []
