"""Of the tied, what costs least of those that are as good as the best."""

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.recommendation.choosing import FLOOR, chosen, interval, price, reason, regrets
from ldp3.recommendation.populations import POINTS

DATA = ldp3.load("zipf(s=1.2, d=12, n=3_000)")


PAIRS = [("oue", "none"), ("oue", "norm_sub"), ("oue", "power")]
POINTS_TOO = np.array([0, 0, 1, 1, POINTS])  # two worlds of two populations, and points
BELIEVED = np.array([0.75, 0.25, 0, 0, 0, 0, 0, 0])


def scores(*rows: list[float]) -> list[FloatArray]:
    return [np.array(row)[:, None] for row in rows]


def test_the_score_is_half_the_average_and_half_the_largest_regret() -> None:
    # errors of 1 and 1.1 in the likely world, 2.0 and 1.6 in the other
    given = scores([1.0, 1, 2, 2, 9], [1.1, 1.1, 1.6, 1.6, 8])
    found = regrets(given, np.ones(2, bool), PAIRS[:2], POINTS_TOO, BELIEVED)
    assert found.score.tolist() == pytest.approx([(0.25 * 0.25 + 0.25) / 2, (0.075 + 0.1) / 2])
    assert found.largest.tolist() == pytest.approx([0.25, 0.1])
    assert found.of_points.tolist() == pytest.approx([9, 8])
    out = regrets(given, np.array([True, False]), PAIRS[:2], POINTS_TOO, BELIEVED)
    assert out.score.tolist() == [0, np.inf]


def test_one_population_with_large_errors_does_not_decide() -> None:
    given = scores([1.0, 100, 1, 1, 1], [1.2, 90, 1.2, 1.2, 1])
    found = regrets(given, np.ones(2, bool), PAIRS[:2], POINTS_TOO, BELIEVED)
    assert found.score[0] < found.score[1]


def test_what_loses_to_the_usual_methods_in_some_world_is_not_chosen() -> None:
    given = scores([1.0, 1, 1, 1, 1], [1.0, 1, 1, 1, 1], [0.5, 0.5, 1.2, 1.2, 1])
    found = regrets(given, np.ones(3, bool), PAIRS, POINTS_TOO, BELIEVED)
    assert found.score[2] == np.inf
    little = scores([1.0, 1, 1, 1, 1], [1.0, 1, 1, 1, 1], [0.5, 0.5, 1.04, 1.04, 1])
    found = regrets(little, np.ones(3, bool), PAIRS, POINTS_TOO, BELIEVED)
    assert found.score.argmin() == 2


def test_higher_scores_are_negative_and_errors_may_be_zero() -> None:
    given = scores([-0.96] * 5, [-1.0] * 5)  # within the guard
    found = regrets(given, np.ones(2, bool), PAIRS[:2], POINTS_TOO, BELIEVED)
    assert found.score.tolist() == pytest.approx([0.04, 0.0])
    zero = regrets(scores([0.0] * 5, [0.0] * 5), np.ones(2, bool), PAIRS[:2], POINTS_TOO, BELIEVED)
    assert zero.score.tolist() == [0, 0]


def test_the_guard_knows_that_more_may_be_better() -> None:
    given = scores([-1.0] * 5, [-1.0] * 5, [-2.0, -2.0, -0.9, -0.9, -1.0])
    found = regrets(given, np.ones(3, bool), PAIRS, POINTS_TOO, BELIEVED)
    assert found.score[2] == np.inf  # a tenth less than the usual ones in one world
    near = scores([-1.0] * 5, [-1.0] * 5, [-2.0, -2.0, -0.97, -0.97, -1.0])
    assert regrets(near, np.ones(3, bool), PAIRS, POINTS_TOO, BELIEVED).score.argmin() == 2


def test_within_the_margin_the_cheapest_is_chosen_and_beyond_it_the_best() -> None:
    score = np.array([0.0, 0.009, 0.011, np.inf])
    prices, points = [(128, 2), (66, 128), (2, 1), (1, 1)], np.ones(4)
    pairs = [(p, "norm_sub") for p in "abcd"]
    assert chosen(score, prices, points, pairs, 0.01) == 1
    assert chosen(score, prices, points, pairs, 0.001) == 0
    assert chosen(score, prices, points, pairs, 0.02) == 2


def test_bits_come_before_work_then_shared_frequencies_and_simplicity() -> None:
    level, points, pairs = np.zeros(3), np.ones(3), [*PAIRS]
    assert chosen(level, [(2, 9), (3, 1), (2, 8)], points, pairs, 0.0) == 2
    assert chosen(level, [(2, 1)] * 3, np.array([1, 1, 0.9]), pairs, 0.01) == 2
    assert chosen(level, [(2, 1)] * 3, np.array([1, 1, 0.995]), pairs, 0.01) == 0
    assert chosen(level[1:], [(2, 1)] * 2, points[1:], pairs[1:], 0.01) == 0  # the usual one


def test_why_another_was_preferred() -> None:
    prices = [(2, 9), (3, 1), (3, 9), (3, 9)]
    pairs = [("a", "power"), ("b", "power"), ("b", "power"), ("b", "none")]
    assert reason(prices, pairs, 0, 1) == "fewer bits per report"
    assert reason(prices, pairs, 1, 2) == "less work for the server"
    assert reason(prices, pairs, 3, 2) == "a simpler method"
    assert reason(prices, pairs, 2, 3) == "a smaller error if values share frequencies"


def test_the_interval_is_that_of_the_mixture_of_worlds() -> None:
    """Two worlds far apart: the ends are those of each; one world alone has its own."""
    rng, worlds = stream(0, "mixture"), np.repeat([0, 1], 40)
    values = np.exp(rng.normal(np.where(worlds == 0, 0.0, 1.0)[:, None], 0.1, (80, 1)))
    both = interval(values, worlds, np.array([0.5, 0.5]), 0.05)
    one = interval(values, worlds, np.array([1.0, 0.0]), 0.05)
    z = stats.norm.isf(0.025)
    assert np.log(one.high) == pytest.approx(0.1 * z + FLOOR, abs=0.1)
    assert np.log(one.low) == pytest.approx(-0.1 * z - FLOOR, abs=0.1)
    assert np.log(both.low) == pytest.approx(-0.1 * stats.norm.isf(0.05) - FLOOR, abs=0.1)
    assert np.log(both.high) == pytest.approx(1 + 0.1 * stats.norm.isf(0.05) + FLOOR, abs=0.1)


def test_the_noise_of_the_simulation_is_no_uncertainty_of_the_error() -> None:
    rng, worlds = stream(0, "noise"), np.zeros(60, int)
    noisy = np.exp(rng.normal(0.0, 0.3, (60, 16)))
    found = interval(noisy, worlds, np.ones(1), 0.05)
    assert found.high / found.low < np.exp(2 * FLOOR + 4 * 0.05)
    assert interval(np.full((8, 2), -0.9), np.zeros(8, int), np.ones(1), 0.05).low < -0.9


def test_what_combinations_cost() -> None:
    assert price(ldp3.oracle("grr", 1.0, 300)) == (9, 1)
    assert price(ldp3.oracle("oue", 1.0, 300)) == (300, 5)
    assert price(ldp3.oracle("olh", 1.0, 300)) == (66, 300)


def test_a_small_report_is_recommended_where_a_long_one_is_hardly_better() -> None:
    data = ldp3.load("zipf(d=200, n=20_000)")
    given = {"methods": "norm_sub", "population": 10**6, "threads": 1}
    cheap, best = (
        ldp3.recommend(data, 1.0, ["oue", "olh"], margin=margin, **given).answers[0]  # type: ignore[call-overload]
        for margin in (0.2, 0.0)
    )
    assert cheap.best.protocol == "olh"
    assert best.best == best.lowest
    if cheap.lowest.protocol == "oue":
        assert cheap.instead == "fewer bits per report"
