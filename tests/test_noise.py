"""What is known of the error of estimates: pure, constant, or one for each value."""

import numpy as np
import pytest

from ldp3.errors import InvalidData
from ldp3.noise import Noise, PureNoise, Support
from tests.postprocessing.estimates import estimate, impure


def test_pure_noise_by_hand() -> None:
    # p = ½, q = ¼, n = 100: q(1-q)/(n(p-q)²) = 0.03, (1-p-q)/(n(p-q)) = 0.01, sum p(1-p)/(n(p-q)²)
    noise = PureNoise.of(Support(p=0.5, q=0.25, size=1), n=100)
    assert (noise.floor, noise.slope) == pytest.approx((0.03, 0.01), rel=1e-14)
    assert noise.variance(np.array([0.0, 0.5, 1.0])) == pytest.approx([0.03, 0.035, 0.04])
    assert noise.support == Support(p=0.5, q=0.25, size=1)
    assert Noise(0.03).support is None


def test_noise_per_value_has_a_variance_and_an_interval_per_value() -> None:
    noise = Noise(np.array([0.01, 0.04, 0.09]))
    assert noise.variance(np.zeros(3)).tolist() == [0.01, 0.04, 0.09]
    assert noise.floor == pytest.approx(0.14 / 3)
    low, high = noise.interval(np.array([0.5, 0.5, 0.5]), 0.9)
    assert np.allclose(high - 0.5, 1.6448536 * np.array([0.1, 0.2, 0.3]), atol=1e-7)
    assert np.allclose(0.5 - low, high - 0.5, atol=1e-12)


def test_intervals_of_an_estimate_are_as_wide_as_each_value_is_noisy() -> None:
    low, high = impure([0.5, 0.5], noise=np.array([0.01, 0.0001])).confidence_interval(0.95)
    assert ((high - low) / 2).round(3).tolist() == [0.196, 0.02]


def test_a_variance_is_never_below_zero() -> None:
    assert PureNoise.of(Support(0.9, 0.5), n=10).variance(np.array([50.0])).tolist() == [0.0]


@pytest.mark.parametrize(
    "base", [0.0, -1.0, float("nan"), float("inf"), np.array([0.1, 0.0]), np.array([0.1, np.nan])]
)
def test_what_is_no_variance_is_refused(base: float) -> None:
    with pytest.raises(InvalidData, match="a variance: finite and above 0"):
        Noise(base)


def test_the_interval_by_hand() -> None:
    # p = ½, q = ¼, n = 100: noise 0.03, slope 0.01; z = 1.96: (f̂ - f)² = z² (0.03 + 0.01 f)
    low, high = estimate([0.5, 0.0, -1.0], 100).confidence_interval(0.95)
    for f, end, sign in ((0.5, low[0], -1), (0.5, high[0], 1), (0.0, high[1], 1)):
        roots = np.roots([1, -2 * f - 3.8414588 * 0.01, f**2 - 3.8414588 * 0.03])
        assert end == pytest.approx(max(roots) if sign > 0 else min(roots), rel=1e-6)
    assert low[1] == low[2] == high[2] == 0


def test_without_p_and_q_the_interval_is_the_normal_one() -> None:
    low, high = impure([0.5, 0.2], noise=0.01).confidence_interval(0.9)
    assert np.allclose(low, np.array([0.5, 0.2]) - 0.1644854, atol=1e-7)
    assert np.allclose(high, np.array([0.5, 0.2]) + 0.1644854, atol=1e-7)
    assert np.array_equal(impure([0.5, 0.2], noise=0.01).variance, [0.01, 0.01])
