"""How many fake users swap two values: by the formula, and in collections."""

from math import sqrt
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from scipy.stats import binom, norm

import ldp3
from ldp3.attacks.base import overtaking
from ldp3.protocols.pure import PureOracle

ALPHA = 1e-6
HONEST = np.array([4_000, 3_800, 2_200])
N, LEAD, REPEATS = 10_000, 200, 400


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
    cost = overtaking(oracle, LEAD)
    gap = oracle.p - oracle.q
    assert LEAD * gap < cost.fake <= LEAD * gap + 1
    noise = sqrt(2 * N) / 2  # at least the deviation of the difference of two counts
    tolerance = norm.cdf(1 / noise) - 0.5  # one user more or less
    low, high = (binom.ppf(ALPHA / 20, REPEATS, 0.5 - tolerance),
                 binom.isf(ALPHA / 20, REPEATS, 0.5 + tolerance))  # fmt: skip
    assert low <= swapped(oracle, cost.fake) <= high


@pytest.mark.parametrize("spec", ["grr", "oue"])
def test_far_fewer_do_not_and_far_more_do(spec: str) -> None:
    oracle = ldp3.oracle(spec, 3.0, 3)
    assert isinstance(oracle, PureOracle)
    cost, far = overtaking(oracle, LEAD).fake, round(6 * sqrt(2 * N * 0.25))
    assert swapped(oracle, max(0, cost - far)) < REPEATS // 10
    assert swapped(oracle, cost + far) == REPEATS


def test_honest_lies_cost_the_lead() -> None:
    oracle = ldp3.oracle("oue", 1.0, 3)
    assert isinstance(oracle, PureOracle)
    assert overtaking(oracle, 100).lying == 101
    assert overtaking(oracle, 0).lying == 1


def test_a_lead_that_fakes_just_make_good_for_takes_one_more() -> None:
    half = cast(PureOracle, SimpleNamespace(p=0.75, q=0.25))
    for lead in range(2, 2_000, 2):  # as shares of ten people, 3 less 1 is 1.9999…
        assert overtaking(half, lead).fake == lead // 2 + 1
