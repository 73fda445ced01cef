import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

import ldp3
from ldp3.arrays import FloatArray
from ldp3.postprocessing import npmle
from ldp3.postprocessing.npmle import _plausible, _Problem, _Seen
from ldp3.types import Estimate
from tests.postprocessing.estimates import (
    PROTOCOLS,
    estimate,
    estimates,
    impure,
    simulated,
    steady,
    support,
)


def problem_of(est: Estimate) -> _Problem:
    return _Seen.of(_plausible(est), est.noise).problem()


def likelihood(est: Estimate, theta: FloatArray) -> FloatArray:
    """Of every frequency on every estimate, as the formula says: nothing is out of sight."""
    variance = est.noise.floor + est.noise.slope * theta
    log = -0.5 * (_plausible(est)[:, None] - theta) ** 2 / variance - 0.5 * np.log(variance)
    return np.exp(log - log.max(axis=1, keepdims=True))


def gap(est: Estimate) -> float:
    """How far, at most, the mean log-likelihood is from the best on the grid."""
    problem = problem_of(est)
    atoms, weights = problem.solve()
    L = likelihood(est, problem.theta)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    return float((L / (L[:, atoms] @ weights)[:, None]).mean(axis=0).max() - 1)


TRUTHS: dict[str, Callable[[int], FloatArray]] = {
    "zipf": lambda d: np.arange(1.0, d + 1) ** -1.1,
    "uniform": lambda d: np.ones(d),
    "two levels": lambda d: np.where(np.arange(d) < d // 8, 20.0, 1.0),
    "one heavy": lambda d: np.where(np.arange(d) == 0, 1.0, 0.01),
    "geometric": lambda d: np.exp(-0.1 * np.arange(d)),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("shape", TRUTHS)
@pytest.mark.parametrize("n", [1, 1000, 10**6, 10**9, 10**12])
def test_no_prior_on_the_grid_is_more_likely(protocol: str, shape: str, n: int) -> None:
    for d, epsilon in ((2, 1.0), (60, 0.5), (300, 3.0)):
        truth = TRUTHS[shape](d)
        rng = ldp3.stream(0, protocol, shape, n, d)
        est = simulated(protocol, epsilon, truth / truth.sum(), n, rng)
        assert gap(est) < 1.001e-6  # what is out of sight adds less than d e^-40


@settings(steady, max_examples=150)
@given(estimates())
def test_the_solver_converges_whatever_the_estimate(est: Estimate) -> None:
    problem_of(est).solve()  # raises if not


def test_results_are_posterior_means_then_norm_sub() -> None:
    rng = ldp3.stream(0, "posterior")
    est = simulated("oue", 1.0, rng.dirichlet(np.ones(50)), 10_000, rng)
    problem = problem_of(est)
    atoms, weights = problem.solve()
    L = likelihood(est, problem.theta[atoms]) * weights
    means = (L @ problem.theta[atoms]) / L.sum(axis=1)
    expected = ldp3.postprocess("norm_sub")(estimate(means))
    assert np.allclose(ldp3.postprocess("npmle")(est), expected, rtol=0, atol=1e-12)


def test_two_values_by_hand() -> None:
    # closer than two standard deviations the likeliest prior is one atom: both get the mean;
    # far apart each is its own atom, to half a step of the grid
    near = ldp3.postprocess("npmle")(impure([0.51, 0.49], noise=0.02**2))
    assert np.allclose(near, [0.5, 0.5], atol=1e-12)
    far = ldp3.postprocess("npmle")(impure([0.7, 0.3], noise=0.001**2))
    assert np.allclose(far, [0.7, 0.3], rtol=0, atol=0.001 / 8)


def test_the_grid_resolves_the_noise_next_to_every_estimate() -> None:
    p, q, _ = support("oue", 1.0, 3)
    est = estimate([0.5, 0.3, 0.2], 10**12, p, q)
    theta = problem_of(est).theta
    for f in est.frequencies:
        sd = math.sqrt(est.noise.floor + est.noise.slope * f)
        assert np.abs(theta - f).min() <= sd / 8 * 1.01
        assert np.count_nonzero(np.abs(theta - f) < 1.5 * sd) >= 11


def test_equal_frequencies_are_found_to_be_equal() -> None:
    rng, d = ldp3.stream(0, "equal"), 200
    est = simulated("oue", 1.0, np.full(d, 1 / d), 10**8, rng)
    l2 = ldp3.metric("l2")
    truth = np.full(d, 1 / d)
    # a posterior mean of equal values errs as their mean does, not as each of them
    assert l2(truth, ldp3.postprocess("npmle")(est)) < l2(truth, est.frequencies) / 4


def test_impossible_estimates_count_as_the_nearest_possible() -> None:
    p, q, _ = support("oue", 1.0, 4)
    wild = estimate([1e9, 0.2, 0.1, -1e9], 1000, p, q)
    tame = estimate([1e3, 0.2, 0.1, -1e3], 1000, p, q)
    method = ldp3.postprocess("npmle")
    assert np.array_equal(method(wild), method(tame))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_npmle_keeps_the_order(protocol: str) -> None:
    rng = ldp3.stream(0, "order", protocol)
    est = simulated(protocol, 1.0, rng.dirichlet(np.ones(100) / 4), 10**5, rng)
    refined = ldp3.postprocess("npmle")(est)[np.argsort(est.frequencies)]
    assert (np.diff(refined) >= -1e-12).all()


def test_many_estimates_that_noise_cannot_tell_apart_are_fitted_as_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth = TRUTHS["zipf"](20_000)
    est = simulated("oue", 1.0, truth / truth.sum(), 10**7, ldp3.stream(0, "many"))
    method, sd = ldp3.postprocess("npmle"), math.sqrt(est.noise.floor)
    merged = method(est)
    assert len(problem_of(est).start) < 2_000
    monkeypatch.setattr(npmle, "MANY", 10**9)
    assert len(problem_of(est).start) == 20_000
    assert np.abs(merged - method(est)).max() < 0.01 * sd
