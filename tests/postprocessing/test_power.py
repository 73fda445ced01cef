import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

import ldp3
from ldp3.arrays import FloatArray
from ldp3.postprocessing.power import _exponent, _posterior_means, _power_sum
from ldp3.types import Estimate
from tests.postprocessing.estimates import PROTOCOLS, estimate, impure, simulated, support


def by_the_definition(est: Estimate) -> FloatArray:
    """Power as its formula says, over every count from 1 to n."""
    x = np.arange(1, est.n + 1.0)

    def prior_mean(alpha: float) -> float:
        return float((x ** (1 - alpha)).sum() / (x**-alpha).sum())

    target = est.n * est.frequencies.mean()
    alpha = 1.01 if prior_mean(1.01) <= target else 20.0
    if prior_mean(1.01) > target > prior_mean(20.0):
        alpha = brentq(lambda a: prior_mean(a) - target, 1.01, 20, xtol=1e-13)
    return posterior(est.n * est.frequencies, est.n, est.n * est.noise.floor**0.5, alpha) / est.n


def posterior(c: FloatArray, n: int, sigma: float, alpha: float) -> FloatArray:
    x = np.arange(1, n + 1.0)
    means = []
    for at in c:
        near = min(max(at, 1), n)
        e = -alpha * np.log(x) - (x - near) * (x - near + 2 * (near - at)) / (2 * sigma**2)
        weight = np.exp(e - e.max())
        means.append((x * weight).sum() / weight.sum())
    return np.array(means)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize(("d", "n"), [(2, 1), (5, 60), (40, 200), (128, 3000), (100, 20_000)])
def test_power_is_its_definition(protocol: str, epsilon: float, d: int, n: int) -> None:
    rng = ldp3.stream(0, protocol, d)
    est = simulated(protocol, epsilon, rng.dirichlet(np.ones(d) / 4), n, rng)
    refined, brute = ldp3.postprocess("power")(est), by_the_definition(est)
    assert np.allclose(refined, brute, rtol=1e-9, atol=0)


@pytest.mark.parametrize("alpha", [1.01, 1.3, 2.0, 4.0, 20.0])
@pytest.mark.parametrize("sigma", [0.003, 0.4, 1.4, 1.6, 7.9, 8.1, 50.0, 3e3, 1e6])
@pytest.mark.parametrize("n", [1, 50, 300, 2000, 20_000])
def test_estimates_that_no_count_allows_are_served_as_well(
    n: int, sigma: float, alpha: float
) -> None:
    u = ldp3.stream(0, "anywhere", n).uniform(-1, 1, (4, 6))
    c = np.concatenate([30 * sigma * u[0], n + 60 * sigma * u[1], 2 * n * u[2], 1e9 * n * u[3]])
    ours, brute = _posterior_means(c, n, sigma, alpha), posterior(c, n, sigma, alpha)
    assert np.allclose(ours, brute, rtol=1e-9, atol=0)


@pytest.mark.parametrize("n", [1, 63, 64, 10**4, 10**12])
@pytest.mark.parametrize("s", [0.01, 0.9999999, 1.0, 1.0000001, 3.3, 20.0])
def test_sums_of_powers_are_exact(n: int, s: float) -> None:
    exact = mpmath.zeta(s) - mpmath.zeta(s, n + 1) if s != 1 else mpmath.harmonic(n)
    assert _power_sum(s, n) == pytest.approx(
        float(exact), rel=1e-13 if s > 1.1 or s < 0.9 else 1e-8
    )


def test_the_prior_has_the_mean_of_the_estimates() -> None:
    x = np.arange(1, 1001.0)
    alpha = _exponent(12.5, 1000)
    assert (x ** (1 - alpha)).sum() / (x**-alpha).sum() == pytest.approx(12.5, rel=1e-10)


def test_the_exponent_stays_within_its_bounds() -> None:
    assert _exponent(-3.0, 10**6) == 20
    assert _exponent(5e5, 10**6) == 1.01


def test_power_by_hand() -> None:
    # n = 2 and counts (2, 0): the mean is above the prior's at α = 1.01, where it is
    # (1 + 2^-0.01)/(1 + 2^-1.01); σ² = 4 · ½ = 2 gives likelihoods e^-¼, 1 and e^-¼, e^-1
    u = 2**-1.01
    by_hand = [
        (np.exp(-0.25) + 2 * u) / (np.exp(-0.25) + u) / 2,
        (np.exp(-0.25) + 2 * u * np.exp(-1)) / (np.exp(-0.25) + u * np.exp(-1)) / 2,
    ]
    est = impure([1.0, 0.0, 2.0, 1.0], n=2, noise=0.5)  # mean count 2, prior mean below it
    assert np.allclose(ldp3.postprocess("power")(est)[:2], by_hand, rtol=1e-12)


def test_power_ns_is_power_then_norm_sub() -> None:
    est = estimate([0.5, 0.3, 0.2, -0.1, 0.1])
    refined = ldp3.postprocess("power_ns")(est)
    assert np.array_equal(refined, ldp3.postprocess("power+norm_sub")(est))
    assert np.array_equal(refined, ldp3.postprocess("PowerNS")(est))


def test_the_variance_can_be_overridden() -> None:
    est = estimate([0.5, 0.3, 0.2, -0.1, 0.1])
    right = est.noise.floor * est.n
    refined = ldp3.postprocess("power")(est)
    assert np.allclose(ldp3.postprocess(f"power(variance={right})")(est), refined, rtol=1e-9)
    assert not np.allclose(ldp3.postprocess(f"power(variance={right * 9})")(est), refined)
    wrong = ldp3.postprocess("power_ns(variance=9)")(est)
    assert np.array_equal(wrong, ldp3.postprocess("power(variance=9)+norm_sub")(est))


def test_the_normal_prior_by_hand() -> None:
    # mean ¼, variance 1/16, noise 1/64: three quarters of the way from the mean
    est = impure([0.5, 0.0, 0.5, 0.0], noise=1 / 64)
    refined = ldp3.postprocess('power(prior="normal")')(est)
    assert np.allclose(refined, [7 / 16, 1 / 16, 7 / 16, 1 / 16], rtol=1e-15)


def test_the_normal_prior_answers_the_mean_if_all_is_noise() -> None:
    refined = ldp3.postprocess('power(prior="normal")')(impure([0.3, 0.2], noise=0.1))
    assert np.allclose(refined, [0.25, 0.25], rtol=1e-15)


@pytest.mark.parametrize("method", ["power", "power_ns"])
@pytest.mark.parametrize("bad", ["variance=0", "variance=-1", "variance='x'", "variance=1e999"])
def test_a_variance_that_is_none_is_refused(method: str, bad: str) -> None:
    with pytest.raises(ldp3.LDPError, match="Power: variance must be > 0, from"):
        ldp3.postprocess(f"{method}({bad})")


def test_an_unknown_prior_is_refused() -> None:
    with pytest.raises(ldp3.LDPError, match="prior must be 'power law' or 'normal', got 'cauchy'"):
        ldp3.postprocess("power(prior='cauchy')")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_power_keeps_the_order(protocol: str) -> None:
    p, q, size = support(protocol, 1.0, 50)
    f = np.sort(ldp3.stream(0, "order").normal(0, 1, 50))
    for n in (10, 10**6, 10**12):
        refined = ldp3.postprocess("power")(estimate(f, n, p, q, size))
        assert (np.diff(refined) >= -1e-9 * refined[1:]).all()
