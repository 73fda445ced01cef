"""How two collections, or two groups of one, differ."""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from ldp3.answers import write_csv
from ldp3.arrays import FloatArray
from ldp3.collection.aggregator import Aggregator
from ldp3.errors import InvalidData, require, require_share
from ldp3.printing import columns, visible
from ldp3.types import Estimate


@dataclass(frozen=True, eq=False)
class Difference:
    """Frequencies of one collection minus those of another, with the ends of an interval each."""

    frequencies: FloatArray
    low: FloatArray
    high: FloatArray


def difference(
    first: Estimate, second: Estimate, level: float = 0.95, simultaneous: bool = False
) -> Difference:
    r"""How much more frequent each value is in the first of two collections.

    With $l$ and $u$ the ends of the interval of a single frequency, the difference lies between

    $$\hat f_1 - \hat f_2 - \sqrt{(\hat f_1 - l_1)^2 + (u_2 - \hat f_2)^2} \quad\text{and}\quad
    \hat f_1 - \hat f_2 + \sqrt{(u_1 - \hat f_1)^2 + (\hat f_2 - l_2)^2},$$

    cut at −1 and 1. It is for those who reported, and takes the noise of the two collections as
    independent, which it is unless the same reports are in both. Nearly right: at 95 %, computed
    for several pure protocols, it holds with 94.6 % or more from 200 reports each on, and with
    91 % or more for 20. With `simultaneous` the intervals of all values hold at once.

    Examples
    --------
    >>> import numpy as np
    >>> march = Estimate.of(np.array([0.6, 0.4]), n=1_000, noise=0.0001)
    >>> april = Estimate.of(np.array([0.7, 0.3]), n=1_000, noise=0.0001)
    >>> found = difference(april, march)
    >>> found.low.round(3), found.high.round(3)
    (array([ 0.072, -0.128]), array([ 0.128, -0.072]))

    References
    ----------
    Newcombe. *Interval estimation for the difference between independent proportions: comparison of
    eleven methods.* Statistics in Medicine, 1998.

    Zou, Donner. *Construction of confidence limits about effect measures: a general approach.*
    Statistics in Medicine, 2008.
    """
    require_share("level", level)
    if first.d != second.d:
        raise InvalidData(f"difference: one estimate has {first.d} values, the other {second.d}.")
    each = 1 - (1 - level) / (first.d if simultaneous else 1)
    below_first, above_first = first.noise.reach(first.frequencies, each)
    below_second, above_second = second.noise.reach(second.frequencies, each)
    apart = first.frequencies - second.frequencies
    low = apart - np.hypot(below_first, above_second)
    high = apart + np.hypot(above_first, below_second)
    return Difference(apart, np.clip(low, -1, 1), np.clip(high, -1, 1))


@dataclass(frozen=True)
class CollectionDifference:
    """The difference of two collections, to be read.

    Parameters
    ----------
    table
        One row per value: label, frequency in the first and in the second (unbiased), their
        difference, low and high end of its interval.
    about
        The collections, their numbers of reports, the confidence.
    """

    table: pl.DataFrame
    about: dict[str, object]

    @classmethod
    def of(
        cls,
        first: Aggregator,
        second: Aggregator,
        confidence: float = 0.95,
        simultaneous: bool = False,
    ) -> "CollectionDifference":
        """The difference of what two servers counted."""
        require(0 < confidence < 1, "`confidence`", "must be between 0 and 1", confidence)
        labels = first.plan.domain.labels
        if labels != second.plan.domain.labels:
            raise InvalidData(
                f"{first.plan.name} and {second.plan.name} have different domains: only "
                f"collections of the same values, in the same order, can be compared."
            )
        estimates = first.estimate(), second.estimate()
        found = difference(*estimates, confidence, simultaneous)
        table = {
            "label": labels,
            "first": estimates[0].frequencies,
            "second": estimates[1].frequencies,
            "difference": found.frequencies,
            "low": found.low,
            "high": found.high,
        }
        about: dict[str, object] = {
            "first": {"collection": first.plan.name, "n": first.n},
            "second": {"collection": second.plan.name, "n": second.n},
            "confidence": confidence,
            "simultaneous": simultaneous,
        }
        return cls(pl.DataFrame(table), about)

    def csv(self) -> str:
        """The table; a label that begins like a formula has an apostrophe in front."""
        return write_csv(self.table)

    def json(self) -> str:
        """What the collections are, and the table as a list of values."""
        content = {**self.about, "values": self.table.to_dicts()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def text(self) -> str:
        """Columns for people to read; * where the interval leaves out 0."""
        about = self.about
        first, second = about["first"], about["second"]
        each = "all at once" if about["simultaneous"] else "each"
        title = (
            f"{first['collection']} ({first['n']:,} reports) minus "  # type: ignore[index]
            f"{second['collection']} ({second['n']:,}); intervals with confidence "  # type: ignore[index]
            f"{about['confidence']:.4g}, {each}, for those who reported"
        )
        heads = ["value", "first", "second", "difference", "low", "high", ""]
        rows = [
            [label, f"{a:.5f}", f"{b:.5f}", f"{x:+.5f}", f"{low:+.5f}", f"{high:+.5f}", mark]
            for (label, a, b, x, low, high), mark in zip(
                self.table.rows(), self._marks(), strict=True
            )
        ]
        return f"{visible(title)}\n\n{columns([heads, *rows], 'lr')}\n\n{self._said()}\n"

    def _marks(self) -> list[str]:
        away = (self.table["low"] > 0) | (self.table["high"] < 0)
        return ["*" if one else "" for one in away]

    def _said(self) -> str:
        """How many differ, and how many would seem to if none did."""
        confidence, values = float(str(self.about["confidence"])), self.table.height
        marked = self._marks().count("*")
        if self.about["simultaneous"]:
            return f"* the interval leaves out 0: {marked} of {values:,}."
        alarms = (1 - confidence) * values
        return (
            f"* the interval leaves out 0: {marked} of {values:,}. If nothing differed, about "
            f"{alarms:.2g} would; --simultaneous allows for all of them together."
        )
