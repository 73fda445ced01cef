"""What to deploy where some users may be fake."""

import numpy as np
import pytest

import ldp3
from ldp3.errors import InvalidParameter

DATA = ldp3.load("zipf(s=1.1, d=30, n=20_000)")
AMONG = {"protocols": ["grr", "oue"], "methods": ["norm_sub"], "epsilons": 4.0}


def test_the_most_robust_wins_and_its_price_is_said() -> None:
    clean = ldp3.recommend(DATA, **AMONG)  # type: ignore[arg-type]
    robust = ldp3.recommend(DATA, fake_users="5%", **AMONG)  # type: ignore[arg-type]
    assert robust.best.protocol == "grr"
    assert robust.best.error.value > clean.best.error.value
    said = next(note for note in robust.notes if "fake users" in note)
    assert "with 1,053 fake users" in said
    assert "One fake user weighs as 1.6 honest ones" in said


def test_errors_are_never_below_those_without_attackers() -> None:
    clean = ldp3.recommend(DATA, **AMONG)  # type: ignore[arg-type]
    robust = ldp3.recommend(DATA, fake_users=200, attacks=["ria", "mga"], **AMONG)  # type: ignore[arg-type]
    before = {(c.protocol, c.method): c for c in (clean.best, *clean.answers[0].defaults)}
    for after in (robust.best, *robust.answers[0].defaults):
        # paired: the same populations and reports, and the worse of each
        known = before.get((after.protocol, after.method))
        if known is not None and known.collections == after.collections:
            assert after.error.value >= known.error.value


def test_without_fake_users_the_answer_is_as_before() -> None:
    assert ldp3.recommend(DATA, **AMONG) == ldp3.recommend(DATA, fake_users=0, **AMONG)  # type: ignore[arg-type]


def test_protocols_that_cannot_be_attacked_are_left_out_and_named() -> None:
    found = ldp3.recommend(DATA, protocols=["hr", "grr"], methods="none", fake_users=100)
    assert found.best.protocol == "grr"
    assert any(note.startswith("Left out: hr") for note in found.notes)
    with pytest.raises(InvalidParameter, match="None of hr can be attacked"):
        ldp3.recommend(DATA, protocols="hr", methods="none", fake_users=100)


@pytest.mark.parametrize("bad", [{"fake_users": "100%"}, {"fake_users": 5, "targets": "top:31"},
                                 {"fake_users": 5, "attacks": "nonsense"}])  # fmt: skip
def test_what_cannot_be_is_one_line(bad: dict[str, object]) -> None:
    with pytest.raises(ldp3.LDPError):
        ldp3.recommend(DATA, protocols="grr", methods="none", **bad)  # type: ignore[arg-type]


def test_small_domains_have_targets_too() -> None:
    tiny = ldp3.Dataset("coin", np.array([700, 300]), ("heads", "tails"))
    found = ldp3.recommend(tiny, protocols="grr", methods="none", fake_users="1%")
    assert found.best.protocol == "grr"
