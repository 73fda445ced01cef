"""Fixed families of hash functions: private, honest about what they add, and biased given one."""

import numpy as np
import pytest

import ldp3
from ldp3 import LDPError, stream
from ldp3.protocols.sketches import CMS, FLH, HCMS, Sketch
from ldp3.verification import findings
from ldp3.verification.base import ALPHA
from ldp3.verification.statistics import mean_p
from tests.laws import variance_p

SMALL = {"k": 16, "m": 16}
HISTOGRAM = np.array([900, 500, 0, 100, 0, 300])


def small(name: str, family: int = 0) -> Sketch:
    cells = {"flh": "k=16, g=4", "cms": "k=16, m=16", "hcms": "k=16, m=16"}[name]
    made = ldp3.oracle(f"{name}({cells}, family={family})", epsilon=1.0, d=6)
    assert isinstance(made, Sketch)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flh", "cms", "hcms"])
def test_everything_but_the_mean_given_a_family_is_as_the_contract_asks(name: str) -> None:
    failed = {f.check for f in findings(small(name)) if not f.passed}
    assert all("unbiased" in check or "stated noise" in check for check in failed)
    assert any("unbiased" in check for check in failed)  # with so few functions it shows


@pytest.mark.parametrize("name", ["flh", "cms", "hcms"])
def test_over_families_estimates_are_unbiased_with_the_stated_noise(name: str) -> None:
    n, truth = int(HISTOGRAM.sum()), HISTOGRAM / HISTOGRAM.sum()
    values = np.repeat(np.arange(6), HISTOGRAM)
    sample = []
    for family in range(1_000):
        oracle = small(name, family)
        tally = oracle.aggregate(oracle.perturb(values, stream(family, name)))
        sample.append(oracle.estimate(tally))
    frequencies = np.array([estimate.frequencies for estimate in sample])
    stated = sample[0].noise.variance(truth)
    assert mean_p(frequencies, truth).min() * 6 > ALPHA
    assert variance_p(frequencies, stated).min() * 6 > ALPHA
    m = sample[0].d and small(name).m
    floor = ((truth**2).sum() - truth**2) / ((m - 1) * 16)
    without = sample[0].noise.base + sample[0].noise.slope * truth
    assert np.allclose(stated - without, floor)
    assert sample[0].n == n


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("flh(k=0)", "FLH: k must be an integer"),
        ("flh(g=1)", "FLH: g must be an integer in"),
        ("cms(m=1)", "CMS: the number of cells must be at least 2"),
        ("hcms(m=100)", "HCMS: m must be a power of two"),
        ("hcms(k=2_000_000)", "at most 2\\^28 cells"),
        ("cms(family=-1)", "CMS: family must be a 64-bit word"),
    ],
)
def test_bad_parameters_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        ldp3.oracle(spec, 1.0, 10)


@pytest.mark.parametrize("cls", [FLH, CMS, HCMS])
def test_a_large_family_comes_close(cls: type[Sketch]) -> None:
    oracle = cls(epsilon=2.0, d=8)
    tally = oracle.aggregate(oracle.perturb(np.full(20_000, 3), stream(1)))
    estimate = oracle.estimate(tally)
    truth = np.arange(8) == 3
    z = (estimate.frequencies - truth) / np.sqrt(estimate.noise.variance(truth.astype(float)))
    assert np.abs(z).max() < 6  # 2·10⁻⁹ for each value
