r"""For which frequency a protocol is tuned.

The variance of a pure protocol, $n \mathrm{Var}[\hat f] = A + f s$, has two parts, and the
parameter that makes $A$ least, for values that nobody holds, does not make it least for heavy ones:
there, fewer cells or smaller subsets do better.

References
----------
Pan. *Improving count-mean sketch as the leading locally differentially private frequency
estimator.* CSF 2025 (the least worst case).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from ldp3.errors import require

Design = float | Literal["minimax"] | None


def require_design(who: object, design: object, chosen: bool) -> None:
    """Refuse a design frequency that is none, or one beside the parameter that it would choose."""
    number = isinstance(design, float | int) and not isinstance(design, bool) and 0 < design < 0.5
    sound = design is None or design == "minimax" or number
    require(sound, who, "design must be between 0 and ½ or 'minimax'", design)
    require(
        design is None or not chosen, who, "design chooses what is given: leave one out", design
    )


def risk(p: Fraction, q: Fraction, design: Design) -> Fraction:
    """n times the variance at the design frequency; None is 0; the worst one for minimax."""
    base, slope = q * (1 - q) / (p - q) ** 2, (1 - p - q) / (p - q)
    if design == "minimax":
        return base + max(slope, Fraction(0))
    return base + Fraction(design or 0) * slope


def least(low: int, high: int, cost: Callable[[int], Fraction]) -> int:
    """The first integer in `low..high` with the least cost, which first falls and then rises."""
    while low < high:
        middle = (low + high) // 2
        if cost(middle) <= cost(middle + 1):
            high = middle
        else:
            low = middle + 1
    return low
