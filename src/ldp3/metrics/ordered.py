"""Metrics for domains whose order means something: EMD, KS, range queries, mean, quantiles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, require, settle_numbers
from ldp3.metrics.base import Metric
from ldp3.people import Dataset
from ldp3.questions import place_of


@dataclass(frozen=True)
class OnALine(Metric):
    """What goes by where the values lie."""

    unit: ClassVar[str] = "unit of the values"
    needs_order: ClassVar[bool] = True

    positions: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.positions is None:
            return
        where = np.asarray(self.positions)
        numbers = where.ndim == 1 and where.dtype.kind in "iuf" and len(where) > 0
        fine = numbers and bool(np.isfinite(where).all())
        require(fine, self, "positions must be finite numbers, one per value", self.positions)
        object.__setattr__(self, "positions", tuple(where.tolist()))  # so that equals are equal

    def for_data(self, data: Dataset) -> Self:
        if self.positions is not None or data.positions is None:
            return self
        return replace(self, positions=tuple(data.positions.tolist()))

    def where(self, d: int) -> FloatArray:
        """Where each of d values lies."""
        where = np.arange(d) if self.positions is None else np.asarray(self.positions)
        if len(where) != d:
            raise InvalidData(f"{type(self).__name__}: {len(where)} positions but {d} frequencies.")
        return where.astype(np.float64)


@final
@dataclass(frozen=True)
class EMD(OnALine):
    r"""Earth mover's distance, also called Wasserstein-1: mass moved × how far.

    $$\sum_v Δ_v \left|\sum_{u \le v} (\tilde f_u - f_u)\right|,$$

    with $Δ_v$ the distance from value $v$ to the next. At least 0, and 0 at the truth. If the sums
    differ, the surplus is carried past the last value by the mean spacing, so that it counts.

    Parameters
    ----------
    positions
        Where the values lie on a line, in any order; the dataset's in an experiment if its labels
        are numbers. Otherwise values are one apart.

    Examples
    --------
    >>> EMD()(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25]))  # ¼ moves two steps
    0.5
    >>> EMD(positions=[0, 1, 11])(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25]))
    2.75
    """

    aliases: ClassVar[tuple[str, ...]] = (
        "Earth Mover's Distance", "Earth Mover’s Distance", "Earth Movers Distance",
        "Wasserstein", "Wasserstein distance",
    )  # fmt: skip

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        where = self.where(len(truth))
        order = np.argsort(where, kind="stable")
        spacing = np.diff(where[order])
        spacing = np.append(spacing, spacing.mean() if len(spacing) else 1.0)
        return float((spacing * np.abs((frequencies - truth)[order].cumsum())).sum())


@final
@dataclass(frozen=True)
class KS(Metric):
    r"""Kolmogorov–Smirnov distance: $$\max_v \left|\sum_{u \le v} (\tilde f_u - f_u)\right|.$$

    The largest error of the cumulated frequencies; at least 0, and 0 only at the truth.

    >>> KS()(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25]))
    0.25
    """

    unit: ClassVar[str] = "share of people"
    aliases: ClassVar[tuple[str, ...]] = ("Kolmogorov-Smirnov",)
    needs_order: ClassVar[bool] = True

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(np.abs((frequencies - truth).cumsum()).max())


@final
@dataclass(frozen=True)
class RangeQuery(Metric):
    r"""Expected absolute error of a random range query "how many users are between $u$ and $v$?"

    $$\frac{2}{d(d+1)} \sum_{u \le v} \left|\sum_{u \le w \le v} (\tilde f_w - f_w)\right|.$$

    The mean over all ranges instead of a few drawn ones, so it has no chance in it: with the
    cumulated errors sorted, it costs $O(d \log d)$. At least 0, and 0 only at the truth.

    >>> RangeQuery()(np.array([0.5, 0.5]), np.array([0.75, 0.25]))  # ¼, ¼ and 0
    0.16666666666666666
    """

    unit: ClassVar[str] = "share of people"
    title: ClassVar[str] = "Range query"
    aliases: ClassVar[tuple[str, ...]] = (
        "range query error",
        "random range query",
        "range",
    )
    needs_order: ClassVar[bool] = True

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        d = len(truth)
        # a range's error is the difference of two cumulated errors: sum |x_i - x_j| over all pairs
        cumulated = np.sort(np.append(0.0, (frequencies - truth).cumsum()))
        gaps, below = np.diff(cumulated), np.arange(1, d + 1)
        return float((gaps * (below * (d + 1 - below))).sum() / (d * (d + 1) / 2))


@final
@dataclass(frozen=True)
class Mean(OnALine):
    r"""How far the mean of the values is off: $$\left|\sum_v x_v (\tilde f_v - f_v)\right|.$$

    With $x_v$ the place of value $v$. At least 0, and 0 at the truth, but not only there.

    Parameters
    ----------
    positions
        Where the values lie on a line; the dataset's in an experiment if its labels are numbers.
        Otherwise values are one apart.

    Examples
    --------
    >>> Mean(positions=[0, 10, 30])(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25]))
    7.5
    """

    title: ClassVar[str] = "Error of mean"
    aliases: ClassVar[tuple[str, ...]] = ("mean error",)

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        return float(abs(self.where(len(truth)) @ (frequencies - truth)))


@final
@dataclass(frozen=True)
class Quantile(OnALine):
    r"""How far a quantile is off: $$|\tilde x_q - x_q|, \qquad x_q = \min\{x : F(x) \ge q\}.$$

    With $F$ the cumulated frequencies along the line, by isotonic regression where they fall. At
    least 0, and 0 at the truth, but not only there.

    Parameters
    ----------
    positions
        Where the values lie on a line; the dataset's in an experiment if its labels are numbers.
        Otherwise values are one apart.
    q
        The share of people below it, ``quantile(q=0.9)``; the median if not given.

    Examples
    --------
    >>> Quantile()(np.array([0.5, 0.4, 0.1]), np.array([0.3, 0.1, 0.6]))
    2.0
    """

    title: ClassVar[str] = "Error of quantile"
    aliases: ClassVar[tuple[str, ...]] = ("median",)

    q: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        settle_numbers(self)
        fine = isinstance(self.q, float) and 0 < self.q < 1
        require(fine, self, "q must be between 0 and 1", self.q)

    def compare(self, truth: FloatArray, frequencies: FloatArray) -> float:
        where = self.where(len(truth))
        order = np.argsort(where, kind="stable")
        one, other = (
            # the truth may miss q by rounding
            place_of(where[order], f[order].cumsum(), self.q - 1e-12)
            for f in (truth, frequencies)
        )
        return abs(one - other)
