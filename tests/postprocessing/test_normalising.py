import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ldp3
from ldp3.arrays import FloatArray
from ldp3.postprocessing.normalising import NormSub
from tests.postprocessing.estimates import estimate, steady

frequencies = arrays(np.float64, st.integers(1, 20), elements=st.floats(-2, 2, width=32))


def refine(spec: str, f: FloatArray | list[float]) -> FloatArray:
    return ldp3.postprocess(spec)(estimate(f))


def test_norm_by_hand() -> None:
    assert np.allclose(refine("norm", [0.75, 0.5, -0.5]), [5 / 6, 7 / 12, -5 / 12], atol=1e-15)


@steady
@given(frequencies)
def test_norm_sums_to_one_and_moves_all_alike(f: FloatArray) -> None:
    assert np.isclose(refine("norm", f).sum(), 1, rtol=0, atol=1e-13)
    assert np.ptp(refine("norm", f) - f) <= 1e-14


def test_norm_mul_by_hand() -> None:
    assert np.allclose(refine("norm_mul", [0.75, 0.5, -0.5]), [0.6, 0.4, 0], atol=1e-15)


def test_norm_cut_by_hand() -> None:
    assert np.allclose(refine("norm_cut", [0.75, 0.5, 0.25, -1]), [0.6, 0.4, 0, 0], atol=1e-15)
    assert np.array_equal(refine("norm_cut", [0.75, 0.25, 0.125]), [0.75, 0.25, 0])  # reaches 1
    assert np.array_equal(refine("norm_cut", [0.25, 0.25, -1]), [0.5, 0.5, 0])  # never does


def test_norm_cut_keeps_or_drops_equal_estimates_together() -> None:
    assert np.allclose(refine("norm_cut", [0.5, 0.3, 0.3, 0.3, 0.1]), [5 / 14, *[3 / 14] * 3, 0])


@pytest.mark.parametrize("spec", ["norm_mul", "norm_cut"])
def test_uniform_if_nothing_is_positive(spec: str) -> None:
    assert np.array_equal(refine(spec, [-1, 0, -2, -0.5]), [0.25] * 4)


@steady
@given(frequencies)
def test_norm_cut_keeps_no_more_than_it_must(f: FloatArray) -> None:
    kept = refine("norm_cut", f) > 0
    if (f > 0).any():
        assert f[~kept].max(initial=-np.inf) <= f[kept].min()
        smallest = f[kept] == f[kept].min()
        assert f[kept][~smallest].sum() < 1 + 1e-12
        assert f[kept].sum() >= 1 - 1e-12 or kept.sum() == (f > 0).sum()


def norm_sub(f: FloatArray | list[float]) -> FloatArray:
    return NormSub()(estimate(f))


def test_norm_sub_by_hand() -> None:
    assert np.allclose(norm_sub([0.75, 0.5, -0.25]), [0.625, 0.375, 0], atol=1e-15)
    assert np.allclose(norm_sub([0.2, 0.1]), [0.55, 0.45], atol=1e-15)
    assert np.allclose(norm_sub([-0.5, -0.25, -4]), [0.375, 0.625, 0], atol=1e-15)
    assert np.array_equal(norm_sub([-7, -7, -7, -7]), [0.25] * 4)


@steady
@given(frequencies)
def test_a_distribution_is_left_alone(f: FloatArray) -> None:
    rounding = 2 * len(f) * np.finfo(float).eps  # of a sum of as many terms of at most 1
    assert np.allclose(norm_sub(norm_sub(f)), norm_sub(f), rtol=0, atol=rounding)


@steady
@given(frequencies)
def test_order_is_kept(f: FloatArray) -> None:
    assert (np.diff(norm_sub(f)[np.argsort(f)]) >= 0).all()


@steady
@given(frequencies)
def test_no_distribution_is_nearer(f: FloatArray) -> None:
    # the projection is where moving towards any corner of the simplex is no descent
    result = norm_sub(f)
    towards = np.eye(len(f)) - result
    assert (towards @ (f - result) <= 1e-12).all()
