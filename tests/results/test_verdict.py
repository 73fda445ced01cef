"""The sentences: what is best on one dataset, and on several."""

import numpy as np

from ldp3.results.verdict import compared, winner
from tests.results.test_joining import ran
from tests.results.test_sheets import sheet_of


def test_of_many_with_the_same_numbers_two_are_named() -> None:
    alike = {("grr", m): np.array([1.0, 1.1]) for m in ("none", "norm", "norm_sub", "norm_cut")}
    said = winner(sheet_of({**alike, ("oue", "none"): np.array([7.0, 9.0])}))
    assert said.startswith(
        "GRR without post-processing, GRR with Norm and 2 more (the same numbers)"
    )


def test_several_datasets_end_with_an_overview() -> None:
    data = ["zipf(d=64, n=90_000)", "zipf(d=48, n=90_000)"]
    whole = ran(data, ["grr", "oue"])
    text = whole.render()
    assert text.count("loss against the best, by dataset") == 1
    assert "over 2 datasets, OUE with Norm-Sub measured best by ℓ1 on every one." in text
    assert "at most 0 %" not in text
    rows = compared(whole.sheets())
    assert rows[0].pair == ("oue", "norm_sub")
    assert rows[0].losses == (0.0, 0.0)
    assert [row.worst for row in rows] == sorted(row.worst for row in rows)
    assert "loss against the best" not in ran(data[0], ["grr", "oue"]).render()
