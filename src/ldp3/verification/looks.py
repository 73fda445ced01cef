"""Looking again: what is suspicious is drawn anew, and more of it, before it is called a fault.

A first look tests many things at once, and its p-values may be rough. If the smallest of them is
suspicious, that one thing is tested alone on fresh draws, twice as many, and once more on four
times as many. It is a fault if both say so. Those two looks alone bound the chance of a false
alarm, by $10^{-3} · 10^{-3}$, so that only what they compute needs to be exact or conservative.
"""

from collections.abc import Callable

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.verification.base import Finding
from ldp3.verification.case import OracleCase

SUSPICIOUS = 0.01  # of a first look, for everything that it tests together
CONFIRMED = 0.001  # of every further look, at one thing
AGAIN = 1, 2  # further looks, each at twice as many draws as the one before


def persistent(
    check: str,
    case: OracleCase,
    p_values: Callable[[OracleCase], FloatArray],
    draws: int,
    what: str = "",
) -> Finding:
    """A finding by p-values of any dependence, confirmed by looking again.

    `p_values` gives all of them, always in the same order. Of a case with a `focus` it may compute
    that one alone and leave the others as they are.
    """
    first = np.append(_known(p_values(case)), 1.0)
    index, worst = int(first.argmin()), float(first.min())
    evidence = f"smallest p-value {worst:.2g} of {first.size - 1:,}{what}"
    seen, drawn, suspicious = list[float](), draws, worst * (first.size - 1) < SUSPICIOUS
    while suspicious and len(seen) < len(AGAIN):
        look = AGAIN[len(seen)]
        seen.append(float(_known(p_values(case.again(look, index)))[index]))
        drawn += draws << look
        suspicious = seen[-1] < CONFIRMED
    evidence += "".join(f", looked at again {p:.2g}" for p in seen)
    return Finding(check, not (seen and suspicious), evidence, drawn, CONFIRMED ** len(AGAIN))


def _known(p: FloatArray) -> FloatArray:
    """What could not be computed is no pass."""
    return np.nan_to_num(p, nan=0.0)
