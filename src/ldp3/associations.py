r"""What two attributes have to do with each other, from a table that is known up to noise.

The usual tests take the cells for counts of people. On estimates they reject almost always, for
they take the noise of the reports for dependence. Here everything goes by the covariance of the
table. With $r$ and $c$ the margins of the table $f$ and $g = f - r c^T$:

- *Independence*: Wald's statistic $W = g^T Σ^+ g$ with $Σ$ the covariance of $g$, to first order
  in the errors and with the product of the errors of both margins, against the $χ^2$ law with
  $(a-1)(b-1)$ degrees of freedom. $Σ$ is that of a population whose table is $r c^T$: at the
  estimate itself, cells that seem rare would seem certain, too, and the test rejects too often.
- *Cramér's V*: $V^2 = φ^2 / (\min(a, b) - 1)$ with $φ^2 = \sum g^2 / (r c)$, less what noise adds
  to it in the mean; the interval inverts a scaled noncentral $χ^2$ law with the right mean and
  variance: where both have two values and noise is normal, the exact one.
- *Shares within a row*, $f_{ij} / r_i$: Fieller's interval, which is right even where the row may
  be empty: then it is all of $[0, 1]$.

References
----------
Fieller. *Some problems in interval estimation.* Journal of the Royal Statistical Society B, 1954.
Gaboardi, Rogers. *Local private hypothesis testing: chi-square tests.* ICML 2018.
Satterthwaite. *An approximate distribution of estimates of variance components.* Biometrics
Bulletin, 1946 (a scaled χ² law with two right moments; here it has a centre besides).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from ldp3 import display
from ldp3.arrays import BoolArray, FloatArray
from ldp3.errors import InvalidData, needing_full, require_share
from ldp3.questions import fieller

if TYPE_CHECKING:
    import polars as pl

Covariance = Callable[[FloatArray], FloatArray]  # of weighted sums, one row of weights each
CovarianceAt = Callable[[FloatArray, FloatArray], FloatArray]  # the same, if this is the table
MOST_CELLS = 2_500  # of a test: it takes their number to the third power
CLEAR = 4.0  # standard deviations above zero where a margin may be divided by
NOTHING = 1e-9  # of the largest variance: a direction that cannot vary


@dataclass(frozen=True)
class Association:
    """Whether two attributes go together, and how much.

    Parameters
    ----------
    p_value
        How likely so much would be seen of attributes that are independent.
    v, low, high
        Cramér's V, from 0 (independent) to 1 (one tells the other), and its interval of `level`.
        None where it cannot be told; all are, where too few rows or columns stand above noise.
    merged
        How many rows and columns were too rare for V, and count as one in it. Then only a lower end
        of V is known: what they have to do with each other is not in it.
    needed
        About how many people it takes to tell V, where that is not told.
    """

    p_value: float
    v: float | None
    low: float | None
    high: float | None
    level: float
    merged: int = 0
    needed: int | None = None

    @property
    def found(self) -> bool:
        """Whether independence is ruled out, at one in twenty."""
        return self.p_value < 0.05

    def __str__(self) -> str:
        said = "They go together" if self.found else "They may be independent"
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        if self.v is not None:
            strength = f"Cramér's V {self.v:.2f} ({self.low:.2f} to {self.high:.2f})"
        elif self.low is not None and self.low >= 0.005:
            strength = f"Cramér's V is {self.low:.2f} or more, {self.merged} rare values as one"
        else:
            strength = "too few people to tell how much, as few values stand above the noise"
            strength += f": it takes about {self.needed:,} or more" if self.needed else ""
        return f"{said} ({p}); {strength}."

    __repr__ = __str__


def associated(
    table: FloatArray, covariance: CovarianceAt, n: int, level: float = 0.95
) -> Association:
    """What a table of two attributes says of them; `covariance` is that of its cells' sums."""
    require_share("level", level)
    if table.size > MOST_CELLS:
        raise InvalidData(
            f"A test of {table.size:,} cells takes too long: at most {MOST_CELLS:,}; collect with "
            f"fewer values (bins, top)."
        )
    p_value, likely = independence(table, covariance), _nearest(table)
    margins = [(sums @ table.ravel(), covariance(sums, likely)) for sums in _margins(table.shape)]
    rows, columns = (_merged(*one) for one in margins)
    merged = sum(len(m[0]) - len(m) + 1 for m in (rows, columns) if len(m) < len(m[0]))
    if min(len(rows), len(columns)) < 2:
        needed = int(float(f"{n * max(_times(*one) for one in margins):.2g}"))
        return Association(p_value, None, None, None, level, merged, needed)
    small = rows @ table @ columns.T
    both = np.kron(rows, columns)
    v, low, high = cramer(small, lambda queries: covariance(queries @ both, likely), level)
    low = low if p_value < 1 - level else 0.0  # what may be independent may have none
    if not merged:
        return Association(p_value, v, low, high, level)
    # merging takes dependence away, so what is left is the least that there is
    least = low * ((min(small.shape) - 1) / (min(table.shape) - 1)) ** 0.5
    return Association(p_value, None, least, 1.0, level, merged)


def independence(table: FloatArray, covariance: CovarianceAt) -> float:
    """The p-value of Wald's test that both attributes of a table are independent."""
    with needing_full("independence"):
        from scipy.special import chdtrc
    even = np.outer(_nearest(table.sum(axis=1)), _nearest(table.sum(axis=0)))
    apart, spread = _apart(table, lambda queries: covariance(queries, even))
    free = (table.shape[0] - 1) * (table.shape[1] - 1)
    values, vectors = (part[..., -free:] for part in np.linalg.eigh(spread))
    vary = values > NOTHING * values[-1]
    far = (vectors[:, vary].T @ apart.ravel()) ** 2 / values[vary]
    return float(chdtrc(vary.sum(), far.sum()))


def _nearest(table: FloatArray) -> FloatArray:
    """The distribution nearest to estimates, some of which are negative."""
    falling = np.sort(table, axis=None)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, table.size + 1)
    return np.maximum(table - over[np.count_nonzero(falling > over) - 1], 0)


def _apart(table: FloatArray, covariance: Covariance) -> tuple[FloatArray, FloatArray]:
    """How far a table is from the product of its margins, and the covariance of that."""
    rows, columns = _margins(table.shape)
    r, c = table.sum(axis=1), table.sum(axis=0)
    slopes = np.eye(table.size) - np.einsum("ix,j->ijx", rows, c).reshape(table.size, -1)
    slopes -= np.einsum("jx,i->ijx", columns, r).reshape(table.size, -1)
    second = np.kron(covariance(rows), covariance(columns))  # the errors of both margins, times
    return table - np.outer(r, c), covariance(slopes) + second


def _margins(shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """The sums over a table that are its rows and its columns."""
    a, b = shape
    rows, columns = np.divmod(np.arange(a * b), b)
    return np.eye(a)[:, rows], np.eye(b)[:, columns]


def cramer(table: FloatArray, covariance: Covariance, level: float) -> tuple[float, float, float]:
    """Cramér's V and the ends of its interval; all rows and columns must stand above the noise."""
    with needing_full("cramer"):
        from scipy.optimize import brentq
        from scipy.special import chndtr
    apart, spread = _apart(table, covariance)
    scale = np.outer(table.sum(axis=1), table.sum(axis=0)).ravel() ** -0.5
    h, noise = scale * apart.ravel(), scale[:, None] * spread * scale
    seen, mean, square = float(h @ h), float(np.trace(noise)), float((noise**2).sum())
    found = max(seen - mean, 0.0)
    # the variance of h·h grows with φ² as much as the noise lies along h
    along = max(float(h @ noise @ h) - square, 0.0) / found if found > square**0.5 else 0.0
    along = max(along, square / mean)

    def below(phi: float) -> float:
        unit = (square + along * phi) / (mean + phi)
        return float(chndtr(seen / unit, square / unit**2, along * phi / unit**2))

    def end(target: float) -> float:
        if below(0.0) <= target:
            return 0.0
        top = seen + mean
        while below(top) > target:
            top *= 2
        return float(brentq(lambda phi: below(phi) - target, 0.0, top))

    most = min(table.shape) - 1
    ends = found, end((1 + level) / 2), end((1 - level) / 2)
    v, low, high = (min(one / most, 1.0) ** 0.5 for one in ends)
    return v, low, high


def _merged(margin: FloatArray, spread: FloatArray) -> FloatArray:
    """Sums of values that stand clear of the noise: rare ones are taken as one."""
    rare = margin < CLEAR * np.sqrt(np.maximum(np.diag(spread), 0))
    order, eye = np.argsort(margin), np.eye(len(margin))
    while rare.any() and not rare.all() and _times(margin, spread, rare) > 1:
        rare[order[np.argmin(rare[order])]] = True  # the least of the others
    rest = rare[None].astype(float) if rare.any() else np.zeros((0, len(margin)))
    return np.concatenate([eye[~rare], rest])


def _times(margin: FloatArray, spread: FloatArray, some: BoolArray | None = None) -> float:
    """How many times as many people these need to stand clear; all but the largest by default.

    What is not above its noise at all may need any number: at least so many.
    """
    some = np.arange(len(margin)) != margin.argmax() if some is None else some
    above = margin[some].sum() / max(spread[np.ix_(some, some)].sum(), 1e-300) ** 0.5
    return float((CLEAR / max(above, 1.0)) ** 2)


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of values among people with each value of another attribute, with intervals.

    Parameters
    ----------
    rows, columns
        The labels of the values that people have, and of those whose shares these are.
    share, low, high
        One row each: unbiased numbers one over the other, and the ends of Fieller's interval. The
        share is nan where nobody may be in the row: too few to tell.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    share: FloatArray
    low: FloatArray
    high: FloatArray
    level: float

    def __repr__(self) -> str:
        return f"Shares of {len(self.columns)} values in {len(self.rows)} rows: see `to_frame()`"

    def _repr_html_(self) -> str:
        return display.of_shares(self)

    def to_frame(self) -> "pl.DataFrame":
        """One row for each share, as a Polars table."""
        with needing_full("Shares.to_frame"):
            import polars as pl
        among = [row for row in self.rows for _ in self.columns]
        columns = {"among": among, "label": list(self.columns) * len(self.rows)}
        numbers = {name: getattr(self, name).ravel() for name in ("share", "low", "high")}
        return pl.DataFrame({**columns, **numbers}).with_columns(pl.col("share").fill_nan(None))


def shares_within(
    table: FloatArray,
    covariance: Covariance,
    level: float = 0.95,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Shares:
    """The share of each cell in its row, with Fieller's interval within [0, 1]."""
    require_share("level", level)
    a, b = table.shape
    whole = table.sum(axis=1)
    share, low, high = np.full((3, a, b), np.nan)
    sums, z = _margins(table.shape)[0], NormalDist().inv_cdf((1 + level) / 2)
    for i in range(a):
        own = np.eye(b, table.size, i * b)
        spread = covariance(np.concatenate([own, sums[i : i + 1]]))
        if whole[i] > z * max(float(spread[b, b]), 0.0) ** 0.5:  # somebody is in the row
            share[i] = table[i] / whole[i]
        for j in range(b):
            pair = spread[np.ix_([j, b], [j, b])]
            low[i, j], high[i, j] = fieller(table[i, j], whole[i], pair, z)
    share = np.clip(share, low, high)
    names = [given or [str(i) for i in range(d)] for given, d in ((rows, a), (columns, b))]
    return Shares(names[0], names[1], share, low, high, level)
