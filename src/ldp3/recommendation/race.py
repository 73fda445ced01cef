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
every look pays its share of $\alpha$. As in `results.ties`, all truly best combinations then stay
with probability at least $1-\alpha$, up to the normal approximation of means.

A combination that is neither worse than another nor may yet show another to be worse is *given up*:
it stays among the tied, and no more repeats are spent on it. It may if $\bar D + 2\sqrt{V/B}$ would
be enough at the last look, for the $S$ that is to be hoped for there. This costs power, never
confidence.

Where values are many, a *heat* comes first: one collection of everything on a few populations,
which is a look as any other. Those who are left race on other populations, on more than all could.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray

POPULATIONS = 32  # fewer: t quantiles grow; more: less repeats on each to take the noise out
REPEATS_TIMES_VALUES = 4096  # at most, for repeats within these bounds:
FEWEST_REPEATS, MOST_REPEATS = 4, 32
MANY = 4096  # values from which on a collection costs so much that fewer must do:
HEAT = 8  # populations on which everybody starts, once on each
FEW_POPULATIONS, FEW_REPEATS = 12, 2  # others, on which those who are left go on
PATIENCE = 4  # repeats before anything is given up: the answer tells errors too
DECIDED = 0.9  # share of the sample in the uncertainty from which on a larger one is needed

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
    others
        Looks before or after these, which have their share of alpha.
    """

    alpha: float
    margin: float
    looks: tuple[int, ...]
    others: int = 0

    def level(self, left: int, combinations: int) -> float:
        """Of one test among so many combinations, of which these are left."""
        looks = len(self.looks) + self.others
        return self.alpha / (looks * left * max(combinations - 1, 1))


def looks(d: int) -> tuple[int, ...]:
    """1, 2, 4, … repeats: fewer for many values, where metrics vary less and cells cost more."""
    fewest = FEWEST_REPEATS if d <= MANY else FEW_REPEATS
    most = min(max(REPEATS_TIMES_VALUES // d, fewest), MOST_REPEATS)
    return tuple(2**k for k in range(most.bit_length()))


def populations(d: int) -> int:
    """How many to draw."""
    return POPULATIONS if d <= MANY else FEW_POPULATIONS


def heat(d: int) -> int:
    """How many more to draw for a heat; none where there is none."""
    return 0 if d <= MANY else HEAT


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a race stands.

    Parameters
    ----------
    left
        Which combinations have not been shown to be worse.
    given_up
        Which of those are not worth more repeats.
    sample
        Share of the sample in what is uncertain of each, compared with the leader.
    repeats
        On each population, as far as each combination was measured.
    leader
        The one with the best mean of those left.
    reason
        Why it is over; None while it is not.
    """

    left: BoolArray
    given_up: BoolArray
    sample: FloatArray
    repeats: IntArray
    leader: int = 0
    reason: Reason | None = None

    @property
    def running(self) -> BoolArray:
        """Which combinations are worth more repeats."""
        return self.left & ~self.given_up


def start(combinations: int) -> Standing:
    """Nobody has been measured."""
    none = np.zeros(combinations, dtype=bool)
    return Standing(~none, none, np.zeros(combinations), np.zeros(combinations, dtype=np.int64))


def after(heat: Standing) -> Standing:
    """Those who are left after a heat start anew, unless it decided."""
    decided = heat.reason if heat.reason in ("separated", "equal") else None
    return replace(start(len(heat.left)), left=heat.left, reason=decided)


def look(
    values: FloatArray, standing: Standing, rules: Rules, watched: BoolArray | None = None
) -> Standing:
    """Drop what is worse; lower values are better, shape `(combinations, B, R)`.

    Those that are `watched` are measured still, though they may have left.
    """
    repeats, running = values.shape[2], standing.running
    means = np.where(running, values.mean(axis=(1, 2)), np.inf)
    leader = _first(means)
    errors, hopes = _compared(values, running, rules.looks[-1])
    left, limit, before = standing.left, 0.0, 0
    while np.count_nonzero(left) != before:
        before = int(np.count_nonzero(left))
        limit = quantile(rules.level(before, len(left)), values.shape[1])
        left = left & ~(errors > limit).any(axis=1)
    gap = summary(difference(values, values[leader]))
    measured = running if watched is None else running | watched
    after = replace(
        standing,
        left=left,
        sample=np.where(running, gap.sample, standing.sample),
        repeats=np.where(measured, repeats, standing.repeats),
        leader=leader,
    )
    others = left & (np.arange(len(left)) != leader)
    near = gap.mean + limit * np.sqrt(gap.variance) <= rules.margin * abs(means[leader])
    if not others.any():
        return replace(after, reason="separated")
    if (near & running)[others].all():
        return replace(after, reason="equal")
    open_ = (hopes > limit) & left[:, None] & left
    hopeless = running & ~(open_.any(axis=0) | open_.any(axis=1))
    if repeats >= PATIENCE:
        after = replace(after, given_up=standing.given_up | (hopeless & others))
    if repeats < rules.looks[-1] and (after.running & others).any():
        return after
    small = (after.sample[others] >= DECIDED).all()
    return replace(after, reason="sample" if small else "budget")


def _compared(values: FloatArray, running: BoolArray, last: int) -> tuple[FloatArray, FloatArray]:
    """By how many standard errors each is worse than each, now and at the last look at best."""
    errors = np.full((len(running), len(running)), -np.inf)
    hopes = errors.copy()
    for other in np.flatnonzero(running):
        gap = summary(difference(values[running], values[other]))
        errors[running, other] = _ratio(gap.mean, gap.variance)
        best = gap.mean + 2 * np.sqrt(gap.v / values.shape[1])
        hopes[running, other] = _ratio(best, gap.at_best(last))
    return errors, hopes


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
    populations: int
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
        if self.repeats == 1:  # W is unknown
            return self.v * (1 + 1 / self.populations)
        return self._s(self.between, self.v)

    def at_best(self, repeats: int) -> FloatArray:
        """S after so many repeats, if V is a standard error too large."""
        between = np.maximum(self.v * (1 - self._error) - self.noise, 0)
        noise = self.noise if self.repeats > 1 else self.v
        return self._s(between, between + noise * self.repeats / repeats)

    @property
    def _error(self) -> float:
        """Of V, as a share of it."""
        return (2 / (self.populations - 1)) ** 0.5

    def _s(self, between: FloatArray, v: FloatArray) -> FloatArray:
        s = between + v * (self._error + 1 / self.populations)
        return np.minimum(s, v * (1 + 1 / self.populations))


def summary(values: FloatArray) -> Gap:
    """Of values whose last axes are populations and repeats."""
    populations, repeats = values.shape[-2:]
    means = values.mean(axis=-1)
    v = means.var(axis=-1, ddof=1)
    within = values.var(axis=-1, ddof=1).mean(axis=-1) if repeats > 1 else np.zeros_like(v)
    return Gap(means.mean(axis=-1), v, within / repeats, populations, repeats)


def quantile(level: float, populations: int = POPULATIONS) -> float:
    """Of Student's distribution with B-1 degrees of freedom, one-sided."""
    from scipy.special import stdtrit  # scipy.stats takes most of a second to import

    return float(-stdtrit(populations - 1, level))


def _first(means: FloatArray) -> int:
    """The best mean, and the first one where several share it but for rounding."""
    return int(np.argmax(np.isclose(means, means.min(), rtol=1e-9, atol=0)))
