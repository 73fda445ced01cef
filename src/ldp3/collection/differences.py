"""How two collections, or two groups of one, differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from shlex import join
from typing import Any

import numpy as np
import polars as pl

from ldp3.answers import Answer, PrintedColumn, table
from ldp3.arrays import FloatArray
from ldp3.collection.aggregator import Aggregator
from ldp3.collection.estimate_table import little_of_single_values
from ldp3.domain import Records
from ldp3.errors import InvalidData, require_share
from ldp3.printing import number
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

    By Bernstein's inequality for both sums together: with $V$ the sum of the two variances, which
    are at most what the single intervals leave possible, and $b$ as far as one report of either
    takes its estimate, the difference is off by at most

    $$\sqrt{2 V λ} + b λ / 3, \qquad λ = \log(2 / 0.9\,(1 - \mathrm{level})),$$

    cut at −1 and 1. It is for those who reported, and takes the noise of the two collections as
    independent, which it is unless the same reports are in both. It holds with probability `level`
    or more for any two protocols whose own intervals do, whatever n, d and ε. Where reports are
    many, an interval that takes the noise for normal is a fifth to two fifths shorter, and wrong
    where they are few. With `simultaneous` the intervals of all values hold at once.

    Examples
    --------
    >>> import numpy as np
    >>> march = Estimate.of(np.array([0.6, 0.4]), n=1_000, noise=0.0001)
    >>> april = Estimate.of(np.array([0.7, 0.3]), n=1_000, noise=0.0001)
    >>> found = difference(april, march)
    >>> found.low.round(3), found.high.round(3)
    (array([ 0.061, -0.139]), array([ 0.139, -0.061]))
    """
    require_share("level", level)
    if first.d != second.d:
        raise InvalidData(f"difference: one estimate has {first.d} values, the other {second.d}.")
    alpha = (1 - level) / (first.d if simultaneous else 1)
    rare, unknown = log(2 / (0.9 * alpha)), 0.05 * alpha  # for the variance of each of the two
    variance = sum(one.noise.most_variance(one.frequencies, unknown) for one in (first, second))
    # the first below its mean with the second above, and the other way round
    (below, above), (under, over) = first.noise.steps, second.noise.steps
    apart, off = first.frequencies - second.frequencies, np.sqrt(2 * rare * variance)
    low = apart - off - np.maximum(above, under) * rare / 3
    high = apart + off + np.maximum(below, over) * rare / 3
    return Difference(apart, np.clip(low, -1, 1), np.clip(high, -1, 1))


def both_sides(
    first: Aggregator,
    second: Aggregator,
    called: tuple[str, str] | None,
    attributes: Sequence[str],
) -> dict[str, Any]:
    """What two collections are called, unless it is said as their plans are, and their reports."""
    names = called or (first.plan.name, second.plan.name)
    return {
        "first": {"collection": names[0], "n": first.n},
        "second": {"collection": names[1], "n": second.n},
        "attributes": list(attributes),
    }


def minus(about: dict[str, Any]) -> str:
    """Which collection is compared with which, and in which table."""
    first, second = about["first"], about["second"]
    table = " × ".join(about["attributes"])
    of = f"{table}: " if table else ""
    reports = f"({first['n']:,} reports)"
    return f"{of}{first['collection']} {reports} minus {second['collection']} ({second['n']:,})"


def wanted(server: Aggregator, attributes: Sequence[str]) -> Estimate:
    """All values of one attribute, or the table of some of several."""
    domain = server.plan.domain
    if attributes:
        return server.tables()[tuple(attributes)]
    if isinstance(domain, Records):
        raise InvalidData(
            f"{server.plan.name} asks several attributes ({', '.join(domain.names)}): say which "
            f"table, as in --table {join(domain.names[:2])}."
        )
    return server.estimate()


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
    about: dict[str, Any]

    @classmethod
    def of(
        cls,
        first: Aggregator,
        second: Aggregator,
        confidence: float = 0.95,
        simultaneous: bool = False,
        called: tuple[str, str] | None = None,
        attributes: Sequence[str] = (),
    ) -> "CollectionDifference":
        """The difference of what two servers counted, as they are `called`.

        Of several attributes, that of the table of some.
        """
        require_share("`confidence`", confidence)
        estimates = wanted(first, attributes), wanted(second, attributes)
        domains = [
            one.domain or server.plan.domain
            for one, server in zip(estimates, (first, second), strict=True)
        ]
        labels = domains[0].labels
        if labels != domains[1].labels:
            raise InvalidData(
                f"{first.plan.name} and {second.plan.name} have different domains: only "
                f"collections of the same values, in the same order, can be compared."
            )
        found = difference(*estimates, confidence, simultaneous)
        values = {
            "label": labels,
            "first": estimates[0].frequencies,
            "second": estimates[1].frequencies,
            "difference": found.frequencies,
            "low": found.low,
            "high": found.high,
        }
        about: dict[str, Any] = {
            **both_sides(first, second, called, attributes),
            "confidence": confidence,
            "simultaneous": simultaneous,
            "remarks": little_of_single_values(estimates[0], first.plan.protocol),
        }
        return cls(pl.DataFrame(values), about)

    def answer(self) -> Answer:
        """What people and programs are told; * where the interval leaves out 0."""
        each = "all at once" if self.about["simultaneous"] else "each"
        title = (
            f"{minus(self.about)}; intervals with confidence {self.about['confidence']:.4g}, "
            f"{each}, for those who reported"
        )
        away = self.table.with_columns(away=(pl.col("low") > 0) | (pl.col("high") < 0))
        shown = [
            PrintedColumn("label", "value"),
            *(PrintedColumn(name, name, "{:.5f}".format) for name in ("first", "second")),
            *(
                PrintedColumn(name, name, "{:+.5f}".format)
                for name in ("difference", "low", "high")
            ),
            PrintedColumn("away", "", lambda apart: "*" if apart else ""),
        ]
        said = self._said(int(away["away"].sum()))
        grid = table(away, shown, title=title)
        return Answer([said, grid, *self.about["remarks"]], {**self.about, "values": self.table})

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)

    def _said(self, marked: int) -> str:
        """How many differ, and how many would seem to if none did."""
        values = self.table.height
        are = "is" if marked == 1 else "are"
        said = f"{marked:,} of {values:,} values {are} shown to differ"
        said += " (*: the interval excludes 0)."
        if self.about["simultaneous"]:
            return said
        alarms = number((1 - self.about["confidence"]) * values, 2)
        return (
            f"{said} If none did, about {alarms} would still be marked by chance; `simultaneous` "
            f"would mark none, with this confidence."
        )
