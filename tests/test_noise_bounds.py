"""Intervals of oracles that are not pure hold for every n, whatever others hold."""

import numpy as np
import pytest
from scipy import stats

import ldp3
from ldp3.arrays import FloatArray, apportion
from ldp3.protocols.hr import BlockNoise

ALPHA = 1e-6
N = 12  # people in the collections that are enumerated


def law(holders: int, inside: int, kept: float, blocks: int) -> FloatArray:
    """The probability of so many scores +1 and -1, of all people."""
    blind = (1 - kept) / blocks / 2
    found = np.zeros((N + 1, N + 1))
    found[0, 0] = 1
    signs = [(kept + blind, blind)] * holders + [(kept / 2 + blind, kept / 2 + blind)] * inside
    for up, down in signs + [(blind, blind)] * (N - holders - inside):
        more = (1 - up - down) * found
        more[1:] += up * found[:-1]
        more[:, 1:] += down * found[:, :-1]
        found = more
    return found


@pytest.mark.parametrize(("kept", "blocks"), [(0.46, 1), (0.5, 2), (0.9, 4), (0.98, 32)])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_of_hadamard_response_hold_for_all_that_few_people_can_hold(
    kept: float, blocks: int, level: float
) -> None:
    low, high = np.zeros((2, N + 1, N + 1))
    for up in range(N + 1):
        for down in range(N + 1 - up):
            reports = np.zeros(blocks)
            reports[:2] = [up + down, N - up - down][:blocks]
            estimates = np.zeros(blocks)
            estimates[0] = (up - down) / (N * kept)
            ends = BlockNoise.of(kept, reports, N).interval(estimates, level)
            low[up, down], high[up, down] = ends[0][0], ends[1][0]
    for holders in range(N + 1):
        for inside in {0, (N - holders) // 2, N - holders} if blocks > 1 else {N - holders}:
            holds = (low <= holders / N + 1e-12) & (high >= holders / N - 1e-12)
            assert law(holders, inside, kept, blocks)[holds].sum() >= level - 1e-9


SETTINGS = [(8.0, 32, 1_000), (10.0, 16, 2_000), (1.0, 16, 300), (4.0, 64, 50)]
SPECS = ["hr", "hr(B=4)", "rhr", "hpgr", "mss", "she"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("epsilon", "d", "n"), SETTINGS)
def test_all_values_are_inside_as_often_as_stated(
    spec: str, epsilon: float, d: int, n: int
) -> None:
    oracle, runs = ldp3.oracle(spec, epsilon, d), 60
    users = apportion(1 / np.arange(1, d + 1), n)
    inside = 0
    for run in range(runs):
        tally = oracle.simulate(users, ldp3.stream(0, "inside", spec, run))
        low, high = oracle.estimate(tally).confidence_interval(0.95, simultaneous=True)
        inside += bool(((low <= users / n + 1e-12) & (users / n - 1e-12 <= high)).all())
    assert inside >= stats.binom.ppf(ALPHA / len(SPECS) / len(SETTINGS), runs, 0.95)


@pytest.mark.parametrize("spec", ["hr", "rhr", "hpgr", "mss", "she", "flh(k=50)", "oue"])
def test_the_noise_to_be_expected_is_that_of_collections(spec: str) -> None:
    oracle, n = ldp3.oracle(spec, 3.0, 20), 20_000
    users = apportion(1 / np.arange(1, 21) ** 2, n)
    made = oracle.estimate(oracle.simulate(users, ldp3.stream(0, spec)))
    expected, found = oracle.noise(users / n, n), made.noise
    truth = users / n
    assert expected.variance(truth) == pytest.approx(found.variance(truth), rel=1e-9)
    for end, other in zip(*(one.interval(truth, 0.9) for one in (expected, found)), strict=True):
        assert end == pytest.approx(other, abs=0.15 * float(np.sqrt(found.variance(truth).max())))


def test_a_law_of_laplace_has_the_tails_of_a_bounded_one() -> None:
    """log E e^{sX} ≤ V s²/2(1 - bs/3) is all that Bernstein's inequality needs."""
    for epsilon in (0.5, 1.0, 4.0, 40.0):
        oracle = ldp3.oracle("she", epsilon, 2)
        noise, stop = oracle.noise(np.full(2, 0.5), 1), oracle.stop  # type: ignore[attr-defined]
        s = np.linspace(0, 1, 1_000)[1:-1] * 3 / float(noise.steps[0])
        s = s[s < -np.log1p(-stop) * 1024 * 0.999]
        spread = (1 - stop) / stop**2 * 4 * np.sinh(s / 2048) ** 2  # of one report
        log_mean = -np.log1p(-spread[spread < 1])
        bound = noise.floor * s**2 / 2 / (1 - float(noise.steps[0]) * s / 3)
        assert (log_mean <= bound[spread < 1] * (1 + 1e-9)).all()
