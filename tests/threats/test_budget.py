"""What is published betrays ε, unless it is published safely."""

import numpy as np
import pytest

import ldp3
from ldp3.collection.publishing import rounded, safe_step
from ldp3.errors import InvalidData
from ldp3.protocols.base import PureOracle
from ldp3.threats.budget import budget

DATA = ldp3.load("zipf(s=1.1, d=60, n=40_000)")


def published(protocol: str, epsilon: float, method: str = "none") -> np.ndarray:
    oracle = ldp3.oracle(protocol, epsilon, DATA.d)
    estimate = oracle.estimate(oracle.simulate(DATA.histogram, ldp3.stream(1, protocol)))
    return ldp3.postprocess(method)(estimate)


def at(protocol: str):  # type: ignore[no-untyped-def]
    def oracle(epsilon: float) -> PureOracle:
        made = ldp3.oracle(protocol, epsilon, DATA.d)
        assert isinstance(made, PureOracle)
        return made

    return oracle


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue", "blh", "olh", "ss"])
def test_raw_estimates_give_epsilon_away(protocol: str, epsilon: float) -> None:
    found = budget(published(protocol, epsilon), DATA.n, at(protocol))
    assert found.epsilons == pytest.approx((epsilon,), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 4.0])  # both ends of the range that is searched
def test_norm_sub_gives_it_away_too(epsilon: float) -> None:
    found = budget(published("oue", epsilon, "norm_sub"), DATA.n, at("oue"))
    assert found.epsilons == pytest.approx((epsilon,), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("protocol", ["grr", "rappor", "oue", "blh", "olh", "ss"])
def test_safely_published_estimates_do_not(protocol: str, epsilon: float) -> None:
    step = safe_step(DATA.n, ldp3.Plan("safe", protocol, epsilon, DATA.d))
    safe = rounded(published(protocol, epsilon), step)
    if len(np.unique(safe[safe != 0])) >= 3:
        assert budget(safe, DATA.n, at(protocol)).epsilons == ()


@pytest.mark.parametrize("guessed", ["grr", "oue", "olh"])
def test_digits_are_not_taken_for_a_lattice(guessed: str) -> None:
    for step in (0.01, 0.001, 0.0001):
        safe = rounded(published("oue", 1.0), step)
        assert budget(safe, DATA.n, at(guessed)).epsilons == ()


def test_numbers_without_a_lattice_are_not_taken_for_one() -> None:
    for seed in range(200):  # each with probability 1e-6 at most
        noise = np.random.default_rng(seed).normal(0, 0.01, DATA.d)
        assert budget(noise, 2_000, at("oue")).epsilons == ()


@pytest.mark.parametrize("protocol", ["grr", "oue", "olh", "rappor", "blh", "ss", "ss(k=2)"])
def test_the_safe_step_is_coarser_than_every_lattice_and_does_not_know_epsilon(
    protocol: str,
) -> None:
    for n, d in ((100, 2 if protocol != "ss(k=2)" else 3), (40_000, 60), (10**9, 10**4)):
        steps = set()
        for epsilon in (0.1, 0.11, 0.5, 1.0, 3.0, 8.0):
            plan = ldp3.Plan("safe", protocol, epsilon, d)
            assert isinstance(plan.oracle, PureOracle)
            steps.add(safe_step(n, plan))
            assert max(steps) >= 1 / (n * (plan.oracle.p - plan.oracle.q))
        assert len(steps) == 1


def test_two_numbers_are_too_few() -> None:
    with pytest.raises(InvalidData, match="at least three"):
        budget(np.array([0.5, 0.5, 0.0]), 100, at("oue"))


@pytest.mark.parametrize("protocol", ["grr", "oue", "blh", "ss"])
@pytest.mark.parametrize("method", ["none", "norm_sub"])
def test_a_handful_of_values_give_epsilon_away_too(protocol: str, method: str) -> None:
    counts = np.array([2_600, 1_400, 500, 300, 200])
    oracle = ldp3.oracle(protocol, 1.0, 5)
    estimate = oracle.estimate(oracle.simulate(counts, ldp3.stream(3, protocol)))
    frequencies = ldp3.postprocess(method)(estimate)

    def made(epsilon: float) -> PureOracle:
        again = ldp3.oracle(protocol, epsilon, 5)
        assert isinstance(again, PureOracle)
        return again

    found = budget(frequencies, 5_000, made)
    assert any(e == pytest.approx(1.0, rel=1e-9) for e in found.epsilons)
    assert found.p_value < 1e-6


def test_every_hash_range_is_tried() -> None:
    found = budget(published("olh", 4.5), DATA.n, at("olh"))
    assert any(e == pytest.approx(4.5, rel=1e-9) for e in found.epsilons)


def test_a_handful_of_numbers_without_a_lattice_is_not_taken_for_one() -> None:
    for seed in range(200):
        few = np.random.default_rng(seed).normal(0, 0.1, 5)
        assert budget(few, 2_000, at("oue")).epsilons == ()
