"""Guessing which sample a report is from: exact without a difference, sharp with one."""

import numpy as np
import pytest
from scipy import stats

from ldp3 import stream
from ldp3.arrays import IntArray
from ldp3.verification.base import ALPHA
from ldp3.verification.telling import View, cells, coins, in_cell, told_apart_p, top_cells

RUNS, LEVEL = 400, 0.01


def view(numbers: IntArray) -> View:
    codes = numbers.astype(np.uint8)
    bits = np.unpackbits(codes, axis=1).astype(bool)
    return View(codes, bits, (codes @ (1 << np.arange(codes.shape[1]))).astype(np.uint64))


@pytest.mark.parametrize("kind", ["uniform", "skewed", "constant", "rare"])
def test_without_a_difference_p_values_are_small_as_often_as_allowed(kind: str) -> None:
    rng, small, tests = stream(0, "telling", kind), 0, 0
    for _ in range(RUNS):
        draw = {
            "uniform": rng.integers(4, size=(2, 200, 3)),
            "skewed": rng.geometric(0.3, (2, 200, 3)),
            "constant": np.zeros((2, 200, 3), dtype=int),
            "rare": (rng.random((2, 200, 3)) < 0.01).astype(int),
        }[kind]
        p_values = told_apart_p(view(draw[0]), view(draw[1]), rng)
        small, tests = small + int((p_values < LEVEL).sum()), tests + p_values.size
    # the tests of one run are dependent: one run counts as often as all of them
    assert small <= stats.binom.isf(ALPHA, RUNS, LEVEL) * tests / RUNS


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
