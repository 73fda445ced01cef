"""Races on one run: a heat first where values are many, the worst error where users are fake."""

from typing import Any

import pytest

import ldp3
from ldp3.printing import percent
from ldp3.recommendation import race
from ldp3.recommendation.advice import Recommendation

DATA = "zipf(d=200, n=200_000)"
LEVEL = ldp3.load("zipf(s=1.1, d=30, n=20_000)")
AMONG: dict[str, Any] = {"protocols": ["grr", "oue"], "methods": ["norm_sub"], "epsilons": 4.0}
FEW: dict[str, Any] = {"protocols": ["grr", "oue", "olh"], "methods": "norm_sub"}


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these values were many."""
    monkeypatch.setattr(race, "MANY", 8)
    monkeypatch.setattr(race, "REPEATS_TIMES_VALUES", 1)


@pytest.mark.usefixtures("many")
def test_what_a_heat_drops_takes_no_part_in_the_race_but_is_told() -> None:
    found = ldp3.recommend(DATA, threads=2, **FEW)
    (answer,) = found.answers
    assert answer.best.collections == race.FEW_POPULATIONS * race.FEW_REPEATS
    assert answer.best.protocol != "grr"
    dropped = [c for c in answer.defaults if c.protocol == "grr"]
    assert dropped
    for candidate in dropped:
        assert candidate.collections == race.HEAT  # not one more
        assert candidate.worse.low > 0
        assert not candidate.tied


@pytest.mark.usefixtures("many")
def test_what_a_heat_decides_is_answered_by_it() -> None:
    (answer,) = ldp3.recommend(DATA, protocols=["grr", "oue"], methods="none").answers
    assert answer.reason == "separated"
    assert answer.best.collections == race.HEAT


@pytest.mark.usefixtures("many")
def test_fake_users_take_part_in_heats() -> None:
    found = ldp3.recommend(DATA, protocols=["grr", "oue"], methods="norm_sub", fake_users="5%")
    assert isinstance(found, Recommendation)
    assert "fake users" in found.notes[0]


@pytest.mark.usefixtures("many")
def test_a_wide_tie_is_said_to_be_wide() -> None:
    given: dict[str, Any] = {"protocols": ["oue", "olh"], "methods": ["norm_sub", "power"]}
    found = ldp3.recommend("zipf(d=24, n=300)", **given)
    best = found.best.error.value
    far = max(abs(c.error.value - best) for c in found.answers[0].tied) / best
    assert f"(up to {percent(far)} behind)" in found.render()


def test_the_most_robust_wins_and_its_price_is_said() -> None:
    clean = ldp3.recommend(LEVEL, **AMONG)
    robust = ldp3.recommend(LEVEL, fake_users="5%", **AMONG)
    assert robust.best.protocol == "grr"
    assert robust.best.error.value > clean.best.error.value
    said = next(note for note in robust.notes if "fake users" in note)
    assert "with 1,053 fake users" in said
    assert "One fake user weighs as 1.6 honest ones" in said


def test_errors_are_never_below_those_without_attackers() -> None:
    clean = ldp3.recommend(LEVEL, **AMONG)
    robust = ldp3.recommend(LEVEL, fake_users=200, attacks=["ria", "mga"], **AMONG)
    before = {(c.protocol, c.method): c for c in (clean.best, *clean.answers[0].defaults)}
    for after in (robust.best, *robust.answers[0].defaults):
        # paired: the same populations and reports, and the worse of each
        known = before.get((after.protocol, after.method))
        if known is not None and known.collections == after.collections:
            assert after.error.value >= known.error.value


def test_without_fake_users_the_answer_is_as_before() -> None:
    assert ldp3.recommend(LEVEL, **AMONG) == ldp3.recommend(LEVEL, fake_users=0, **AMONG)
