"""The contract of schemes for several attributes holds for ours, and catches planted bugs."""

from collections.abc import Callable, Iterator
from math import exp, log

import numpy as np
import pytest

from ldp3 import verify
from ldp3.protocols.base import FrequencyOracle
from ldp3.schemes.attributes import SMP, Groups, Joint, Pairs, RecordScheme
from ldp3.schemes.spl import SPL
from ldp3.verification import findings, privacy, records, schemes
from ldp3.verification.base import Finding
from ldp3.verification.cases import OracleCase
from tests.verification.planted.records import (
    AsksWhatIsRare,
    FakeData,
    ForgetsWhoIsAsked,
    HonestSampling,
    StretchesATable,
    WholeBudgetForEach,
)

FEW = 4_000
SIZES = (2, 3, 2)


@pytest.mark.parametrize(
    "cls",
    [
        Groups,
        pytest.param(SPL, marks=pytest.mark.slow),
        pytest.param(HonestSampling, marks=pytest.mark.slow),
    ],
)
def test_the_contract_holds(cls: type[RecordScheme]) -> None:
    made = list(findings(cls(1.0, 12, SIZES), draws=FEW))
    assert len(made) > 20
    assert [str(f) for f in made if not f.passed] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["groups", "pairs", "smp", "spl", "joint"])
def test_the_contract_holds_at_all_settings(name: str) -> None:
    assert verify(name, draws=FEW).failures == ()


@pytest.mark.parametrize(
    ("cls", "check", "draws"),
    [
        (FakeData, privacy.audit, 10_000),
        (AsksWhatIsRare, schemes.lot, FEW),
        (WholeBudgetForEach, privacy.bounded_ratio, FEW),
        (WholeBudgetForEach, records.enumerated, FEW),
        (ForgetsWhoIsAsked, records.tables, FEW),
        (StretchesATable, records.tables, FEW),
    ],
)
def test_a_planted_bug_is_caught(
    cls: type[RecordScheme], check: Callable[[OracleCase], Iterator[Finding]], draws: int
) -> None:
    epsilon = 4.0 if cls is ForgetsWhoIsAsked else 1.0
    scheme: FrequencyOracle = cls(epsilon, 12, SIZES)
    assert not all(f.passed for f in check(OracleCase(scheme, 0, draws)))
    honest = HonestSampling(epsilon, 12, SIZES)
    assert all(f.passed for f in check(OracleCase(honest, 0, draws)))


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (2, 3, 2), (4, 4, 4)])
def test_fake_data_spend_more_than_they_say(sizes: tuple[int, ...]) -> None:
    """The exact ratio of RS+FD with randomised response, over whole records."""
    k, x = len(sizes), exp(1.0)
    spent = k * (x - 1) + 1
    laws = []
    every = np.array(list(np.ndindex(*sizes)))
    for record in every:
        law = np.zeros(len(every))
        for a in range(k):
            own = np.where(every[:, a] == record[a], spent, 1) / (spent + sizes[a] - 1)
            fakes = np.prod([1 / d for j, d in enumerate(sizes) if j != a])
            law += own * fakes / k
        assert law.sum() == pytest.approx(1)
        laws.append(law)
    ratio = (np.max(laws, axis=0) / np.min(laws, axis=0)).max()
    assert log(ratio) == pytest.approx(log(spent), rel=1e-12)
    assert log(ratio) > 1.48


def test_every_scheme_of_ours_says_its_exact_ratio() -> None:
    for cls in (Groups, Pairs, SMP, Joint):
        (finding,) = records.enumerated(OracleCase(cls(1.0, 12, SIZES), 0, FEW))
        assert finding.passed
        assert "ε = 1" in finding.evidence
