from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.recommendation.race import Gap, Rules, Standing, afforded, look, looks, start, summary

ALPHA = 1e-6
STATED = 0.05
LOOKS = (1, 2, 4, 8, 16, 32)
POPULATIONS = 32
EVEN = np.full(POPULATIONS, 1 / POPULATIONS)
RULES = Rules(STATED, 0.0, LOOKS, EVEN, LOOKS[-1])
TRIALS = 1_500


def run(values: FloatArray, rules: Rules = RULES) -> Standing:
    standing = start(len(values))
    for repeats in rules.looks:
        standing = look(values[:, :, :repeats], standing, rules)
        if standing.reason is not None:
            break
    return standing


def equal(rng: np.random.Generator, count: int, sample: float) -> FloatArray:
    """Combinations that are equal on the real population, from which the sample strays."""
    strayed = rng.normal(scale=sample, size=(count, 1, 1))
    populations = rng.normal(scale=sample, size=(count, POPULATIONS, 1))
    return 10 + strayed + populations + rng.normal(size=(count, POPULATIONS, LOOKS[-1]))


def told_apart(sample: float, rules: Rules = RULES, count: int = 4, trials: int = TRIALS) -> int:
    rng = stream(0, "equal", count)
    return sum(not run(equal(rng, count, sample), rules).left.all() for _ in range(trials))


@pytest.mark.slow
def test_equal_combinations_are_told_apart_at_most_at_the_stated_rate() -> None:
    """Half as much uncertainty from the sample as from noise: where it is hardest to see."""
    assert told_apart(0.5) <= stats.binom.isf(ALPHA, TRIALS, STATED)


@pytest.mark.parametrize("sample", [0.0, 0.15, 3.0])
def test_the_rate_holds_whatever_the_share_of_the_sample(sample: float) -> None:
    assert told_apart(sample, trials=200) <= stats.binom.isf(ALPHA, 200, STATED)


@pytest.mark.slow
def test_looks_that_are_not_paid_for_are_caught() -> None:
    free = Rules(STATED * len(LOOKS), 0.0, LOOKS, EVEN, LOOKS[-1])
    assert told_apart(0.5, free) > stats.binom.isf(ALPHA, TRIALS, STATED)


def test_a_forgotten_sample_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gap, "variance", property(lambda gap: gap.v / gap.populations))
    assert told_apart(0.5, trials=200) > stats.binom.isf(ALPHA, 200, STATED)


def test_a_clear_winner_is_found_at_the_first_look() -> None:
    values = equal(stream(0, "clear"), 5, 0.5) + np.array([9, 9, 0, 9, 9])[:, None, None]
    standing = run(values)
    assert standing.reason == "separated"
    assert standing.leader == 2
    assert standing.left.tolist() == [False, False, True, False, False]
    assert standing.repeats.tolist() == [1] * 5


def test_repeats_are_spent_where_they_decide() -> None:
    close = np.array([0, 1.0, 9, 9])[:, None, None]
    values = stream(0, "close").normal(size=(4, POPULATIONS, LOOKS[-1])) + close
    standing = run(values)
    assert standing.reason == "separated"
    assert standing.repeats[:2].min() > 1
    assert standing.repeats[2:].tolist() == [1, 1]


def test_what_is_worse_than_its_sibling_leaves_though_the_leader_could_not_tell() -> None:
    rng = stream(0, "sibling")
    noise = rng.normal(size=(2, POPULATIONS, LOOKS[-1]))
    values = np.array([noise[0], noise[1] + 0.05, noise[1] + 0.06])  # two methods of one protocol
    assert run(values).left.tolist() == [True, True, False]


def test_identical_combinations_are_equal_at_once() -> None:
    values = np.repeat(equal(stream(0, "twins"), 1, 0.5), 3, axis=0)
    standing = run(values)
    assert standing.reason == "equal"
    assert standing.left.all()
    assert standing.leader == 0


def test_rounding_is_no_difference() -> None:
    once = equal(stream(0, "rounding"), 1, 0.5)
    standing = run(np.concatenate([once, once * (1 - 1e-14)]))
    assert standing.left.all()
    assert standing.leader == 0


def test_a_constant_difference_decides() -> None:
    noise = equal(stream(0, "constant"), 1, 0.5)
    assert run(np.concatenate([noise + 1e-3, noise])).left.tolist() == [False, True]


def test_a_difference_below_the_margin_ends_the_race_in_a_tie() -> None:
    noise = equal(stream(0, "margin"), 1, 0.0)
    jitter = 1e-3 * stream(1, "margin").normal(size=noise.shape)
    standing = run(np.concatenate([noise, noise + jitter]), replace(RULES, margin=0.01))
    assert standing.reason == "equal"
    assert standing.repeats.tolist() == [1, 1]


def test_more_repeats_are_not_spent_on_what_only_a_larger_sample_can_tell() -> None:
    standing = run(equal(stream(0, "small sample"), 2, 20.0))
    assert standing.reason == "sample"
    assert standing.repeats.tolist() == [2, 2]


def test_a_race_that_nothing_else_ends_ends_with_the_budget() -> None:
    noise = stream(0, "budget").normal(size=(POPULATIONS, LOOKS[-1]))
    noise -= noise.mean(axis=0)  # every collection shows the same difference
    values = np.array([0 * noise, 0.24 + noise])
    standing = run(values)
    assert standing.reason == "budget"
    assert standing.left.all()
    assert standing.repeats.tolist() == [LOOKS[-1]] * 2


def test_those_that_are_watched_are_measured_after_they_left() -> None:
    values = equal(stream(0, "watched"), 3, 0.0) + np.array([0, 0, 9])[:, None, None]
    first = look(values[:, :, :2], start(3), RULES)
    second = look(values[:, :, :4], first, RULES, np.array([False, False, True]))
    assert second.left.tolist() == [True, True, False]
    assert second.repeats.tolist() == [4, 4, 4]


def test_a_combination_alone_wins() -> None:
    assert run(equal(stream(0, "alone"), 1, 0.5)).reason == "separated"


def test_what_is_saved_on_those_that_leave_is_spent_on_those_that_are_left() -> None:
    rules = replace(RULES, afforded=2)
    noise = equal(stream(0, "saved"), 1, 0.0)
    close = noise + 0.02 + 0.02 * stream(1, "saved").normal(size=noise.shape)
    few = np.concatenate([noise, close, *(noise + 9.0 for _ in range(100))])
    assert run(few[:2], rules).repeats.tolist() == [2, 2]
    found = run(few, rules)
    assert found.repeats.max() > 2
    assert found.repeats.sum() <= 2 * len(few)
    assert found.left.tolist() == [True] + [False] * 101


def test_few_combinations_may_run_more_often() -> None:
    assert [afforded(32, count) for count in (2, 50, 150, 300)] == [32, 12, 4, 4]
    assert afforded(100_000, 2) == 1


def test_repeats_double_and_are_fewer_for_many_values() -> None:
    assert looks(2) == looks(32) == (1, 2, 4, 8, 16, 32)
    assert looks(33) == (1, 2, 4, 8, 16)
    assert looks(4096) == (1, 2, 4, 8, 16)
    assert looks(100_000) == (1,)


def test_populations_count_by_how_likely_they_are() -> None:
    """A world without weight says nothing; one of little weight says little."""
    values = stream(0, "weights").normal(size=(3, 40, 4))
    weights = np.repeat([1 / 32, 0.0], [32, 8])
    some, all_ = summary(values[:, :32], EVEN), summary(values, weights)
    assert np.allclose(some.mean, all_.mean)
    assert np.allclose(some.variance, all_.variance)
    assert all_.populations == pytest.approx(32)
    uneven = summary(values, np.repeat([0.8 / 32, 0.2 / 8], [32, 8]))
    assert 38 < uneven.populations <= 40
