r"""The most frequent values in the right order.

A collection of many users adds noise that is nearly normal, with variance $\sigma_v^2/n$ of value
$v$. Values vary together: where every report supports exactly $k$ of them (GRR, SS), the support
counts add up to $kn$. For a user who holds $x$ and other values $u, v$, all of which are alike,

$$P(x, v) = \frac{p(k-1)}{d-1}, \qquad
  P(u, v) = \frac{(k-1)(pk - 2p + (1-p)k)}{(d-1)(d-2)},$$

and so the covariance of two estimates is $(a(f_u + f_v) + b)/n$. For other protocols $a = 0$, and
$b$ comes from simulated collections, where values are so few that it matters. One draw $z$ of the
noise of one user then says for every $n$ whether the order is right: the top values are in order if
$f_u - f_v > (z_v - z_u)/\sqrt n$ for each of them and all that are less frequent, which is if

$$\sqrt n > \max_{u, v} \frac{z_v - z_u}{f_u - f_v}.$$
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray, IntArray
from ldp3.errors import InvalidParameter
from ldp3.noise import Support
from ldp3.protocols.base import FrequencyOracle
from ldp3.sizing.goals import Goal, digit
from ldp3.sizing.solving import three_digits

MOST, FEWEST = 2**14, 2**9  # draws of the noise
VALUES = 2**22  # in all of them together, within these bounds
LARGE = 10**9  # users whose noise is that of many
MANY, RUNS = 64, 400  # values that vary together too little to matter; collections that tell
RAREST = 1e-3  # how often an order may be wrong, at the least, as so many draws can tell


@dataclass(frozen=True, eq=False)
class OrderGoal(Goal):
    """The most frequent values in the right order: how often one collection gets it wrong.

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
        runs = min(max(VALUES // d, FEWEST), MOST)
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
