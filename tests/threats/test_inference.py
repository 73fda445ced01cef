"""How often the best attacker is right: sums against enumeration and simulation."""

from dataclasses import dataclass
from itertools import product
from math import exp

import numpy as np
import pytest
from scipy.stats import binomtest

import ldp3
from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import LDPError, require_values
from ldp3.kernels import bits
from ldp3.protocols.layout import Bits
from ldp3.protocols.pure import PureOracle
from ldp3.threats import inference as module
from ldp3.threats.inference import (
    Inference,
    ceiling,
    inference,
    says_law,
    simulated_successes,
)
from tests.laws import every_law
from tests.protocols.test_statements import FEW

ALPHA = 1e-6
PRIOR = np.array([0.4, 0.2, 0.2, 0.15, 0.05])


def pure(spec: str, epsilon: float, d: int) -> PureOracle:
    oracle = ldp3.oracle(spec, epsilon, d)
    assert isinstance(oracle, PureOracle)
    return oracle


@dataclass(frozen=True)
class UnaryAndParity(PureOracle):
    """OUE with half of the budget, beside whether the value is odd with the other half."""

    @property
    def p(self) -> float:
        return 0.5

    @property
    def q(self) -> float:
        return 1 / (exp(self.epsilon / 2) + 1)

    @property
    def layout(self) -> Bits:
        return Bits(self.d + 1)

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        chance = np.full((len(codes), self.d + 1), self.q)
        chance[np.arange(len(codes)), codes] = self.p
        chance[:, -1] = np.where(codes % 2 == 1, 1 - self.q, self.q)
        return bits.packed(rng.random(chance.shape) < chance)

    def supports(self, reports: Reports, value: int) -> BoolArray:
        return bits.contains(reports, value)

    def log_prob(self, reports: Reports, value: int) -> FloatArray:
        odd = bits.contains(reports, self.d) == (value % 2 == 1)
        return (self.epsilon / 2) * (self.supports(reports, value).astype(float) + odd)


@dataclass(frozen=True)
class SaysNothing(UnaryAndParity):
    def log_prob(self, reports: Reports, value: int) -> None:  # type: ignore[override]
        return None


def law_of_both(oracle: UnaryAndParity) -> FloatArray:
    sets = np.array(list(product([False, True], repeat=oracle.d + 1)))
    chance = np.where(np.eye(oracle.d, dtype=bool), oracle.p, oracle.q)
    odd = np.where(np.arange(oracle.d) % 2 == 1, 1 - oracle.q, oracle.q)
    one = np.column_stack([chance, odd])[:, None]
    return np.where(sets, one, 1 - one).prod(axis=2)


def bayes(law: FloatArray, prior: FloatArray, rounds: int) -> float:
    """How often the best guess is right, over all reports there are."""
    joint = law if rounds == 1 else np.einsum("vi,vj->vij", law, law).reshape(len(law), -1)
    return float((prior[:, None] * joint).max(axis=0).sum())


def assert_is(found: Inference, best: float) -> None:
    if found.exact:
        assert found.success == pytest.approx(best, rel=1e-12)
    else:
        assert not found.as_if_independent
        right = round(found.success * module.PEOPLE)
        assert binomtest(right, module.PEOPLE, best).pvalue > ALPHA / 100


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("spec", FEW)
def test_the_success_is_what_enumeration_gives(spec: str, epsilon: float, rounds: int) -> None:
    oracle = pure(spec, epsilon, len(PRIOR))
    _, law = every_law(oracle)
    assert_is(inference(oracle, PRIOR, reports=rounds), bayes(law, PRIOR, rounds))


@pytest.mark.parametrize("spec", ["grr", "rappor", "oue", "the", "ss(k=2)"])
def test_one_report_of_these_needs_no_simulation(spec: str) -> None:
    assert inference(pure(spec, 1.0, len(PRIOR)), PRIOR).exact


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_report_may_tell_more_than_what_it_supports(rounds: int) -> None:
    oracle = UnaryAndParity(epsilon=2.0, d=len(PRIOR))
    assert oracle.support_ratio is None
    best = bayes(law_of_both(oracle), PRIOR, rounds)
    assert_is(inference(oracle, PRIOR, reports=rounds), best)
    by_supports = inference(pure("oue", 1.0, len(PRIOR)), PRIOR, reports=rounds)
    assert best > by_supports.success + 0.05


def test_what_an_oracle_does_not_say_is_not_guessed() -> None:
    silent = SaysNothing(epsilon=1.0, d=4)
    with pytest.raises(LDPError, match=r"SaysNothing does not say .* cannot be told"):
        inference(silent)
    assert (says_law(silent), simulated_successes(silent, [1, 2], 50)) == (False, {})


def test_hash_functions_that_are_not_ideal_are_not_called_exact() -> None:
    few, many = inference(pure("olh", 1.0, 5)), inference(pure("olh", 1.0, 6))
    assert (few.exact, few.as_if_independent) == (True, False)
    assert (many.exact, many.as_if_independent, many.error) == (False, True, 0.0)


def test_a_whole_number_is_an_epsilon() -> None:
    whole, real = (ldp3.oracle("ss(k=2)", epsilon, 4) for epsilon in (1, 1.0))
    assert isinstance(whole, PureOracle)
    assert isinstance(real, PureOracle)
    assert inference(whole, reports=2) == inference(real, reports=2)


@pytest.mark.parametrize("spec", ["grr", "rappor", "oue", "blh", "olh", "ss"])
@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("known", [False, True])
def test_the_sum_is_what_simulation_gives(spec: str, rounds: int, known: bool) -> None:
    oracle = pure(spec, 1.5, len(PRIOR))
    prior = PRIOR if known else None
    found = inference(oracle, prior, truth=PRIOR, reports=rounds)
    share, _ = module._simulated(oracle, *module._laws(oracle, prior, PRIOR), rounds, seed=8)
    if found.exact:
        right = round(share * module.PEOPLE)
        assert binomtest(right, module.PEOPLE, found.success).pvalue > ALPHA / 24


@pytest.mark.parametrize("spec", ["grr", "rappor", "oue", "olh", "ss"])
def test_knowing_the_truth_never_hurts_and_the_ceiling_holds(spec: str) -> None:
    for epsilon in (0.1, 1.0, 4.0):
        for rounds in (1, 3):
            oracle = pure(spec, epsilon, len(PRIOR))
            uniform = inference(oracle, truth=PRIOR, reports=rounds)
            known = inference(oracle, PRIOR, reports=rounds)
            slack = 5 * (uniform.error + known.error) + 1e-12  # rounding
            assert known.success >= uniform.success - slack
            assert known.success >= known.blind - slack
            assert known.success <= known.ceiling + slack


def test_a_memo_makes_all_rounds_tell_as_much_as_one() -> None:
    oracle = pure("oue", 1.0, 30)
    once = inference(oracle, reports=1)
    assert inference(oracle, reports=15, memoised=True) == once
    assert inference(oracle, reports=15).success > 2 * once.success


def test_the_published_figures_of_a_fresh_oue_come_out() -> None:
    # d = 30, ε = 1, ten fresh reports
    assert inference(pure("oue", 1.0, 30), reports=10).success == pytest.approx(0.333, abs=5e-4)


def test_the_ceiling_of_no_budget_is_guessing() -> None:
    assert ceiling(0.3, 0.0) == pytest.approx(0.3)
    assert ceiling(0.3, 1e6) == 1.0


@pytest.mark.parametrize("reports", [171, 200])  # 171! is no float
def test_grr_has_its_sum_for_many_reports(reports: int) -> None:
    grr = pure("grr", 0.3, 4)
    found = inference(grr, reports=reports)
    rng = ldp3.stream(5)
    counts = rng.multinomial(reports, [grr.p, *[grr.q] * 3], size=40_000)
    best = counts == counts.max(axis=1, keepdims=True)
    right = best[:, 0] / best.sum(axis=1)
    assert found.exact
    assert abs(right.mean() - found.success) < 5 * right.std() / 200  # five standard errors


def test_more_reports_than_can_be_simulated_are_refused_in_one_line() -> None:
    with pytest.raises(LDPError, match="at most") as refusal:
        inference(pure("ss", 1.0, 100), reports=10**6)
    assert "\n" not in str(refusal.value)
