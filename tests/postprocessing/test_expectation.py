"""Expectation–maximisation over a channel: certified, smoothed, and smoothed as reports ask for."""

import numpy as np
import pytest

import ldp3
from ldp3 import stream
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData
from ldp3.postprocessing.expectation import GAP, Likelihood
from ldp3.types import Estimate

D = 64


def hills() -> FloatArray:
    x = (np.arange(D) + 0.5) / D
    f = np.exp(-((x - 0.25) ** 2) / 0.004) + 0.6 * np.exp(-((x - 0.7) ** 2) / 0.002)
    return f / f.sum()


def collected(n: int, seed: int = 0, name: str = "sw") -> tuple[FloatArray, Estimate]:
    histogram = stream(9).multinomial(n, hills())
    oracle = ldp3.oracle(name, epsilon=1.0, d=D)
    return histogram / n, oracle.estimate(oracle.simulate(histogram, stream(seed, name)))


def emd(truth: FloatArray, f: FloatArray) -> float:
    return float(np.abs(np.cumsum(f - truth)).mean())


def test_no_distribution_is_more_likely_than_em_by_more_than_it_says() -> None:
    truth, estimate = collected(100_000)
    likelihood, f = Likelihood.of(estimate), ldp3.postprocess("em")(estimate)
    reached = likelihood.log(likelihood.forward(f))
    assert likelihood.gap(f) <= GAP
    for other in (truth, ldp3.postprocess("adaptive_em")(estimate), f * np.linspace(1, 1.1, D)):
        other = other / other.sum()
        gained = likelihood.log(likelihood.forward(other)) - reached
        assert gained <= likelihood.gap(f) + 1e-6


def test_em_on_a_channel_is_the_exact_answer_where_there_is_one() -> None:
    oracle = ldp3.oracle("grr", epsilon=1.0, d=6)
    made = oracle.estimate(oracle.simulate(np.array([500, 300, 100, 50, 30, 20]), stream(1)))
    likelihood, exact = Likelihood.of(made), ldp3.postprocess("mle")(made)
    assert likelihood.gap(exact) < 1e-6


def test_the_adaptive_one_is_nearer_to_the_truth_than_either_and_than_categories() -> None:
    """Means of 8 repeats; by 300 others, either rival has the lower one less than once in 10⁶."""
    errors = dict[str, list[float]]()
    for seed in range(8):
        truth, estimate = collected(100_000, seed)
        for method in ("em", "ems", "adaptive_em"):
            errors.setdefault(method, []).append(emd(truth, ldp3.postprocess(method)(estimate)))
        truth, estimate = collected(100_000, seed, "pgr")
        rival = ldp3.postprocess("multiscale_ordered")(estimate)
        errors.setdefault("pgr", []).append(emd(truth, rival))
    mean = {name: np.mean(each) for name, each in errors.items()}
    assert mean["adaptive_em"] < min(mean["em"], mean["pgr"])
    assert 2 * mean["adaptive_em"] < mean["ems"]  # whose smoothing does not shrink


def test_the_same_reports_give_the_same_answer() -> None:
    _, estimate = collected(1_000)
    one, other = (ldp3.postprocess("adaptive_em")(estimate) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("n", [1, 2, 10])
@pytest.mark.parametrize("method", ["em", "ems", "adaptive_em"])
def test_few_reports_give_a_distribution(method: str, n: int) -> None:
    f = ldp3.postprocess(method)(collected(n)[1])
    assert f.min() >= 0
    assert f.sum() == pytest.approx(1)


@pytest.mark.parametrize("method", ["norm_sub", "power", "multiscale", "em+norm_sub"])
def test_methods_that_take_errors_for_independent_refuse_those_that_are_not(method: str) -> None:
    with pytest.raises(InvalidData, match="takes the errors of different values for independent"):
        ldp3.postprocess(method)(collected(100)[1])


def test_methods_for_an_order_refuse_labels_without_one() -> None:
    _, estimate = collected(100)
    unordered = Estimate(
        estimate.frequencies, estimate.tally, estimate.noise, estimate.channel, ldp3.Integers(D)
    )
    with pytest.raises(InvalidData, match="AdaptiveEM: takes neighbours for alike, and the int"):
        ldp3.postprocess("adaptive_em")(unordered)


def test_adaptive_em_needs_a_channel() -> None:
    with pytest.raises(InvalidData, match="the protocol must have a channel"):
        ldp3.postprocess("adaptive_em")(collected(100, name="oue")[1])
