"""Exact probabilities on a client: whole numbers over 2⁶⁴, rounded towards privacy."""

from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor

WORDS = 2**64  # probabilities on the client are whole numbers of these
_DIGITS = Context(prec=60)


def exp(epsilon: float) -> Fraction:
    """e^ε to 60 digits, rounded down by less than 1e-58 of itself."""
    power = Decimal(epsilon).exp(_DIGITS)
    return Fraction(power) * (1 - Fraction(1, 10**58))


def floor_threshold(probability: Fraction) -> int:
    """Largest whole number of 2⁻⁶⁴ not above `probability`, kept off 0 and 1."""
    return min(max(floor(probability * WORDS), 1), WORDS - 1)


def ceil_threshold(probability: Fraction) -> int:
    """Smallest whole number of 2⁻⁶⁴ not below `probability`, kept off 0 and 1."""
    return min(max(ceil(probability * WORDS), 1), WORDS - 1)
