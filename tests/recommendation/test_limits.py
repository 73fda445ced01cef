"""What may compete for a recommendation."""

import numpy as np
import pytest

import ldp3
from ldp3 import LDPError
from ldp3.experiment.grid import choices
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation.costs import measure
from ldp3.recommendation.limits import with_designs
from ldp3.types import Dataset

EVEN = Dataset("even", np.full(40, 50), [str(i) for i in range(40)])
HEAVY = Dataset("heavy", np.array([300, 100, 100, 100]), list("abcd"))


def test_long_reports_and_slow_servers_are_left_out_and_named() -> None:
    found = ldp3.recommend(
        EVEN, 1.0, ["grr", "oue", "olh", "pgr"], "norm_sub", max_bits=16, population=2_000
    )
    named = {c.protocol for a in found.answers for c in (a.best, *a.tied)}
    assert named <= {"grr", "pgr"}
    assert any(note == "Left out: OUE (40 bits), OLH (66 bits)." for note in found.notes)


def test_nothing_left_is_a_mistake_that_names_all() -> None:
    with pytest.raises(LDPError, match=r"No protocol keeps to .*: OUE \(40 bits\)\."):
        ldp3.recommend(EVEN, 1.0, "oue", "norm_sub", max_bits=8)
    with pytest.raises(LDPError, match=r"No protocol keeps to .*: OUE \(.* s\)\."):
        ldp3.recommend(EVEN, 1.0, "oue", "norm_sub", max_decode=1e-12, population=10**9)


@pytest.mark.parametrize("bad", [{"max_bits": 0}, {"max_bits": 2.5}, {"max_decode": 0}])
def test_limits_are_numbers_above_zero(bad: dict[str, object]) -> None:
    with pytest.raises(LDPError, match=f"`{next(iter(bad))}` must be"):
        ldp3.recommend(EVEN, 1.0, "oue", "norm_sub", **bad)  # type: ignore[arg-type]


def test_where_a_value_is_heavy_protocols_are_tuned_for_it() -> None:
    tuned = ["olh(design=0.49)", "pgr(design=0.49)", "ss(design=0.49)"]
    assert sorted(with_designs("all", HEAVY)[1:]) == tuned  # type: ignore[type-var]
    assert with_designs("all", EVEN) == ["all"]
    assert with_designs(["oue"], HEAVY) == ["oue"]


def test_all_leaves_out_what_another_one_beats_and_literature_does_not() -> None:
    every = {c.spec for c in choices(FrequencyOracle, "literature", [])}
    best = {c.spec for c in choices(FrequencyOracle, "all", [])}
    assert best == {"grr", "rappor", "oue", "blh", "olh", "ss", "pgr", "hrr", "hr"}
    assert every - best == {
        "ue", "the", "she", "flh", "cms", "hcms", "pi_rappor", "rhr", "hpgr", "mss"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["grr", "pgr", "olh", "she", "cms"])
def test_every_cost_is_measured(name: str) -> None:
    oracle = ldp3.oracle(name, 1.0, 16)
    cost = measure(oracle)
    assert cost.bits == oracle.report_bits
    assert (cost.client is None) == (not oracle.deployable)
    assert min(cost.perturb, cost.count, cost.decode) > 0
    assert cost.server(1_000) == pytest.approx(1_000 * cost.count + cost.decode)
