from statistics import NormalDist

import numpy as np

import ldp3
from tests.postprocessing.estimates import estimate, impure


def test_none_changes_nothing() -> None:
    f = [0.75, -0.5, 0.25]
    assert np.array_equal(ldp3.postprocess("none")(estimate(f)), f)


def test_base_pos_by_hand() -> None:
    assert np.array_equal(ldp3.postprocess("base_pos")(estimate([0.75, -0.5, 0.0])), [0.75, 0, 0])


def test_base_cut_by_hand() -> None:
    # d = 8: Φ⁻¹(1 - 2/8) = 0.6745 standard deviations of 0.1
    f = [0.9, 0.068, 0.067, 0.05, 0.0, -0.068, -0.9, 0.1]
    assert np.array_equal(
        ldp3.postprocess("base_cut")(impure(f, noise=0.01)), [0.9, 0.068, 0, 0, 0, 0, 0, 0.1]
    )


def test_base_cut_keeps_about_two_values_that_nobody_holds() -> None:
    d = 100_000
    est = impure(ldp3.stream(0, "base_cut").normal(0, 1, d), noise=1.0)
    kept = np.count_nonzero(ldp3.postprocess("base_cut")(est))
    assert kept <= 14  # Poisson with mean 2: more with a chance of 8e-9 …
    assert est.frequencies.max() > -NormalDist().inv_cdf(2 / d)
    assert kept >= 1  # … and here the highest estimate is above the threshold


def test_base_cut_is_base_pos_for_two_values() -> None:
    assert np.array_equal(ldp3.postprocess("base_cut")(estimate([1e-9, -0.1])), [1e-9, 0])
