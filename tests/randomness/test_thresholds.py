"""Probabilities as whole numbers over 2⁶⁴, rounded as they say."""

from fractions import Fraction

import mpmath
import pytest

from ldp3.randomness import WORDS, ceil_threshold, exp, floor_threshold


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.001, 0.5, 1.0, 2.0, 10.0, 50.0, 700.0])
def test_the_exponential_is_exact_and_rounded_down(epsilon: float) -> None:
    with mpmath.workdps(90):
        truth = mpmath.exp(mpmath.mpf(epsilon))
        ours = exp(epsilon)
        shortfall = 1 - mpmath.mpf(ours.numerator) / ours.denominator / truth
    assert 0 < shortfall < 1e-57


def test_thresholds_round_as_they_say_and_nothing_is_certain() -> None:
    third = Fraction(1, 3)
    assert floor_threshold(third) == WORDS // 3
    assert ceil_threshold(third) == WORDS // 3 + 1
    assert floor_threshold(Fraction(1)) == WORDS - 1
    assert ceil_threshold(Fraction(0)) == 1
