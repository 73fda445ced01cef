"""What a protocol costs, and what a collection with it is worth."""

import numpy as np
import pytest

import ldp3
from ldp3.recommendation.costs import Worth, measure, worth


@pytest.mark.parametrize("name", ["grr", "pgr", "olh", "she", "cms"])
def test_every_cost_is_measured(name: str) -> None:
    oracle = ldp3.oracle(name, 1.0, 16)
    cost = measure(oracle)
    assert cost.bits == oracle.report_bits
    assert (cost.client is None) == (not oracle.deployable)
    assert min(cost.perturb, cost.count, cost.decode) > 0
    assert cost.server(1_000) == pytest.approx(1_000 * cost.count + cost.decode)


def test_values_above_the_noise_of_all_stand_out() -> None:
    f, off = np.array([0.1, 0.6, 0.3, 0.0]), np.full((5, 4), 0.02)
    oracle = ldp3.oracle("grr", 1.0, 4)
    one = worth(oracle, 1_000, f, ["a", "b", "c", "d"], 0.2, off)
    assert one.labels == ("b", "c")
    assert one.standing_out == 2
    assert one.misplaced == pytest.approx(0.04)  # half of an l1 of 0.08
    assert one.traffic == 250  # two bits each
    assert one.server > 0
    assert not one.useless


@pytest.mark.parametrize(("out", "misplaced"), [(0, 0.01), (3, 0.395)])
def test_where_nothing_stands_out_or_much_is_misplaced_the_answer_is_called_useless(
    out: int, misplaced: float
) -> None:
    """An l1 of 0.79 puts four people of ten under a wrong value."""
    one = Worth(out, ("a", "b", "c")[:out], 0.01, misplaced, 10**7, 0.5)
    said = " ".join(one.sentences(100, 0.95))
    assert "useless" in said
    assert "`ldp3 size`" in said
    assert "10 MB" in one.cost(10**6, 80)
