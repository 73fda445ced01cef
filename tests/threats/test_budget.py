"""What is published betrays ε."""

import numpy as np
import pytest

import ldp3
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


@pytest.mark.parametrize("guessed", ["grr", "oue", "olh"])
def test_digits_are_not_taken_for_a_lattice(guessed: str) -> None:
    for digits in (2, 3, 4):
        rounded = np.round(published("oue", 1.0), digits)
        assert budget(rounded, DATA.n, at(guessed)).epsilons == ()


def test_numbers_without_a_lattice_are_not_taken_for_one() -> None:
    for seed in range(200):  # each with probability 1e-6 at most
        noise = np.random.default_rng(seed).normal(0, 0.01, DATA.d)
        assert budget(noise, 2_000, at("oue")).epsilons == ()


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
