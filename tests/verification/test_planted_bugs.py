"""The contract bites: every planted bug is caught, and what the bugs were planted in passes."""

import pytest

from ldp3.kinds import defined
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import findings
from ldp3.verification.case import OracleCase
from ldp3.verification.privacy import every_value
from tests.verification.planted import (
    clients,
    crowds,
    honest,
    leaks,
    methods,
    metrics,
    servers,
    sums,
)

HONEST = {cls.__name__: cls for cls in defined(honest, FrequencyOracle)}  # type: ignore[type-abstract]
BUGS = {
    cls.__name__: cls
    for module in (leaks, crowds, servers, sums, clients)
    for cls in defined(module, FrequencyOracle)  # type: ignore[type-abstract]
}
IN_LARGE_DOMAINS = {"LeaksBeyondAWord": 70}
METHODS = {cls.__name__: cls for cls in defined(methods, PostProcessor)}  # type: ignore[type-abstract]
METRICS = {cls.__name__: cls for cls in defined(metrics, Metric)}  # type: ignore[type-abstract]


@pytest.mark.parametrize("d", [3, 70])
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_oracle_passes(name: str, d: int) -> None:
    assert [f for f in findings(HONEST[name](epsilon=1.1, d=d)) if not f.passed] == []


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name: str) -> None:
    oracle = BUGS[name](epsilon=1.1, d=IN_LARGE_DOMAINS.get(name, 5))
    assert any(not finding.passed for finding in findings(oracle))


@pytest.mark.parametrize("name", ["TrueBitNeverClearedAndSaysSo", "LyingLogProb", "LyingRatio",
                                  "LeaksInAParity", "FloatsGiveItAway", "CoarseGenerator",
                                  "TooLittleNoise"])  # fmt: skip
def test_the_audit_alone_sees_broken_privacy(name: str) -> None:
    made = findings(BUGS[name](epsilon=1.1, d=5))
    audit = next(f for f in made if f.check.startswith("No event tells"))
    assert not audit.passed


@pytest.mark.parametrize("name", ["LeaksForOneValue", "LeaksForOnePair", "SumLeaksForOneValue"])
def test_every_value_of_a_large_domain_is_looked_at(name: str) -> None:
    assert not all(f.passed for f in every_value(OracleCase(BUGS[name](epsilon=1.1, d=400))))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("StatesTheMeanNoise", "Estimates from n=400 have the stated noise"),
        ("SwapsTheNoise", "Estimates from n=400 have the stated noise"),
        ("TakesAnyTally", "A tally whose n disagrees with its counts is refused"),
        ("CountsDistinctReports", "`aggregate` gives a tally that says how many reports it holds"),
        ("LosesItsTally", "An estimate keeps its tally"),
        ("SaysAnotherP", "An estimate has its oracle's support"),
        ("DecodesWrongly", "A tally counts what `supports` defines"),
        ("SimulatesAnotherCrowd", "`simulate` counts its users"),
        ("VarianceWithoutFrequency", "`variance` is that of the noise of an estimate"),
        ("DrawsTheTruthTooOften", "`draw` supports the own value with p, others with q"),
        ("DrawsTheTruthAsALie", "`draw` has the law of `perturb`"),
        ("DrawsFromItsOwnGenerator", "The same words give the same report"),
        ("DrawsFromOneSeed", "`draw` has the law of `perturb`"),
        ("DrawsWhatIsNoReport", "`draw` gives a whole number that is a valid report"),
        ("DrawsFractions", "`draw` gives a whole number that is a valid report"),
        ("ConstantsAreFractions", "The constants of `draw` are whole numbers"),
        ("LayoutIsTooNarrow", "A report is written and read without loss"),
        ("LayoutReadsAnother", "A report is written and read without loss"),
        ("LayoutReadsTwoWays", "No report can be written in two ways"),
        ("LayoutCannotBeDescribed", "The layout can be written as JSON"),
    ],
)
def test_the_check_that_is_meant_catches_it(name: str, check: str) -> None:
    failed = [f for f in findings(BUGS[name](epsilon=1.1, d=5)) if not f.passed]
    assert any(f.check == check and not f.evidence.startswith("raised") for f in failed)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_passes_if_and_only_if_it_is_honest(name: str) -> None:
    assert all(f.passed for f in findings(METHODS[name]())) == name.startswith("Honest")


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_passes_if_and_only_if_it_is_honest(name: str) -> None:
    assert all(f.passed for f in findings(METRICS[name]())) == name.startswith("Honest")


@pytest.mark.parametrize(
    ("thing", "check"),
    [
        (methods.NotQuiteOne(), "Frequencies are at least 0 and sum to 1, as promised"),
        (methods.InPlace(), "The estimate is left untouched"),
        (methods.SameArray(), "The result is a new array"),
        (methods.Random(), "The same estimate gives the same result"),
        (methods.Restless(), "A higher estimate never ends below a lower one, as promised"),
        (methods.Short(), "The result is one finite number per value, as float64"),
        (methods.Silent(), "It says in words what it needs of an oracle"),
        (metrics.InfiniteAtZero(), "Any two finite vectors have a finite value"),
        (metrics.Overwrites(), "Both vectors are left untouched"),
        (metrics.Fickle(), "The same vectors give the same value"),
        (metrics.Forgetful(), "Made twice for a dataset, it is the same metric"),
        (metrics.NotZeroAtTheTruth(), "A distance is 0 at the truth"),
        (metrics.Blind(), "The truth turned upside down is worse than the truth"),
    ],
    ids=lambda thing: thing if isinstance(thing, str) else type(thing).__name__,
)
def test_the_promise_that_is_broken_is_named(thing: PostProcessor | Metric, check: str) -> None:
    assert check in {f.check for f in findings(thing) if not f.passed}
