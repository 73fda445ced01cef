"""Every method keeps the contract, whatever the estimate; new ones are picked up."""

import math

import pytest
from hypothesis import given, settings

import ldp3
from ldp3.kinds import find
from ldp3.postprocessing.base import PostProcessor
from ldp3.types import Estimate
from ldp3.verification import findings
from ldp3.verification.methods import broken
from tests.postprocessing.estimates import estimate, estimates, impure, steady, support

METHODS = sorted(find(PostProcessor))
CHAINS = ["power+norm_sub", "norm_cut+norm", "base_cut+em", "norm_sub+npmle", "em+power+norm_mul"]
# of one attribute interactions are multiscale
TWINS = "completed_mean", "completed_root", "interactions", "multiscale_ordered"
every_method = pytest.mark.parametrize("spec", METHODS + CHAINS)


def assert_kept(spec: str, est: Estimate) -> None:
    """The method keeps every promise on an estimate that it serves."""
    method = ldp3.postprocess(spec)
    assert not method.applies(est) or broken(method, est) == []


@pytest.mark.parametrize(
    "spec",  # one of those that differ in a line stands for the others
    [pytest.param(s, marks=pytest.mark.slow) if s in TWINS else s for s in METHODS],
)
def test_the_contract_holds(spec: str) -> None:
    method = ldp3.postprocess(spec)
    found = list(findings(method))
    assert [f for f in found if not f.passed] == []
    by_order = [f for f in found if f.check.startswith("The order of the values matters")]
    assert method.needs_order or not by_order  # values trade places, and their results with them


@every_method
@settings(steady, max_examples=60)
@given(est=estimates())
def test_promises_are_kept_on_any_estimate(spec: str, est: Estimate) -> None:
    assert_kept(spec, est)


@pytest.mark.parametrize(
    ("spec", "protocol"),
    # one report in 10⁵ supports a value, or every second; variance growing with f, or falling
    [*((s, p) for s in METHODS for p in ("grr", "blh")), *((s, "oue") for s in CHAINS)],
)
@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.slow) for n in (1, 10**6)] + [10**12]
)
def test_a_domain_of_a_hundred_thousand_values_is_served(spec: str, protocol: str, n: int) -> None:
    d = 100_000
    p, q, size = support(protocol, 1.0, d)
    noise = ldp3.stream(0, protocol, n).normal(0, 1, d) * math.sqrt(q * (1 - q) / n) / (p - q)
    assert_kept(spec, estimate(noise + 1 / d, n, p, q, size))


@every_method
@pytest.mark.parametrize("f", [[1.0], [0.0], [-3.0], [0.0, 0.0], [1e30, -1e30], [5e-324, 0.0]])
def test_tiny_domains_and_enormous_numbers_are_served(spec: str, f: list[float]) -> None:
    assert_kept(spec, estimate(f))
    assert_kept(spec, estimate(f, n=10**12, p=1.0, q=2.0**-64, support_size=1))
    assert_kept(spec, impure(f))


@pytest.mark.parametrize("spec", METHODS)
def test_every_method_states_its_formula_and_shows_an_example(spec: str) -> None:
    doc = find(PostProcessor)[spec].__doc__ or ""
    assert "$" in doc
    assert ">>>" in doc
    assert spec == "none" or "References" in doc
