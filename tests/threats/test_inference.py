"""How often the best attacker is right: sums against enumeration and simulation."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

import ldp3
from ldp3.errors import LDPError
from ldp3.protocols.base import PureOracle
from ldp3.threats import inference as module
from ldp3.threats.inference import ceiling, inference

ALPHA = 1e-6
PRIOR = np.array([0.4, 0.2, 0.2, 0.15, 0.05])


def pure(spec: str, epsilon: float, d: int) -> PureOracle:
    oracle = ldp3.oracle(spec, epsilon, d)
    assert isinstance(oracle, PureOracle)
    return oracle


def laws(oracle: PureOracle) -> np.ndarray:
    """P(report | value) for every report of a small domain, by enumeration."""
    sets = np.array(list(product([False, True], repeat=oracle.d)))
    return np.array([_given(v, sets, oracle) for v in range(oracle.d)])


def _given(v: int, sets: np.ndarray, oracle: PureOracle) -> np.ndarray:
    if oracle.support_size is None:
        one = np.where(np.arange(oracle.d) == v, oracle.p, oracle.q)
        return np.where(sets, one, 1 - one).prod(axis=1)
    right = sets.sum(axis=1) == oracle.support_size
    inside, outside = right & sets[:, v], right & ~sets[:, v]
    return oracle.p * inside / inside.sum() + (1 - oracle.p) * outside / outside.sum()


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("spec", ["grr", "rappor", "oue", "ss(k=2)"])
def test_the_sum_is_what_enumeration_gives(spec: str, epsilon: float, rounds: int) -> None:
    oracle = pure(spec, epsilon, len(PRIOR))
    law = laws(oracle)
    joint = law if rounds == 1 else np.einsum("vi,vj->vij", law, law).reshape(len(PRIOR), -1)
    best = (PRIOR[:, None] * joint).max(axis=0).sum()
    found = inference(oracle, PRIOR, reports=rounds)
    if found.exact:
        assert found.success == pytest.approx(best, rel=1e-12)
    else:
        assert binomtest(round(found.success * module.PEOPLE), module.PEOPLE, best).pvalue > ALPHA


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
