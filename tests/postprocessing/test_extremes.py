"""Hardly any noise, hardly any reports: methods stay finite and silent."""

import numpy as np
import pytest

import ldp3
from ldp3.kinds import find
from ldp3.noise import Noise
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate
from tests.postprocessing.estimates import PROTOCOLS

METHODS = sorted(find(PostProcessor))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [1.5e-37, 1e-300, 1e-20])
@pytest.mark.parametrize("method", ["npmle", "multiscale"])
def test_without_noise_the_estimate_is_the_answer(method: str, noise: float) -> None:
    f = np.array([0.5, 0.3, 0.2, 0.0])
    found = ldp3.postprocess(method)(Estimate.of(f, 1000, Noise(noise)))
    assert found == pytest.approx(f, abs=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [14.5, 25.0, 37.0, 40.0])
def test_a_few_reports_at_a_huge_epsilon_give_a_finite_answer(
    protocol: str, epsilon: float
) -> None:
    for n, d in ((1, 2), (1, 20), (2, 3), (5, 20)):
        oracle = ldp3.oracle(protocol, epsilon, d)
        for histogram in (n * np.eye(1, d, dtype=np.int64)[0], np.bincount(np.arange(n), None, d)):
            est = oracle.estimate(oracle.simulate(histogram, ldp3.stream(0, protocol, n, d)))
            for name in METHODS:
                method = ldp3.postprocess(name)
                if method.applies(oracle):
                    assert np.isfinite(method(est)).all(), (name, n, d)
