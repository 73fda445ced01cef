"""The least number of people, or the least ε, that keeps an error: by bisection."""

from collections.abc import Callable
from math import exp, inf, log

from ldp3.errors import LARGEST_EPSILON, InvalidParameter

MOST_USERS = 10**15
FIRST, NEARBY = 10**6, 1.02  # where the search starts, and how far it looks from its first guess
LEAST_EPSILON = 1e-3
CLOSE = 1e-4  # ε, as a share


def least_users(error: Callable[[int], float], wanted: float, close: float = 0.0) -> int:
    r"""A number of people whose error is at most `wanted`, while that of one fewer is more.

    To a share of `close`, where errors are simulated, which is dear. Errors fall nearly as
    $1/\sqrt n$, so the search starts close to its end.
    """
    guess = max(int(FIRST * (error(FIRST) / wanted) ** 2), 1)
    low, high = int(guess / NEARBY), min(int(guess * NEARBY) + 1, MOST_USERS)
    while error(high) > wanted:
        low, high = high, high * 2
        if high > MOST_USERS:
            raise InvalidParameter(
                f"No number of people up to 10¹⁵ has an `error` of {wanted:g}: allow more, or "
                f"raise `epsilon`."
            )
    while low > 0 and error(low) <= wanted:
        low, high = low // 2, low
    while high - low > max(1, close * high):
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) > wanted else (low, middle)
    return three_digits(high) if close else high


def three_digits(users: int) -> int:
    """Rounded up: what is simulated is not known to the last person."""
    unit: int = 10 ** max(len(str(users)) - 3, 0)
    return -(-users // unit) * unit


def least_epsilon(keeps: Callable[[float], bool]) -> float:
    """The least ε that is enough, nearly; infinite if there is none."""
    low, high = log(LEAST_EPSILON), log(LARGEST_EPSILON)
    if not keeps(LARGEST_EPSILON):
        return inf
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(exp(middle)) else (middle, high)
    return exp(high)
