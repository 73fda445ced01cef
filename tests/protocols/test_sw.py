"""The square wave: its window, its channel, and what undoes it, against dense matrices."""

from math import exp

import numpy as np
import pytest

import ldp3
from ldp3 import Bins, Plan, stream
from ldp3.errors import InvalidParameter
from ldp3.protocols.sw import SW
from ldp3.randomness import Words
from ldp3.randomness import exp as exact_exp

# one place; a few; chains of one, two and several values
SIZES = [(12.0, 8), (2.0, 5), (0.5, 70), (1.0, 33), (4.0, 100), (0.1, 12)]


def matrix(oracle: SW) -> np.ndarray:
    return np.array([oracle.channel.forward(row) for row in np.eye(oracle.d)]).T


def test_the_window_by_hand() -> None:
    # ε = 1: b = (e - e + 1) / (2e (e - 2)) = 0.256; 256 b = 65.5
    oracle = SW(epsilon=1.0, d=256)
    assert (oracle.w, oracle.width, oracle.places) == (65, 131, 386)
    assert float(oracle.privacy_ratio) == pytest.approx(exp(1), rel=1e-15)
    assert oracle.privacy_ratio <= exact_exp(1.0)


@pytest.mark.parametrize(("epsilon", "d"), SIZES)
def test_the_fast_channel_is_the_definition(epsilon: float, d: int) -> None:
    oracle = SW(epsilon=epsilon, d=d)
    near, far = oracle.channel.floor + oracle.channel.step, oracle.channel.floor
    places = np.arange(oracle.places)[:, None]
    held = (np.arange(d) <= places) & (places < np.arange(d) + oracle.width)
    assert np.allclose(matrix(oracle), np.where(held, near, far), rtol=1e-12)
    weights = stream(0).random(oracle.places)
    assert np.allclose(oracle.channel.backward(weights), matrix(oracle).T @ weights, rtol=1e-12)


@pytest.mark.parametrize(("epsilon", "d"), SIZES)
def test_scores_undo_the_channel_and_their_squares_are_the_spread(epsilon: float, d: int) -> None:
    oracle = SW(epsilon=epsilon, d=d)
    scores = np.array([oracle.channel.scores(row) for row in np.eye(d)])
    assert np.allclose(scores @ matrix(oracle), np.eye(d), atol=1e-8)
    shares = stream(1).dirichlet(np.ones(oracle.places))
    assert np.allclose(oracle.channel.solve(shares), scores @ shares)
    assert np.allclose(oracle.channel.spread(shares), scores**2 @ shares)


@pytest.mark.parametrize(("epsilon", "d"), SIZES)
def test_frequencies_are_nearly_as_quiet_as_least_squares(epsilon: float, d: int) -> None:
    oracle, even = SW(epsilon=epsilon, d=d), np.full(d, 1 / d)
    m = matrix(oracle)
    expected = m @ even
    best = np.linalg.inv(m.T @ (m / expected[:, None])) @ m.T / expected
    quiet = (best**2 @ expected - even).mean()
    assert (oracle.channel.spread(expected) - even).mean() < 1.05 * quiet


def test_the_mean_is_that_of_the_average_report() -> None:
    oracle = SW(epsilon=1.0, d=64)
    reports = oracle.perturb(np.arange(1_000) % 64, stream(2))
    kept = oracle.channel.kept
    mean = (reports.mean() - (1 - kept) * (oracle.places - 1) / 2) / kept - oracle.w
    estimate = oracle.estimate(oracle.aggregate(reports))
    assert estimate.frequencies @ np.arange(64) == pytest.approx(mean)
    assert estimate.frequencies.sum() == pytest.approx(1)


def test_a_report_is_drawn_as_the_constants_say() -> None:
    oracle = SW(epsilon=1.0, d=10)
    blind = oracle.constants["blind"]
    assert (oracle.w, oracle.places) == (2, 14)
    assert oracle.draw(7, Words.of([blind - 1, 15, 13])) == 13  # any place; 15 is none
    assert oracle.draw(7, Words.of([blind, 6, 4])) == 11  # the fifth near the value
    assert (oracle.draw(7, Words.of([blind, 0])), oracle.usual_method) == (7, "adaptive_em")


def test_it_goes_by_an_order_in_which_nothing_is_other() -> None:
    plan = Plan("ages", Bins(range(0, 101, 10)), "sw", 1.0)
    assert plan.method == "adaptive_em"
    with pytest.raises(InvalidParameter, match="SW: goes by an order, and 2 labels have none"):
        Plan("answers", ["yes", "no"], "sw", 1.0)
    with pytest.raises(InvalidParameter, match="in which 'no answer' has no place"):
        Plan("ages", Bins(range(0, 101, 10), other="no answer"), "sw", 1.0)


def test_the_mean_is_far_less_noisy_than_from_a_protocol_for_categories() -> None:
    frequencies, n = np.full(256, 1 / 256), 100_000
    places = np.arange(256) / 256
    variance = [
        ldp3.oracle(name, epsilon=1.0, d=256).noise(frequencies, n).of_query(places, frequencies)
        for name in ("sw", "ss")
    ]
    wave, subset = (float(each or 0) for each in variance)
    assert n * wave == pytest.approx(1.08, rel=0.01)  # as computed by hand
    assert subset > 70 * wave
