from math import log, sqrt

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

import ldp3
from ldp3.arrays import FloatArray
from ldp3.domain import Labels
from ldp3.metrics.divergences import KL, Divergence, Hellinger
from ldp3.people import Dataset

# two users, two values: (1, 0) becomes (5/6, 1/6) and (½, ½) stays
TRUTH, ESTIMATE = np.array([1.0, 0.0]), np.array([0.5, 0.5])


def test_kl_by_hand() -> None:
    value = ldp3.metric("kl(n=2)")(TRUTH, ESTIMATE)
    assert value == pytest.approx(5 / 6 * log(5 / 3) + 1 / 6 * log(1 / 3), rel=1e-14)


def test_kl_is_from_the_truth_to_the_estimate() -> None:
    value = ldp3.metric("kl(n=2)")(ESTIMATE, TRUTH)
    assert value == pytest.approx(1 / 2 * log(3 / 5) + 1 / 2 * log(3), rel=1e-14)


def test_js_by_hand() -> None:
    first = 5 / 6 * log(5 / 4) + 1 / 6 * log(1 / 2)  # to the middle (2/3, 1/3)
    second = 1 / 2 * log(3 / 4) + 1 / 2 * log(3 / 2)
    assert ldp3.metric("js(n=2)")(TRUTH, ESTIMATE) == pytest.approx((first + second) / 2, rel=1e-14)


def test_hellinger_by_hand() -> None:
    squares = (sqrt(5 / 6) - sqrt(1 / 2)) ** 2 + (sqrt(1 / 6) - sqrt(1 / 2)) ** 2
    value = ldp3.metric("hellinger(n=2)")(TRUTH, ESTIMATE)
    assert value == pytest.approx(sqrt(squares / 2), rel=1e-14)


def test_half_a_user_matters_little_when_there_are_many() -> None:
    a, b = ldp3.stream(0, "kl").dirichlet(np.ones(50), 2)
    n = 10**15
    assert ldp3.metric(f"kl(n={n})")(a, b) == pytest.approx(entropy(a, b), rel=1e-9)
    assert ldp3.metric(f"js(n={n})")(a, b) == pytest.approx(jensenshannon(a, b) ** 2, rel=1e-9)


def test_negative_and_unnormalised_vectors_are_made_distributions_first() -> None:
    kl = ldp3.metric("kl")
    assert kl(np.array([3.0, 1.0]), np.array([0.5, -0.5])) == kl(
        np.array([0.75, 0.25]), np.array([1.0, 0.0])
    )
    assert kl(np.array([0.5, 0.5]), np.array([-1.0, -2.0])) == 0


def test_users_come_from_the_dataset_unless_given() -> None:
    data = Dataset("two", Labels(["a", "b"]), np.array([2, 0]))
    assert ldp3.metric("kl").for_data(data) == ldp3.metric("kl(n=2)")
    assert ldp3.metric("kl(n=9)").for_data(data) == ldp3.metric("kl(n=9)")
    assert ldp3.metric("kl")(TRUTH, ESTIMATE) == ldp3.metric("kl(n=1_000_000)")(TRUTH, ESTIMATE)


def test_a_population_of_nobody_is_refused() -> None:
    with pytest.raises(ldp3.LDPError, match="KL: n must be an integer of at least 1, got 0"):
        ldp3.metric("kl(n=0)")


@pytest.mark.parametrize("metric", [KL(n=100), Hellinger(n=100)])
def test_the_point_that_it_wants_errs_least_on_average(metric: Divergence) -> None:
    """Over truths that are equally likely; of Hellinger, the square."""
    rng, half, power = np.random.default_rng(0), 0.5 / 100, 1 if isinstance(metric, KL) else 2
    truths = rng.dirichlet(np.full(6, 0.5), 40)
    roots = np.sqrt(truths + half).mean(axis=0) ** 2
    roots = roots / roots.sum() * (1 + 6 * half) - half
    point = {"share": truths.mean(axis=0), "root": roots}[metric.bayes or ""]

    def loss(answer: FloatArray) -> float:
        return float(np.mean([metric(truth, answer) ** power for truth in truths]))

    for _ in range(50):
        assert loss(point) < loss(point * (1 + rng.normal(0, 0.05, 6)))
