"""What may compete for a recommendation."""

from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.domain import Labels
from ldp3.errors import InvalidParameter, LDPError
from ldp3.experiment.grid import choices, experiment
from ldp3.people import Dataset
from ldp3.protocols.base import FrequencyOracle
from ldp3.recommendation.advice import Recommendation
from ldp3.recommendation.requirements import Requirements, with_designs

EVEN = Dataset("even", Labels([str(i) for i in range(40)]), np.full(40, 50))
ZIPF = ldp3.load("zipf(s=1.2, d=12, n=3_000)")
HEAVY = Dataset("heavy", Labels(list("abcd")), np.array([300, 100, 100, 100]))


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
def test_costs_are_numbers_above_zero(bad: dict[str, object]) -> None:
    with pytest.raises(LDPError, match=f"`{next(iter(bad))}` must be"):
        ldp3.recommend(EVEN, 1.0, "oue", "norm_sub", **bad)  # type: ignore[call-overload]


def test_where_a_value_is_heavy_protocols_are_tuned_for_it() -> None:
    tuned = ["olh(design=0.49)", "pgr(design=0.49)", "ss(design=0.49)"]
    assert sorted(with_designs("all", HEAVY)[1:]) == tuned  # type: ignore[type-var]
    assert with_designs("all", EVEN) == ["all"]
    assert with_designs(["oue"], HEAVY) == ["oue"]


def test_where_values_lie_in_an_order_the_mixture_for_numbers_is_tried() -> None:
    line = replace(EVEN, domain=EVEN.domain.in_order())
    assert with_designs("all", line) == ["all", "resolutions(wave=0.5)"]
    assert with_designs(["oue"], line) == ["oue"]


def test_all_leaves_out_what_another_one_beats_and_literature_does_not() -> None:
    every = {c.spec for c in choices(FrequencyOracle, "literature", [])}
    best = {c.spec for c in choices(FrequencyOracle, "all", [])}
    assert best == {
        "grr", "rappor", "oue", "blh", "olh", "ss", "pgr", "hrr", "hr", "sw", "resolutions",
    }  # fmt: skip
    assert every - best == {
        "ue", "the", "she", "flh", "cms", "hcms", "pi_rappor", "rhr", "hpgr", "mss"
    }  # fmt: skip


def found(**options: object) -> Recommendation:
    given: dict[str, object] = {
        "protocols": ["grr", "oue"], "methods": ["norm_sub", "base_pos"], "population": 50_000,
        "threads": 1,
    }  # fmt: skip
    return ldp3.recommend(ZIPF, 1.0, **{**given, **options})  # type: ignore[call-overload]


def test_unbiased_means_without_post_processing() -> None:
    answer = found(unbiased=True).answers[0]
    assert sum(answer.methods.values()) == 2
    assert {c.method for c in (answer.best, *answer.tied)} == {"none"}


def test_a_distribution_sums_to_one_whatever_else_would_win() -> None:
    answer = found(distribution=True, metrics="emd").answers[0]
    assert sum(answer.methods.values()) == 2
    assert {c.method for c in (answer.best, *answer.tied)} == {"norm_sub"}
    assert answer.unbiased is None
    assert "Best without post-processing" not in found(distribution=True).render()


def test_what_is_made_for_a_metric_competes_there_unless_a_distribution_is_needed() -> None:
    ex = experiment([ZIPF], 1.0, "oue", "all", ["l1", "kl"])
    free, summing = ({c.spec for c in Requirements(distribution=d).methods(ex).methods}
                     for d in (False, True))  # fmt: skip
    assert {"completed", "completed_mean", "multiscale"} <= free
    assert free - summing >= {"completed", "base_cut"}
    assert "completed_mean" in summing


def test_wishes_that_nothing_fulfils_are_refused() -> None:
    with pytest.raises(LDPError, match="`distribution` or `unbiased`"):
        found(unbiased=True, distribution=True)
    with pytest.raises(LDPError, match="name others"):
        found(methods="base_pos", distribution=True)


def test_protocols_that_cannot_be_attacked_are_left_out_and_named() -> None:
    found = ldp3.recommend(ZIPF, protocols=["hr", "grr"], methods="none", fake_users=100)
    assert found.best.protocol == "grr"
    assert any(note.startswith("Left out: hr") for note in found.notes)
    with pytest.raises(InvalidParameter, match="None of hr can be attacked"):
        ldp3.recommend(ZIPF, protocols="hr", methods="none", fake_users=100)


@pytest.mark.parametrize("bad", [{"fake_users": "100%"}, {"fake_users": 5, "targets": "top:13"},
                                 {"fake_users": 5, "attacks": "nonsense"}])  # fmt: skip
def test_what_cannot_be_is_one_line(bad: dict[str, object]) -> None:
    with pytest.raises(LDPError):
        ldp3.recommend(ZIPF, protocols="grr", methods="none", **bad)  # type: ignore[call-overload]


def test_small_domains_have_targets_too() -> None:
    tiny = ldp3.Dataset("coin", ldp3.Labels(("heads", "tails")), np.array([700, 300]))
    found = ldp3.recommend(tiny, protocols="grr", methods="none", fake_users="1%")
    assert found.best.protocol == "grr"
