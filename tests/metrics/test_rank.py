"""Kendall's τ-b and Spearman's ρ: numbers by hand, ties, and their ends."""

import numpy as np
import pytest

from ldp3.metrics.rank import Kendall, Spearman

TRUTH = np.array([0.4, 0.3, 0.2, 0.1])


def test_tau_counts_pairs() -> None:
    # of six pairs one is turned round
    assert Kendall()(TRUTH, np.array([0.3, 0.4, 0.2, 0.1])) == pytest.approx((5 - 1) / 6)


def test_ties_in_the_estimate_lower_the_denominator() -> None:
    # five pairs agree, one is tied in the estimate: 5 / √(6 · 5)
    assert Kendall()(TRUTH, np.array([0.4, 0.3, 0.0, 0.0])) == pytest.approx(5 / np.sqrt(30))


def test_rho_is_the_correlation_of_ranks() -> None:
    # 1 - 6 Σd² / (n(n² - 1)) without ties
    estimate = np.array([0.1, 0.4, 0.3, 0.2])
    distance = np.array([1 - 4, 2 - 1, 3 - 2, 4 - 3])
    assert Spearman()(TRUTH, estimate) == pytest.approx(1 - 6 * (distance**2).sum() / (4 * 15))


@pytest.mark.parametrize("metric", [Kendall(), Spearman()], ids=lambda m: type(m).__name__)
def test_the_ends(metric: Kendall | Spearman) -> None:
    assert metric(TRUTH, TRUTH) == pytest.approx(1)
    assert metric(TRUTH, TRUTH[::-1].copy()) == pytest.approx(-1)
    assert metric(TRUTH, np.full(4, 0.25)) == 0
    assert metric(np.full(4, 0.25), TRUTH) == 1


@pytest.mark.parametrize("metric", [Kendall(), Spearman()], ids=lambda m: type(m).__name__)
def test_only_the_order_counts(metric: Kendall | Spearman) -> None:
    estimate = np.random.default_rng(1).normal(size=4)
    assert metric(TRUTH, estimate) == metric(TRUTH, np.exp(3 * estimate))
