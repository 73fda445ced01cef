"""How many fake users swap two values: by the formula, and in collections."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, norm

import ldp3
from ldp3.protocols.base import PureOracle
from ldp3.threats.sweeps import overtaking

ALPHA = 1e-6
HONEST = np.array([4_000, 3_800, 2_200])
N, LEAD, REPEATS = 10_000, 0.02, 400


def swapped(oracle: PureOracle, fakes: int) -> int:
    """In how many collections the second value comes first."""
    rng = ldp3.stream(1, repr(oracle), fakes)
    found = 0
    for _ in range(REPEATS):
        counts = oracle.support_counts(oracle.simulate(HONEST, rng)).copy()
        counts[1] += fakes  # each supports the second value and not the first
        found += bool(counts[1] > counts[0]) + 0.5 * (counts[1] == counts[0])
    return round(found)


@pytest.mark.parametrize("spec", ["grr", "rappor", "oue", "blh", "olh"])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_so_many_make_it_an_even_chance(spec: str, epsilon: float) -> None:
    oracle = ldp3.oracle(spec, epsilon, 3)
    assert isinstance(oracle, PureOracle)
    cost = overtaking(oracle, N, LEAD)
    gap = oracle.p - oracle.q
    assert N * LEAD * gap < cost.fake <= N * LEAD * gap + 1
    noise = sqrt(2 * N) / 2  # at least the deviation of the difference of two counts
    tolerance = norm.cdf(1 / noise) - 0.5  # one user more or less
    low, high = (binom.ppf(ALPHA / 20, REPEATS, 0.5 - tolerance),
                 binom.isf(ALPHA / 20, REPEATS, 0.5 + tolerance))  # fmt: skip
    assert low <= swapped(oracle, cost.fake) <= high


@pytest.mark.parametrize("spec", ["grr", "oue"])
def test_far_fewer_do_not_and_far_more_do(spec: str) -> None:
    oracle = ldp3.oracle(spec, 3.0, 3)
    assert isinstance(oracle, PureOracle)
    cost, far = overtaking(oracle, N, LEAD).fake, round(6 * sqrt(2 * N * 0.25))
    assert swapped(oracle, max(0, cost - far)) < REPEATS // 10
    assert swapped(oracle, cost + far) == REPEATS


def test_honest_lies_cost_the_lead() -> None:
    oracle = ldp3.oracle("oue", 1.0, 3)
    assert isinstance(oracle, PureOracle)
    assert overtaking(oracle, 1_000, 0.1).lying == 101
    assert overtaking(oracle, 1_000, 0.0).lying == 1
