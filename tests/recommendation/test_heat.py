"""Where values are many, a heat on a few populations comes before the race."""

from typing import Any

import pytest

import ldp3
from ldp3.recommendation import race
from ldp3.recommendation.answer import Recommendation

DATA = "zipf(d=200, n=200_000)"
FEW: dict[str, Any] = {"protocols": ["grr", "oue", "olh"], "methods": "norm_sub"}


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if these values were many."""
    monkeypatch.setattr(race, "MANY", 8)
    monkeypatch.setattr(race, "VALUES", 1)


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


def test_a_heat_pays_its_share_of_the_level() -> None:
    alone = race.Rules(0.05, 0.01, (1, 2))
    heat, rest = race.Rules(0.05, 0.01, (1,), others=2), race.Rules(0.05, 0.01, (1, 2), others=1)
    assert alone.level(4, 5) == pytest.approx(0.05 / (2 * 4 * 4))
    assert heat.level(4, 5) == rest.level(4, 5) == pytest.approx(0.05 / (3 * 4 * 4))


@pytest.mark.usefixtures("many")
def test_a_wide_tie_is_said_to_be_wide() -> None:
    given: dict[str, Any] = {"protocols": ["oue", "olh"], "methods": ["norm_sub", "power"]}
    found = ldp3.recommend("zipf(d=24, n=300)", **given)
    far = max(c.worse.value for c in found.answers[0].tied) / found.best.error.value
    assert (far > 0.1) == ("not shown to be worse, not equal" in found.render())
