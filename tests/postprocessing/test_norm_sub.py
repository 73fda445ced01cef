import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ldp3.arrays import FloatArray
from ldp3.postprocessing.norm_sub import NormSub
from tests.postprocessing.estimates import estimate, steady

frequencies = arrays(np.float64, st.integers(1, 20), elements=st.floats(-2, 2, width=32))


def refine(f: FloatArray | list[float]) -> FloatArray:
    return NormSub()(estimate(f))


def test_numbers_by_hand() -> None:
    assert np.allclose(refine([0.75, 0.5, -0.25]), [0.625, 0.375, 0], atol=1e-15)
    assert np.allclose(refine([0.2, 0.1]), [0.55, 0.45], atol=1e-15)
    assert np.allclose(refine([-0.5, -0.25, -4]), [0.375, 0.625, 0], atol=1e-15)
    assert np.array_equal(refine([-7, -7, -7, -7]), [0.25] * 4)


@steady
@given(frequencies)
def test_a_distribution_is_left_alone(f: FloatArray) -> None:
    rounding = 2 * len(f) * np.finfo(float).eps  # of a sum of as many terms of at most 1
    assert np.allclose(refine(refine(f)), refine(f), rtol=0, atol=rounding)


@steady
@given(frequencies)
def test_order_is_kept(f: FloatArray) -> None:
    assert (np.diff(refine(f)[np.argsort(f)]) >= 0).all()


@steady
@given(frequencies)
def test_no_distribution_is_nearer(f: FloatArray) -> None:
    # the projection is where moving towards any corner of the simplex is no descent
    result = refine(f)
    towards = np.eye(len(f)) - result
    assert (towards @ (f - result) <= 1e-12).all()
