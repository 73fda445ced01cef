"""Of the tied, what costs least of those that are as good as the best."""

import numpy as np
import pytest

import ldp3
from ldp3.recommendation.choosing import chosen, price, reason, regrets

DATA = ldp3.load("zipf(s=1.2, d=12, n=3_000)")


def test_the_expected_regret_by_hand() -> None:
    # two populations, one repeat: best are 1 and 2; worse by 1 and 0, and by 0 and 2
    scores = np.array([[[2.0], [2.0]], [[1.0], [4.0]], [[0.5], [0.5]]])
    found = regrets(scores, np.ones(3, dtype=np.int64), np.array([True, True, False]))
    assert found.tolist() == pytest.approx([1 / 2, 1 / 2, np.inf])


def test_a_population_on_which_some_err_by_nearly_nothing_counts_like_any_other() -> None:
    scores = np.array([[[1.0], [100.0]], [[4.0], [99.0]]])
    found = regrets(scores, np.ones(2, dtype=np.int64), np.ones(2, dtype=bool))
    assert found.tolist() == pytest.approx([1 / 198, 3 / 2])
    scores = np.array([[[0.0], [1.0]], [[0.1], [1.0]]])  # best err by 1/2 on average
    found = regrets(scores, np.ones(2, dtype=np.int64), np.ones(2, dtype=bool))
    assert found.tolist() == pytest.approx([0.0, 100.0])


def test_only_repeats_that_were_measured_count() -> None:
    scores = np.array([[[1.0, 3.0]], [[2.0, np.nan]]])
    assert regrets(scores, np.array([2, 1]), np.ones(2, dtype=bool)).tolist() == [0, 0]


def test_higher_scores_are_negative_and_errors_may_be_zero() -> None:
    found = regrets(np.array([[[-0.9]], [[-1.0]]]), np.ones(2, np.int64), np.ones(2, bool))
    assert found.tolist() == pytest.approx([0.1, 0.0])
    assert regrets(np.zeros((2, 3, 1)), np.ones(2, np.int64), np.ones(2, bool)).tolist() == [0, 0]


def test_within_the_margin_the_cheapest_is_chosen_and_beyond_it_the_best() -> None:
    regret, prices = (
        np.array([0.0, 0.009, 0.011, np.inf]),
        [(128, 2, 1), (66, 128, 1), (2, 1, 0), (1, 1, 0)],
    )
    assert chosen(regret, prices, 0.01) == 1
    assert chosen(regret, prices, 0.001) == 0
    assert chosen(regret, prices, 0.02) == 2


def test_bits_come_before_work_and_work_before_simplicity() -> None:
    level = np.zeros(3)
    assert chosen(level, [(2, 9, 9), (3, 1, 0), (2, 8, 9)], 0.0) == 2
    assert chosen(level, [(2, 1, 2), (2, 1, 1), (2, 1, 1)], 0.0) == 1
    assert chosen(np.array([0.01, 0.0]), [(2, 1, 1), (2, 1, 1)], 0.01) == 1
    assert reason((2, 9, 1), (3, 1, 1)) == "fewer bits per report"
    assert reason((2, 1, 1), (2, 9, 0)) == "less work for the server"
    assert reason((2, 1, 0), (2, 1, 1)) == "a simpler method"
    assert reason((2, 1, 1), (2, 1, 1)) == ""


def test_what_combinations_cost() -> None:
    assert price(ldp3.oracle("grr", 1.0, 300), "none") == (9, 1, 0)
    assert price(ldp3.oracle("oue", 1.0, 300), "norm_sub") == (300, 5, 1)
    assert price(ldp3.oracle("olh", 1.0, 300), "power+norm_sub") == (66, 300, 2)


def test_a_small_report_is_recommended_where_a_long_one_is_hardly_better() -> None:
    data = ldp3.load("zipf(d=200, n=20_000)")
    given = {"methods": "norm_sub", "population": 10**6, "threads": 1}
    cheap, best = (
        ldp3.recommend(data, 1.0, ["oue", "olh"], margin=margin, **given).answers[0]  # type: ignore[arg-type]
        for margin in (0.2, 0.0)
    )
    assert cheap.best.protocol == "olh"
    assert best.best == best.lowest
    if cheap.lowest.protocol == "oue":
        assert cheap.instead == "fewer bits per report"


def test_the_answer_ends_with_the_command_that_plans_it() -> None:
    found = ldp3.recommend(DATA, 1.0, ["grr", "oue"], "norm_sub", population=50_000, threads=1)
    answer = found.answers[0]
    best = answer.best
    words = f"ldp3 plan -p {best.protocol} -m {best.method} -e 1 --domain-size 12"
    assert answer.command == f"{words} -o collection.ldp3.json"
    assert words in found.render()
    named = ldp3.recommend(["a", "b", "b", "it's"] * 30, 1.0, "grr", "norm_sub", threads=1)
    assert "--domain values.txt" in named.answers[0].command
