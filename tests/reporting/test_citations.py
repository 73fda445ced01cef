from dataclasses import dataclass

import pytest

import ldp3
from ldp3 import kinds
from ldp3.arrays import FloatArray
from ldp3.kinds import reference
from ldp3.metrics.base import Metric
from ldp3.protocols.grr import GRR
from ldp3.reporting.citations import bibtex, entries, title, used_by

FOUND: list[dict[str, type]] = [kinds.find(kind) for kind in kinds.every_kind().values()]
EVERY = [cls for found in FOUND for cls in found.values()]


class Compared(Metric):
    """Of the metrics below."""

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return 0.0


@pytest.mark.parametrize("cls", [c for c in EVERY if reference(c)], ids=kinds.name_of)
def test_every_reference_of_ours_has_its_entry(cls: type) -> None:
    assert bibtex([cls]).count("@") > 1
    assert "note = " not in bibtex([cls])


def test_every_entry_is_somebodys_reference() -> None:
    text = bibtex(EVERY)
    assert [key for key in entries() if f"{{{key}," not in text] == []


def test_each_work_is_cited_once() -> None:
    assert bibtex([GRR, GRR]) == bibtex([GRR])
    assert bibtex([GRR]).count(title(entries()["kairouz2016discrete"])) == 1


def test_what_a_run_used_is_cited_and_nothing_else() -> None:
    results = ldp3.benchmark("flights", 1.0, "grr", "power+norm_sub", "l1", repeats=1)
    assert [cls.__name__ for cls in used_by(results)] == [
        "GRR", "NONE", "Power", "NormSub", "L1", "Flights",
    ]  # fmt: skip
    text = bibtex(used_by(results))
    assert "kairouz2016discrete" in text
    assert "jia2019calibrate" in text
    assert "wang2020locally" in text
    assert "erlingsson2014rappor" not in text


def test_works_are_found_by_their_titles_wherever_they_stand() -> None:
    @dataclass(frozen=True)
    class Mine(Compared):
        """Mine.

        References
        ----------
        Nobody. *Choices.* ICML 2016; Kairouz et al. *Discrete distribution estimation under
        local privacy.* ICML 2016.
        """

    assert bibtex([Mine]) == bibtex([GRR])


def test_what_refers_to_no_work_that_we_know_can_be_cited_as_it_is_written() -> None:
    @dataclass(frozen=True)
    class Mine(Compared):
        """Mine.

        References
        ----------
        A talk that
        nobody heard & {more}.
        """

    text = bibtex([Mine, GRR, Mine])
    assert "@misc{mine,\n  note = {A talk that nobody heard \\& \\{more\\}.},\n}" in text
    assert text.count("@") == 3
