"""What fake users achieve in an experiment: paired, and as the formula says."""

from math import sqrt
from typing import Any

import polars as pl
import pytest
from scipy.stats import norm

import ldp3
from ldp3.attacks.targets import TargetShare, fake_count
from ldp3.errors import InvalidParameter
from ldp3.experiment.grid import experiment
from ldp3.experiment.run import run
from ldp3.experiment.simulator import Simulator
from ldp3.threats.poisoning import poisoned

ALPHA = 1e-6
DATA = ldp3.load("zipf(s=1.1, d=12, n=3_000)")
TARGETS = ("bottom:3",)


def simulator(attacks: Any = ("ria", "mga"), fakes: Any = "5%", **more: Any) -> Simulator:
    settings: dict[str, Any] = {"repeats": 20, "protocols": ["grr", "oue", "olh"], **more}
    return Simulator(
        experiment(
            [DATA],
            methods="norm_sub",
            metrics=["l1", TargetShare(TARGETS)],
            attacks=attacks,
            fake_users=fakes,
            targets=TARGETS,
            **settings,
        )
    )


def table(at: Simulator) -> pl.DataFrame:
    return poisoned(at, run(at)).table


def test_the_measured_gain_is_the_formula() -> None:
    found = table(simulator(["ria", "mga", "rpa"])).filter(pl.col("method") == "none")
    assert len(found) == 9
    for row in found.iter_rows(named=True):
        # fake reports only: the honest draw is shared. A normal law of the mean of 20 repeats
        away = abs(row["gain"] - row["formula"]) / (row["std"] / sqrt(20))
        assert away < 2 * norm.isf(ALPHA / 18), row  # twice, for sd is measured too


def test_no_fake_users_no_gain_whatever_the_method() -> None:
    found = table(simulator(fakes=0, repeats=3))
    assert found["gain"].to_list() == [0.0] * 12
    assert found["clean"].to_list() == found["attacked"].to_list()


def test_clean_numbers_are_those_of_a_run_without_attacks() -> None:
    alone = run(simulator("none", repeats=3)).table
    beside = run(simulator(repeats=3)).table.filter(pl.col("attack") == "none")
    assert alone.equals(beside)


def test_users_one_by_one_gain_as_much() -> None:
    found = table(
        simulator("mga(padding='none')", protocols=["grr", "oue"], simulate="users", repeats=8)
    )
    for row in found.filter(pl.col("method") == "none").iter_rows(named=True):
        # supports of fake reports are fixed but for the choice of a target, which moves nothing
        # of the sum; what varies is the honest draw's weight, β times its own error
        assert row["gain"] == pytest.approx(row["formula"], abs=0.05 * row["formula"])


def test_errors_and_the_share_that_is_left_are_of_the_same_collections() -> None:
    found = table(simulator("mga", protocols="oue", repeats=4))
    raw, processed = (found.filter(pl.col("method") == name) for name in ("none", "norm_sub"))
    assert raw["left"].to_list() == [1.0]
    assert processed["left"][0] == pytest.approx(processed["gain"][0] / raw["gain"][0])
    assert processed["fakes"][0] == fake_count(0.05, DATA.n) == 158


def test_results_name_the_attack_and_how_many_they_are() -> None:
    results = ldp3.benchmark(DATA, protocols="oue", methods="none", repeats=2, attacks="mga",
                             fake_users=0.05, targets="top:2")  # fmt: skip
    held = results.table.select("attack", "fake_users").unique(maintain_order=True)
    assert held.rows() == [("none", 0.0), ("mga", 0.05)]
    about = results.manifest
    assert (about["fake_users"], about["targets"]) == (["5%"], ["top:2"])


def test_an_attack_that_was_asked_for_and_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="steer cannot be carried out against olh"):
        simulator("steer", protocols=["olh"])


def test_of_a_set_what_cannot_be_attacked_is_left_out_and_said() -> None:
    at = simulator("mga", protocols="all")
    assert "MGA cannot be carried out against HR: left out there." in at.notes
    assert ("mga", "hr") not in {(c.attack, c.protocol) for c in at.cells}
    assert ("none", "hr") in {(c.attack, c.protocol) for c in at.cells}


def test_each_of_several_numbers_of_fake_users_is_as_if_it_were_alone() -> None:
    several = table(simulator(fakes=["1%", "5%", 300], repeats=3))
    alone = table(simulator(fakes="5%", repeats=3))
    assert several.filter(fake_users=0.05).equals(alone)
    numbers = several.select("fake_users", "fakes").unique(maintain_order=True)
    assert numbers.rows() == [(0.01, 30), (0.05, 158), (300.0, 300)]


def test_words_of_a_spec_need_no_quotes() -> None:
    assert [c.spec for c in simulator(["mga(padding=law)"]).experiment.attacks[1:]] == [
        "mga(padding='law')"
    ]


def test_what_an_attack_achieves_comes_first_and_many_rows_on_request() -> None:
    at = simulator("mga", repeats=2, protocols=["grr", "oue", "olh", "ss", "blh", "rappor", "pgr"])
    found = poisoned(at, run(at))
    text, every = found.render(), found.render(details=True)
    assert text.startswith("With 158 fake users MGA lifts its targets together by ")
    assert text.index("gives least") < text.index("protocol  ")
    assert len(found.table) == 14
    assert len(every.splitlines()) == len(text.splitlines()) + 2
    assert "`details` shows all rows" in text
    assert "details" not in every
