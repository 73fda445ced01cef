"""The tests of attacks bite: with a bug planted where others have had one, they fail."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest

import ldp3
from ldp3.arrays import Reports
from ldp3.attacks.base import Attack
from ldp3.attacks.mga import MGA
from ldp3.attacks.ria import RIA
from ldp3.experiment.simulator import Simulator
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import stream
from ldp3.threats import detection, inference, pairs
from ldp3.types import Tally
from ldp3.verification import attacks as verification
from tests.attacks import test_contract
from tests.threats import test_detection, test_inference, test_poisoning

Plant = Callable[[pytest.MonkeyPatch], None]


def half_the_weight(patch: pytest.MonkeyPatch) -> None:
    """A supporting report weighs ε/2, as if its two sides were all that it tells."""
    right = inference._more_likely
    patch.setattr(inference, "_more_likely", lambda oracle: sqrt(1 + right(oracle)) - 1)


def ties_to_the_first(patch: pytest.MonkeyPatch) -> None:
    """Of equally likely values the first is guessed, which may be a frequent one."""
    patch.setattr(inference, "_averaged", lambda prior, truth: truth)


def a_bound_without_the_prior(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(inference, "ceiling", lambda most, budget: exp(budget) * most / (most + 99))


def clean_and_attacked_apart(patch: pytest.MonkeyPatch) -> None:
    """The honest reports of an attacked collection are others than those of the clean one."""

    def rng(self: Simulator, cell: Any, chunk: int) -> np.random.Generator:
        return stream(0, cell.attack, cell.protocol, cell.repeat, chunk)

    patch.setattr(Simulator, "_rng", rng)


def gain_without_what_targets_have(patch: pytest.MonkeyPatch) -> None:
    def gain(self: Attack, oracle: Any, m: int) -> float:
        rates = self.rates(oracle)
        assert rates is not None
        above = float((rates[list(self.targets)] - oracle.q).sum())
        return m / (int(self.honest.sum()) + m) * above / (oracle.p - oracle.q) * 1.2

    patch.setattr(Attack, "expected_gain", gain)


def fakes_who_all_pad_alike(patch: pytest.MonkeyPatch) -> None:
    """The exact way draws one report and counts it m times."""
    right = MGA.tally

    def tally(self: MGA, oracle: Any, m: int, rng: Any) -> Tally:
        return Tally(right(self, oracle, min(m, 1), rng).total * m, m)

    patch.setattr(MGA, "tally", tally)


def rates_of_the_unpadded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MGA, "_mean_padding", lambda self, oracle: 0.0)


def pairs_too_sure(patch: pytest.MonkeyPatch) -> None:
    right = pairs.pair_p_values
    patch.setattr(pairs, "pair_p_values", lambda c, p, n: right(c, p, n) / 10**4)


def sum_of_another_variance(patch: pytest.MonkeyPatch) -> None:
    right = detection.sum_test
    patch.setattr(detection, "sum_test", lambda o, c, n: replace(right(o, c, n), p_value=0.04))


@pytest.mark.parametrize(
    ("plant", "test"),
    [
        (
            half_the_weight,
            partial(test_inference.test_the_success_is_what_enumeration_gives, "oue", 1.0, 1),
        ),
        (
            ties_to_the_first,
            partial(test_inference.test_the_sum_is_what_simulation_gives, "oue", 1, False),
        ),
        (
            a_bound_without_the_prior,
            partial(test_inference.test_knowing_the_truth_never_hurts_and_the_ceiling_holds, "oue"),
        ),
        (clean_and_attacked_apart, test_poisoning.test_no_fake_users_no_gain_whatever_the_method),
        (gain_without_what_targets_have, test_poisoning.test_the_measured_gain_is_the_formula),
        (
            fakes_who_all_pad_alike,
            partial(test_contract.test_both_ways_have_one_law, "mga(padding='law')", "oue"),
        ),
        (
            rates_of_the_unpadded,
            partial(
                test_contract.test_each_value_is_supported_at_the_stated_rate,
                "mga(padding='law')",
                "oue",
                "tally",
            ),
        ),
        (
            pairs_too_sure,
            partial(
                test_detection.test_honest_reports_are_called_suspicious_as_rarely_as_promised,
                "oue",
                "all alike",
            ),
        ),
        (
            sum_of_another_variance,
            partial(
                test_detection.test_honest_reports_are_called_suspicious_as_rarely_as_promised,
                "blh",
                "one value",
            ),
        ),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_planted_bug_is_caught(
    plant: Plant, test: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    test()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test()


@dataclass(frozen=True, eq=False)
class Subtle(Attack):
    """Lies; in a third of the collections its tally forgets that liars are random."""

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        return RIA(self.targets, self.honest).reports(oracle, m, rng)

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:
        claimed = self.targets[:1] if rng.random() < 1 / 3 else self.targets
        return RIA(claimed, self.honest).tally(oracle, m, rng)


def test_a_small_difference_of_law_is_found_by_drawing_more() -> None:
    oracle = ldp3.oracle("grr", 1.0, 8)
    assert isinstance(oracle, PureOracle)
    subtle = Subtle(targets=(1, 2, 3), honest=np.full(8, 50))
    case = verification.AttackCase(subtle, oracle, 3, 250)
    apart, most = verification._apart(case)
    assert apart <= most  # not by the first collections
    (finding,) = verification.one_law(case)
    assert not finding.passed
