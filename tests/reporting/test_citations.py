from dataclasses import dataclass

import pytest

import ldp3
from ldp3 import catalog
from ldp3.metrics.base import Metric
from ldp3.protocols.grr import GRR
from ldp3.reporting.citations import KINDS, bibtex, entries, reference, title, used_by
from ldp3.arrays import FloatArray

FOUND: list[dict[str, type]] = [catalog.find(kind) for kind in KINDS.values()]
EVERY = [cls for found in FOUND for cls in found.values()]


@pytest.mark.parametrize("cls", [c for c in EVERY if reference(c)], ids=catalog.name_of)
def test_every_reference_of_ours_has_its_entry(cls: type) -> None:
    assert "%" not in bibtex([cls])
    assert bibtex([cls]).count("@") > 1


def test_every_entry_is_somebodys_reference() -> None:
    text = bibtex(EVERY)
    assert [key for key in entries() if f"{{{key}," not in text] == []


def test_each_work_is_cited_once() -> None:
    assert bibtex([GRR, GRR]) == bibtex([GRR])
    assert title(entries()["kairouz2016discrete"]) in bibtex([GRR])


def test_what_a_run_used_is_cited_and_nothing_else() -> None:
    results = ldp3.benchmark("flights", 1.0, "grr", "power+norm_sub", "l1", repeats=1)
    text = bibtex(used_by(results))
    assert "kairouz2016discrete" in text
    assert "jia2019calibrate" in text
    assert "wang2020locally" in text
    assert "erlingsson2014rappor" not in text


def test_a_plug_ins_own_reference_is_a_comment_to_follow_up() -> None:
    @dataclass(frozen=True)
    class Mine(Metric):
        """Mine.

        References
        ----------
        Me. *A work
        nobody knows.* 2026.
        """

        def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
            return 0.0

    assert bibtex([Mine]).endswith("% mine: Me. *A work nobody knows.* 2026.")
