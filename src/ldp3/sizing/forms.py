"""The size of a collection in words that a person can act on, and as JSON."""

import json
from collections.abc import Callable
from math import ceil, floor, log10

from ldp3.collection.description import ledger
from ldp3.errors import InvalidParameter
from ldp3.printing import columns, wrapped
from ldp3.results import names
from ldp3.sizing.size import Option, Size

FORMATS = "text", "json"
NEAR = 0.01  # share of the users that nobody notices, but everybody notices the bits


def render(found: Size, format: str = "text", width: int | None = None) -> str:
    """In one of the formats; text in lines of at most `width`."""
    if format == "json":
        return json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    if format not in FORMATS:
        raise InvalidParameter(f"format is {', '.join(FORMATS)}, got {format!r}.")
    best = found.best
    said = [_cheaper(found), _half(found)]
    said += [ledger(float(_epsilon(best)))[0], _repeated(found), found.source]
    parts = [wrapped(part, width) for part in (_headline(found), *said) if part]
    return "\n\n".join([parts[0], columns(_table(found), "lr", width), *parts[1:]])


def _headline(found: Size) -> str:
    best, sure = found.best, f"{100 * found.confidence:g} % confidence"
    held = f"a value that {_percent(found.share)} hold" if found.share else "a value nobody holds"
    off, top = error(found, best), found.goal.removeprefix("top").strip()
    where, taken = f"d = {found.d:,}", names.protocol(best.protocol)
    if found.asked == "error":
        answers = {"value": f"{off} at {sure} for {held}", "l1": f"an ℓ1 of {off} in the mean"}
        wrong = f"the {top} most frequent values are in the wrong order in {off} of collections"
        said = answers.get(found.goal, wrong)
        return f"{users(best)} at ε = {best.epsilon:g}, {where}: {said}, with {taken}."
    wishes = {"value": f"{held} to {off} at {sure}", "l1": f"all values to an ℓ1 of {off}"}
    order = f"the {top} most frequent values in the right order, but for {off} of collections"
    wish = wishes.get(found.goal, order)
    if found.asked == "users":
        return f"To know {wish}, at ε = {best.epsilon:g}, {where}: {users(best)} with {taken}."
    return f"To know {wish}, from {users(best)}, {where}: ε = {_epsilon(best)} with {taken}."


def error(found: Size, option: Option) -> str:
    """As its goal counts it."""
    if found.goal not in ("value", "l1"):
        return _percent(option.error)
    off = option.error if found.goal == "l1" else 100 * option.error
    shown = digits(off) if found.asked == "error" else f"{off:.3g}"
    if found.goal == "l1":
        return shown
    return f"± {shown} percentage point{'' if shown == '1' else 's'}"


def digits(number: float) -> str:
    """Three digits, so that neighbours in a table differ where they do; whole numbers as such.

    >>> [digits(x) for x in (1.2, 0.99999, 1, 64.5, 1234)]
    ['1.20', '1.00', '1', '64.5', '1,234']
    """
    if number == round(number):
        return f"{number:,.0f}"
    size = floor(log10(float(f"{number:.3g}")))  # 0.9999 is 1.00
    return f"{number:,.{max(2 - size, 0)}f}"


def users(option: Option) -> str:
    """A number of people."""
    return f"{option.users:,} users"


def _table(found: Size) -> list[list[str]]:
    shown: dict[str, Callable[[Option], str]] = {
        "users": lambda option: f"{option.users:,}",
        "epsilon": _epsilon,
        "error": lambda option: error(found, option),
    }
    head = {"epsilon": "ε"}.get(found.asked, found.asked)
    rows = [
        [names.protocol(o.protocol), shown[found.asked](o), f"{o.bits:,}"] for o in found.options
    ]
    return [["protocol", head, "bits per report"], *rows]


def _cheaper(found: Size) -> str:
    """A protocol with much smaller reports that is nearly as good."""
    best = found.best
    worth = [o for o in found.options if o.bits < best.bits and _more(found, o) <= NEAR]
    if not worth:
        return ""
    small = min(worth, key=lambda o: o.bits)
    what = {"users": "users", "epsilon": "ε", "error": "error"}[found.asked]
    more = f"{100 * _more(found, small):.1g} % more {what}"
    bits = f"{small.bits:,} bits instead of {best.bits:,}"
    return f"{names.protocol(small.protocol)} takes {more} and sends {bits}."


def _more(found: Size, option: Option) -> float:
    name = found.asked
    return float(getattr(option, name) / getattr(found.best, name) - 1)


def _half(found: Size) -> str:
    half = found.half
    if half is None:
        return "If only half of them answer, no ε makes good for it."
    if found.asked == "users":
        return f"If only half of those who are asked answer, ask {half.users:,} people."
    then = f"ε = {_epsilon(half)}" if found.asked == "epsilon" else error(found, half)
    return f"If only half of them answer: {then}, with {names.protocol(half.protocol)}."


def _repeated(found: Size) -> str:
    """What asking the same people again and again costs."""
    best, rounds, again = found.best, found.rounds, found.repeated
    each, weekly = best.epsilon / rounds, ", as one a week for a year," if rounds == 52 else ""
    said = (
        f"{rounds} collections from the same people{weekly} spend ε = "
        f"{rounds * float(_epsilon(best)):.4g} if every report is fresh."
    )
    if found.asked == "epsilon":
        return said
    goal = f" To spend {best.epsilon:g} on all of them, each may spend {each:.3g}: "
    if again is None:
        return f"{said}{goal}no number of users is enough."
    then = users(again) if found.asked == "users" else error(found, again)
    memo = "A client with a memo spends ε once for each different value."
    return f"{said}{goal}{then}, with {names.protocol(again.protocol)}. {memo}"


def _epsilon(option: Option) -> str:
    """Three digits, rounded up, but for what the search leaves open: less is not enough."""
    digits = 2 - floor(log10(option.epsilon))
    return f"{ceil(option.epsilon * 10**digits - 0.02) / 10**digits:.{max(digits, 0)}f}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
