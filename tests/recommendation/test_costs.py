"""What a protocol costs, and what a collection with it is worth."""

from dataclasses import replace

import numpy as np
import pytest

import ldp3
from ldp3.domain import Labels
from ldp3.people import Dataset
from ldp3.recommendation.costs import Worth, in_order, measure, worth


@pytest.mark.parametrize("name", ["grr", "pgr", "olh", "she", "cms"])
def test_every_cost_is_measured(name: str) -> None:
    oracle = ldp3.oracle(name, 1.0, 16)
    cost = measure(oracle)
    assert cost.bits == oracle.report_bits
    assert min(cost.perturb, cost.count, cost.decode) > 0
    assert cost.server(1_000) == pytest.approx(1_000 * cost.count + cost.decode)


def test_values_above_the_noise_of_all_stand_out() -> None:
    data = Dataset("few", Labels(["a", "b", "c", "d"]), np.array([1, 6, 3, 0]))
    one = worth(ldp3.oracle("grr", 1.0, 4), 1_000, data, 0.2, misplaced=0.04, ranked=2)
    assert one.labels == ("b", "c")
    assert one.standing_out == 2
    assert one.traffic == 250  # two bits each
    assert one.server > 0
    assert not one.useless


def test_how_many_values_come_out_in_their_order() -> None:
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    right, late = truth + 0.01, truth[[0, 1, 3, 2]]
    first = truth[[1, 0, 2, 3]]
    for rows, expected in (([right], 4), ([late], 2), ([first], 0), ([right] * 19 + [first], 4)):
        assert in_order(np.array(rows), np.array([truth] * len(rows)), 0.95) == expected
    assert in_order(np.array([[0.2, 0.3, 0.5]]), np.array([[0.4, 0.4, 0.2]]), 0.95) == 0
    assert in_order(np.array([[0.4, 0.5, 0.1]]), np.array([[0.4, 0.4, 0.2]]), 0.95) == 3  # equals


@pytest.mark.parametrize(("out", "misplaced"), [(0, 0.01), (3, 0.395)])
def test_where_nothing_stands_out_or_much_is_misplaced_the_answer_is_called_useless(
    out: int, misplaced: float
) -> None:
    """An l1 of 0.79 puts four people of ten under a wrong value."""
    one = Worth(out, ("a", "b", "c")[:out], 0.01, misplaced, 0, 10**7, 25_481, 0, 0.5)
    said = one.enough()
    assert said.startswith("That is useless")
    assert "for 10 % under a wrong value about 25,000 people" in said
    assert "more than 10,000,000,000 people" in replace(one, needed=10**10).enough()
    assert "10 MB" in one.cost(10**6, 80)


def test_people_are_told_in_people() -> None:
    one = Worth(3, ("a", "b", "c"), 0.01, 0.05, 2, 10**7, 620_000, 0, 0.5)
    assert one.expected(100_000, 9) == (
        "Of 100,000 people about 5,000 (5 %) will be counted under a wrong value; the 2 most "
        "frequent values come out in their order."
    )
    assert "That is rough: for 2 % under a wrong value about 620,000 people" in one.enough()
    assert replace(one, misplaced=0.01).enough().startswith("That is good")
    beside = replace(one, fakes=1_010)
    assert beside.expected(100_000, 9).startswith("Of 100,000 people, with 1,010 fake ones beside")
    assert beside.enough().startswith("That is rough; more people do not help")
    assert "all values come out" in replace(one, ranked=9).expected(100_000, 9)
    assert "remains open" in replace(one, ranked=0).expected(100_000, 9)
    assert "comes out first" in replace(one, ranked=1).expected(100_000, 9)
    assert "(above 120 %)" in replace(one, threshold=1.2).sentences(9, 0.95)


def test_where_people_lie_is_worth_something_though_no_value_stands_out() -> None:
    alone = Worth(0, (), 0.5, 0.05, 0, 1, 0, 0, server=0.0)
    assert alone.useless
    assert not replace(alone, by_order=True).useless
    assert replace(alone, by_order=True, misplaced=0.9).useless


def test_of_places_nothing_is_said_of_wrong_values() -> None:
    one = Worth(0, (), 0.5, 0.9, 0, 1, 0, 0, server=0.0, on_line=True)
    assert not one.useless
    assert (one.expected(2_000, 9), one.enough()) == ("2,000 people:", "")
    beside = replace(one, fakes=20)
    assert beside.expected(2_000, 9) == "2,000 people, with 20 fake ones beside them:"
    assert beside.enough().startswith("More people do not help")
