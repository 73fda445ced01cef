import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import ldp3
from ldp3.domain import Labels
from ldp3.errors import InvalidParameter
from ldp3.people import Dataset

TRUTH, ESTIMATE = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.25, 0.5])


def test_emd_by_hand() -> None:
    assert ldp3.metric("emd")(TRUTH, ESTIMATE) == 0.5  # a quarter moves two steps
    assert ldp3.metric("emd(positions=[0, 10, 11])")(TRUTH, ESTIMATE) == 2.75
    assert ldp3.metric("emd(positions=[10, 0, 11])")(TRUTH, ESTIMATE) == 0.25  # in any order


def test_emd_counts_what_is_missing() -> None:
    assert ldp3.metric("emd")(np.array([0.5, 0.5]), np.array([0.5, 0.25])) == 0.25


def test_emd_agrees_with_scipy_for_distributions() -> None:
    rng = ldp3.stream(0, "emd")
    for d in (2, 7, 100):
        a, b = rng.dirichlet(np.ones(d), 2)
        where = rng.normal(0, 5, d)
        ours = ldp3.metric("emd").for_data(
            Dataset("x", Labels([str(x) for x in where], where.tolist()), np.ones(d, np.int64))
        )(a, b)
        assert ours == pytest.approx(wasserstein_distance(where, where, a, b), rel=1e-12)


def test_emd_refuses_positions_that_do_not_fit() -> None:
    with pytest.raises(ldp3.LDPError, match="EMD: 2 positions but 3 frequencies"):
        ldp3.metric("emd(positions=[0, 1])")(TRUTH, ESTIMATE)
    for bad in ("[]", "'ab'", "[[1], [2]]", "['a', 'b']", "[0, 1e999]", "3"):
        with pytest.raises(ldp3.LDPError, match="positions must be finite numbers"):
            ldp3.metric(f"emd(positions={bad})")


def test_emd_keeps_the_positions_it_was_given() -> None:
    data = Dataset("x", Labels(["0", "1", "2"], [0, 1, 2]), np.ones(3, np.int64))
    given = ldp3.metric("emd(positions=[0, 10, 11])")
    assert given.for_data(data) == given


def test_ks_by_hand() -> None:
    assert ldp3.metric("ks")(TRUTH, np.array([0.25, 0.75, 0.0])) == 0.25


def test_range_query_by_hand() -> None:
    # errors of the six ranges: ¼ 0 ¼ alone, ¼ ¼ in pairs, 0 for all
    assert ldp3.metric("range_query")(TRUTH, ESTIMATE) == pytest.approx(1 / 6, rel=1e-15)


def test_range_query_is_the_mean_over_all_ranges() -> None:
    error = ldp3.stream(0, "ranges").normal(0, 1, 40)
    sums = [abs(error[u : v + 1].sum()) for u in range(40) for v in range(u, 40)]
    assert ldp3.metric("range_query")(np.zeros(40), error) == pytest.approx(np.mean(sums))


def test_the_error_of_a_mean_and_of_quantiles_by_hand() -> None:
    truth, f = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.2, 0.4])
    assert ldp3.metric("mean")(truth, f) == pytest.approx(0.3)  # 1.3 against 1.0
    assert ldp3.metric("mean(positions=[0, 10, 100])")(truth, f) == pytest.approx(11)
    assert ldp3.metric("median")(truth, f) == 0  # both in the second
    assert ldp3.metric("quantile(q=0.3, positions=[0, 10, 100])")(truth, f) == 10
    assert ldp3.metric("quantile(q=0.3, positions=[100, 10, 0])")(truth, f) == 0
    with pytest.raises(InvalidParameter, match=r"q must be between 0 and 1, got 1\.5"):
        ldp3.metric("quantile(q=1.5)")


@pytest.mark.parametrize("q", [0.3, 0.5, 0.9])
def test_the_quantile_of_a_distribution_is_its_own_and_noise_lifts_none(q: float) -> None:
    rng = ldp3.stream(4)
    metric, truth = ldp3.metric(f"quantile(q={q})"), np.eye(40)[0]  # its quantiles are 0
    for _ in range(50):
        f = rng.dirichlet(np.full(40, 0.3)) * rng.integers(0, 2, 40)
        f /= f.sum()
        assert metric(truth, f) == np.searchsorted(f.cumsum(), q - 1e-12)
    lifted = np.append([0.95, -0.9], np.full(38, 0.95 / 38))  # one place that noise lifted
    assert metric(truth, lifted) > 0
