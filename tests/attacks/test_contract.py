"""What every attack promises, on every protocol."""

from functools import cache
from math import e, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, ks_2samp

import ldp3
from ldp3.attacks.base import Attack, honest_lying
from ldp3.kinds import find
from ldp3.protocols.pure import PureOracle
from ldp3.specs import build

ALPHA = 1e-6
D, HONEST = 12, np.array([400, 300, 100, 80, 50, 30, 20, 10, 5, 3, 2, 0])
TARGETS = (3, 7, 11)
SEARCHED = ("pgr", "hrr")  # whose fake users choose among a few of the best reports
PROTOCOLS = (
    "grr",
    "rappor",
    "oue",
    "blh",
    "olh",
    "olh(g=5)",
    "ss",
    "ss(k=9)",
    "ss(k=1)",
    "pgr",
    "hrr",
)
ATTACKS = (
    "ria",
    "rpa",
    "mga(padding='none')",
    "mga",
    "mga(padding='law')",
    "mga(per_report=2, effort=20)",
    "mga(effort=3)",
    "aaa",
    "flood",
    "steer",
    "steer(goal='reverse')",
    "steer(goal='targets')",
)
MIXED = np.random.default_rng(5).choice([-1, 1], size=(D, D))  # sums that show how counts correlate
ALONE = ("aaa", "flood", "steer")  # whose fake users do not act independently


@cache
def oracle(spec: str, epsilon: float = 1.0) -> PureOracle:
    made = ldp3.oracle(spec, epsilon, D)
    assert isinstance(made, PureOracle)
    return made


@cache
def attack(spec: str, targets: tuple[int, ...] = TARGETS) -> Attack:
    return build(Attack, spec, targets=targets, honest=HONEST)


FAMILIES = ("grr", "oue", "olh", "ss", "pgr")  # one for each way to craft a report
CASES = [
    pytest.param(a, p, id=f"{a}-{p}", marks=[] if p in FAMILIES else pytest.mark.slow)
    for a in ATTACKS
    for p in PROTOCOLS
    if attack(a).applies(oracle(p))
]
INDEPENDENT = [
    c for c in CASES
    if not str(c.values[0]).startswith(ALONE)
    and not (str(c.values[0]).startswith("mga") and c.values[1] in SEARCHED)
]  # fmt: skip


def counts(spec: str, protocol: str, m: int, way: str, seed: int) -> Any:
    made, fake = oracle(protocol), attack(spec)
    rng = ldp3.stream(seed, way, spec, protocol)
    tally = (
        fake.tally(made, m, rng) if way == "tally" else made.aggregate(fake.reports(made, m, rng))
    )
    assert tally.n == m
    return made.support_counts(tally)


def apart(one: Any, other: Any) -> float:
    """How far two empirical laws of equal size are apart.

    For n = m samples of one law P(apart > x) ≤ e·exp(-n x²): Wei, Dudley, 2012.
    """
    return float(ks_2samp(one, other, method="asymp").statistic)


def test_every_attack_of_ours_is_tried() -> None:
    assert {spec.partition("(")[0] for spec in ATTACKS} == set(find(Attack))


@pytest.mark.parametrize("way", ["tally", "reports"])
@pytest.mark.parametrize(("spec", "protocol"), INDEPENDENT)
def test_each_value_is_supported_at_the_stated_rate(spec: str, protocol: str, way: str) -> None:
    m = 3_000 if way == "tally" or "effort" in spec or "hash" not in protocol else 300
    m = 150 if way == "reports" and protocol in {"blh", "olh", "olh(g=5)"} and "mga" in spec else m
    rates = attack(spec).rates(oracle(protocol))
    assert rates is not None
    got = counts(spec, protocol, m, way, 1)
    for v in range(D):
        sure = min(max(float(rates[v]), 0.0), 1.0)
        assert binomtest(int(got[v]), m, sure).pvalue > ALPHA / (D * 2 * len(INDEPENDENT))


@pytest.mark.parametrize(("spec", "protocol"), CASES)
def test_both_ways_have_one_law(spec: str, protocol: str) -> None:
    few = protocol in {"blh", "olh", "olh(g=5)", *SEARCHED} and "mga" in spec
    m, repeats = (40, 60) if few else (100, 300)
    both = [
        np.array([counts(spec, protocol, m, way, s) for s in range(repeats)], dtype=float)
        for way in ("tally", "reports")
    ]
    for one, other in zip(*(np.hstack([c, c @ MIXED]).T for c in both), strict=True):
        assert apart(one, other) <= sqrt(log(e * 2 * D * len(CASES) / ALPHA) / repeats)


@pytest.mark.parametrize(("spec", "protocol"), CASES)
def test_the_server_takes_every_fake_report(spec: str, protocol: str) -> None:
    made = oracle(protocol)
    reports = attack(spec).reports(made, 30, ldp3.stream(3))
    assert len(reports) == 30
    assert made.valid(reports).all()


@pytest.mark.parametrize(("spec", "protocol"), CASES)
def test_no_fake_users_no_gain(spec: str, protocol: str) -> None:
    made, fake = oracle(protocol), attack(spec)
    tally = fake.tally(made, 0, ldp3.stream(0))
    assert tally.n == 0
    assert not np.any(tally.total)
    assert fake.expected_gain(made, 0) in (0.0, None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lying_honestly_gains_the_same_under_every_protocol(protocol: str) -> None:
    gain = attack("ria").expected_gain(oracle(protocol), 50)
    assert gain == pytest.approx(honest_lying(attack("ria"), 50))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_attack_gains_more_than_the_maximal_one(protocol: str) -> None:
    most = attack("mga(padding='none')").expected_gain(oracle(protocol), 50)
    fitting = [attack(a) for a in ATTACKS if attack(a).applies(oracle(protocol))]
    others = [fake.expected_gain(oracle(protocol), 50) for fake in fitting]
    assert most is not None
    assert all(gain <= most + 1e-12 for gain in others if gain is not None)
