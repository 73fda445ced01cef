"""What a collection is for, and how far off it will be."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import pi
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.errors import InvalidParameter
from ldp3.noise import Noise, PureNoise, Support
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import stream
from ldp3.sizing.search import least_users, three_digits

MOST_RUNS, LEAST_RUNS = 24, 6  # collections that are simulated for a mean error
SIMULATED_VALUES = 2**15  # of all together, within these bounds: it varies less the more values
MOST_DRAWS, FEWEST_DRAWS = 2**14, 2**9  # of the noise, for an order
DRAWN_VALUES = 2**22  # in all of them together, within these bounds
LARGE = 10**9  # users whose noise is that of many
MANY, RUNS = 64, 400  # values that vary together too little to matter; collections that tell
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

    @abstractmethod
    def error(self, oracle: FrequencyOracle, n: int) -> float:
        """How far off `n` users will be."""

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        """The fewest users who are off by at most `wanted`."""
        return least_users(partial(self.error, oracle), wanted, rough=self.simulated)

    @abstractmethod
    def source(self, oracle: FrequencyOracle, n: int) -> str:
        """Where the numbers come from, in a sentence, and how well they are known."""

    def noise(self, oracle: FrequencyOracle, n: int) -> Noise:
        """What is known of the error of an estimate from `n` users."""
        if oracle.support is not None:
            return PureNoise.of(oracle.support, n)
        return oracle.estimate(oracle.simulate(self.users(n), self.rng(0))).noise

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
        estimate, noise = self.frequencies, self.noise(oracle, n)
        if oracle.support is not None:  # of a count, which is whole
            p, q = oracle.support.p, oracle.support.q
            count = np.round(n * (q + estimate[[self.place]] * (p - q)))
            (low,), (high,) = noise.interval((count / n - q) / (p - q), self.confidence)
        else:  # every value may have noise of its own
            ends = noise.interval(estimate, self.confidence)
            low, high = (end[self.place] for end in ends)
        return float((high - low) / 2 if low > 0 else high - estimate[self.place])

    def source(self, oracle: FrequencyOracle, n: int) -> str:  # noqa: ARG002
        return "By theory: the intervals are those that `ldp3 estimate` prints."


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
            variance = self.noise(oracle, n).variance(self.frequencies)
            return float(np.sqrt(2 / pi * np.broadcast_to(variance, oracle.d)).sum())
        return float(np.mean(self._sums(self.refine, oracle, n)))

    def source(self, oracle: FrequencyOracle, n: int) -> str:
        if self.refine is None:
            return "By theory, without post-processing, which makes the error smaller."
        sums = self._sums(self.refine, oracle, n)
        doubt = 200 * np.std(sums, ddof=1) / np.sqrt(len(sums)) / np.mean(sums)
        return (
            f"By {len(sums)} simulated collections for each protocol: an error is known to about "
            f"± {digit(doubt)} % of itself, users to ± {digit(2 * doubt)} %; what differs by "
            f"less is as good."
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

    Values that are equally frequent may come in any order.

    Parameters
    ----------
    top
        How many of them.
    known
        What was found for a protocol serves all numbers of users.
    """

    top: int = 10
    known: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        return True

    def error(self, oracle: FrequencyOracle, n: int) -> float:
        return float(np.mean(self._needed(oracle) >= n**0.5))

    def least(self, oracle: FrequencyOracle, wanted: float) -> int:
        if wanted < RAREST:
            raise InvalidParameter(f"`error`: an order is wrong in {RAREST:.1%} or more of cases.")
        roots = np.sort(self._needed(oracle))[::-1]
        allowed = int(wanted * len(roots))
        return three_digits(int(roots[allowed] ** 2) + 1) if allowed < len(roots) else 1

    def source(self, oracle: FrequencyOracle, n: int) -> str:
        runs, wrong = len(self._draws), self.error(oracle, n)
        doubt = 200 * (wrong * (1 - wrong) / runs) ** 0.5
        return (
            f"By {runs:,} draws of the noise, which is nearly normal where users are many: how "
            f"often is known to about ± {digit(doubt)} percentage points.{self._closest()}"
        )

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
        """The root of the number of users from which on each draw leaves the order right."""
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
        variance = LARGE * self.noise(oracle, LARGE).variance(self.frequencies)
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


def single(share: float, d: int) -> FloatArray:
    """Frequencies of which only one is known: the others are alike."""
    return np.append(share, np.full(d - 1, (1 - share) / (d - 1)))


def digit(number: float) -> str:
    """One digit, or a whole number.

    >>> digit(0.123), digit(9.7), digit(34.5)
    ('0.1', '10', '34')
    """
    return f"{number:.1g}" if number < 9.5 else f"{number:,.0f}"
