"""What is known of the error of estimates: pure, constant, or one for each value."""

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData
from ldp3.noise import COUNTS, Noise, PureNoise, Support
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


def test_the_score_interval_by_hand() -> None:
    # noise 0.03, slope 0.01; z = 1.96: (f̂ - f)² = z² (0.03 + 0.01 f)
    low, high = Noise(0.03, 0.01).interval(np.array([0.5, 0.0]), 0.95)
    for f, end, sign in ((0.5, low[0], -1), (0.5, high[0], 1), (0.0, high[1], 1)):
        roots = np.roots([1, -2 * f - 3.8414588 * 0.01, f**2 - 3.8414588 * 0.03])
        assert end == pytest.approx(max(roots) if sign > 0 else min(roots), rel=1e-6)


def test_the_interval_of_a_pure_oracle_by_hand() -> None:
    # p = ½, q = ¼, n = 2, level ½. K holders support at least once with probability 7/16, 10/16,
    # 12/16, and twice with 1/16, 2/16, 4/16; not at all with 9/16, 6/16, 4/16.
    counts = np.array([0, 1, 2])
    low, high = estimate((counts / 2 - 0.25) / 0.25, n=2).confidence_interval(0.5)
    assert low.tolist() == [0, 0, 1]  # twice: no K has more than ¼, so the most that there is
    assert high.tolist() == [0.5, 1, 1]


def test_a_count_that_no_holder_explains_gets_an_empty_interval() -> None:
    low, high = estimate([-1.0, 3.0], 1000).confidence_interval(0.95)
    assert (low.tolist(), high.tolist()) == ([0, 1], [0, 1])


@pytest.mark.parametrize(
    ("p", "q", "n"), [(0.5, 0.25, 20_000), (0.6, 0.001, 10**6), (0.9, 0.5, 10**5)]
)
def test_limits_between_those_computed_are_no_narrower_and_hardly_wider(
    p: float, q: float, n: int
) -> None:
    noise, middle = PureNoise.of(Support(p, q), n), int(n * (q + 0.01 * (p - q)))
    counts = np.append(np.arange(middle - 300, middle + 300), np.arange(middle, n // 2, n // 50))
    few = np.unique(counts)[::17]
    frequencies = (counts / n - q) / (p - q)
    low, high = (dict(zip(counts, ends, strict=True)) for ends in noise.interval(frequencies, 0.99))
    exact = noise.interval((few / n - q) / (p - q), 0.99)
    assert len(few) < COUNTS < len(np.unique(counts))
    for count, least, most in zip(few, *exact, strict=True):
        slack = 0.01 * (most - least) + 3 / n
        assert least - slack <= low[count] <= least + 1e-12
        assert most - 1e-12 <= high[count] <= most + slack


def test_without_p_and_q_the_interval_is_the_normal_one() -> None:
    low, high = impure([0.5, 0.2], noise=0.01).confidence_interval(0.9)
    assert np.allclose(low, np.array([0.5, 0.2]) - 0.1644854, atol=1e-7)
    assert np.allclose(high, np.array([0.5, 0.2]) + 0.1644854, atol=1e-7)
    assert np.array_equal(impure([0.5, 0.2], noise=0.01).variance, [0.01, 0.01])


SHAPES = [("oue", 300, 5_000, 5.0), ("grr", 200, 2_000, 4.0), ("ss", 100, 2_000, 3.0)]


@pytest.mark.parametrize(("protocol", "d", "n", "epsilon"), SHAPES)
def test_the_farthest_estimate_is_as_far_off_as_stated(
    protocol: str, d: int, n: int, epsilon: float
) -> None:
    oracle, rng = ldp3.oracle(protocol, epsilon, d), ldp3.stream(0, "farthest", protocol)
    weights = 1 / np.arange(1, d + 1) ** 1.3
    histogram = rng.multinomial(n, weights / weights.sum())
    truth, repeats, alpha = histogram / n, 400, 1e-6 / len(SHAPES)
    assert oracle.support is not None
    bound = PureNoise.of(oracle.support, n).farthest(truth, 0.95)
    found = [oracle.estimate(oracle.simulate(histogram, rng)).frequencies for _ in range(repeats)]
    hits = sum(bool((np.abs(f - truth) <= bound).all()) for f in found)
    assert hits >= stats.binom.ppf(alpha, repeats, 0.95)
    assert hits <= stats.binom.isf(alpha, repeats, 0.99)  # nor much farther


def test_one_value_is_the_farthest_of_one() -> None:
    noise = PureNoise.of(Support(0.5, 0.25), 2)
    # nobody holds it, n = 2: estimates are -1, 1, 3 with probability 9/16, 6/16, 1/16
    assert noise.farthest(np.zeros(1), 0.9) == pytest.approx(1.0, rel=1e-4)
    assert noise.farthest(np.zeros(1), 0.95) == pytest.approx(3.0, rel=1e-4)
    assert Noise(0.01).farthest(np.zeros(1), 0.95) == pytest.approx(0.1959964, rel=1e-4)
    assert Noise(0.01).farthest(np.zeros(10), 0.95) == pytest.approx(0.2807034, rel=1e-4)


@pytest.mark.parametrize("name", ["grr", "oue", "rappor", "ss", "olh", "hrr", "sw"])
def test_the_noise_of_a_weighted_sum_is_that_of_the_law_of_reports(name: str) -> None:
    """Of 4,000 populations; the variance of one is within 8.5 % but once in 10⁴ times."""
    oracle = ldp3.oracle(name, epsilon=2.0, d=6)
    histogram, weights = np.array([500, 250, 100, 90, 60, 0]), np.array([0, 1, 2, 3, 5, 8.0])
    truth = histogram / 1_000
    rng = ldp3.stream(4, name)
    sums = [
        oracle.estimate(oracle.simulate(histogram, rng)).frequencies @ weights for _ in range(4_000)
    ]
    stated = oracle.noise(truth, 1_000).of_query(weights, truth)
    assert stated is not None
    assert np.var(sums) == pytest.approx(stated, rel=0.085)
    assert np.mean(sums) == pytest.approx(truth @ weights, abs=4 * np.sqrt(stated / 4_000))


@pytest.mark.parametrize(
    "name", ["grr", "oue", "ss", "olh", "sw", "pgr", "resolutions", "resolutions(wave=0.5)"]
)
def test_no_estimate_makes_a_variance_less_than_any_people_could(name: str) -> None:
    oracle, rng = ldp3.oracle(name, epsilon=1.0, d=8), ldp3.stream(5, name)
    rows = np.array([np.arange(8) - 3.5, np.r_[np.ones(3), np.zeros(5)] - 3 / 8])

    def variances(noise: Noise, f: FloatArray) -> FloatArray:
        found = noise.of_queries(rows, f)
        assert found is not None
        return found

    stated = [variances(oracle.noise(f, 20), f) for f in np.eye(8)]
    least = np.min(stated, axis=0)  # where all hold one value
    assert (least > 0).all()
    for f in (rng.dirichlet(np.full(8, 0.3)) for _ in range(50)):
        assert (variances(oracle.noise(f, 20), f) >= least - 1e-12).all()
    tallies = (oracle.simulate(rng.multinomial(20, np.full(8, 1 / 8)), rng) for _ in range(50))
    for made in map(oracle.estimate, tallies):
        # groups of resolutions have other numbers of people each time
        bound = 1e-3 if name.startswith("res") else least - 1e-12
        assert (variances(made.noise, made.frequencies) >= bound).all()


def test_where_nothing_is_known_of_pairs_there_is_no_noise_of_a_sum() -> None:
    assert Noise(0.01).of_query(np.ones(3), np.ones(3) / 3) is None
