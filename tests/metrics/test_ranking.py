from itertools import permutations
from math import log2

import numpy as np
import pytest

import ldp3

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
