"""The contract bites: every planted bug is caught, and what the bugs were planted in passes."""

import inspect

import pytest

from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import oracle_findings
from ldp3.verification.case import Case
from ldp3.verification.privacy import every_value
from tests.verification import planted

ORACLES = {
    name: cls
    for name, cls in inspect.getmembers(planted, inspect.isclass)
    if issubclass(cls, FrequencyOracle) and cls.__module__ == planted.__name__
}
HONEST = {name: cls for name, cls in ORACLES.items() if name.startswith("Honest")}
BUGS = {name: cls for name, cls in ORACLES.items() if name not in HONEST}
IN_LARGE_DOMAINS = {"LeaksBeyondAWord": 70}


@pytest.mark.parametrize("d", [3, 70])
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_oracle_passes(name: str, d: int) -> None:
    assert [f for f in oracle_findings(HONEST[name](epsilon=1.1, d=d)) if not f.passed] == []


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name: str) -> None:
    oracle = BUGS[name](epsilon=1.1, d=IN_LARGE_DOMAINS.get(name, 5))
    assert any(not finding.passed for finding in oracle_findings(oracle))


@pytest.mark.parametrize("name", ["TrueBitNeverClearedAndSaysSo", "LyingLogProb", "LyingRatio",
                                  "LeaksInAParity", "FloatsGiveItAway", "CoarseGenerator",
                                  "TooLittleNoise"])  # fmt: skip
def test_the_audit_alone_sees_broken_privacy(name: str) -> None:
    findings = oracle_findings(BUGS[name](epsilon=1.1, d=5))
    audit = next(f for f in findings if f.check.startswith("No event tells"))
    assert not audit.passed


@pytest.mark.parametrize("name", ["LeaksForOneValue", "LeaksForOnePair", "SumLeaksForOneValue"])
def test_every_value_of_a_large_domain_is_looked_at(name: str) -> None:
    assert not all(f.passed for f in every_value(Case(BUGS[name](epsilon=1.1, d=400))))
