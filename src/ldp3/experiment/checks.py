"""What plug-ins give back, looked at once where it enters an experiment."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ldp3.errors import InvalidData, site
from ldp3.protocols.base import FrequencyOracle
from ldp3.types import Tally


def require_rows(method: Callable[..., Any], array: object, count: int, what: str) -> None:
    """Refuse what a plug-in's method gives back if it is not an array of this length."""
    if not isinstance(array, np.ndarray) or array.ndim == 0 or len(array) != count:
        got = f"shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array with one {what}, {count} here, "
            f"got {got}."
        )


def require_numbers(method: Callable[..., Any], array: Any) -> None:
    """Refuse what a plug-in's method gives back if it is not an array of finite numbers."""
    if not isinstance(array, np.ndarray) or not np.isfinite(array).all():
        raise InvalidData(
            f"{site(method)}: {method.__name__} must give an array of finite numbers."
        )


def require_tally(oracle: FrequencyOracle, tally: object, n: int) -> None:
    """Refuse what a plug-in adds up if it is not the tally of so many reports."""
    if not isinstance(tally, Tally) or tally.n != n:
        raise InvalidData(f"{site(oracle.aggregate)}: aggregate must give a Tally of {n} reports.")
    require_numbers(oracle.aggregate, tally.total)
