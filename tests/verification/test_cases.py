"""Looking again: suspicion alone is no fault, and what stays is."""

import numpy as np
import pytest

import ldp3
from ldp3.arrays import FloatArray
from ldp3.verification.base import ALPHA, DRAWS
from ldp3.verification.cases import OracleCase, persistent

CASE = OracleCase(ldp3.oracle("grr", epsilon=1.0, d=3))


@pytest.mark.parametrize(
    ("looks", "passed", "draws"),
    [
        ([[0.5, 0.009]], True, 10),  # two of them share 1 %
        ([[0.5, 0.004], [0.0, 0.002]], True, 30),
        ([[0.5, 0.004], [0.0, 0.0005], [0.0, 0.9]], True, 70),
        ([[0.5, 0.004], [0.9, 0.0005], [0.9, 0.0009]], False, 70),
    ],
)
def test_a_fault_is_what_is_seen_three_times(
    looks: list[list[float]], passed: bool, draws: int
) -> None:
    seen = []

    def p_values(case: OracleCase) -> FloatArray:
        seen.append((case.look, case.focus))
        return np.array(looks[case.look])

    finding = persistent("check", CASE, p_values, draws=10)
    assert (finding.passed, finding.draws, finding.alpha) == (passed, draws, ALPHA)
    assert seen == [(0, None), (1, 1), (2, 1)][: len(looks)]


def test_every_look_has_fresh_and_more_draws() -> None:
    again = CASE.again(2, focus=0)
    assert (CASE.count(100), again.count(100)) == (100, 400)
    assert (CASE.size, again.size) == (DRAWS, 4 * DRAWS)
    assert CASE.stream("x").random() != again.stream("x").random()
    assert again.features is CASE.features


def test_draws_scale_every_number() -> None:
    few = OracleCase(CASE.oracle, draws=DRAWS // 10)
    assert (few.size, few.count(2_000), few.count(5, least=3)) == (4_000, 200, 3)


def test_long_reports_are_held_within_memory() -> None:
    case = OracleCase(ldp3.oracle("oue", epsilon=1.0, d=100_000))
    assert case.size * len(case.values) * case.report_bytes <= 2**27
