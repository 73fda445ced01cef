"""What the audit says that it would have found, it finds; and it promises no more."""

import pytest

import ldp3
from ldp3.verification.base import DRAWS
from ldp3.verification.cases import OracleCase
from ldp3.verification.privacy import Reach, audit
from tests.verification.planted.honest import HonestSum
from tests.verification.planted.subtle import FlaggedTruth


def reach(epsilon: float, draws: int, event: int, d: int = 70) -> Reach:
    case = OracleCase(ldp3.oracle("grr", epsilon=epsilon, d=d), draws=draws)
    return Reach(case, 131, int(0.93 * 4 * draws), event // 2, event)


def test_more_draws_see_less() -> None:
    few, many = reach(1.0, 1_000, 1_000), reach(1.0, 8_000, 8_000)
    assert 1.0 < many.epsilon < few.epsilon
    assert many.rate == pytest.approx(few.rate / 8)


def test_a_larger_budget_hides_more() -> None:
    rates = [reach(epsilon, DRAWS, 1_000).rate for epsilon in (0.5, 1.0, 2.0, 5.0, 10.0)]
    assert rates == sorted(rates)
    assert rates[1] < 1 / 3_000
    assert rates[-1] > 1


@pytest.mark.parametrize("seed", range(1, 4))  # of 100 seeds, one may miss it
def test_a_leak_of_the_smallest_rate_that_is_promised_is_found(seed: int) -> None:
    class Flagged(FlaggedTruth):
        RATE = reach(1.0, 10_000, 1_000).rate

    (finding,) = audit(OracleCase(Flagged(epsilon=1.0, d=70), seed, draws=10_000))
    assert not finding.passed


def test_what_could_not_be_seen_is_said() -> None:
    assert reach(1.0, 100, 0).epsilon == float("inf")
    assert not reach(1.0, 100, 0).enough
    assert "no budget, however large, would have shown" in reach(1.0, 100, 0).sentence
    assert "in 1 of 3," in reach(1.0, DRAWS, 10_000).sentence


def test_where_no_reports_can_tell_it_is_a_note() -> None:
    assert reach(20.0, DRAWS, 10_000).epsilon == float("inf")
    assert not reach(20.0, DRAWS, 10_000).enough
    assert reach(20.0, DRAWS, 10_000).hopeless
    assert not reach(5.0, 100, 10).hopeless  # more draws would do
    (finding,) = audit(OracleCase(HonestSum(epsilon=20.0, d=5), draws=1_000))
    assert (finding.passed, finding.unsure, finding.note) == (True, False, True)
