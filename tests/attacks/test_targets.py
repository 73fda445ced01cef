"""Whom fake users raise, and how many they are."""

from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import ldp3
from ldp3.attacks.targets import (
    fake_count,
    fake_number,
    fake_numbers,
    fake_text,
    named_targets,
    target_codes,
)
from ldp3.errors import InvalidParameter

DATA = ldp3.load("zipf(s=1.1, d=12, n=3_000)")


def test_a_number_of_fake_users_is_a_number_or_a_share_of_all_reports() -> None:
    given = [7, "7", "1%", 0.01, "0", np.int64(3)]
    assert [fake_count(fake_number(one), 99) for one in given] == [7, 7, 1, 1, 0, 3]
    assert fake_numbers(["1%", 5, "5", 0.01]) == (0.01, 5.0)  # each once, however it is written


@hypothesis.given(st.integers(0, 2**40) | st.floats(0, 1, exclude_max=True))
def test_a_number_of_fake_users_is_written_so_that_it_reads_as_the_same(number: float) -> None:
    hypothesis.assume(number == 0 or 100 * number / 100 == number or number >= 1)
    assert fake_number(fake_text(number)) == number


@pytest.mark.parametrize("bad", ["100%", "1.5", -1, "many", float("nan"), True, None, "-3%"])
def test_a_number_of_fake_users_that_cannot_be_is_refused(bad: object) -> None:
    with pytest.raises(InvalidParameter, match="`fake_users`"):
        fake_number(bad)


@pytest.mark.parametrize("given", [[], ["1%", "100%"], [5, -1]])
def test_several_numbers_of_which_one_cannot_be_are_refused(given: list[Any]) -> None:
    with pytest.raises(InvalidParameter, match="`fake_users`"):
        ldp3.benchmark(DATA, repeats=1, attacks="mga", fake_users=given, targets="top:2")


@pytest.mark.parametrize("bad", ["top:0", "bottom:13", "nobody", [], [3], 7])
def test_targets_that_cannot_be_are_refused_in_one_line(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="targets") as refusal:
        target_codes(DATA, named_targets(bad))
    assert "\n" not in str(refusal.value)


def test_random_targets_come_from_the_seed() -> None:
    assert target_codes(DATA, "random:5", 1) == target_codes(DATA, "random:5", 1)
    drawn = {target_codes(DATA, "random:5", seed) for seed in range(20)}
    assert len(drawn) > 10
    assert all(len(set(codes)) == 5 and set(codes) <= set(range(12)) for codes in drawn)


def test_targets_by_rank_and_by_name() -> None:
    order = np.argsort(-DATA.histogram, kind="stable")
    assert set(target_codes(DATA, "top:3")) == set(order[:3].tolist())
    assert set(target_codes(DATA, "bottom:2")) <= set(np.argsort(DATA.histogram)[:4].tolist())
    assert target_codes(DATA, [DATA.labels[4], DATA.labels[2], DATA.labels[4]]) == (4, 2)
