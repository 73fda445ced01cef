r"""Which combinations may be best, with repeats spent where they decide.

Every combination in the race is measured on the same populations, $R$ collections each. Let
$D_{br}$ be how much worse one is than another on population $b$ in collection $r$, $\bar D_b$ the
means over collections, $\omega_b$ how likely the population is, $B = 1/\sum\omega_b^2$ how many
equally likely ones they are worth, $V$ the variance of $\bar D_b$ over populations and $W$ that
within them. Then the mean $\bar D = \sum\omega_b\bar D_b$ stands for the difference on the *real*
population with variance

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
every look pays its share of $\alpha$. As in `results.ties`, all truly best combinations then stay
with probability at least $1-\alpha$, up to the normal approximation of means and as far as the
real population is like one of those that were drawn.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.recommendation.populations import MANY

AFFORDED = {32: 4, MANY: 2}  # repeats of everything, up to so many values; beyond, one
MANY_TAKE_PART = 150  # combinations: fewer may run more often
DEARER = 3  # what is left costs so many times the mean: good methods are slow
DOUBLINGS = 3  # of the repeats, with what was saved on combinations that have left
DECIDED = 0.9  # share of the sample in the uncertainty from which on a larger one is needed

Reason = Literal["separated", "equal", "sample", "budget"]


@dataclass(frozen=True, eq=False)
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
    weights
        How likely each population is.
    afforded
        Repeats that all combinations could run; what those that leave save is for the others.
    """

    alpha: float
    margin: float
    looks: tuple[int, ...]
    weights: FloatArray
    afforded: int

    def quantile(self, left: int, combinations: int) -> float:
        """Of one test among so many combinations, of which these are left."""
        level = self.alpha / (len(self.looks) * left * max(combinations - 1, 1))
        return quantile(level, self.weights)

    def affords(self, spent: IntArray, left: BoolArray) -> bool:
        """Whether those left may go on to the next look, if each has run so many repeats."""
        at = int(spent.max())
        after = next((repeats for repeats in self.looks if repeats > at), None)
        if after is None:
            return False
        more = (after - at) * np.count_nonzero(left) * DEARER
        return after <= self.afforded or bool(spent.sum() + more <= self.afforded * len(spent))


def looks(d: int) -> tuple[int, ...]:
    """Repeats on each population at each look; the last ones are for the few that are left."""
    most = _for_many(d)
    more = 0 if most == 1 else DOUBLINGS
    return (
        *(2**k for k in range((most - 1).bit_length())),
        *(most * 2**k for k in range(more + 1)),
    )


def afforded(d: int, combinations: int) -> int:
    """Repeats for every combination: more where few take part."""
    return min(_for_many(d) * max(MANY_TAKE_PART // combinations, 1), looks(d)[-1])


def _for_many(d: int) -> int:
    """Fewer for many values, where they cost more."""
    return next((repeats for values, repeats in AFFORDED.items() if d <= values), 1)


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a race stands.

    Parameters
    ----------
    left
        Which combinations have not been shown to be worse.
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
    """Drop what is worse; lower values are better, by combination, population and repeat.

    Those that are `watched` are measured still, though they may have left.
    """
    repeats, running, weights = values.shape[2], standing.left, rules.weights
    means = np.where(running, values.mean(axis=2) @ weights, np.inf)
    leader = _first(means)
    errors = np.full((len(running), len(running)), -np.inf)
    for other in np.flatnonzero(running):
        gap = summary(difference(values[running], values[other]), weights)
        errors[running, other] = _ratio(gap.mean, gap.variance)
    left, limit, before = running, 0.0, 0
    while np.count_nonzero(left) != before:
        before = int(np.count_nonzero(left))
        limit = rules.quantile(before, len(left))
        left = left & ~(errors > limit).any(axis=1)
    measured = running if watched is None else running | watched
    counts = np.where(measured, repeats, standing.repeats)
    after = replace(standing, left=left, repeats=counts, leader=leader)
    others = left & (np.arange(len(left)) != leader)
    gap = summary(difference(values[others], values[leader]), weights)
    near = gap.mean + limit * np.sqrt(gap.variance) <= rules.margin * abs(means[leader])
    if not others.any():
        return replace(after, reason="separated")
    if near.all():
        return replace(after, reason="equal")
    if repeats > 1 and (gap.sample >= DECIDED).all():
        return replace(after, reason="sample")
    measured = left if watched is None else left | watched
    return after if rules.affords(counts, measured) else replace(after, reason="budget")


def _ratio(gap: FloatArray, variance: FloatArray) -> FloatArray:
    sure = np.where(gap > 0, np.inf, 0.0)  # where nothing varies
    return np.divide(gap, np.sqrt(variance), out=sure, where=variance > 0)


def difference(values: FloatArray, other: FloatArray) -> FloatArray:
    """`values - other`, and 0 where they agree but for rounding."""
    return np.where(np.isclose(values, other, rtol=1e-9, atol=0), 0.0, values - other)


@dataclass(frozen=True, eq=False)
class Gap:
    """A mean over populations and repeats: V, the noise W/R in it, B and R give its variance."""

    mean: FloatArray
    v: FloatArray
    noise: FloatArray
    populations: float
    repeats: int

    @property
    def between(self) -> FloatArray:
        """What the sample leaves open."""
        return np.maximum(self.v - self.noise, 0)

    @property
    def sample(self) -> FloatArray:
        """Its share; all of it where nothing varies."""
        return np.divide(self.between, self.v, out=np.ones_like(self.v), where=self.v > 0)

    @property
    def variance(self) -> FloatArray:
        """S."""
        most = self.v * (1 + 1 / self.populations)
        if self.repeats == 1:  # W is unknown
            return most
        error = (2 / (self.populations - 1)) ** 0.5  # of V, as a share of it
        return np.minimum(self.between + self.v * (error + 1 / self.populations), most)


def summary(values: FloatArray, weights: FloatArray) -> Gap:
    """Of values whose last axes are populations, of these weights, and repeats."""
    worth, repeats = worth_of(weights), values.shape[-1]
    means = values.mean(axis=-1)
    mean = means @ weights
    v = (means - mean[..., None]) ** 2 @ weights * worth / (worth - 1)
    within = values.var(axis=-1, ddof=1) @ weights if repeats > 1 else np.zeros_like(v)
    return Gap(mean, v, within / repeats, worth, repeats)


def worth_of(weights: FloatArray) -> float:
    """How many equally likely populations these are worth."""
    return float(1 / (weights**2).sum())


def quantile(level: float, weights: FloatArray) -> float:
    """Of Student's distribution with B-1 degrees of freedom, one-sided."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    return float(-stdtrit(worth_of(weights) - 1, level))


def _first(means: FloatArray) -> int:
    """The best mean, and the first one where several share it but for rounding."""
    return int(np.argmax(np.isclose(means, means.min(), rtol=1e-9, atol=0)))
