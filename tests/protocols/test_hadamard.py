"""Hadamard response with blocks, and one-bit Hadamard randomised response, by enumeration."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest

import ldp3
from ldp3 import LDPError, stream
from ldp3.arrays import FloatArray
from ldp3.protocols.hr import HR, BlockNoise
from ldp3.protocols.hrr import HRR
from ldp3.protocols.rhr import RHR
from ldp3.randomness import WORDS


def law_of_hr(oracle: HR) -> FloatArray:
    """P(report | value), from the definition."""
    blind, size = oracle.blind / WORDS, oracle.layout.values
    law = np.full((oracle.d, size), blind / size)
    for v in range(oracle.d):
        block, row = v % oracle.B, v // oracle.B + 1
        for column in range(oracle.order):
            if (row & column).bit_count() % 2 == 0:
                law[v, block * oracle.order + column] += (1 - blind) * 2 / oracle.order
    return law


@pytest.mark.parametrize("spec", ["hr", "hr(B=1)", "hr(B=2)", "hr(B=4)", "hr(B=8)"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_noise_grows_with_the_block_as_enumeration_says(spec: str, epsilon: float) -> None:
    oracle = ldp3.oracle(spec, epsilon, 11)
    assert isinstance(oracle, HR)
    law = law_of_hr(oracle)
    assert np.allclose(law.sum(axis=1), 1)
    assert (law.max(axis=0) / law.min(axis=0)).max() == pytest.approx(exp(epsilon), rel=1e-9)
    unit = np.eye(oracle.layout.values, dtype=np.int64)
    scores = np.array([oracle.estimate(ldp3.Tally(row, 1)).frequencies for row in unit])
    means, seconds = law @ scores, law @ scores**2
    assert np.allclose(means, np.eye(11), atol=1e-9)
    truth = np.array([0.4, 0.3, 0, 0, 0, 0.1, 0, 0, 0, 0.2, 0])
    variance = truth @ (seconds - means**2)
    noise = oracle.estimate(ldp3.Tally(unit[0], 1)).noise
    assert np.allclose(noise.variance(truth), variance, rtol=1e-9)
    x, blocks = exp(epsilon), oracle.B
    a, b = 2 * (2 * blocks - 1 + x) / (x - 1) ** 2, (2 * blocks - 1 + x) * (x + 1) / (x - 1) ** 2
    masses = np.bincount(np.arange(11) % blocks, truth, blocks)[np.arange(11) % blocks]
    assert np.allclose(variance, a + masses * (b - a) - truth, rtol=1e-9)


@pytest.mark.parametrize(("epsilon", "blocks"), [(0.5, 1), (1.0, 1), (2.0, 4), (4.0, 32)])
def test_the_number_of_blocks_is_the_best_for_even_ones(epsilon: float, blocks: int) -> None:
    assert blocks == HR(epsilon, 1024).B


def test_the_masses_of_blocks_are_estimated_where_frequencies_are_no_distribution() -> None:
    oracle, n = HR(4.0, 64, B=4), 100_000
    tally = oracle.simulate(np.where(np.arange(64) % 4 == 1, n // 16, 0), stream(0))
    noise = oracle.estimate(tally).noise
    assert isinstance(noise, BlockNoise)
    spread = noise.variance(oracle.estimate(tally).frequencies)
    assert spread[1::4].min() > 2 * spread[0::4].max()


@pytest.mark.parametrize("d", [2, 3, 8, 13])
def test_hrr_supports_with_p_and_q_exactly(d: int) -> None:
    oracle = HRR(1.0, d)
    reports, p = np.arange(oracle.layout.values), Fraction(oracle.right, WORDS)
    held = np.array([oracle.supports(reports, v) for v in range(d)])
    columns = oracle.columns - 1
    for v in range(d):
        law = [(p if own else 1 - p) / columns for own in held[v]]
        assert sum(law) == 1
        for w in range(d):
            support = sum(share for share, yes in zip(law, held[w], strict=True) if yes)
            assert float(support) == pytest.approx(oracle.p if v == w else oracle.q, rel=1e-15)


def test_hrr_is_a_little_better_than_a_matrix_with_the_useless_column() -> None:
    assert HRR(1.0, 128).variance(1) == pytest.approx(4.61, abs=0.005)
    assert ldp3.oracle("blh", 1.0, 128).variance(1) == pytest.approx(4.68, abs=0.005)  # type: ignore[attr-defined]


def test_rhr_has_the_noise_of_hr_with_as_many_blocks() -> None:
    truth = np.full(16, 1 / 16)
    for b in (1, 2, 3):
        ours, theirs = RHR(2.0, 16, b=b), HR(2.0, 16, B=2 ** (b - 1))
        one, other = (
            o.estimate(o.aggregate(o.perturb(np.arange(16), stream(0)))).noise.variance(truth)
            for o in (ours, theirs)
        )
        assert np.allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("hr(B=3)", "HR: B must be a power of two up to d=100, got 3"),
        ("hr(B=128)", "HR: B must be a power of two up to d=100, got 128"),
        ("hr(B=-1)", "HR: B must be a power of two"),
        ("hr(B=2.0)", "HR: B must be a power of two"),
        ("rhr(b=9)", "RHR: b must be an integer in 1..7"),
        ("hpgr(q=6)", "HPGR: q must be a prime power"),
        ("hpgr(h=0.5)", "HPGR: h must be an integer"),
        ("mss(l=0)", "MSS: l must be an integer"),
        ("pi_rappor(q=4)", "PiRAPPOR: q must be a prime, got 4"),
        ("the(theta=0.3)", "THE: theta must be between 0.5 and 1"),
        ("ue(p=1)", "UE: p must be between 0 and 1"),
        ("ue(p='half')", "UE: p must be between 0 and 1"),
    ],
)
def test_bad_parameters_are_refused(spec: str, reason: str) -> None:
    with pytest.raises(LDPError, match=reason):
        ldp3.oracle(spec, 1.0, 100)
