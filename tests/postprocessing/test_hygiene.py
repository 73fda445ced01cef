"""What every method promises, whatever the estimate; new methods are picked up by themselves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import ldp3
from ldp3.catalog import find
from ldp3.errors import LDPError
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate
from tests.postprocessing.estimates import (
    estimate,
    estimates,
    impure,
    steady,
    support,
)

METHODS = sorted(find(PostProcessor))  # type: ignore[type-abstract]
CHAINS = ["power+norm_sub", "norm_cut+norm", "base_cut+em", "norm_sub+npmle", "em+power+norm_mul"]
CHAINS = [chain for chain in CHAINS if set(chain.split("+")) <= set(METHODS)]
every_method = pytest.mark.parametrize("spec", METHODS + CHAINS)


def check(spec: str, est: Estimate) -> None:
    method = ldp3.postprocess(spec)
    if not method.applies(est):
        return
    before = est.frequencies.copy()
    result = method(est)
    assert result.shape == (est.d,)
    assert result.dtype == np.float64
    assert np.isfinite(result).all()
    assert np.array_equal(est.frequencies, before)
    assert not np.shares_memory(result, est.frequencies)
    if method.distribution:
        assert result.min() >= 0
        assert abs(math.fsum(result) - 1) <= 1e-12
    assert np.array_equal(method(est), result), "not deterministic"


@every_method
@settings(steady, max_examples=60)
@given(est=estimates())
def test_every_result_is_finite_and_distributions_are_distributions(
    spec: str, est: Estimate
) -> None:
    check(spec, est)


@pytest.mark.parametrize(
    ("spec", "protocol"),
    # one report in 10⁵ supports a value, or every second; variance growing with f, or falling
    [*((s, p) for s in METHODS for p in ("grr", "blh")), *((s, "oue") for s in CHAINS)],
)
@pytest.mark.parametrize("n", [1, 10**6, 10**12])
def test_a_domain_of_a_hundred_thousand_values_is_served(spec: str, protocol: str, n: int) -> None:
    d = 100_000
    p, q, size = support(protocol, 1.0, d)
    noise = ldp3.stream(0, protocol, n).normal(0, 1, d) * math.sqrt(q * (1 - q) / n) / (p - q)
    check(spec, estimate(noise + 1 / d, n, p, q, size))


@every_method
@pytest.mark.parametrize("f", [[1.0], [0.0], [-3.0], [0.0, 0.0], [1e30, -1e30], [5e-324, 0.0]])
def test_tiny_domains_and_enormous_numbers_are_served(spec: str, f: list[float]) -> None:
    check(spec, estimate(f))
    check(spec, estimate(f, n=10**12, p=1.0, q=2.0**-64, support_size=1))
    check(spec, impure(f))


@every_method
@pytest.mark.parametrize(
    ("f", "reason"),
    [
        ([], "not empty"),
        ([0.5, float("nan")], "finite, got nan at 1"),
        ([float("inf"), 0.5], "finite, got inf at 0"),
        ([[0.5, 0.5]], "one-dimensional"),
    ],
)
def test_bad_frequencies_are_refused_in_one_line(spec: str, f: list[float], reason: str) -> None:
    with pytest.raises(LDPError, match=reason) as error:
        ldp3.postprocess(spec)(estimate(f, support_size=1))
    assert "\n" not in str(error.value)


@every_method
def test_an_estimate_without_reports_or_noise_is_refused(spec: str) -> None:
    good = estimate([0.5, 0.5], support_size=1)
    with pytest.raises(LDPError, match="n must be at least 1, got 0"):
        ldp3.postprocess(spec)(replace(good, n=0))
    with pytest.raises(LDPError, match="noise must be > 0, got nan"):
        ldp3.postprocess(spec)(replace(good, noise=math.nan))


@every_method
def test_a_method_either_serves_an_oracle_without_p_and_q_or_says_why_not(spec: str) -> None:
    method, est = ldp3.postprocess(spec), impure([0.7, 0.4, -0.1])
    if method.applies(est):
        assert np.isfinite(method(est)).all()
    else:
        with pytest.raises(LDPError, match="the oracle must have support probabilities p and q"):
            method(est)


@pytest.mark.parametrize("spec", METHODS)
def test_every_method_states_its_formula_and_shows_an_example(spec: str) -> None:
    doc = find(PostProcessor)[spec].__doc__ or ""  # type: ignore[type-abstract]
    assert "$" in doc
    assert ">>>" in doc
    assert spec == "none" or "References" in doc
