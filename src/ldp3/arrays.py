"""Names for the arrays that flow, and two things that are done to them everywhere."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
WordArray = NDArray[np.uint64]
Reports = NDArray[Any]  # users first: integers, packed bits, records or real vectors
Total = NDArray[Any]  # whatever adds up over reports


def apportion(weights: NDArray[Any], seats: int) -> IntArray:
    """Whole numbers that sum to `seats`, in proportion to `weights`, by largest remainders.

    Equal remainders go to the lower index.

    >>> apportion(np.array([3, 2, 2]), 9)
    array([4, 3, 2])
    """
    if np.issubdtype(weights.dtype, np.integer):  # exact, whatever the size
        total = int(weights.sum())
        shares = [divmod(int(w) * seats, total) for w in weights]
        floors = np.array([whole for whole, _ in shares], dtype=np.int64)
        remainders = np.array([rest / total for _, rest in shares])
    else:
        exact = weights / weights.sum() * seats
        floors = np.floor(exact).astype(np.int64)
        remainders = exact - floors
    order = np.argsort(-remainders, kind="stable")
    floors[order[: seats - int(floors.sum())]] += 1
    return floors


def as_distribution(weights: FloatArray) -> FloatArray:
    """Negatives to 0, the rest rescaled to sum to one; uniform if nothing is left.

    >>> as_distribution(np.array([3.0, -1.0, 1.0]))
    array([0.75, 0.  , 0.25])
    """
    positive = np.maximum(weights, 0)
    top = positive.max()
    if top == 0:
        return np.full(len(weights), 1 / len(weights))
    positive /= top  # or the sum of very small or very large weights would leave the floats
    return positive / positive.sum()
