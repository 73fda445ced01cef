"""p-values are what they say: small by chance as often as allowed, small where there is cause."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.tails import binomial_p
from ldp3.verification.base import ALPHA
from ldp3.verification.statistics import (
    Traits,
    autocorrelation_p,
    bias_p,
    cells,
    clopper_pearson,
    coins,
    far_binomial_p,
    in_cell,
    mean_p,
    spread_p,
    told_apart_p,
    top_cells,
)
from tests.laws import same_law_p, variance_p

RUNS, LEVEL = 2_000, 0.01
SAMPLES = 400  # pairs of them, of which somebody guesses which is which


def events(rng: np.random.Generator, probability: float, draws: int) -> FloatArray:
    """One column of ones where something seldom happened."""
    return (rng.random((draws, 1)) < probability).astype(float)


Draw = Callable[[np.random.Generator], FloatArray | float]
HONEST: dict[str, Draw] = {
    "binomial": lambda rng: binomial_p(rng.binomial(60, 0.3), 60, 0.3),
    "mean": lambda rng: mean_p(rng.normal(2.0, 3.0, 200), 2.0),
    "bias": lambda rng: bias_p(rng.normal(0.0, 3.0, (200, 1)), np.array([9.0])),
    "rare bias": lambda rng: bias_p(events(rng, 0.002, 1_000) - 0.002, np.array([0.002])),
    "unseen bias": lambda rng: bias_p(events(rng, 1e-6, 1_000) - 1e-6, np.array([1e-6])),
    "variance": lambda rng: variance_p(rng.normal(2.0, 3.0, 200), 9.0),
    "spread": lambda rng: spread_p(rng.normal(0.0, 3.0, (20, 1)), np.array([9.0])),
    "rare spread": lambda rng: spread_p(events(rng, 1e-4, 1_000) - 1e-4, np.array([1e-4])),
    "unseen spread": lambda rng: spread_p(events(rng, 1e-6, 1_000) - 1e-6, np.array([1e-6])),
    "same law": lambda rng: same_law_p(rng.integers(9, size=500), rng.integers(9, size=500)),
    "autocorrelation": lambda rng: autocorrelation_p(rng.random(400) < 0.3)[3],
}
FALSE: dict[str, Draw] = {
    "binomial": lambda rng: binomial_p(rng.binomial(4_000, 0.35), 4_000, 0.3),
    "mean": lambda rng: mean_p(rng.normal(2.5, 3.0, 4_000), 2.0),
    "bias": lambda rng: bias_p(rng.normal(0.5, 3.0, (4_000, 1)), np.array([9.0])),
    "rare bias": lambda rng: bias_p(events(rng, 0.02, 4_000) - 0.005, np.array([0.02])),
    "constant bias": lambda rng: bias_p(events(rng, 0.0, 4_000) - 0.1, np.array([0.01])),
    "variance": lambda rng: variance_p(rng.normal(2.0, 3.3, 4_000), 9.0),
    "spread": lambda rng: spread_p(rng.normal(0.0, 3.3, (4_000, 1)), np.array([9.0])),
    "rare spread": lambda rng: spread_p(events(rng, 0.02, 4_000) - 0.02, np.array([0.005])),
    "same law": lambda rng: same_law_p(rng.integers(9, size=4_000), rng.integers(10, size=4_000)),
    "autocorrelation": lambda rng: autocorrelation_p(np.repeat(rng.random(2_000) < 0.3, 2))[0],
}


@pytest.mark.parametrize("what", HONEST)
def test_p_values_are_small_by_chance_as_often_as_allowed(what: str) -> None:
    rng = stream(0, "honest", what)
    small = sum(float(np.min(HONEST[what](rng))) < LEVEL for _ in range(RUNS))
    assert small <= stats.binom.isf(ALPHA, RUNS, LEVEL)


@pytest.mark.parametrize("what", FALSE)
def test_p_values_are_small_where_something_is_wrong(what: str) -> None:
    assert np.min(FALSE[what](stream(0, "false", what))) < ALPHA


def test_binomial_tests_are_exact() -> None:
    law = stats.binom(20, 0.3)
    for k in range(21):
        both = min(1.0, 2 * min(law.cdf(k), law.sf(k - 1)))
        assert binomial_p(k, 20, 0.3) == pytest.approx(both, rel=1e-12)


def test_bounds_of_a_probability_are_clopper_s_and_pearson_s() -> None:
    interval = stats.binomtest(7, 50).proportion_ci(0.98, method="exact")
    assert clopper_pearson(7, 50, 0.01) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert clopper_pearson(0, 50, 0.01)[0] == 0
    assert clopper_pearson(50, 50, 0.01)[1] == 1


def test_binomial_tests_are_exact_for_more_users_than_an_integer_holds() -> None:
    n, p = 10**12, 0.25
    away = 3 * (n * p * (1 - p)) ** 0.5
    assert binomial_p(int(n * p + away), n, p) == pytest.approx(2 * stats.norm.sf(3), rel=1e-3)
    assert binomial_p(int(n * p - away), n, p) == pytest.approx(2 * stats.norm.sf(3), rel=1e-3)


def test_many_binomial_tests_are_exact_where_it_matters() -> None:
    counts = np.arange(0, 201)
    every, far = binomial_p(counts, 200, 0.3), far_binomial_p(counts, 200, np.array(0.3))
    assert (far >= every).all()
    assert far[far < 1] == pytest.approx(every[far < 1], rel=1e-12)
    assert (far[every < 0.01] < 0.01).all()


def view(numbers: IntArray) -> Traits:
    codes = numbers.astype(np.uint8)
    bits = np.unpackbits(codes, axis=1).astype(bool)
    return Traits(codes, bits, (codes @ (1 << np.arange(codes.shape[1]))).astype(np.uint64))


@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant", "rare"])
def test_without_a_difference_p_values_are_small_as_often_as_allowed(kind: str) -> None:
    rng, small, tests = stream(0, "telling", kind), 0, 0
    for _ in range(SAMPLES):
        draw = {
            "uniform": rng.integers(4, size=(2, 200, 3)),
            "skewed": rng.geometric(0.3, (2, 200, 3)),
            "constant": np.zeros((2, 200, 3), dtype=int),
            "rare": (rng.random((2, 200, 3)) < 0.01).astype(int),
        }[kind]
        p_values = told_apart_p(view(draw[0]), view(draw[1]), rng)
        small, tests = small + int((p_values < LEVEL).sum()), tests + p_values.size
    # the tests of one run are dependent: one run counts as often as all of them
    assert small <= stats.binom.isf(ALPHA, SAMPLES, LEVEL) * tests / SAMPLES


def test_a_difference_in_one_column_shows() -> None:
    rng = stream(0, "column")
    first, second = rng.integers(4, size=(2, 4_000, 3))
    second[:, 1] = rng.integers(5, size=4_000)
    columns = told_apart_p(view(first), view(second), rng)[:3]
    assert (columns < ALPHA).tolist() == [False, True, False]


def test_a_difference_in_two_bits_together_shows() -> None:
    rng = stream(0, "bits")
    first, second = rng.integers(2, size=(2, 4_000, 2))
    second[:, 1] = second[:, 0] ^ (rng.random(4_000) < 0.3)
    columns = told_apart_p(view(first), view(second), rng)
    assert columns[:2].min() > ALPHA  # each alone is a fair coin
    assert columns.min() < ALPHA


def test_pairs_of_bits_are_counted() -> None:
    bits = stream(0, "cells").random((50, 4)) < 0.4
    table = cells(bits)
    for cell in range(4):
        for j, k in ((0, 1), (3, 2)):
            assert table[cell, j, k] == in_cell(bits, cell, j, k).sum()
    assert top_cells(table, 1) == [max(
        ((c, j, k) for c in range(4) for j in range(4) for k in range(j + 1, 4)),
        key=lambda place: (table[place], -place[0] * 16 - place[1] * 4 - place[2]),
    )]  # fmt: skip
    assert top_cells(cells(bits[:, :1]), 3) == []


def test_coins_take_nearly_all_of_two_samples() -> None:
    for n in (0, 1, 10, 10_000):
        first, second = coins(n, stream(0, n))
        assert max(first, second) <= n
        assert first + second >= 2 * n - 8 * n**0.5 - 1
