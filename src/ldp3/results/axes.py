"""The axes of an experiment, listed once: what is measured, kept, compared and shown goes by them.

Columns of tables and files, lines of journals, the questions in which combinations compete, titles
and groups follow from the fields below. A new axis is one more field of `Conditions`, and how it is
said; `experiment.grid` says which of its values run and the keys of streams which randomness they
get, `--config` and the report page how one repeats them.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

import polars as pl

from ldp3.results import names


def _axis(words: Callable[[Any], str], usual: Any = MISSING) -> Any:
    """A field; its usual value goes without saying."""
    return field(default=usual, metadata={"words": words})


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is the same for all combinations that are compared with each other.

    Parameters
    ----------
    dataset
        What the data are called.
    epsilon
        Privacy budget of one report.
    attack
        What fake users do; `none` where there are none.
    fake_users
        How many they are: below 1, a share of all reports; otherwise people.
    """

    dataset: str
    epsilon: float = _axis("at ε = {:g}".format)
    attack: str = _axis(lambda spec: f"under {names.attack(spec)}", "none")
    fake_users: float = _axis(lambda given: f"with {names.fake_users(given)}", 0.0)


@dataclass(frozen=True, kw_only=True)
class Cell(Conditions):
    """One collection. Every method and metric is applied to its one estimate: they compare paired.

    Parameters
    ----------
    protocol
        Its canonical spec.
    repeat
        Which of the independent collections, from 0.
    """

    protocol: str
    repeat: int = 0

    @property
    def first(self) -> "Cell":
        """Its first repeat, which stands for all."""
        return replace(self, repeat=0)


CONDITIONS = [one.name for one in fields(Conditions)]
CELL = [one.name for one in fields(Cell)]
PLACE = [name for name in CELL if name != "repeat"]
LIMITS = ["limit", "distribution_limit"]  # null where there is none
_KINDS: dict[Any, Any] = {str: pl.String, float: pl.Float64, int: pl.Int64}
_TYPES = {one.name: _KINDS[one.type] for one in fields(Cell)}
SCHEMA: dict[str, Any] = {
    "dataset": pl.String,
    "n": pl.Int64,
    "d": pl.Int64,
    **{name: _TYPES[name] for name in PLACE},
    "method": pl.String,
    "metric": pl.String,
    "repeat": pl.Int64,
    "value": pl.Float64,
    "simulate": pl.String,
    **dict.fromkeys(LIMITS, pl.Float64),
}
# what combinations are compared in, and never pooled over
QUESTION = ["metric", *(name for name in SCHEMA if name in ("n", "d", *CONDITIONS))]
COMBINATION = [*QUESTION, "protocol", "method", "simulate"]  # all but the repeat


def without(at: Conditions, *names: str) -> tuple[Any, ...]:
    """The values of all axes but these: what is grouped by, where these are told apart inside."""
    return tuple(getattr(at, one.name) for one in fields(at) if one.name not in names)


def said_short(at: Conditions) -> list[str]:
    """The conditions in figures and specs, without the dataset and what is as usual."""
    axes = [one for one in fields(Conditions) if one.metadata]
    values = [value for one in axes if (value := getattr(at, one.name)) != one.default]
    return [f"{value:g}" if isinstance(value, float) else str(value) for value in values]


def said(at: Conditions, *but: str) -> str:
    """The conditions in words, without the dataset and these.

    >>> said(Conditions(dataset="visits", epsilon=1.0, attack="mga", fake_users=0.05))
    'at ε = 1 under MGA with 5% fake users'
    >>> said(Conditions(dataset="visits", epsilon=0.5))
    'at ε = 0.5'
    """
    axes = [one for one in fields(Conditions) if one.metadata and one.name not in but]
    values = [(one, getattr(at, one.name)) for one in axes]
    return " ".join(one.metadata["words"](value) for one, value in values if value != one.default)
