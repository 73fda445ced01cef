from itertools import permutations
from math import log2

import numpy as np
import pytest

import ldp3
from ldp3.metrics.ranking import Kendall, Spearman

TRUTH = np.array([0.4, 0.3, 0.2, 0.1])


def test_top_k_by_hand() -> None:
    assert ldp3.metric("top_k(k=2)")(TRUTH, np.array([0.5, 0.1, 0.4, 0.0])) == 0.5
    assert ldp3.metric("top_k(k=3)")(TRUTH, np.array([0.5, 0.1, 0.4, 0.0])) == 1
    assert ldp3.metric("top_k(k=1)")(TRUTH, np.array([-3, -2, -1, -0.5])) == 0
    assert ldp3.metric("top_k")(TRUTH, np.zeros(4)) == 1  # all four are among the top ten


def test_values_tied_for_the_truth_are_all_right() -> None:
    truth = np.array([0.4, 0.2, 0.2, 0.2])
    assert ldp3.metric("top_k(k=2)")(truth, np.array([0.4, 0.0, 0.0, 0.3])) == 1


def test_ndcg_by_hand() -> None:
    best = 0.4 + 0.3 / log2(3)
    assert ldp3.metric("ndcg(k=2)")(TRUTH, np.array([0.5, 0.1, 0.4, 0.0])) == pytest.approx(
        (0.4 + 0.2 / log2(3)) / best, rel=1e-14
    )
    assert ldp3.metric("ndcg(k=2)")(TRUTH, np.array([0.0, 0.0, 0.1, 0.2])) == pytest.approx(
        (0.1 + 0.2 / log2(3)) / best, rel=1e-14
    )


@pytest.mark.parametrize("spec", ["top_k(k=1)", "top_k(k=2)", "top_k(k=3)", "ndcg(k=2)"])
def test_ties_are_worth_the_mean_over_their_orders(spec: str) -> None:
    metric = ldp3.metric(spec)
    tied = np.array([0.3, 0.0, 0.0, 0.0])
    broken = [metric(TRUTH, np.array([0.3, *order])) for order in permutations([0.0, 0.1, 0.2])]
    assert metric(TRUTH, tied) == pytest.approx(np.mean(broken), rel=1e-14)


def test_nothing_to_gain_is_gained_by_all() -> None:
    assert ldp3.metric("ndcg")(np.zeros(3), np.array([0.1, 0.2, 0.3])) == 1


def test_a_k_below_one_is_refused() -> None:
    with pytest.raises(ldp3.LDPError, match="TopK: k must be an integer of at least 1, got 0"):
        ldp3.metric("top_k(k=0)")


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
