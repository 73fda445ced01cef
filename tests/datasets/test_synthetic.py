import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldp3
from ldp3.datasets.synthetic import Synthetic
from ldp3.errors import LDPError
from ldp3.kinds import find

SHAPES = find(Synthetic)


each_shape = pytest.mark.parametrize("shape", SHAPES)


@each_shape
@given(d=st.integers(2, 300), n=st.integers(1, 10**12))
def test_expected_counts_are_within_one_user_of_the_shape(shape: str, d: int, n: int) -> None:
    source = SHAPES[shape](d=max(d, 4), n=n)
    data = source.load()
    exact = source.weights() / source.weights().sum() * n
    assert data.n == n
    assert data.d == source.d
    assert np.abs(data.histogram - exact).max() < 1 + 1e-12 * n


def test_zipf_by_hand() -> None:
    counts = ldp3.load("zipf(s=2, d=3, n=49_000_000)").histogram
    assert counts.tolist() == [36_000_000, 9_000_000, 4_000_000]


def test_geometric_by_hand() -> None:
    assert ldp3.load("geometric(p=0.5, d=3, n=7_000)").histogram.tolist() == [4_000, 2_000, 1_000]


def test_gaussian_falls_off_as_a_bell() -> None:
    data = ldp3.load("gaussian(d=101, n=1_000_000_000, mean=0.5, std=0.1)")
    assert data.histogram.argmax() == 50
    assert math.isclose(
        data.histogram[40] / data.histogram[50], math.exp(-0.5 * (10 / 10.1) ** 2), rel_tol=1e-6
    )


def test_uniform_spike_steps_and_bimodal_by_hand() -> None:
    assert ldp3.load("uniform(d=4, n=10)").histogram.tolist() == [3, 3, 2, 2]
    assert ldp3.load("spike(d=5, n=8, share=0.5)").histogram.tolist() == [4, 1, 1, 1, 1]
    assert ldp3.load("steps(d=4, n=6, steps=2, ratio=0.5)").histogram.tolist() == [2, 2, 1, 1]
    two = ldp3.load("bimodal(d=100, n=1_000_000, share=0.3)").histogram
    assert abs(int(two[50:].sum()) - 300_000) < 100


def test_synthetic_data_says_what_it_is() -> None:
    data = ldp3.load("Zipf( n = 10_000_000, d=1024, s=1.3 )")
    assert ldp3.load(data.name).digest == data.digest
    assert data.positions is not None
    assert data.positions[-1] == 1023


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("zipf(n=1e6)", "Zipf: n must be an integer from 1"),
        ("zipf(d=1)", "Zipf: d must be an integer from 2"),
        ("zipf(d=10**12)", "A spec is a name"),
        ("zipf(s='x')", "Zipf: s must be a number, got 'x'"),
        ("zipf(s=-1)", "Zipf: s must be at least 0"),
        ("zipf(t=1)", "Zipf has no parameter 't'"),
        ("zipf(s=1", "A spec is a name"),
        ("geometric(p=1)", "Geometric: p must lie between 0 and 1"),
        ("gaussian(std=0)", "Gaussian: std must be at least"),
        ("spike(share=2)", "Spike: share must lie between 0 and 1"),
        ("steps(steps=0.5)", "Steps: steps must be an integer"),
        ("kosarak", "Kosarak: path must name the raw file, got ''"),
        ("porto(path=3)", "Porto: path must name the raw file, got 3"),
        ("kosarak(path='x', top='y')", "`top`: must be an integer"),
        ("bms_pos(path='x', pick='y')", "`pick`: must be one of"),
    ],
)
def test_bad_specs_are_refused_by_name(spec: str, message: str) -> None:
    with pytest.raises(LDPError, match=message):
        ldp3.load(spec)
