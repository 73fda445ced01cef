"""What an oracle has that says little: defaults, and users without holding them."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldp3 import LDPError, oracle, stream
from ldp3.arrays import IntArray, Reports
from ldp3.errors import require_values
from ldp3.noise import Noise
from ldp3.protocols.base import FrequencyOracle, users, users_between
from ldp3.protocols.layout import Numbers
from ldp3.randomness import Words
from ldp3.types import Estimate, Tally


@dataclass(frozen=True)
class Plain(FrequencyOracle):
    """Two methods suffice."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        return np.eye(self.d)[codes] + rng.normal(0, 1, (len(codes), self.d))

    def estimate(self, tally: Tally) -> Estimate:
        return Estimate(tally.total / tally.n, tally, Noise(1 / tally.n))


def test_an_oracle_of_two_methods_has_the_rest() -> None:
    plain = Plain(epsilon=1.0, d=3)
    assert plain.layout == Numbers(np.dtype(np.float64), (3,))
    assert (plain.report_bits, plain.chunk_size) == (192, 65_536)
    assert (plain.support, plain.channel, plain.privacy_ratio) == (None, None, None)
    assert (plain.empty.total.tolist(), plain.empty.n) == ([0, 0, 0], 0)
    estimate = plain.estimate(plain.simulate(np.array([3, 0, 1]), stream(0)))
    assert (estimate.n, estimate.frequencies.shape) == (4, (3,))


def test_nobody_is_simulated_as_nobody() -> None:
    nobody = Plain(epsilon=1.0, d=3).simulate(np.zeros(3, dtype=np.int64), stream(0))
    assert (nobody.total.tolist(), nobody.n) == ([0, 0, 0], 0)


def test_a_simulation_in_chunks_is_the_sum_of_the_chunks() -> None:
    plain, histogram = Plain(epsilon=1.0, d=3), np.array([100_000, 5, 40_000])
    rng = stream(1)
    by_hand = sum(plain.aggregate(plain.perturb(v, rng)) for v in users(histogram, 65_536))
    whole = plain.simulate(histogram, stream(1))
    assert isinstance(by_hand, Tally)
    assert (whole.n, by_hand.n) == (140_005, 140_005)
    assert np.allclose(whole.total, by_hand.total, rtol=1e-12)


def test_only_what_draws_whole_numbers_can_be_deployed() -> None:
    assert oracle("olh", 1.0, 8).deployable
    plain = Plain(epsilon=1.0, d=3)
    assert (plain.deployable, plain.constants) == (False, {})
    with pytest.raises(LDPError, match="Plain cannot be deployed: it does not say how one report"):
        plain.draw(0, Words.of([1]))


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20), st.integers(1, 60))
def test_users_come_in_order_and_none_is_lost(histogram: list[int], size: int) -> None:
    held = np.array(histogram)
    if held.sum() == 0:
        return
    chunks = list(users(held, size))
    assert np.concatenate(chunks).tolist() == np.repeat(np.arange(len(held)), held).tolist()
    assert all(len(chunk) == size for chunk in chunks[:-1])


def test_users_in_the_middle_are_found_without_holding_the_others() -> None:
    ends = np.cumsum(np.array([10**12, 0, 5, 10**12]))
    assert users_between(ends, 10**12 - 2, 10**12 + 7).tolist() == [0, 0, 2, 2, 2, 2, 2, 3, 3]


def test_chunks_shrink_as_reports_grow() -> None:
    assert oracle("oue", 1.0, 128).chunk_size == 65_536
    assert oracle("oue", 1.0, 10**6).chunk_size == 268
    assert oracle("grr", 1.0, 10**6).chunk_size == 65_536


@pytest.mark.parametrize("name", ["grr", "olh", "oue"])
def test_a_domain_whose_codes_do_not_fit_is_refused(name: str) -> None:
    with pytest.raises(LDPError, match="d must be at most 4,294,967,296"):
        oracle(name, epsilon=1.0, d=2**32 + 1)


def test_the_last_code_of_the_largest_domain_is_not_wrapped() -> None:
    largest = oracle("grr", epsilon=40.0, d=2**32)
    assert largest.perturb(np.array([2**32 - 1]), stream(0)).tolist() == [2**32 - 1]
