"""Methods that are meant as defences: what they are, and what they are not."""

import numpy as np
import pytest

import ldp3
from ldp3.attacks.mga import MGA
from ldp3.errors import LDPError
from ldp3.noise import Support
from ldp3.postprocessing.recovering import RSN, LDPRecover, Subtract
from ldp3.protocols.pure import PureOracle
from ldp3.types import Estimate

SUPPORT = Support(0.5, 0.25)


def estimate(frequencies: np.ndarray) -> Estimate:
    return Estimate.of(frequencies, n=10_000, noise=SUPPORT)


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_ldp_recover_is_a_sharper_norm_sub(eta: float, seed: int) -> None:
    f = np.random.default_rng(seed).normal(0.05, 0.1, 20)
    assert (1 + eta) * f[f > 0].sum() >= 1
    sharper = ldp3.postprocess("norm_sub")(estimate((1 + eta) * f))
    np.testing.assert_allclose(LDPRecover(eta=eta)(estimate(f)), sharper, atol=1e-12)


@pytest.mark.parametrize("spec", ["oue", "ss(k=2)", "grr"])
def test_subtract_undoes_what_is_known(spec: str) -> None:
    honest = np.array([500, 300, 100, 50, 30, 20, 0, 0])
    oracle = ldp3.oracle(spec, 1.0, 8)
    assert isinstance(oracle, PureOracle)
    attack = MGA((2, 6), honest, padding="none")
    rates, m = attack.rates(oracle), 100
    assert rates is not None
    share = m / (1_000 + m)
    seen = (1 - share) * (oracle.q + (oracle.p - oracle.q) * honest / 1_000) + share * rates
    expected = (seen - oracle.q) / (oracle.p - oracle.q)
    noise = oracle.estimate(oracle.simulate(honest, ldp3.stream(0))).noise
    undone = Subtract(targets=(2, 6), share=share)(Estimate.of(expected, n=1_100, noise=noise))
    np.testing.assert_allclose(undone[[2, 6]], honest[[2, 6]] / 1_000, atol=1e-12)


def test_subtracting_nothing_changes_nothing() -> None:
    f = np.array([0.7, 0.4, -0.1])
    np.testing.assert_allclose(Subtract()(estimate(f)), f)


def test_subtract_refuses_targets_beyond_the_domain() -> None:
    with pytest.raises(LDPError, match="targets must be below 3"):
        Subtract(targets=(3,), share=0.1)(estimate(np.array([0.7, 0.4, -0.1])))


def test_rsn_leaves_large_estimates_alone() -> None:
    f = np.array([0.6, 0.3, 0.2, 0.1, -0.2])  # sums to one: nothing is shifted
    np.testing.assert_allclose(RSN()(estimate(f)), [0.6, 0.3, 0.1, 0.0, 0.0], atol=1e-12)


def test_none_of_them_takes_the_gain_away() -> None:
    data = ldp3.load("zipf(s=1.1, d=30, n=20_000)")
    results = ldp3.benchmark(
        data, protocols="oue", methods=["ldp_recover", "rsn"], repeats=4, attacks="mga",
        fake_users="2%", targets="top:5",
    )  # fmt: skip
    assert results.means is not None
    held = {(r["attack"], r["method"]): sum(sorted(r["frequencies"])[-5:])
            for r in results.means.iter_rows(named=True)}  # fmt: skip
    for method in ("ldp_recover", "rsn"):
        raw = held["mga", "none"] - held["none", "none"]
        assert held["mga", method] - held["none", method] > 0.5 * raw


@pytest.mark.parametrize("share", ["'x'", "True", "-0.1", "1.0"])
def test_a_share_that_is_none_is_refused_in_one_line(share: str) -> None:
    with pytest.raises(LDPError, match="share must be at least 0 and below 1"):
        ldp3.postprocess(f"subtract(share={share})")
