"""The contract bites: every planted bug is caught, and what the bugs were planted in passes."""

from collections.abc import Iterator

import pytest

from ldp3.attacks.base import Attack
from ldp3.kinds import defined
from ldp3.metrics.base import Metric
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import Finding, findings
from ldp3.verification.cases import OracleCase
from ldp3.verification.supports import every_value
from ldp3.verification.verify import ATTACKED, PEOPLE
from tests.verification.planted import (
    attacks,
    clients,
    crowds,
    honest,
    leaks,
    methods,
    metrics,
    servers,
    statements,
    subtle,
    sums,
    unusual,
)

HONEST = {
    cls.__name__: cls for module in (honest, unusual) for cls in defined(module, FrequencyOracle)
}
BUGS = {
    cls.__name__: cls
    for module in (leaks, subtle, crowds, servers, statements, sums, clients)
    for cls in defined(module, FrequencyOracle)
}
FEW, MANY = 10_000, 40_000  # draws
USUAL = 1.1, 5, FEW  # ε, d and draws that show nearly all of them
ELSEWHERE = {
    "SaysLinesAreAlike": (1.1, 7, FEW),
    "LeaksBeyondAWord": (1.1, 70, FEW),
    "LiesByTheRemainder": (1.1, 70, FEW),
    "SimulatesNormally": (1.1, 70, FEW),
    "TellsByTheHash": (1.1, 70, FEW),
    "TrustsTheTypeOfItsValues": (1.1, 70, FEW),
    "NakedTruthIn300": (1.1, 70, MANY),
    "NakedTruthIn1000": (1.1, 70, MANY),
    "FewHashFunctions": (2.0, 70, MANY),
    "BitsFivePercentMore": (2.0, 5, MANY),
    "DrawsTheTruthTooOften": (1.1, 5, MANY),
    "FlaggedTruth": (1.1, 5, MANY),
    "SixteenBitsOfSeed": (1.1, 5, MANY),
    "TooLittleGeometricNoise": (1.1, 5, MANY),
    "ShrinksItsSum": (1.1, 5, MANY),
}
METHODS = {cls.__name__: cls for cls in defined(methods, PostProcessor)}
METRICS = {cls.__name__: cls for cls in defined(metrics, Metric)}
ATTACKS = {cls.__name__: cls for cls in defined(attacks, Attack)}


def examined(name: str) -> Iterator[Finding]:
    """What is found about a bug, where it shows."""
    epsilon, d, draws = ELSEWHERE.get(name, USUAL)
    return findings(BUGS[name](epsilon=epsilon, d=d), draws=draws)


@pytest.mark.parametrize("d", [3, 70])
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_oracle_passes(name: str, d: int) -> None:
    made = findings(HONEST[name](epsilon=1.1, d=d), draws=FEW)
    assert [f for f in made if not f.passed or f.unsure] == []


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_caught(name: str) -> None:
    assert any(not finding.passed for finding in examined(name))


@pytest.mark.parametrize("name", ["TrueBitNeverClearedAndSaysSo", "LyingLogProb", "LyingRatio",
                                  "LeaksInAParity", "FloatsGiveItAway", "CoarseGenerator",
                                  "TooLittleNoise", "BitsFivePercentMore", "FlaggedTruth",
                                  "OneBitMasksAnother", "TwoBitsGoTogether",
                                  "NakedTruthIn300"])  # fmt: skip
def test_the_audit_alone_sees_broken_privacy(name: str) -> None:
    audit = next(f for f in examined(name) if f.check.startswith("No event tells"))
    assert not audit.passed


@pytest.mark.parametrize("name", ["LeaksForOneValue", "LeaksForOnePair", "SumLeaksForOneValue"])
def test_every_value_of_a_large_domain_is_looked_at(name: str) -> None:
    case = OracleCase(BUGS[name](epsilon=1.1, d=400), draws=20_000)
    assert not all(f.passed for f in every_value(case))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("StatesTheMeanNoise", "Estimates from n=60 have the stated noise"),
        ("SwapsTheNoise", "Estimates from n=60 have the stated noise"),
        ("StatesLessGeometricNoise", "Estimates from n=60 have the stated noise"),
        ("ShrinksItsSum", "Estimates from n=60 are unbiased"),
        ("StatesLessNoise", "The noise of an estimate is that of p and q"),
        ("FivePercentMore", "p and q are probabilities with p ≤ e^ε q and 1 - q ≤ e^ε (1 - p)"),
        ("OnePermilleMore", "p and q are probabilities with p ≤ e^ε q and 1 - q ≤ e^ε (1 - p)"),
        ("FewHashFunctions", "Deviations from p and q do not recur"),
        ("SixteenBitsOfSeed", "Different generators give different reports"),
        ("GlobalRandomnessForFew", "No global generator is used"),
        ("TellsOfAUserFarAway", "A report tells nothing of other users' values"),
        ("TheFiftiethIsHonest", "A report is the same in every place of a batch"),
        (
            "SameBufferEveryTime",
            "A report depends neither on its place nor on the size of its batch",
        ),
        ("TrustsTheTypeOfItsValues", "The integer type of the values makes no difference"),
        ("ATenthCopiesItsNeighbour", "No bit of a report goes with a bit of the next user's"),
        ("AnothersChannel", "The channel is that of the reports"),
        (
            "SimulatesMiddlingCrowdsWrongly",
            "`simulate` has the stated means and noise for 50,000 users",
        ),
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
        ("SaysItSupportsOne", "A report supports as many values as stated"),
        ("SaysItMaySupportAll", "The fewest and the most values are those of some report"),
        ("CountsNoFurtherThanTwo", "`sizes` counts the values that a report supports"),
        ("TellsMoreThanItSupports", "What a report supports is all that it tells"),
        (
            "SaysPairsAreIndependent",
            "Values are supported as independently as `independence` says",
        ),
        (
            "SaysThreeAreIndependent",
            "Values are supported as independently as `independence` says",
        ),
        ("SaysMoreThanAllAreIndependent", "`independence` is a number of values"),
        (
            "ForgetsTheTruthInPairs",
            "Two values are supported together as often as `support_both` says",
        ),
        ("SaysLinesAreAlike", "Values besides the truth are supported alike"),
        ("SaysItsNonceIsAnotherField", "The nonce is a field of the layout"),
        ("SaysTheAnswerIsItsNonce", "The nonce is uniform, whatever the value"),
        ("DrawsHalfOfItsNonces", "The nonce is uniform, whatever the value"),
        ("RepeatsItsNonces", "The nonce is drawn afresh"),
        ("LeavesOutTheLastValue", "`report_of` supports exactly what it is asked for"),
        ("PacksWhatItShouldNot", "`report_of` supports exactly what it is asked for"),
        ("AnswersTheOpposite", "`report_with` keeps the nonce and supports the value"),
    ],
)
def test_the_check_that_is_meant_catches_it(name: str, check: str) -> None:
    found = (f for f in examined(name) if not f.passed and not f.evidence.startswith("raised"))
    assert any(f.check == check for f in found)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_passes_if_and_only_if_it_is_honest(name: str) -> None:
    assert all(f.passed for f in findings(METHODS[name]())) == name.startswith("Honest")


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_passes_if_and_only_if_it_is_honest(name: str) -> None:
    assert all(f.passed for f in findings(METRICS[name]())) == name.startswith("Honest")


def attacked(name: str) -> list[Finding]:
    return list(findings(ATTACKS[name](ATTACKED[0], PEOPLE.copy()), draws=FEW))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_if_and_only_if_it_is_honest(name: str) -> None:
    assert all(f.passed for f in attacked(name)) == name.startswith("Honest")


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("ForgetsWhatTargetsHave", "The formula follows from the rates"),
        ("PromisesTwice", "The measured gain is the formula"),
        ("GainsWithoutFakes", "No fake users, no gain"),
        ("PromisesWithoutFakes", "No fake users, no gain"),
        ("StatesOtherRates", "Values are supported at the stated rates"),
        ("TalliesWithoutNoise", "`tally` has the law of `reports`"),
        ("TalliesAnotherTarget", "`tally` has the law of `reports`"),
        ("SendsTooFew", "A server takes every fake report, and as many as there are fake users"),
        ("SendsWhatIsNoReport",
         "A server takes every fake report, and as many as there are fake users"),
        ("MiscountsItsFakes",
         "A server takes every fake report, and as many as there are fake users"),
        ("GlobalChance", "No global generator is used"),
        ("Remembers", "Randomness comes from the generator alone"),
        ("HoldsOthersData", "What honest users hold is left untouched"),
        ("TakesAnyTargets", "Targets that cannot be are refused"),
        ("CannotBeDone", "It can be carried out against some protocol"),
    ],
)  # fmt: skip
def test_the_check_that_is_meant_catches_an_attack(name: str, check: str) -> None:
    assert check in {f.check for f in attacked(name) if not f.passed}


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
        (methods.ClearsTheTally(), "The estimate is left untouched"),
        (methods.SpoilsTheNoise(), "The estimate is left untouched"),
        (methods.GlobalChance(), "There is no chance in it"),
        (methods.FavoursTheFirst(), "Equal estimates of equal noise end equal"),
        (methods.RemembersByTheSize(), "The result depends on no other estimate"),
        (methods.ReusesItsResult(), "A result stays what it is"),
        (metrics.InfiniteAtZero(), "Any two finite vectors have a finite value"),
        (metrics.Overwrites(), "Both vectors are left untouched"),
        (metrics.Fickle(), "The same vectors give the same value"),
        (metrics.Forgetful(), "Made twice for a dataset, it is the same metric"),
        (metrics.NotZeroAtTheTruth(), "A distance is 0 at the truth"),
        (metrics.NotZeroForCounts(), "A distance is 0 at the truth"),
        (metrics.NegativeForLargeEstimates(), "A distance is at least 0"),
        (metrics.UndefinedForOneValue(), "Any two finite vectors have a finite value"),
        (metrics.UndefinedForNobody(), "Any two finite vectors have a finite value"),
        (metrics.InfiniteAtTies(), "Any two finite vectors have a finite value"),
        (metrics.InfiniteAtZeros(), "Any two finite vectors have a finite value"),
        (metrics.RewardsShrinkage(), "No estimate beats the truth, as better = 'lower' says"),
        (metrics.ScaledByTheFirstTruth(), "The value depends on no other vectors"),
        (metrics.KnowsTheLastDataset(), "Made for one dataset, it does not change with another"),
        (metrics.SumsOnly(), "The truth turned upside down is worse than the truth"),
        (metrics.Blind(), "The truth turned upside down is worse than the truth"),
    ],
    ids=lambda thing: thing if isinstance(thing, str) else type(thing).__name__,
)
def test_the_promise_that_is_broken_is_named(thing: PostProcessor | Metric, check: str) -> None:
    assert check in {f.check for f in findings(thing) if not f.passed}


@pytest.mark.parametrize(
    ("thing", "notes"),
    [
        (methods.HonestSmoothing(), {"The order of the values matters: it is for ordered domains"}),
        (
            metrics.HonestOfThePlace(),
            {"The order of the values matters: it is for ordered domains"},
        ),
        (
            metrics.HonestButTheLast(),
            {
                "The order of the values matters: it is for ordered domains",
                "It does not look at every value",
            },
        ),
        (metrics.HonestDistance(), set()),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_fault_but_to_be_known_is_a_note(
    thing: PostProcessor | Metric, notes: set[str]
) -> None:
    assert {f.check for f in findings(thing) if f.note} == notes
