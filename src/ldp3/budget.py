"""What a privacy budget means in odds, and from where on that must be said."""

from math import exp

from ldp3.errors import InvalidParameter, require, require_possible

MODEST = 8.0  # above it every command says what ε means, and a client reports only if told to


def odds(epsilon: float) -> str:
    """What one report can do to what somebody knows.

    >>> odds(8.0)
    'one report can turn even odds between two values into 2,981 to 1'
    """
    return f"one report can turn even odds between two values into {exp(epsilon):,.0f} to 1"


def said_of(*epsilons: float) -> list[str]:
    """One sentence on the largest of these budgets; none if it is modest."""
    largest = max(epsilons, default=0.0)
    if largest <= MODEST:
        return []
    return [f"ε = {largest:g} hides little: {odds(largest)} (ε = {MODEST:g}: {exp(MODEST):,.0f})."]


def require_modest(who: str, epsilon: float, max_epsilon: float = MODEST) -> None:
    """Refuse to report at an ε that nobody raised the bound for."""
    number = isinstance(max_epsilon, int | float) and max_epsilon > 0
    require(number, "`max_epsilon`", "must be a number > 0", max_epsilon)
    require_possible("`max_epsilon`", max_epsilon)
    if epsilon > max_epsilon:
        raise InvalidParameter(
            f"{who}: ε = {epsilon:g} is above `max_epsilon` = {max_epsilon:g}: {odds(epsilon)}; "
            f"nothing was sent. Raise `max_epsilon` only if that is meant."
        )
