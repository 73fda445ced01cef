from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from scipy import stats

from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.results import ties
from ldp3.results.axes import Conditions

ALPHA = 1e-6
AT = asdict(Conditions(dataset="x", epsilon=1.0))
QUESTION = {"metric": "l1", "n": 9, "d": 2, **AT}


def table(runs: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    rows = [
        {**QUESTION, "protocol": p, "method": m, "repeat": r, "value": v}
        for (p, m), values in runs.items()
        for r, v in enumerate(values)
    ]
    return pl.DataFrame(rows)


def test_p_values_are_those_of_the_textbook_tests() -> None:
    rng = stream(0, "textbook")
    runs = {
        ("a", "x"): rng.normal(1.0, 0.1, 12),
        ("a", "y"): rng.normal(1.1, 0.2, 12),
        ("b", "x"): rng.normal(1.2, 0.3, 12),
    }
    p = ties.p_values(runs, "lower")
    paired = stats.ttest_rel(runs["a", "y"], runs["a", "x"], alternative="greater")
    welch = stats.ttest_ind(runs["b", "x"], runs["a", "x"], equal_var=False, alternative="greater")
    assert p["a", "x"] == 1
    assert np.isclose(p["a", "y"], paired.pvalue, rtol=1e-9)
    assert np.isclose(p["b", "x"], welch.pvalue, rtol=1e-9)


def test_higher_is_the_mirror_of_lower() -> None:
    rng = stream(0, "mirror")
    runs = {("a", m): rng.normal(i, 1, 9) for i, m in enumerate("xyz")}
    mirrored = {pair: -values for pair, values in runs.items()}
    assert ties.p_values(runs, "lower") == ties.p_values(mirrored, "higher")
    assert ties.ties(runs, "lower") == ties.ties(mirrored, "higher")
    assert ties.win_rates(runs, "lower") == ties.win_rates(mirrored, "higher")


def test_a_constant_difference_within_a_protocol_decides() -> None:
    noise = stream(0, "paired").normal(10, 5, 8)
    runs = {("a", "x"): noise, ("a", "y"): noise + 0.001, ("b", "x"): noise[::-1] + 0.001}
    assert ties.ties(runs, "lower") == {("a", "x"), ("b", "x")}  # unpaired cannot tell


def test_rounding_is_no_difference() -> None:
    values = stream(0, "rounding").normal(1, 0.1, 10)
    runs = {("a", "x"): values, ("a", "y"): values * (1 - 1e-15)}
    assert ties.ties(runs, "lower") == set(runs)
    assert ties.leader({k: float(v.mean()) for k, v in runs.items()}, "lower") == ("a", "x")
    assert ties.win_rates(runs, "lower") == {"x": 0.5, "y": 0.5}


def test_a_single_repeat_decides_nothing() -> None:
    runs = {("a", "x"): np.array([1.0]), ("b", "x"): np.array([9.0])}
    assert ties.ties(runs, "lower") == set(runs)


def test_the_truly_best_is_rarely_called_worse() -> None:
    """All combinations equal: the first is as good as any, and must be tied 95 % of the time."""
    rng, trials, lost = stream(0, "equal"), 2_000, 0
    for _ in range(trials):
        shared = rng.normal(size=(3, 10))  # methods of one protocol share the estimate
        runs: dict[tuple[str, str], FloatArray] = {
            (f"p{i}", f"m{j}"): shared[i] + rng.normal(size=10) for i in range(3) for j in range(3)
        }
        lost += ("p0", "m0") not in ties.ties(runs, "lower")
    assert lost <= stats.binom.isf(ALPHA, trials, ties.ALPHA)
    assert lost > 0  # or the check could not fail


@pytest.mark.parametrize("combinations", [2, 4])
def test_equal_combinations_are_rarely_told_apart(combinations: int) -> None:
    rng, trials, told = stream(0, "apart", combinations), 2_000, 0
    for _ in range(trials):
        runs = {(f"p{i}", "m"): rng.normal(size=10) for i in range(combinations)}
        told += len(ties.ties(runs, "lower")) < combinations
    assert told <= stats.binom.isf(ALPHA, trials, ties.ALPHA)
    assert told > 0  # or the check could not fail


@pytest.mark.parametrize(
    ("combinations", "repeats"),
    [(2, 2), (2, 10), (6, 2), (6, 5), pytest.param(40, 3, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("steps", "share"), [(1, 0.3), (5, 0.1), (20, 0.5)])
def test_a_metric_of_few_values_tells_no_equal_ones_apart(
    combinations: int, repeats: int, paired: bool, steps: int, share: float
) -> None:
    rng, trials, told = stream(0, "few values", combinations, repeats, steps), 200, 0
    for _ in range(trials):
        values = rng.binomial(steps, share, (combinations, repeats)) / steps
        if paired:  # methods of one protocol often score alike
            values = np.where(rng.random(values.shape) < 0.7, values[0], values)
        runs = {(f"p{i * (not paired)}", f"m{i}"): row for i, row in enumerate(values)}
        told += len(ties.ties(runs, "lower")) < combinations
    assert told <= stats.binom.isf(ALPHA / 30, trials, ties.ALPHA)


def test_repeats_that_do_not_vary_are_evidence_when_there_are_many() -> None:
    few, many = (
        {("a", "x"): np.full(r, 0.1), ("b", "x"): np.full(r, 0.2), ("a", "y"): np.full(r, 0.2)}
        for r in (2, 20)
    )
    assert ties.ties(few, "lower") == set(few)
    assert (
        ties.p_values(few, "lower")["b", "x"] >= (1 - 1e-9) / 6
    )  # of six ways to deal four repeats to two
    assert ties.ties(many, "lower") == {("a", "x")}


def test_what_is_worse_leaves_and_makes_the_next_test_easier() -> None:
    rng = stream(0, "step down")
    close = {("a", "x"): rng.normal(0, 1, 10), ("a", "y"): rng.normal(2.6, 1, 10)}
    far = {("b", f"m{i}"): rng.normal(1_000, 1, 10) for i in range(8)}
    p, alpha = ties.p_values(close | far, "lower")["a", "y"], ties.ALPHA
    assert alpha / (10 * 9) < p < alpha / (2 * 9)  # or this would not meet the steps
    assert ties.ties(close | far, "lower") == {("a", "x")}


def test_best_ranks_from_best_to_worst_and_marks_ties() -> None:
    found = ties.best(
        table(
            {
                ("a", "x"): [2.0, 2.13, 2.19],
                ("a", "y"): [1.0, 1.1, 1.2],
                ("b", "x"): [1.11, 1.0, 1.2],
            }
        ),
        {"l1": "lower"},
    )
    assert found.select("protocol", "method", "rank", "tied").rows() == [
        ("a", "y", 1, True),
        ("b", "x", 2, True),
        ("a", "x", 3, False),
    ]


def test_wins_are_shares_of_the_collections() -> None:
    runs = {
        ("a", "x"): np.array([1.0, 2.0]),
        ("a", "y"): np.array([2.0, 2.0]),
        ("b", "x"): np.array([3.0, 1.0]),
        ("b", "y"): np.array([1.0, 3.0]),
    }
    assert ties.win_rates(runs, "lower") == {"x": 2.5 / 4, "y": 1.5 / 4}


def test_runs_are_in_the_order_of_the_table_with_repeats_sorted() -> None:
    frame = table({("b", "x"): [1.0, 2.0], ("a", "x"): [3.0, 4.0]}).sort("repeat", descending=True)
    assert [pytest.approx(v) for v in ties.runs(frame)["b", "x"]] == [1.0, 2.0]
