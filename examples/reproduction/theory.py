r"""The mean absolute error of a raw estimate in closed form.

An estimate is nearly normal around the truth, so

$$\mathbb{E}\,\mathrm{mae} = \frac1d \sum_v \sqrt{\tfrac2π \mathrm{Var}[\hat f_v]}.$$

Without the histogram only n, d and ε are known. The variance is linear in f, and a root is concave,
so the mean over v lies between its values for "one value holds everyone" and for "all alike".
"""

from math import pi, sqrt

import numpy as np

import ldp3
from ldp3.arrays import FloatArray
from ldp3.protocols.pure import PureOracle


def mae(oracle: PureOracle, n: int, frequencies: FloatArray) -> float:
    """Expected mean absolute error of the raw estimate, the histogram known."""
    variances = [oracle.variance(n, float(f)) for f in frequencies]
    return float(np.sqrt(2 / pi * np.array(variances)).mean())


def mae_bounds(oracle: PureOracle, n: int) -> tuple[float, float]:
    """The least and the most that `mae` can be over all histograms of n users."""
    one, alike = np.zeros(oracle.d), np.full(oracle.d, 1 / oracle.d)
    one[0] = 1
    low, high = sorted((mae(oracle, n, one), mae(oracle, n, alike)))
    return low, high


def mae_of_nobody(oracle: PureOracle, n: int) -> float:
    """The same for values that nobody holds: what n, d and ε alone say, to within the bounds."""
    return sqrt(2 / pi * oracle.variance(n))


def pure(protocol: str, epsilon: float, d: int) -> PureOracle:
    """An oracle with p and q, as all of the paper's are."""
    oracle = ldp3.oracle(protocol, epsilon, d)
    assert isinstance(oracle, PureOracle)
    return oracle
