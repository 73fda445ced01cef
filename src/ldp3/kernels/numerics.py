"""exp and log that give the same bits on every processor, and roots of functions.

NumPy picks its own by what the processor can do, and they differ in the last bit; so a table would
depend on the machine. These add and multiply in one fixed order, which IEEE arithmetic rounds alike
everywhere, and are as accurate (within one unit of the last digit, which a test checks).

References
----------
Brent. *Algorithms for minimization without derivatives.* Prentice-Hall 1973, chapter 4 (roots);
Cody, Waite. *Software manual for the elementary functions.* 1980 (the reduction of the argument);
Sun Microsystems. *Freely distributable libm*, e_log.c, 1993 (the series of log).
"""

from collections.abc import Callable
from math import factorial, inf, ldexp
from sys import float_info

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.kernels.compile import njit

_STEP = 512  # numbers at a time: they stay in cache
_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits
_LOWEST = -708.0  # exp is 0 below it, rather than subnormal
_SERIES = np.array([1 / factorial(i) for i in range(14)])
_LOG = np.array([
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
    2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
    1.479819860511658591e-01,
])  # fmt: skip

RELATIVE = 4 * float_info.epsilon  # no root is known better than that
STEPS = 1_000  # towards a root, at most; a hundred are many
Evaluated = tuple[float, float]  # a number, and a function there


def exp(x: FloatArray) -> FloatArray:
    """e to the power of each number, for numbers up to 709; 0 below -708.

    >>> exp(np.array([0.0, 1.0, -1000.0])).round(6)
    array([1.      , 2.718282, 0.      ])
    """
    out = np.array(x, dtype=np.float64, order="C")
    _exp(out.reshape(-1))
    return out


def log(x: FloatArray) -> FloatArray:
    """The natural logarithm of each number, which must be positive, normal and finite.

    >>> log(np.array([1.0, 10.0])).round(6)
    array([0.      , 2.302585])
    """
    out = np.array(x, dtype=np.float64, order="C")
    _log(out.reshape(-1))
    return out


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


def _interpolated(last: Evaluated, best: Evaluated, other: Evaluated) -> float:
    """The step from the best point to where the line, or the hyperbola, through them is zero."""
    (x_last, f_last), (x_best, f_best), (x_other, f_other) = last, best, other
    if x_last == x_other:
        return -f_best * (x_best - x_last) / (f_best - f_last)
    to_last = (f_last - f_best) / (x_last - x_best)
    to_other = (f_other - f_best) / (x_other - x_best)
    above, below = f_other * to_other - f_last * to_last, to_other * to_last * (f_other - f_last)
    return -f_best * above / below if below else inf  # too flat for floats


@njit
def exp_of(x: float) -> float:
    """The same of one number, for kernels."""
    k = np.rint(x * _LOG2_E)
    return ldexp(_series((x - k * _LN2_HIGH) - k * _LN2_LOW), int(k)) if x >= _LOWEST else 0.0


@njit
def log_factorials(last: int) -> FloatArray:
    """log 0!, log 1!, … up to that of the last."""
    logs = np.arange(last + 1.0)
    logs[0] = 1.0
    _log(logs)
    lost = 0.0
    for i in range(1, last + 1):  # Kahan's sum: what rounding takes is given back
        more = logs[i] - lost
        total = logs[i - 1] + more
        lost = (total - logs[i - 1]) - more
        logs[i] = total
    return logs


@njit
def _series(r: float) -> float:
    # e^r for |r| ≤ ½ ln 2
    c = _SERIES
    high = c[13] * r + c[12]
    high = (high * r + c[11]) * r + c[10]
    high = (high * r + c[9]) * r + c[8]
    high = (high * r + c[7]) * r + c[6]
    high = (high * r + c[5]) * r + c[4]
    high = (high * r + c[3]) * r + 0.5
    return high * r * r + r + 1.0


@njit
def _exp(x: FloatArray) -> None:
    # x = k ln 2 + r with |r| ≤ ½ ln 2, and e^x = 2^k e^r; loops of one kind each become vectors
    rounded, scale = np.empty(_STEP), np.empty(_STEP)
    bits, exponent = rounded.view(np.int64), scale.view(np.int64)
    for start in range(0, x.size, _STEP):
        part = x[start : start + _STEP]
        for i in range(part.size):
            rounded[i] = max(part[i], _LOWEST) * _LOG2_E + _ROUND
        for i in range(part.size):
            exponent[i] = (bits[i] + 1023) << 52
        for i in range(part.size):
            k = rounded[i] - _ROUND
            r = (max(part[i], _LOWEST) - k * _LN2_HIGH) - k * _LN2_LOW
            part[i] = _series(r) * scale[i] if part[i] >= _LOWEST else 0.0


@njit
def _log(x: FloatArray) -> None:
    # x = 2^k (1 + f) with 1 + f in [√½, √2), and log (1 + f) by a series in f / (2 + f)
    mantissa, exponent = np.empty(_STEP), np.empty(_STEP)
    bits = mantissa.view(np.int64)
    c = _LOG
    for start in range(0, x.size, _STEP):
        part = x[start : start + _STEP]
        for i in range(part.size):
            mantissa[i] = part[i]
        for i in range(part.size):
            # 0x3FE6A09E667F3BCD is √½: what stands above it is the exponent
            k = (bits[i] - 0x3FE6A09E667F3BCD) >> 52
            exponent[i] = k
            bits[i] -= k << 52
        for i in range(part.size):
            f, k = mantissa[i] - 1.0, exponent[i]
            s = f / (2.0 + f)
            z = s * s
            w = z * z
            odd = w * (c[1] + w * (c[3] + w * c[5]))
            even = z * (c[0] + w * (c[2] + w * (c[4] + w * c[6])))
            half = 0.5 * f * f
            part[i] = k * _LN2_HIGH - ((half - (s * (half + odd + even) + k * _LN2_LOW)) - f)
