"""The contract bites: every planted bug is caught, and what the bugs were planted in passes."""

import inspect

import pytest

from ldp3.protocols.base import PureOracle
from ldp3.verification import verify_oracle
from tests.verification import planted

ORACLES = {
    name: cls
    for name, cls in inspect.getmembers(planted, inspect.isclass)
    if issubclass(cls, PureOracle) and cls is not PureOracle
}
HONEST = {name: cls for name, cls in ORACLES.items() if name.startswith("Honest")}
BUGS = {name: cls for name, cls in ORACLES.items() if name not in HONEST}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_oracle_passes(name: str) -> None:
    findings = verify_oracle(HONEST[name](epsilon=1.1, d=5))
    assert [f for f in findings if not f.passed] == []


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name: str) -> None:
    findings = verify_oracle(BUGS[name](epsilon=1.1, d=5))
    assert [f for f in findings if not f.passed]


def test_at_least_twelve_bugs_are_planted() -> None:
    assert len(BUGS) >= 12
