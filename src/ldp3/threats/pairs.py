"""Which values reports support, row by row, and how often two values are supported together."""

from collections.abc import Iterable

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.protocols.local_hashing import LocalHashing

CELLS = 2**24  # of the table of supports that is held at a time


def supported(oracle: PureOracle, reports: Reports, values: IntArray) -> BoolArray:
    """Which of `values` each report supports, shape `(n, len(values))`."""
    found = np.empty((len(reports), len(values)), dtype=bool)
    for i, v in enumerate(values):
        found[:, i] = oracle.supports(reports, int(v))
    return found


def together(
    oracle: PureOracle, batches: Iterable[Reports], values: IntArray
) -> tuple[IntArray, IntArray, int]:
    """How many reports support each of `values`, and each two of them; and how many there are."""
    counts = np.zeros(len(values), dtype=np.int64)
    pairs: FloatArray = np.zeros((len(values), len(values)))
    rows, seen = max(1, CELLS // max(1, len(values))), 0
    for reports in batches:
        seen += len(reports)
        for start in range(0, len(reports), rows):
            table = supported(oracle, reports[start : start + rows], values).astype(np.float32)
            counts += table.sum(axis=0, dtype=np.float64).astype(np.int64)
            pairs += table.T @ table  # whole numbers below 2²⁴: exact in 32 bits
    return counts, np.rint(pairs).astype(np.int64), seen


def independent(oracle: PureOracle) -> bool:
    """Whether honest reports support other values than their own independently, two by two."""
    from ldp3.protocols.unary import UnaryEncoding

    return isinstance(oracle, UnaryEncoding | LocalHashing)
