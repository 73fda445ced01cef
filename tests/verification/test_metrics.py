"""The contract of metrics bites: planted bugs are caught, honest metrics pass."""

import pytest

from ldp3.kinds import defined
from ldp3.metrics.base import Metric
from ldp3.verification import findings
from tests.verification.planted import metrics

METRICS = {cls.__name__: cls for cls in defined(metrics, Metric)}
BROKEN = {
    "InfiniteAtZero": "Any two finite vectors have a finite value",
    "Overwrites": "Both vectors are left untouched",
    "Fickle": "The same vectors give the same value",
    "Forgetful": "Made twice for a dataset, it is the same metric",
    "NotZeroAtTheTruth": "A distance is 0 at the truth",
    "NotZeroForCounts": "A distance is 0 at the truth",
    "NegativeForLargeEstimates": "A distance is at least 0",
    "UndefinedForOneValue": "Any two finite vectors have a finite value",
    "UndefinedForNobody": "Any two finite vectors have a finite value",
    "InfiniteAtTies": "Any two finite vectors have a finite value",
    "InfiniteAtZeros": "Any two finite vectors have a finite value",
    "RewardsShrinkage": "No estimate beats the truth, as better = 'lower' says",
    "ScaledByTheFirstTruth": "The value depends on no other vectors",
    "KnowsTheLastDataset": "Made for one dataset, it does not change with another",
    "SumsOnly": "The truth turned upside down is worse than the truth",
    "Blind": "The truth turned upside down is worse than the truth",
}
ORDER = "The order of the values matters: it is for ordered domains"
NOTES = {
    "HonestOfThePlace": {ORDER},
    "HonestButTheLast": {ORDER, "It does not look at every value"},
    "HonestDistance": set[str](),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_passes_if_and_only_if_it_is_honest(name: str) -> None:
    made = list(findings(METRICS[name]()))
    failed, notes = {f.check for f in made if not f.passed}, {f.check for f in made if f.note}
    assert not failed if name.startswith("Honest") else failed
    assert {BROKEN[name]} <= failed if name in BROKEN else name not in BROKEN
    assert notes == NOTES[name] if name in NOTES else name not in NOTES


def test_every_promise_that_is_to_be_named_is_broken_by_somebody() -> None:
    assert {*BROKEN, *NOTES} <= set(METRICS)
