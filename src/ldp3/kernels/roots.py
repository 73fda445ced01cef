"""Where a function of one number is zero.

References
----------
Brent. *Algorithms for minimization without derivatives.* Prentice-Hall 1973, chapter 4.
"""

from collections.abc import Callable
from math import inf
from sys import float_info

RELATIVE = 4 * float_info.epsilon  # no root is known better than that
STEPS = 1_000  # at most; a hundred are many


def find_root(function: Callable[[float], float], low: float, high: float, within: float) -> float:
    """The root between `low` and `high`, where the function has different signs, by Brent's method.

    Each step interpolates where that promises more than halving the interval does. The numbers
    are those of `scipy.optimize.brentq`, which takes most of a second to import.

    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0, within=1e-12), 9)
    1.414213562
    """
    last, best = float(low), float(high)
    f_last, f_best = float(function(last)), float(function(best))
    if f_last == 0:
        return last
    if (f_last > 0) == (f_best > 0) and f_best != 0:
        raise ValueError(f"a root needs two signs, got {f_last} and {f_best}")
    other, f_other = last, f_last  # the root lies between it and the best
    step = step_before = best - last
    for _ in range(STEPS):
        if abs(f_other) < abs(f_best):
            last, best, other = best, other, best
            f_last, f_best, f_other = f_best, f_other, f_best
        least = (within + RELATIVE * abs(best)) / 2
        half = (other - best) / 2
        if f_best == 0 or abs(half) < least:
            return best
        tried = inf
        if abs(step_before) > least and abs(f_best) < abs(f_last):
            tried = _interpolated((last, f_last), (best, f_best), (other, f_other))
        if 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - least):
            step_before, step = step, tried
        else:
            step_before = step = half
        last, f_last = best, f_best
        best += step if abs(step) > least else (least if half > 0 else -least)
        f_best = float(function(best))
        if f_best != 0 and (f_last > 0) != (f_best > 0):
            other, f_other = last, f_last
            step = step_before = best - last
    return best


Point = tuple[float, float]  # a number, and the function there


def _interpolated(last: Point, best: Point, other: Point) -> float:
    """The step from the best point to where the line, or the hyperbola, through them is zero."""
    (x_last, f_last), (x_best, f_best), (x_other, f_other) = last, best, other
    if x_last == x_other:
        return -f_best * (x_best - x_last) / (f_best - f_last)
    to_last = (f_last - f_best) / (x_last - x_best)
    to_other = (f_other - f_best) / (x_other - x_best)
    above, below = f_other * to_other - f_last * to_last, to_other * to_last * (f_other - f_last)
    return -f_best * above / below if below else inf  # too flat for floats
