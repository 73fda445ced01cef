r"""Which combination is best, with repeats spent where they decide.

Every combination in the race is measured on the same $B$ populations, $R$ collections each. With
$D_{br}$ how much worse it is than another one on population $b$ in collection $r$, $\bar D_b$ the
means over collections, $V$ their variance over populations and $W$ the variance within them, the
mean $\bar D$ stands for the difference on the *real* population with variance

$$S = \min\Big\{ \underbrace{\max(V - W/R,\ 0) + V\sqrt{2/(B-1)}}_{\text{the sample}}
      + \underbrace{V/B}_{\text{the simulation}},\quad V(1 + 1/B) \Big\}.$$

$V$ estimates what the sample leaves open plus $W/R$, the noise of $R$ collections; taking $W/R$
out leaves the first. That difference of variances may come out much too small, so one standard
error of $V$ is added. The second bound does not take the noise out at all: it is the variance of a
prediction, and the only one there is for $R = 1$.

A combination leaves when $\bar D > t_{B-1}\sqrt S$ against any other one in the race, not only the
leader: methods of one protocol share its noise and are compared more sharply. The quantile is that
of the level

$$\frac{\alpha}{K\,s\,(m-1)}$$

of $K$ looks, $m$ combinations, and $s$ of them left in the race: $R$ doubles from look to look, and
every look pays its share of $\alpha$. As in `ldp3.ranking`, all truly best combinations then stay
with probability at least $1-\alpha$, up to the normal approximation of means.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldp3.types import BoolArray, FloatArray, IntArray

POPULATIONS = 32  # fewer: t quantiles grow; more: less repeats on each to take the noise out
VALUES = 4096  # repeats times values of the domain, at most, within these bounds:
FEWEST, MOST = 4, 32
DECIDED = 0.9  # share of the sample in the uncertainty from which on more repeats are in vain

Reason = Literal["separated", "equal", "sample", "budget"]


@dataclass(frozen=True)
class Rules:
    """What ends a race.

    Parameters
    ----------
    alpha
        How often a truly best combination may be lost.
    margin
        Differences of this share of the leader's mean matter to nobody.
    looks
        Repeats on each population at each look.
    """

    alpha: float
    margin: float
    looks: tuple[int, ...]


def looks(d: int) -> tuple[int, ...]:
    """1, 2, 4, … repeats: fewer for many values, where metrics vary less and cells cost more."""
    most = min(max(VALUES // d, FEWEST), MOST)
    return tuple(2**k for k in range(most.bit_length()))


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a race stands.

    Parameters
    ----------
    left
        Which combinations are left in it.
    repeats
        On each population, as far as each combination was measured.
    leader
        The one with the best mean of those left.
    reason
        Why it is over; None while it is not.
    """

    left: BoolArray
    repeats: IntArray
    leader: int = 0
    reason: Reason | None = None


def start(combinations: int) -> Standing:
    """Nobody has been measured."""
    return Standing(np.ones(combinations, dtype=bool), np.zeros(combinations, dtype=np.int64))


def look(
    values: FloatArray, standing: Standing, rules: Rules, watched: BoolArray | None = None
) -> Standing:
    """Drop what is worse; lower values are better, shape `(combinations, B, R)`.

    Those that are `watched` are measured still, though they may have left.
    """
    repeats = values.shape[2]
    left = standing.left
    means = np.where(left, values.mean(axis=(1, 2)), np.inf)
    leader = _first(means)
    gap, variance, sample = summary(difference(values, values[leader]))
    scores = _worst(values, left)
    measured = left if watched is None else left | watched
    limit, before = 0.0, 0
    while np.count_nonzero(left) != before:
        before = int(np.count_nonzero(left))
        level = rules.alpha / (len(rules.looks) * before * max(len(left) - 1, 1))
        limit = quantile(level, values.shape[1])
        left = left & ~(scores > limit)
    after = replace(
        standing,
        left=left,
        repeats=np.where(measured, repeats, standing.repeats),
        leader=leader,
    )
    others = left & (np.arange(len(left)) != leader)
    worst = (gap + limit * np.sqrt(variance))[others]
    if not others.any():
        return replace(after, reason="separated")
    if (worst <= rules.margin * abs(means[leader])).all():
        return replace(after, reason="equal")
    if repeats > 1 and (sample[others] >= DECIDED).all():
        return replace(after, reason="sample")
    return replace(after, reason="budget") if repeats == rules.looks[-1] else after


def _worst(values: FloatArray, left: BoolArray) -> FloatArray:
    """By how many standard errors each is worse than whichever shows it best."""
    out = np.zeros(len(left))
    for other in np.flatnonzero(left):
        gap, variance, _ = summary(difference(values[left], values[other]))
        never = np.where(gap > 0, np.inf, 0.0)  # where nothing varies
        errors = np.divide(gap, np.sqrt(variance), out=never, where=variance > 0)
        out[left] = np.maximum(out[left], errors)
    return out


def difference(values: FloatArray, other: FloatArray) -> FloatArray:
    """`values - other`, and 0 where they agree but for rounding."""
    return np.where(np.isclose(values, other, rtol=1e-9, atol=0), 0.0, values - other)


def summary(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance S of it, and the share of the sample in V; the last axes are B and R."""
    populations, repeats = values.shape[-2:]
    by_population = values.mean(axis=-1)
    v = by_population.var(axis=-1, ddof=1)
    noise = values.var(axis=-1, ddof=1).mean(axis=-1) / repeats if repeats > 1 else 0 * v
    prediction = v * (1 + 1 / populations)
    between = np.maximum(v - noise, 0)
    s = np.minimum(between + v * np.sqrt(2 / (populations - 1)) + v / populations, prediction)
    # equal in all repeats: nothing is open
    share = np.divide(between, v, out=np.ones_like(v), where=v > 0)
    return by_population.mean(axis=-1), prediction if repeats == 1 else s, share


def quantile(level: float, populations: int = POPULATIONS) -> float:
    """Of Student's distribution with B-1 degrees of freedom, one-sided."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    return float(-stdtrit(populations - 1, level))


def _first(means: FloatArray) -> int:
    """The best mean, and the first one where several share it but for rounding."""
    return int(np.argmax(np.isclose(means, means.min(), rtol=1e-9, atol=0)))
