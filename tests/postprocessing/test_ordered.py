"""Methods for unbiased sums over an order: a rising CDF, and shrinkage by level."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldp3
from ldp3 import stream
from ldp3.arrays import FloatArray, IntArray
from ldp3.errors import InvalidData
from ldp3.noise import Noise, Support
from ldp3.postprocessing import Haar, Isotonic
from ldp3.types import Estimate

METHODS = Isotonic(), Haar()


def collected(histogram: IntArray, seed: int = 0, name: str = "pgr") -> Estimate:
    oracle = ldp3.oracle(name, epsilon=1.0, d=len(histogram))
    return oracle.estimate(oracle.simulate(histogram, stream(seed, name)))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
@settings(max_examples=60, deadline=None)
def test_isotonic_is_the_nearest_cdf(estimates: list[float]) -> None:
    """No step towards another rising CDF comes nearer: its square grows in that direction."""
    f = np.array(estimates)
    until = np.cumsum(f + (1 - f.sum()) / len(f))
    found = np.cumsum(Isotonic()(Estimate.of(f, n=100, noise=0.01)))
    others = stream(0, len(f)).dirichlet(np.full(len(f), 0.2), 20).cumsum(axis=1)
    assert (((others - found) @ (found - until)) >= -1e-9).all()


def test_a_cdf_that_rises_is_left_as_it_is() -> None:
    f = np.array([0.1, 0.0, 0.6, 0.3])
    assert Isotonic()(Estimate.of(f, n=100, noise=0.01)) == pytest.approx(f)


@pytest.mark.parametrize("d", [2, 3, 7, 64, 100])
def test_without_noise_shrinkage_leaves_frequencies_as_they_are(d: int) -> None:
    class Still(Noise):
        def of_queries(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray:
            return 0.0 * (rows @ frequencies)

        @property
        def correlated(self) -> bool:
            return True

    f = stream(1, d).dirichlet(np.ones(d))
    assert Haar()(Estimate.of(f, n=100, noise=Still(1.0))) == pytest.approx(f)


def test_levels_shrink_as_the_formula_says() -> None:
    """By hand: four values, errors independent of variance v, so each difference has 4v and 2v."""
    v, f = 0.001, np.array([0.5, 0.2, 0.2, 0.1])

    class Alike(Noise):
        def of_queries(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray:
            return v * (rows**2).sum(axis=1) + 0 * len(frequencies)

        @property
        def correlated(self) -> bool:
            return True

    top = 0.4 * (1 - 4 * v / 0.4**2)
    fine = 1 - (1 + 1) * (2 * 2 * v) / (0.3**2 + 0.1**2)
    left, right = (1 + top) / 2, (1 - top) / 2
    hand = [(left + 0.3 * fine) / 2, (left - 0.3 * fine) / 2,
            (right + 0.1 * fine) / 2, (right - 0.1 * fine) / 2]  # fmt: skip
    assert Haar()(Estimate.of(f, n=100, noise=Alike(1.0))) == pytest.approx(hand)


def test_nothing_but_noise_is_nearly_even() -> None:
    """A level keeps anything only where its squares are well above their mean."""
    estimate = collected(np.full(64, 1000))
    off, raw = (np.abs(f - 1 / 64).sum() for f in (Haar()(estimate), estimate.frequencies))
    assert off < 0.2 * raw


@pytest.mark.parametrize("name", ["grr", "oue", "pgr", "sw"])
def test_a_rising_cdf_is_never_farther_from_the_truth(name: str) -> None:
    """In squares: the truth rises, too, and the nearest one that does lies between."""
    histogram = np.rint(30_000 * np.exp(-(((np.arange(100) - 30) / 12) ** 2))).astype(int)
    estimate = collected(histogram, name=name)
    f = estimate.frequencies
    off = [np.cumsum(g - histogram / histogram.sum())
           for g in (Isotonic()(estimate), f + (1 - f.sum()) / 100)]  # fmt: skip
    assert np.linalg.norm(off[0]) < np.linalg.norm(off[1])


def test_what_has_no_covariance_is_refused_by_haar_in_one_line() -> None:
    bare = Estimate.of(np.array([0.5, 0.5]), n=10, noise=Support(0.5, 0.25))
    with pytest.raises(InvalidData, match="Haar: the protocol must have a covariance"):
        Haar()(bare)


def test_values_without_an_order_are_refused() -> None:
    estimate = collected(np.array([5, 4, 3]), name="grr")
    labelled = Estimate(estimate.frequencies, estimate.tally, estimate.noise, estimate.channel,
                        ldp3.Labels(["a", "b", "c"]))  # fmt: skip
    for method in METHODS:
        with pytest.raises(InvalidData, match="takes neighbours for alike"):
            method(labelled)
