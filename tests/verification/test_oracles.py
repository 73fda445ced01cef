"""The contract of oracles bites: a planted bug is caught by the check that is meant to.

What the bugs were planted in passes. That all checks together say so, too, is among the slow tests.
"""

from collections.abc import Callable

import pytest

from ldp3.kinds import defined
from ldp3.protocols.base import FrequencyOracle
from ldp3.verification import (
    deployment,
    estimation,
    findings,
    independence,
    perturbation,
    privacy,
    simulation,
    statements,
    supports,
)
from ldp3.verification.base import examine
from ldp3.verification.cases import OracleCase
from ldp3.verification.oracles import (
    CHECKS,
    OF_DEPLOYABLE_ORACLES,
    OF_ONE_ATTRIBUTE,
    OF_PURE_ORACLES,
    Check,
)
from ldp3.verification.verify import SETTINGS, SILENT
from tests.verification.planted import (
    afterthoughts,
    clients,
    crowds,
    honest,
    leaks,
    ranges,
    servers,
    subtle,
    sums,
    unusual,
)
from tests.verification.planted import statements as false_statements

HONEST = {
    cls.__name__: cls for module in (honest, unusual) for cls in defined(module, FrequencyOracle)
}
BUGS = {
    cls.__name__: cls
    for module in (
        leaks,
        subtle,
        crowds,
        servers,
        false_statements,
        sums,
        clients,
        ranges,
        afterthoughts,
    )
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
    "SimulatesFourAsSix": (1.1, 70, FEW),
    "ForgetsOneValue": (1.1, 70, FEW),
    "TwiceTheBudgetForTwoValues": (1.1, 2, FEW),
    "TruthfulBeyondTheChunk": (1.1, 5, MANY),
    "TruthfulFromThe150000th": (1.1, 5, MANY),
    "TruthfulNowAndThenInLargeBatches": (1.1, 5, MANY),
    "ForgetsBeyondTheChunk": (1.1, 5, MANY),
    "CountersOverflow": (1.1, 5, MANY),
    "CountsTheLastTwiceInLargeBatches": (1.1, 5, MANY),
    "SingleUsersVanish": (2.0, 5, FEW),
    "TruthfulInBatchesOfAFewHundred": (1.1, 70, MANY),
    "NakedTruthIn300": (1.1, 70, MANY),
    "NakedTruthIn1000": (1.1, 70, MANY),
    "FewHashFunctions": (2.0, 70, MANY),
    "BitsFivePercentMore": (2.0, 5, FEW),
    "DrawsTheTruthTooOften": (1.1, 5, MANY),
    "SixteenBitsOfSeed": (1.1, 5, MANY),
    "ShrinksItsSum": (1.1, 5, MANY),
}
# who catches what: the check, what it is to say, and the bugs
CAUGHT: list[tuple[Check, str, str]] = [
    (perturbation.one_form,
     "Reports are an array with one row per person, of one form for every value",
     "LeaksInTheType NarrowerForLowValues WiderForHighValues ForgetsRows"),
    (perturbation.bad_values, "A value outside the domain is refused with one line",
     "OutOfDomainSentVerbatim TakesForeignValues"),
    (perturbation.generator_alone, "Randomness comes from the generator alone",
     "GlobalRandomness"),
    (perturbation.generator_alone, "No global generator is used",
     "GlobalRandomnessForFew NumpysGlobalRandomness"),
    (perturbation.generator_alone, "Values are left untouched", "MutatesItsInput"),
    (perturbation.generator_alone, "The integer type of the values makes no difference",
     "TrustsTheTypeOfItsValues"),
    (perturbation.enough_randomness, "At least 128 bits are taken from the generator",
     "SmallSeed"),
    (perturbation.enough_randomness, "Randomness goes on from batch to batch",
     "NoiseRepeatsInTheNextBatch"),
    (perturbation.enough_randomness, "Different generators give different reports",
     "SixteenBitsOfSeed"),
    (privacy.bounded_ratio, "The declared likelihood ratio is at most e^ε", "RatioAboveBudget"),
    (privacy.bounded_supports,
     "p and q are probabilities with p ≤ e^ε q and 1 - q ≤ e^ε (1 - p)",
     "FivePercentMore OnePermilleMore"),
    (privacy.audit, "No event tells two values apart by more than e^ε",
     "IgnoresEpsilon LastBitNotRandomised LeaksForOnePair LeaksForOneValue LeaksInAPaddingByte "
     "LeaksInAParity LiesIncludeTheTruth LiesIncludeTheTruthAndSaysSo LyingLogProb LyingRatio "
     "OneValueKeptOut TrueBitNeverCleared TrueBitNeverClearedAndSaysSo BitsFivePercentMore "
     "BitsShareTheirNoise BitsTwiceTheBudget CountsTellTheValue FlaggedTruth GrainTellsTheValue "
     "LastValueIsTold OneBitMasksAnother OneEntryIsQuieter OneValueGoesNaked "
     "TellsByTheHash TooLittleGeometricNoise TwoBitsGoTogether WholeBudgetOnEveryBit "
     "CoarseGenerator FloatsGiveItAway NoNoiseOnTheRest SumLeaksForOneValue TooLittleNoise "
     "TwiceTheBudgetForTwoValues"),
    (supports.every_value, "No value's reports exceed e^ε times the mean over all values",
     "LeaksBeyondAWord"),
    (supports.every_value,
     "Every value is supported with p by its own reports, with q by others",
     "ClientAndServerDisagree LastValueIsToldLess LiesAreNeighbours LiesByTheRemainder "
     "LyingPAndQ"),
    (supports.every_value, "People who hold one value are estimated so, whichever it is",
     "ForgetsOneValue"),
    (supports.own_and_others, "Own value is supported with p, others with q",
     "RemembersFirstReports TellsOfTheNextUser TiedHash"),
    (supports.small_biases, "Deviations from p and q do not recur", "FewHashFunctions"),
    (supports.declared_law, "Reports follow `log_prob`", "LyingLogProb"),
    (supports.declared_law, "`log_prob` stays within ε", "WholeBudgetOnEveryBit"),
    (supports.channel, "The channel is that of the reports", "AnothersChannel"),
    (supports.channel, "The channel's two directions belong together", "DirectChannel"),
    (supports.channel, "The scores of reports have the weights of their values as means",
     "ScoresForgetTheLies"),
    (supports.channel, "A weighted sum of estimates is the mean score", "ScoresAnotherEstimate"),
    (statements.sizes, "A report supports as many values as stated", "SaysItSupportsOne"),
    (statements.sizes, "The fewest and the most values are those of some report",
     "SaysItMaySupportAll"),
    (statements.sizes, "`sizes` counts the values that a report supports",
     "CountsNoFurtherThanTwo"),
    (statements.all_that_is_told, "What a report supports is all that it tells",
     "TellsMoreThanItSupports"),
    (statements.independent, "Values are supported as independently as `independence` says",
     "SaysPairsAreIndependent SaysThreeAreIndependent SaysAllAreIndependent"),
    (statements.independent, "`independence` is a number of values",
     "SaysMoreThanAllAreIndependent"),
    (statements.together, "Two values are supported together as often as `support_both` says",
     "ForgetsTheTruthInPairs"),
    (statements.alike, "Values besides the truth are supported alike", "SaysLinesAreAlike"),
    (statements.nonce, "The nonce is a field of the layout", "SaysItsNonceIsAnotherField"),
    (statements.nonce, "The nonce is uniform, whatever the value",
     "SaysTheAnswerIsItsNonce DrawsHalfOfItsNonces"),
    (statements.nonce, "The nonce is drawn afresh", "RepeatsItsNonces"),
    (statements.made_to_order, "`report_of` supports exactly what it is asked for",
     "LeavesOutTheLastValue PacksWhatItShouldNot"),
    (statements.made_to_order, "`report_with` keeps the nonce and supports the value",
     "AnswersTheOpposite"),
    (independence.batches, "A report depends neither on its place nor on the size of its batch",
     "AloneIsHonest FirstOfTheBatchIsHonest LastOfTheBatchIsHonest OneLieForAll "
     "SameBufferEveryTime SameStreamInEveryBatch SortsItsReports TruthfulInBatchesOfAFewHundred"),
    (independence.batches, "A report is the same in every place of a batch",
     "TheFiftiethIsHonest"),
    (independence.batches, "Reports have the same law all through a batch of 200,000",
     "TruthfulBeyondTheChunk TruthfulFromThe150000th TruthfulNowAndThenInLargeBatches"),
    (independence.neighbours, "A report tells nothing of other people's values",
     "TellsOfAUserFarAway TellsOfThePreviousUser"),
    (independence.independence, "Reports of different people are independent",
     "NeighboursShareACoin NoiseRepeatsAfterAThousand NoiseRepeatsAfterSevenHundred "
     "OneBitIsSharedByTen MirrorsItsNoise SharesACoinWithOneWhoDiffers"),
    (independence.independence, "No bit of a report goes with a bit of the next person's",
     "ATenthCopiesItsNeighbour"),
    (estimation.adding_up, "`aggregate` gives a tally that says how many reports it holds",
     "CountsDistinctReports"),
    (estimation.adding_up, "Reports are left untouched", "SortsTheReportsInPlace"),
    (estimation.adding_up, "Tallies of batches add up",
     "AggregateAverages MiscountsTheTail TheFirstCountsTwice TakesRepeatsForOne"),
    (estimation.adding_up, "A large batch adds up like small ones",
     "ForgetsBeyondTheChunk CountsTheLastTwiceInLargeBatches"),
    (estimation.adding_up, "Equal reports are counted each", "CountersOverflow"),
    (estimation.nobody, "No people give the empty tally, which adds nothing",
     "SimulatesAnotherCrowd"),
    (estimation.validity, "Random bytes, or no numbers, cannot corrupt the counts",
     "TrustsEveryReport"),
    (estimation.counting, "A tally counts what `supports` defines", "DecodesWrongly"),
    (estimation.formula, "The estimate is (C/n - q)/(p - q) for every n",
     "AddsOneToEveryCount BiasedForManyReports ClippedButCalledUnbiased TruncatingDecoder "
     "UnseenLeftAtZero WrongForOneReport"),
    (estimation.impossible_tallies, "A tally whose n disagrees with its counts is refused",
     "TakesAnyTally"),
    (estimation.sound_estimate, "An estimate has its oracle's support", "SaysAnotherP"),
    (estimation.sound_estimate, "An estimate keeps its tally", "LosesItsTally"),
    (estimation.sound_estimate, "Estimating changes nothing and has no chance in it",
     "EstimateSpoilsTheTotal"),
    (estimation.formula, "The noise of an estimate is that of p and q",
     "StatesLessNoise"),
    (estimation.queries, "Sums over several values have the stated noise",
     "SaysValuesExcludeEachOther"),
    (estimation.formula, "`variance` is that of the noise of an estimate",
     "StatesLessVariance VarianceWithoutFrequency WrongVariance"),
    (estimation.unbiased, "Estimates from n=1 are unbiased", "ClippedVectors"),
    (estimation.unbiased, "Estimates from n=60 have the stated noise",
     "StatesLessGeometricNoise StatesTheMeanNoise SwapsTheNoise WrongStatedNoise "
     "HalvesTheNoiseOfRareValues"),
    (simulation.simulation, "`simulate` counts its people", "SimulatesAnotherCrowd"),
    (simulation.simulation, "`simulate` has the law of the user path, for 6 people",
     "IndependentSimulation SimulatesNormally SimulatesTooSmoothly SingleUsersVanish"),
    (simulation.simulation, "`simulate` has the law of the user path, for 300 people",
     "SimulatesNobodyWithoutNoise SimulatesMixturesWrongly"),
    (simulation.crowds, "`simulate` has the stated means and noise for 50,000 people",
     "SimulatesMiddlingCrowdsWrongly SimulatesFourAsSix"),
    (simulation.crowds, "`simulate` has the stated means and noise for 1,000,000 people",
     "SimulatesSmallCrowdsOnly"),
    (simulation.crowds, "`simulate` has the stated means and noise for 10,000,000,000 people",
     "SimulatesIn32Bits SimulatesInSinglePrecision"),
    (deployment.written, "A report is written and read without loss",
     "LayoutIsTooNarrow LayoutReadsAnother"),
    (deployment.hostile_bytes, "No report can be written in two ways", "LayoutReadsTwoWays"),
    (deployment.described, "The constants of `draw` are whole numbers", "ConstantsAreFractions"),
    (deployment.described, "The layout can be written as JSON", "LayoutCannotBeDescribed"),
    (deployment.drawing, "`draw` gives a whole number that is a valid report",
     "DrawsFractions DrawsWhatIsNoReport"),
    (deployment.drawing, "The same words give the same report", "DrawsFromItsOwnGenerator"),
    (deployment.drawn_law, "`draw` has the law of `perturb`",
     "DrawsFromOneSeed DrawsTheTruthAsALie"),
    (deployment.drawn_law, "`draw` supports the own value with p, others with q",
     "DrawsTheTruthTooOften"),
]  # fmt: skip
# what is wrong in one range of ε or d alone is caught at a setting in it, with its few draws
RANGES: list[tuple[Check, str, Callable[[float, int], bool]]] = [
    (privacy.audit, "TwiceTheBudgetBetweenTwoAndFive", lambda epsilon, _: 2 < epsilon < 5),
    (privacy.audit, "TwiceTheBudgetAboveFive", lambda epsilon, _: 5 < epsilon < 10),
    (privacy.audit, "NoNoiseInLargeDomains", lambda _, d: d > 1_000),
    (supports.every_value, "WrongScaleInLargeDomains", lambda _, d: d > 2_000),
]
SLOW = "NakedTruthIn300", "NakedTruthIn1000", "ShrinksItsSum"  # so rare or small are they


@pytest.mark.parametrize("d", [3, pytest.param(70, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_oracle_passes(name: str, d: int) -> None:
    made = findings(HONEST[name](epsilon=1.1, d=d), draws=FEW)
    assert [f for f in made if not f.passed or f.unsure] == []


@pytest.mark.parametrize(
    ("check", "sentence", "name"),
    [
        pytest.param(check, sentence, name, id=f"{check.__name__}-{name}")
        for check, sentence, names in CAUGHT
        for name in names.split()
    ],
)
def test_the_check_that_is_meant_catches_it(check: Check, sentence: str, name: str) -> None:
    epsilon, d, draws = ELSEWHERE.get(name, USUAL)
    case = OracleCase(BUGS[name](epsilon=epsilon, d=d), draws=draws)
    failed = [f for f in examine([check], case, SILENT) if not f.passed]
    assert sentence in {f.check for f in failed if not f.evidence.startswith("raised")}


@pytest.mark.parametrize(
    ("check", "name", "within"),
    [
        # every value of 5,000: the slowest by far
        pytest.param(
            *one, id=one[1], marks=pytest.mark.slow if one[0] is supports.every_value else ()
        )
        for one in RANGES
    ],
)
def test_no_range_of_settings_goes_unseen(
    check: Check, name: str, within: Callable[[float, int], bool]
) -> None:
    where = [(e, d, int(MANY * share)) for e, d, share in SETTINGS if within(e, d)]
    cases = [OracleCase(BUGS[name](epsilon=e, d=d), draws=draws) for e, d, draws in where]
    assert not all(f.passed for case in cases for f in examine([check], case, SILENT))


def test_every_bug_has_a_check_and_every_check_a_bug() -> None:
    assert {*BUGS} == {
        *SLOW,
        *(name for _, name, _ in RANGES),
        *(name for _, _, names in CAUGHT for name in names.split()),
    }
    checks = {*CHECKS, *OF_ONE_ATTRIBUTE, *OF_PURE_ORACLES, *OF_DEPLOYABLE_ORACLES}
    assert checks == {check for check, _, _ in CAUGHT}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_all_checks_together_catch_it(name: str) -> None:
    epsilon, d, draws = ELSEWHERE.get(name, USUAL)
    for _, bug, within in RANGES:
        if name == bug:
            epsilon, d = next((e, d) for e, d, _ in SETTINGS if within(e, d))
    oracle = BUGS[name](epsilon=epsilon, d=d)
    assert not all(finding.passed for finding in findings(oracle, draws=draws))


@pytest.mark.parametrize(
    "name",
    ["LeaksForOnePair", *(pytest.param(name, marks=pytest.mark.slow)
                          for name in ("LeaksForOneValue", "SumLeaksForOneValue"))],
)  # fmt: skip
def test_every_value_of_a_large_domain_is_looked_at(name: str) -> None:
    case = OracleCase(BUGS[name](epsilon=1.1, d=400), draws=FEW)
    assert not all(f.passed for f in supports.every_value(case))
