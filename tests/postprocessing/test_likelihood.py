from collections.abc import Callable

import numpy as np
import pytest

import ldp3
from ldp3.arrays import FloatArray
from tests.postprocessing.estimates import PROTOCOLS, estimate, impure, simulated, support

CASES = [
    (protocol, epsilon, d, n, s)
    for protocol in PROTOCOLS
    for epsilon, d, n, s in [(0.5, 8, 300, 0), (1.0, 60, 5000, 1), (3.0, 20, 200, 2), (1, 2, 9, 0)]
]
every_case = pytest.mark.parametrize(("protocol", "epsilon", "d", "n", "s"), CASES)


def assert_optimal(
    result: FloatArray, gradient: FloatArray, curvature: Callable[[], FloatArray]
) -> None:
    """Over all distributions, a concave function is highest where no corner lies uphill.

    Rounding of f by 1e-15 moves the gradient by the curvature times as much.
    """
    gain = gradient.max() - (gradient * result).sum()
    assert gain <= 1e-12 * (np.abs(gradient).max() + curvature().max())


@every_case
def test_mle_apx_has_the_least_weighted_square_error(
    protocol: str, epsilon: float, d: int, n: int, s: int
) -> None:
    truth = np.arange(1, d + 1.0) ** -s / (np.arange(1, d + 1.0) ** -s).sum()
    est = simulated(protocol, epsilon, truth, n, ldp3.stream(1, protocol, d))
    f = ldp3.postprocess("mle_apx")(est)
    slope, error = est.noise.slope, f - est.frequencies
    var = est.noise.floor + slope * f
    gradient = -(2 * error / var - slope * (error / var) ** 2)
    assert_optimal(f, gradient, lambda: 2 * (1 - slope * error / var) ** 2 / var)


@every_case
def test_em_has_the_highest_likelihood(
    protocol: str, epsilon: float, d: int, n: int, s: int
) -> None:
    truth = np.arange(1, d + 1.0) ** -s / (np.arange(1, d + 1.0) ** -s).sum()
    est = simulated(protocol, epsilon, truth, n, ldp3.stream(2, protocol, d))
    p, q, size = support(protocol, epsilon, d)
    f = ldp3.postprocess("em")(est)
    support_rate, share = q + f * (p - q), q + est.frequencies * (p - q)
    gradient, curvature = share / support_rate, share / support_rate**2 * (p - q)
    if size != 1:
        gradient = gradient - (1 - share) / (1 - support_rate)
        curvature = curvature + (1 - share) / (1 - support_rate) ** 2 * (p - q)
    assert_optimal(f, gradient, lambda: curvature)


def test_mle_by_hand() -> None:
    # C/n = (½, ⅜, ⅛): the third is 0, and ½ + t½ … sum to one at t = -4/7
    est = estimate([1, 0.5, -0.5], p=0.5, q=0.25, support_size=1)
    assert np.allclose(ldp3.postprocess("mle")(est), [5 / 7, 2 / 7, 0], atol=1e-15)
    assert np.allclose(ldp3.postprocess("em")(est), [5 / 7, 2 / 7, 0], atol=1e-15)


def test_mle_apx_by_hand() -> None:
    # variances are as ¼, 7/32, 5/32: 1 - ½·8/15, ½ - ½·7/15, 0
    est = estimate([1, 0.5, -0.5], p=0.5, q=0.25)
    assert np.allclose(ldp3.postprocess("mle_apx")(est), [11 / 15, 4 / 15, 0], atol=1e-15)


def test_mle_apx_is_norm_sub_where_the_variance_is_constant() -> None:
    est = estimate([0.8, 0.5, 0.1, -0.5], p=0.75, q=0.25)
    norm_sub = ldp3.postprocess("norm_sub")(est)
    assert np.allclose(ldp3.postprocess("mle_apx")(est), norm_sub, atol=1e-15)


def test_em_by_hand() -> None:
    # two values, p = ¾ and q = ¼, C/n = (¾, ½): s = (x, 1-x), 5/4/x = 3/4/(1-x), x = 5/8
    est = estimate([1, 0.5], p=0.75, q=0.25)
    assert np.allclose(ldp3.postprocess("em")(est), [0.75, 0.25], atol=1e-14)


@pytest.mark.parametrize("spec", ["mle_apx", "mle", "em"])
def test_an_estimate_that_is_a_distribution_is_left_alone(spec: str) -> None:
    est = estimate([0.5, 0.3, 0.2], p=0.5, q=0.25, support_size=1)
    assert np.allclose(ldp3.postprocess(spec)(est), [0.5, 0.3, 0.2], atol=1e-14)


def test_each_says_which_oracles_it_serves() -> None:
    grr, oue, none = estimate([0.5, 0.5], support_size=1), estimate([0.5, 0.5]), impure([0.5, 0.5])
    serves = {s: [ldp3.postprocess(s).applies(e) for e in (grr, oue, none)]
              for s in ("mle_apx", "mle", "em")}  # fmt: skip
    assert serves == {
        "mle_apx": [True, True, False],
        "mle": [True, False, False],
        "em": [True, True, False],
    }
    with pytest.raises(ldp3.LDPError, match=r"MLE: the protocol must have .* exactly one value"):
        ldp3.postprocess("mle")(oue)
