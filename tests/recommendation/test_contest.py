"""Races on one run: what is measured, with the luck taken out; the worst where users are fake."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3 import stream
from ldp3.recommendation import race
from ldp3.recommendation.contest import controlled, raw_errors
from ldp3.recommendation.populations import Populations

ALPHA = 1e-6
LEVEL = ldp3.load("zipf(s=1.1, d=30, n=20_000)")
AMONG: dict[str, Any] = {"protocols": ["grr", "oue"], "methods": ["norm_sub"], "epsilons": 4.0}


def test_many_values_are_raced_on_fewer_populations() -> None:
    data = ldp3.load("zipf(d=5_000, n=50_000)")
    model = Populations(data, 10**6, 0)
    assert len(model.world_of) <= 24
    assert race.looks(5_000) == (1,)


def test_the_mean_raw_errors_are_those_of_simulation() -> None:
    data = ldp3.load("zipf(s=1.1, d=50, n=20_000)")
    oracle = ldp3.oracle("oue", 1.0, 50)
    known = raw_errors(oracle.noise(data.frequencies, data.n).variance(data.frequencies))
    rng, off = stream(0, "raw"), []
    for _ in range(400):
        e = oracle.estimate(oracle.simulate(data.histogram, rng)).frequencies - data.frequencies
        off.append([np.abs(e).sum(), np.sqrt((e**2).sum())])
    error = np.std(off, axis=0, ddof=1) / 20
    # to the second order and normal, so up to half a percent besides the noise
    limit = stats.norm.isf(ALPHA / 2) * error + 0.005 * known
    assert (np.abs(np.mean(off, axis=0) - known) <= limit).all()


def test_what_raw_errors_were_off_is_taken_out_without_bias() -> None:
    """Errors that follow the raw ones: most of their noise goes, and their mean stays."""
    rng, worlds = stream(0, "control"), np.repeat([0, 1], 100)
    off = 0.2 * rng.normal(size=(200, 4, 2))
    values = 3.0 + worlds[:, None] + 2.0 * off[..., 0] + 0.1 * rng.normal(size=(200, 4))
    found = controlled(values, off, worlds)
    assert found[worlds == 0].std() < values[worlds == 0].std() / 3
    error = 0.1 / np.sqrt(800) + 1e-3
    assert abs(found.mean() - 3.5) <= stats.norm.isf(ALPHA / 2) * error


def test_what_was_not_measured_is_not_made_up() -> None:
    values = np.array([[1.0, np.nan], [1.0, np.nan]])
    assert controlled(values, np.zeros((2, 2, 2)), np.zeros(2, int)) is values
    zero = np.zeros((2, 2))
    assert controlled(zero, np.ones((2, 2, 2)), np.zeros(2, int)) is zero


def test_protocols_of_a_set_that_are_noisier_are_left_out_and_those_that_were_named_are_not() -> (
    None
):
    given: dict[str, Any] = {"methods": "norm_sub", "population": 100_000}
    found = ldp3.recommend(LEVEL, 1.0, "paper", **given)
    (said,) = [note for note in found.notes if note.startswith("Left out, as their noise")]
    assert "GRR" in said
    assert "grr" not in found.answers[0].methods
    named = ldp3.recommend(LEVEL, 1.0, ["grr", "oue"], **given)
    assert "grr" in named.answers[0].methods


def test_the_most_robust_wins_and_its_price_is_said() -> None:
    clean = ldp3.recommend(LEVEL, **AMONG)
    robust = ldp3.recommend(LEVEL, fake_users="5%", **AMONG)
    assert robust.best.protocol == "grr"
    assert robust.best.error.value > clean.best.error.value
    said = next(note for note in robust.notes if "fake users" in note)
    assert "with 1,053 fake users" in said
    assert "One fake user weighs as 1.6 honest ones" in said
    first, second, third = robust.render().splitlines()[:3]
    assert "with 1,053 fake ones beside them" in first + second
    assert "more people do not help" in second + third
    misplaced = robust.answers[0].worth.misplaced  # half of ℓ1, in other collections
    assert misplaced == pytest.approx(robust.best.error.value / 2, rel=0.15)


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
