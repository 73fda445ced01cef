"""Ours pass at every ε, and look suspicious no more often than the docs say."""

import pytest
from scipy import stats

import ldp3
from ldp3.verification import findings
from ldp3.verification.base import ALPHA
from ldp3.verification.cases import SUSPICIOUS

PROTOCOLS = "grr", "oue", "olh"
OTHERS = "rappor", "blh", "ss", "ue", "hr", "hrr", "pgr", "the", "she", "hpgr", "mss", "rhr"
GRID = [(epsilon, d) for epsilon in (0.05, 4.0, 8.5, 14.0, 20.0) for d in (2, 17, 70)]


@pytest.mark.parametrize(
    "name", [*PROTOCOLS, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_ours_pass_at_every_epsilon(name: str) -> None:
    checks = suspicious = 0
    for seed, (epsilon, d) in enumerate(GRID):
        made = list(findings(ldp3.oracle(name, epsilon=epsilon, d=d), seed=seed, draws=1_000))
        assert [f for f in made if not f.passed] == [], (epsilon, d)
        checks += sum(f.alpha > 0 for f in made)
        suspicious += sum("looked at again" in f.evidence for f in made)
    assert suspicious <= stats.binom.isf(ALPHA, checks, SUSPICIOUS)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_ours_have_enough_evidence_with_the_usual_draws(name: str) -> None:
    verdict = ldp3.verify(ldp3.oracle(name, epsilon=20.0, d=5))
    assert verdict.passed, verdict
