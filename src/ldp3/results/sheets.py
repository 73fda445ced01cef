"""What a paper's table shows: protocols down; none, average and each method across."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import Mark, PrintedCell
from ldp3.arrays import FloatArray
from ldp3.results import ties
from ldp3.results.axes import CONDITIONS, QUESTION, Conditions
from ldp3.results.ties import ROUNDING, Runs

FARTHEST = 10.0  # times the limit: where every method is farther, it is no yardstick


@dataclass(frozen=True)
class Sheet:
    """One question: a metric under some conditions.

    Parameters
    ----------
    metric, at
        What is asked, and of which collections.
    n, d
        Users and values of the dataset.
    better
        Whether ``lower`` or ``higher`` is better.
    by_users
        The protocols that were run by perturbing every user, and not by exact simulation.
    runs
        One value per repeat for each protocol and method.
    limits
        What the separable oracle scores in the same repeats, for each protocol; NaN where it was
        not asked. It takes no part in the contest.
    looks
        How often the repeats may have been looked at before there were enough: see `ties`.
    suited
        Whether the metric says something about these data: one that goes by an order says little
        about labels that have none.
    """

    metric: str
    at: Conditions
    n: int
    d: int
    better: str
    by_users: tuple[str, ...]
    runs: Runs
    limits: Mapping[str, FloatArray] = field(default_factory=dict)
    looks: int = 1
    suited: bool = True

    @property
    def dataset(self) -> str:
        """What the data are called."""
        return self.at.dataset

    @property
    def epsilon(self) -> float:
        """Privacy budget of one report."""
        return self.at.epsilon

    @cached_property
    def protocols(self) -> list[str]:
        """The rows."""
        return list(dict.fromkeys(protocol for protocol, _ in self.runs))

    @cached_property
    def methods(self) -> list[str]:
        """The columns, but for the average."""
        return list(dict.fromkeys(method for _, method in self.runs))

    @cached_property
    def columns(self) -> list[str]:
        """none, average, each method."""
        others = [m for m in self.methods if m != "none"]
        none = ["none"] if "none" in self.methods else []
        return [*none, *(["average"] if len(others) > 1 else []), *others]

    def values(self, protocol: str, column: str) -> FloatArray | None:
        """The repeats of one cell; the average is over the methods other than none."""
        if column != "average":
            return self.runs.get((protocol, column))
        shown = [v for (p, m), v in self.runs.items() if p == protocol and m != "none"]
        return np.mean(shown, axis=0) if shown else None

    @cached_property
    def means(self) -> dict[tuple[str, str], float]:
        """The mean of each protocol and method."""
        return {pair: float(values.mean()) for pair, values in self.runs.items()}

    @cached_property
    def best(self) -> tuple[str, str]:
        """The best of all."""
        return ties.leader(self.means, self.better)

    @cached_property
    def tied(self) -> set[tuple[str, str]]:
        """What is tied with the best of all, without what shares its place."""
        return ties.ties(self.runs, self.better, looks=self.looks) - self.firsts

    @cached_property
    def firsts(self) -> set[tuple[str, str]]:
        """The best of all, and what gave the same numbers."""
        return ties.alike(self.runs, self.best)

    @cached_property
    def row_best(self) -> set[tuple[str, str]]:
        """The best of each row."""
        rows = ({k: m for k, m in self.means.items() if k[0] == p} for p in self.protocols)
        leaders = (ties.leader(row, self.better) for row in rows)
        return {pair for first in leaders for pair in ties.alike(self.runs, first)}

    @cached_property
    def wins(self) -> dict[str, float]:
        """How often each method is the best on the same estimate."""
        return ties.win_rates(self.runs, self.better)

    @cached_property
    def exponent(self) -> int:
        """Power of ten to factor out, so that the best has one digit before the dot.

        A score of which more is better is read as it is.
        """
        sizes = [abs(mean) for mean in self.means.values() if mean]
        best = abs(self.means[self.best]) or (float(np.median(sizes)) if sizes else 1.0)
        if self.better == "higher" and 0.01 <= best < 1000:
            return 0
        return floor(log10(best))

    def cell(self, protocol: str, column: str) -> PrintedCell:
        """Mean and standard deviation, scaled; a dash where the method does not apply.

        The best has three digits; what is much larger has none behind the dot.
        """
        values = self.values(protocol, column)
        if values is None:
            return PrintedCell("–")
        mean, std = float(values.mean()) / 10.0**self.exponent, ties.spread(values)
        decimals = self._decimals(mean)
        deviation = "" if std is None else _written(std / 10.0**self.exponent, decimals)
        return PrintedCell(_written(mean, decimals), deviation, self.marks(protocol, column))

    def _decimals(self, mean: float) -> int:
        best = abs(self.means[self.best]) / 10.0**self.exponent or 1.0
        return max(2 - floor(log10(max(abs(mean), best))), 0)

    def marks(self, protocol: str, column: str) -> frozenset[Mark]:
        """Whether it is the best of all or of its row, or tied with the best."""
        pair = protocol, column
        held: dict[Mark, set[tuple[str, str]]] = {
            "best": self.firsts,
            "row": self.row_best,
            "tied": self.tied,
        }
        return frozenset(mark for mark, pairs in held.items() if pair in pairs)

    def win(self, column: str) -> str:
        """How often a method wins, in percent."""
        return "" if column == "average" else f"{self.wins[column]:.0%}"

    def times_limit(self, column: str) -> str:
        """How many times the limit a method is, on average over the protocols that have one."""
        times = self._mean_times(column)
        return "" if times is None else f"{times:.2f}"

    @cached_property
    def limited(self) -> bool:
        """Whether there is a limit that says something of the methods.

        Where all are far from it, as with a few values that nobody can take for each other, it is
        nearly nothing: who knows the frequencies knows whose they are.
        """
        times = [self._mean_times(column) for column in self.columns]
        return min((x for x in times if x is not None), default=FARTHEST) < FARTHEST

    def _mean_times(self, column: str) -> float | None:
        times = [self._times(protocol, column) for protocol in self.protocols]
        known = [x for x in times if x is not None]
        return float(np.mean(known)) if known else None

    def _times(self, protocol: str, column: str) -> float | None:
        values, limits = self.values(protocol, column), self.limits.get(protocol)
        if values is None or limits is None:
            return None
        there = ~np.isnan(limits)  # ratio of means on the same estimates
        value, least = values[there].sum(), limits[there].sum()
        return float(value / least) if least > ROUNDING * abs(value) else None

    @property
    def repeats(self) -> int:
        """The most that any cell has."""
        return max(map(len, self.runs.values()))


def sheets(table: pl.DataFrame, better: Mapping[str, str], looks: int) -> list[Sheet]:
    """One sheet for each question that a table of results answers."""
    made = []
    for question, part in table.group_by(QUESTION, maintain_order=True):
        asked: dict[str, Any] = dict(zip(QUESTION, question, strict=True))
        by_users = part.filter(simulate="users")["protocol"].unique(maintain_order=True)
        made.append(
            Sheet(
                asked["metric"],
                Conditions(**{name: asked[name] for name in CONDITIONS}),
                asked["n"],
                asked["d"],
                better=better[asked["metric"]],
                by_users=tuple(by_users),
                runs=ties.runs(part),
                limits=_limits(part),
                looks=looks,
            )
        )
    return made


def _written(number: float, decimals: int) -> str:
    return f"{number:,.{decimals}f}" if abs(number) < 1e6 else f"{number:.2e}"


def _limits(table: pl.DataFrame) -> dict[str, FloatArray]:
    """By protocol, one per repeat; all methods share it."""
    once = table.unique(["protocol", "repeat"], maintain_order=True).sort("repeat")
    return {
        str(protocol): frame["limit"].fill_null(np.nan).to_numpy()
        for (protocol,), frame in once.group_by("protocol", maintain_order=True)
    }
