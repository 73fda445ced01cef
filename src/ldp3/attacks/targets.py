"""What fake users want to raise, and how many they are."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidParameter, as_python, did_you_mean, several, whole
from ldp3.metrics.base import Metric
from ldp3.people import Dataset
from ldp3.randomness import stream

RULE = re.compile(r"(top|bottom|random):(\d+)")


def target_codes(data: Dataset, given: str | Sequence[str], seed: int = 0) -> tuple[int, ...]:
    """The codes of the targets; of equally frequent values, the first ones count as rarer.

    >>> from ldp3 import Labels
    >>> colours = Dataset("colours", Labels(["red", "green", "blue"]), np.array([5, 1, 3]))
    >>> target_codes(colours, "top:2"), target_codes(colours, ["green"])
    ((0, 2), (1,))
    """
    names = [given] if isinstance(given, str) else list(given)
    rule = RULE.fullmatch(names[0]) if len(names) == 1 else None
    if rule is None:
        return tuple(dict.fromkeys(_code(data, name) for name in names))
    how, r = rule[1], int(rule[2])
    if not 1 <= r <= data.d:
        raise InvalidParameter(
            f"`targets`: {names[0]} asks for {r} of the {data.d} values of {data.name}: "
            f"take 1 to {data.d}."
        )
    order = np.argsort(data.histogram, kind="stable")
    if how == "random":
        order = stream(seed, "targets", data.digest).permutation(data.d)
    chosen = order[::-1][:r] if how == "top" else order[:r]
    return tuple(sorted(map(int, chosen)))


def _code(data: Dataset, name: str) -> int:
    labels = list(data.labels)
    if name not in labels:
        otherwise = " `targets` are labels, or top:10, bottom:10, random:10."
        hint = did_you_mean(name, labels) or otherwise
        raise InvalidParameter(f"{data.name}: no value is called {name!r}.{hint}")
    return labels.index(name)


def named_targets(given: str | Sequence[str]) -> tuple[str, ...]:
    """What a person gave, as a tuple of texts."""
    one = isinstance(given, str) or not isinstance(given, Iterable)
    names: list[Any] = [given] if one else list(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidParameter(
            f"`targets` are labels, or top:10, bottom:10, random:10, got {given!r}."
        )
    return tuple(names)


@final
@dataclass(frozen=True)
class TargetShare(Metric):
    """What the targets' frequencies sum to: under attack less without is the gain.

    Parameters
    ----------
    targets
        Who they are, as `target_codes` takes it.
    seed
        Of random targets.
    codes
        The same for one dataset.
    """

    unit: ClassVar[str] = "share of people"

    targets: tuple[str, ...] = ("top:10",)
    seed: int = 0
    codes: tuple[int, ...] = ()

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:  # noqa: ARG002
        return float(frequencies[list(self.codes)].sum())

    def for_data(self, data: Dataset) -> Self:
        return type(self)(self.targets, self.seed, target_codes(data, self.targets, self.seed))


def fake_number(given: object) -> float:
    """How many fake users, as given: below 1, a share of all reports; otherwise people.

    >>> fake_number("1%"), fake_number(0.01), fake_number("500")
    (0.01, 0.01, 500.0)
    """
    number = as_python(given)
    if isinstance(number, str):
        number = _number(number)
    if whole(number, 0, 2**40) or (isinstance(number, float) and 0 <= number < 1):
        return float(number)
    raise InvalidParameter(
        f"`fake_users` is a number of people, or a share of all reports below 100 % such as 1%, "
        f"got {given!r}."
    )


def fake_numbers(given: object) -> tuple[float, ...]:
    """One number or share of fake users, or several, each once.

    >>> fake_numbers(0.01), fake_numbers(["1%", 500])
    ((0.01,), (0.01, 500.0))
    """
    one = isinstance(given, str | bytes) or not hasattr(given, "__iter__")
    some = [given] if one or getattr(given, "ndim", 1) == 0 else several(given, "`fake_users`")
    if not some:
        raise InvalidParameter("`fake_users`: at least one number or share is needed, got none.")
    return tuple(dict.fromkeys(map(fake_number, some)))


def fake_count(number: float, n: int) -> int:
    """How many fake users a `fake_number` means beside n honest ones.

    >>> fake_count(0.01, 99_000), fake_count(0.5, 7), fake_count(500, 10)
    (1000, 7, 500)
    """
    return int(number) if number >= 1 else round(n * number / (1 - number))


def fake_text(number: float) -> str:
    """A `fake_number` as people type it. Seeds of fake users hold it: the same for ever.

    >>> fake_text(0.07), fake_text(0.00125), fake_text(500), fake_text(0)
    ('7%', '0.125%', '500', '0')
    """
    if number >= 1 or number == 0:
        return str(int(number))
    texts = (f"{100 * number:.{digits}g}" for digits in range(1, 18))
    return next(text for text in texts if float(text) / 100 == number) + "%"


def _number(text: str) -> object:
    try:
        if text.strip().endswith("%"):
            return float(text.strip()[:-1]) / 100
        return int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        return text
