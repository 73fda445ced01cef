"""What a collection is for, and how far off it will be."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import ceil, pi, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.errors import InvalidParameter
from ldp3.noise import Support
from ldp3.postprocessing.base import PostProcessor
from ldp3.printing import number
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import stream
from ldp3.sizing.search import least_users, three_digits
from ldp3.tails import fewest, most

MOST_RUNS, LEAST_RUNS = 24, 6  # collections that are simulated for a mean error
SIMULATED_VALUES = 2**15  # of all together, within these bounds: it varies less the more values
MOST_DRAWS, FEWEST_DRAWS = 2**14, 2**9  # of the noise, for an order
DRAWN_VALUES = 2**22  # in all of them together, within these bounds
LARGE = 10**9  # users whose noise is that of many
MANY, RUNS = 64, 400  # values that vary together too little to matter; collections that tell
FEW = 50_000  # users up to whom noise is not nearly normal: collections are simulated
FEWEST_RUNS, RUNS_OF_FEW, AT_ONCE = 512, 2048, 256  # of these, and looked at together
FURTHER = 1.25  # how much farther the search for so few goes at a time
TEETH, AHEAD = 3, 4096  # whole numbers, and users at most, that are looked at ahead
UNNOTICED = 500  # counts or holders, of which one more or less changes nothing
RAREST = 1e-3  # how often an order may be wrong, at the least, as so many draws can tell


@dataclass(frozen=True, eq=False)
class Goal(ABC):
    """Something to be known of frequencies like these.

    Parameters
    ----------
    frequencies
        Of all values.
    confidence
        How often the error is to be kept.
    seed
        Where the randomness of simulated collections starts.
    """

    frequencies: FloatArray
    confidence: float
    seed: int

    @property
    def simulated(self) -> bool:
        """Whether the error comes from simulated collections, and not from theory."""
        return False

    def serves(self, oracle: FrequencyOracle) -> bool:
        """Whether a protocol is for such a question; one that goes by an order tells no values."""
        return not oracle.needs_order

    @abstractmethod
    def error(self, oracle: FrequencyOracle, n: int) -> float:
        """How far off `n` users will be."""

    def keeps(self, oracle: FrequencyOracle, n: int, wanted: float) -> bool:
        """Whether `n` users are off by at most `wanted`."""
        return self.error(oracle, n) <= wanted

    @abstractmethod
    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        """The fewest users who are off by at most `wanted`."""

    @abstractmethod
    def source(self, oracle: FrequencyOracle, n: int) -> str:
        """Where the numbers come from, in a sentence, and how well they are known."""

    def users(self, n: int) -> IntArray:
        """How many of `n` users hold each value."""
        return apportion(self.frequencies, n)

    def rng(self, run: int) -> np.random.Generator:
        """The same for every n, so that errors of neighbouring sizes compare."""
        return stream(self.seed, "size", run)


@dataclass(frozen=True, eq=False)
class ValueGoal(Goal):
    """One value's share: half the width of the interval that `estimate` prints for it.

    Where that interval begins at zero, all of what lies above the share.

    Parameters
    ----------
    place
        Which value.
    """

    place: int = 0

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        if oracle.support is not None:
            return float(self._errors(oracle.support, np.array([n]))[0])
        ends = oracle.noise(self.frequencies, n).interval(self.frequencies, self.confidence)
        low, high = (np.broadcast_to(end, oracle.d)[[self.place]] for end in ends)
        return float(self._half(np.clip(low, 0, 1), np.clip(high, 0, 1))[0])

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        """The fewest users from whom on nobody is off by more.

        Counts and holders are whole, so that a few users more may have a wider interval.
        """
        n, support = least_users(partial(self.error, oracle), wanted), oracle.support
        if support is None:
            return n
        whole = min(support.q + self.frequencies[self.place] * (support.p - support.q), wanted)
        ahead = np.arange(min(ceil(TEETH / whole), AHEAD))
        while n * whole < UNNOTICED:
            wider = np.flatnonzero(self._errors(support, n + ahead) > wanted)
            if not wider.size:
                break
            n += int(wider[-1]) + 1
        return n

    def _errors(self, support: Support, n: IntArray) -> FloatArray:
        """Of the count to be expected, which is whole, for each number of people."""
        p, q, alpha = support.p, support.q, (1 - self.confidence) / 2
        share = self.frequencies[self.place]
        counts = np.round(n * (q + share * (p - q))).astype(np.int64)
        low, high = (limit(counts, n, p, q, alpha) / n for limit in (fewest, most))
        return self._half(low, high)

    def _half(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """So few users may not hold the share: then as far as the interval lies from it."""
        share = self.frequencies[self.place]
        half = np.where(low > 0, (high - low) / 2, high - share)
        return np.maximum(half, np.maximum(low - share, share - high))

    def source(self, oracle: FrequencyOracle, n: int) -> str:  # noqa: ARG002
        return "By theory: the intervals are those that `ldp3 estimate` prints."


@dataclass(frozen=True, eq=False)
class QueryGoal(Goal):
    """A mean of numbers or a share of people: half the width of the interval of `estimate`.

    Parameters
    ----------
    weights
        What each value counts: where it lies, or whether it is one of those.
    """

    weights: FloatArray = field(default_factory=lambda: np.arange(2.0))

    def serves(self, oracle: FrequencyOracle) -> bool:
        return self._variance(oracle, LARGE) is not None

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        variance = self._variance(oracle, n)
        if variance is None:
            raise InvalidParameter(
                f"{type(oracle).__name__} does not say how the errors of different values hang "
                f"together, which a mean or a share depends on: leave it out."
            )
        return -NormalDist().inv_cdf((1 - self.confidence) / 2) * sqrt(variance)

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        return ceil(LARGE * (self.error(oracle, LARGE) / wanted) ** 2) or 1

    def source(self, oracle: FrequencyOracle, n: int) -> str:  # noqa: ARG002
        return "By theory: the intervals are those that `ldp3 estimate` prints."

    def _variance(self, oracle: FrequencyOracle, n: int) -> float | None:
        noise = oracle.noise(self.frequencies, n)
        return noise.of_query(self.weights - self.weights.mean(), self.frequencies)


@dataclass(frozen=True, eq=False)
class SumGoal(Goal):
    r"""The sum of all errors, ℓ1, in the mean.

    Without post-processing by theory: an estimate is nearly normal, so

    $$\mathrm{E}\,\ell_1 = \sum_v \sqrt{2 \mathrm{Var}[\hat f_v] / \pi}.$$

    Parameters
    ----------
    refine
        What is applied to the estimate; None for nothing.
    """

    refine: PostProcessor | None = None

    @property
    def simulated(self) -> bool:
        return self.refine is not None

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        if self.refine is None:
            variance = oracle.noise(self.frequencies, n).variance(self.frequencies)
            return float(np.sqrt(2 / pi * np.broadcast_to(variance, oracle.d)).sum())
        return float(np.mean(self._sums(self.refine, oracle, n)))

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        return least_users(partial(self.error, oracle), wanted, 0.005 if self.refine else 0.0)

    def source(self, oracle: FrequencyOracle, n: int) -> str:
        if self.refine is None:
            return "By theory, without post-processing, which makes the error smaller."
        sums = self._sums(self.refine, oracle, n)
        doubt = 200 * np.std(sums, ddof=1) / np.sqrt(len(sums)) / np.mean(sums)
        return (
            f"By {len(sums)} simulated collections for each protocol: an error is known to about "
            f"± {number(doubt, 1)} % of itself, people to ± {number(2 * doubt, 1)} %; what differs "
            f"by less is as good."
        )

    def _sums(self, refine: PostProcessor, oracle: FrequencyOracle, n: int) -> list[float]:
        users = self.users(n)
        runs = min(max(SIMULATED_VALUES // oracle.d, LEAST_RUNS), MOST_RUNS)
        made = (oracle.estimate(oracle.simulate(users, self.rng(run))) for run in range(runs))
        return [float(np.abs(refine(one) - users / n).sum()) for one in made]


@dataclass(frozen=True, eq=False)
class OrderGoal(Goal):
    r"""The most frequent values in the right order: how often one collection gets it wrong.

    A collection of many users adds noise that is nearly normal, with variance $\sigma_v^2/n$ of
    value $v$. Values vary together: where every report supports exactly $k$ of them (GRR, SS), the
    support counts add up to $kn$. For a user who holds $x$ and other values $u, v$, all of which
    are alike,

    $$P(x, v) = \frac{p(k-1)}{d-1}, \qquad
      P(u, v) = \frac{(k-1)(pk - 2p + (1-p)k)}{(d-1)(d-2)},$$

    and so the covariance of two estimates is $(a(f_u + f_v) + b)/n$. For other protocols $a = 0$,
    and $b$ comes from simulated collections, where values are so few that it matters. One draw $z$
    of the noise of one user then says for every $n$ whether the order is right: the top values are
    in order if $f_u - f_v > (z_v - z_u)/\sqrt n$ for each of them and all that are less frequent,
    which is if

    $$\sqrt n > \max_{u, v} \frac{z_v - z_u}{f_u - f_v}.$$

    Values that are equally frequent may come in any order. Where users are few, noise is not
    normal, and values that differ may have equal estimates: then collections are simulated.

    Parameters
    ----------
    top
        How many of them.
    known
        What was found for a protocol serves all numbers of people.
    """

    top: int = 10
    known: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        return True

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        if n > FEW:
            return float(np.mean(self._needed(oracle) >= n**0.5))
        return sum(self._wrong(oracle, n)) / self._runs

    def keeps(self, oracle: FrequencyOracle, n: int, wanted: float) -> bool:
        """As soon as simulated collections tell; never if they leave doubt."""
        if n > FEW:
            return super().keeps(oracle, n, wanted)
        wrong = 0
        for run, one in enumerate(self._wrong(oracle, n), start=1):
            wrong += one
            if run % AT_ONCE == 0 or run == self._runs:
                share, doubt = wrong / run, _doubt(wrong / run, run)
                if abs(share - wanted) > 3 * doubt:
                    return share < wanted
        return share + 2 * doubt <= wanted

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        if wanted < RAREST:
            raise InvalidParameter(f"`error`: an order is wrong in {RAREST:.1%} or more of cases.")
        roots = np.sort(self._needed(oracle))[::-1]
        allowed = int(wanted * len(roots))
        n = three_digits(int(roots[allowed] ** 2) + 1) if allowed < len(roots) else 1
        if n > FEW:
            return n
        low = high = n
        while not self.keeps(oracle, high, wanted):
            low, high = high, three_digits(ceil(FURTHER * high) + 1)
        while low == high and low > 0:
            low = int(low / FURTHER)
            low, high = (low, low) if self.keeps(oracle, low, wanted) else (low, high)
        while high - low > max(1, 0.1 * high):
            middle = (low + high) // 2
            low, high = (low, middle) if self.keeps(oracle, middle, wanted) else (middle, high)
        return high

    def source(self, oracle: FrequencyOracle, n: int) -> str:
        runs = self._runs if n <= FEW else len(self._draws)
        said = (
            "simulated collections" if n <= FEW else "draws of the noise, nearly normal for so many"
        )
        doubt = number(200 * _doubt(self.error(oracle, n), runs), 1)
        return (
            f"By {runs:,} {said}: how often is known to about ± {doubt} percentage points."
            f"{self._closest()}"
        )

    @property
    def _runs(self) -> int:
        return min(max(SIMULATED_VALUES * 8 // len(self.frequencies), FEWEST_RUNS), RUNS_OF_FEW)

    def _wrong(self, oracle: FrequencyOracle, n: int) -> Iterator[bool]:
        """Whether simulated collections of `n` users get the order wrong; equal is wrong, too."""
        users = self.users(n)
        for run in range(self._runs):
            made = oracle.estimate(oracle.simulate(users, self.rng(run))).frequencies[self._order]
            highest = np.append(np.maximum.accumulate(made[::-1])[::-1], -np.inf)  # from there on
            yield not (made[: self.top] > highest[self._below]).all()

    def _closest(self) -> str:
        """Which of the top are hardest to tell apart."""
        f = self.frequencies[self._order]
        pairs = [(f[i] - f[j], i, j) for i, j in enumerate(self._below) if j < len(f)]
        if not pairs:
            return ""
        _, i, j = min(pairs)
        return (
            f" Hardest to tell apart: values that {100 * f[i]:.4g} % and {100 * f[j]:.4g} % hold."
        )

    def _needed(self, oracle: FrequencyOracle) -> FloatArray:
        """The root of the number of people from which on each draw leaves the order right."""
        if repr(oracle) not in self.known:
            self.known[repr(oracle)] = self._found(oracle)
        return self.known[repr(oracle)]

    def _found(self, oracle: FrequencyOracle) -> FloatArray:
        f, z = self.frequencies[self._order], self._noise(oracle)
        found = np.zeros(len(z))
        for i, below in enumerate(self._below):
            if below < len(f):
                pushed = (z[:, below:] - z[:, [i]]) / (f[i] - f[below:]).astype(z.dtype)
                np.maximum(found, pushed.max(axis=1), out=found)
        return found

    def _noise(self, oracle: FrequencyOracle) -> Any:
        """The noise of one user in each draw, by draw and place in the order."""
        f = self.frequencies[self._order]
        variance = LARGE * oracle.noise(self.frequencies, LARGE).variance(self.frequencies)
        spread = np.broadcast_to(variance, f.shape)[self._order]
        return together(self._draws, f, spread, *self._shared(oracle, float(spread.mean())))

    def _shared(self, oracle: FrequencyOracle, variance: float) -> tuple[float, float]:
        """a and b of the covariances."""
        if oracle.support is not None and oracle.support.size is not None:
            return fixed_size(oracle.support, oracle.d)
        if oracle.d >= MANY:
            return 0.0, 0.0
        users = self.users(LARGE)
        made = (oracle.estimate(oracle.simulate(users, self.rng(run))) for run in range(RUNS))
        return 0.0, _correlation(np.array([one.frequencies for one in made])) * variance

    @cached_property
    def _draws(self) -> Any:
        """Standard normal; the same for all protocols, so that these compare."""
        d = len(self.frequencies)
        runs = min(max(DRAWN_VALUES // d, FEWEST_DRAWS), MOST_DRAWS)
        return self.rng(0).standard_normal((runs, d), dtype=np.float32)

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(-self.frequencies, kind="stable")

    @cached_property
    def _below(self) -> IntArray:
        """Of each of the top values, where the first less frequent one stands."""
        falling = -self.frequencies[self._order]
        return np.searchsorted(falling, falling[: self.top], side="right")


def fixed_size(support: Support, d: int) -> tuple[float, float]:
    """a and b where every report supports equally many values."""
    p, q, k = support.p, support.q, support.size or 1
    held = p * (k - 1) / (d - 1) - p * q
    other = (k - 1) * (p * k - 2 * p + (1 - p) * k) / ((d - 1) * max(d - 2, 1)) - q * q
    return (held - other) / (p - q) ** 2, other / (p - q) ** 2


def together(draws: Any, f: FloatArray, variance: FloatArray, a: float, b: float) -> Any:
    """Standard normal draws as noise with these variances and covariances.

    The covariance matrix is a diagonal one plus one of rank two, whose root is known.
    """
    own = np.sqrt(np.maximum(variance - 2 * a * f - b, 1e-12))
    if a or b:
        axes, r = np.linalg.qr(np.stack([1 / own, f / own], axis=1))
        values, vectors = np.linalg.eigh(np.eye(2) + r @ np.array([[b, a], [a, 0.0]]) @ r.T)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T - np.eye(2)
        draws = draws + ((draws @ axes) @ root @ axes.T).astype(draws.dtype)
    return draws * own.astype(draws.dtype)


def _correlation(noise: FloatArray) -> float:
    """Of two values, in the mean over all pairs; one row for each collection."""
    found, d = np.corrcoef(noise.T), noise.shape[1]
    return float((found.sum() - d) / (d * (d - 1)))


def _doubt(share: float, runs: int) -> float:
    """The standard error of a share of so many runs."""
    return float((max(share * (1 - share), 1 / runs) / runs) ** 0.5)


def single(share: float, d: int) -> FloatArray:
    """Frequencies of which only one is known: the others are alike."""
    return np.append(share, np.full(d - 1, (1 - share) / (d - 1)))
