"""Which ε was used: from published frequencies, the number of reports and the protocol alone.

Unbiased frequencies are (C/n - q)/(p - q) with whole C: any two of them differ by a multiple of
1/(n(p-q)), also after Norm-Sub has moved them all alike. The step of that lattice tells ε.

    python -m examples.reproduction.budget published.csv 45222 oue [processed]
"""

import sys
from functools import reduce

import numpy as np
import polars as pl

import ldp3
from ldp3.arrays import FloatArray
from ldp3.protocols.pure import PureOracle

FINEST = 1e-9  # step that floats still show: below are the last digits of differences


def step(frequencies: FloatArray) -> float:
    """The largest number that all differences are multiples of; zeros are put there by methods."""
    away = np.diff(np.unique(frequencies[frequencies != 0]))
    rough = reduce(_common, away[away > FINEST].tolist())
    whole = np.rint(away / rough)
    return float(whole @ away / (whole @ whole))


def _common(one: float, other: float) -> float:
    """Euclid's algorithm, to rounding."""
    while other > FINEST:
        one, other = other, min(one % other, -one % other)
    return one


def epsilon(frequencies: FloatArray, n: int, protocol: str) -> float:
    """The ε at which the protocol has this step."""
    gap, low, high = 1 / (n * step(frequencies)), 0.01, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        oracle = ldp3.oracle(protocol, middle, len(frequencies))
        assert isinstance(oracle, PureOracle)
        low, high = (middle, high) if oracle.p - oracle.q < gap else (low, middle)
    return (low + high) / 2


if __name__ == "__main__":
    file, reports, protocol, *column = sys.argv[1:]
    published = pl.read_csv(file)[column[0] if column else "frequency"].to_numpy()
    print(f"ε = {epsilon(published, int(reports), protocol):.9g}")
