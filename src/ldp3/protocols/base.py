"""What a frequency oracle promises."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import ClassVar

import numpy as np

from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    InvalidReport,
    require_epsilon_and_domain,
)
from ldp3.types import BoolArray, Estimate, FloatArray, IntArray, Reports, Total

CHUNK = 65_536  # users per batch
CHUNK_BITS = 2**28  # and 32 MiB of reports at the most, whatever the domain


@dataclass(frozen=True)
class FrequencyOracle(ABC):
    """An ε-LDP protocol over the domain `{0, …, d-1}`: client and server in one object.

    Two methods suffice: `perturb` (client) and `estimate` (server, from the sum over all users).

    Parameters
    ----------
    epsilon
        Privacy budget of one report, > 0.
    d
        Size of the domain, ≥ 2.
    """

    aliases: ClassVar[tuple[str, ...]] = ()

    epsilon: float
    d: int

    def __post_init__(self) -> None:
        require_epsilon_and_domain(self, self.epsilon, self.d)

    @abstractmethod
    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        """Client: one report per value. A value outside the domain is refused, never sent."""

    @abstractmethod
    def estimate(self, total: Total, n: int) -> Estimate:
        """Server: unbiased frequencies from the aggregate of `n` reports."""

    def aggregate(self, reports: Reports) -> Total:
        """Server: the sum over users. Aggregates of two batches add up."""
        self.require_valid(reports)
        return np.asarray(reports.sum(axis=0))

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Total:
        """An aggregate with the law of the user path, for users with this histogram."""
        batches = users(histogram, self.batch)
        return reduce(np.add, (self.aggregate(self.perturb(v, rng)) for v in batches))

    def valid(self, reports: Reports) -> BoolArray:
        """Which rows a server may count."""
        return np.asarray(np.isfinite(reports).all(axis=tuple(range(1, reports.ndim))))

    @property
    def report_form(self) -> str:
        """What a report is, in words."""
        return "finite numbers"

    @property
    def report_bits(self) -> int:
        """Size of one report on the wire."""
        some = self.perturb(np.zeros(1, dtype=np.int64), np.random.Generator(np.random.PCG64(0)))
        return max(1, np.asarray(some).nbytes) * 8

    @property
    def batch(self) -> int:
        """How many users to perturb and aggregate at a time."""
        return max(1, min(CHUNK, CHUNK_BITS // self.report_bits))

    @property
    def privacy_ratio(self) -> Fraction | None:
        """Worst ratio of a report's probabilities under two values, exact; None if unknown."""
        return None

    @property
    def p(self) -> float | None:
        """Probability that a report supports the user's own value, where the oracle is pure."""
        return None

    @property
    def q(self) -> float | None:
        """Probability that a report supports some other value, where the oracle is pure."""
        return None

    @property
    def support_size(self) -> int | None:
        """How many values each report supports, where that number is fixed."""
        return None

    def require_valid(self, reports: Reports) -> None:
        """Refuse reports that no client can have sent, naming the first."""
        ok = self.valid(reports)
        if not ok.all():
            raise InvalidReport(
                f"{type(self).__name__}: report {int(np.argmin(ok))} is not {self.report_form}; "
                f"count only the rows that `valid` accepts."
            )


@dataclass(frozen=True)
class PureOracle(FrequencyOracle):
    r"""A protocol whose reports *support* values.

    A report supports the user's own value with probability $p$ and any other value with
    probability $q < p$. With $C_v$ the number of reports that support $v$,

    $$\hat f_v = \frac{C_v/n - q}{p - q}, \qquad
      \mathrm{Var}[\hat f_v] = \frac{f_v\,p(1-p) + (1 - f_v)\,q(1-q)}{n(p-q)^2}
      = \frac{q(1-q)}{n(p-q)^2} + \frac{f_v(1-p-q)}{n(p-q)}.$$

    Subclasses say `p`, `q`, `perturb`, `supports`; the rest follows. `aggregate` is overridden
    where counting can be faster, `simulate` where the law of the counts is known, `log_prob` and
    `privacy_ratio` where they are known.

    References
    ----------
    Wang, Blocki, Li, Jha. *Locally differentially private protocols for frequency estimation.*
    USENIX Security 2017, §3.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.p > self.q:
            raise InvalidParameter(
                f"{type(self).__name__}: epsilon must be > 0 by more than rounding can tell "
                f"for d={self.d}, got {self.epsilon!r}."
            )

    @property
    @abstractmethod
    def p(self) -> float:
        """Probability that a report supports the user's own value, as `perturb` realises it."""

    @property
    @abstractmethod
    def q(self) -> float:
        """Probability that a report supports some other value, as `perturb` realises it."""

    @abstractmethod
    def supports(self, reports: Reports, value: int) -> BoolArray:
        """Which reports support `value`, shape `(n,)`: the definition, not the fast path."""

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:  # noqa: ARG002
        """Log-probability of each report if `value` is the truth, up to a term without the truth.

        None if the oracle does not say.
        """
        return None

    def aggregate(self, reports: Reports) -> IntArray:
        """How many reports support each value."""
        self.require_valid(reports)
        return np.array([np.count_nonzero(self.supports(reports, v)) for v in range(self.d)])

    def estimate(self, total: Total, n: int) -> Estimate:
        """Unbiased frequencies."""
        if n < 1 or np.shape(total) != (self.d,):
            raise InvalidData(
                f"{type(self).__name__}: an estimate needs {self.d} counts of at least one report, "
                f"got shape {np.shape(total)} and n={n}."
            )
        frequencies = (np.asarray(total, dtype=np.float64) / n - self.q) / (self.p - self.q)
        return Estimate(frequencies, total, n, self.variance(n), self.p, self.q, self.support_size)

    def variance(self, n: int, frequency: float = 0.0) -> float:
        """Variance of the estimate of a value that a fraction `frequency` of users hold."""
        own, other = self.p * (1 - self.p), self.q * (1 - self.q)
        return (frequency * own + (1 - frequency) * other) / (n * (self.p - self.q) ** 2)


def users(histogram: IntArray, size: int) -> Iterator[IntArray]:
    """The users' values in batches of `size`, in order of value, without holding them all."""
    ends = np.cumsum(histogram)
    for start in range(0, int(ends[-1]), size):
        yield users_between(ends, start, min(start + size, int(ends[-1])))


def users_between(ends: IntArray, start: int, stop: int) -> IntArray:
    """The values of users `start` to `stop`, where `ends` is the cumulated histogram."""
    first, last = np.searchsorted(ends, [start, stop - 1], side="right")
    inside = np.clip(ends[first : last + 1], start, stop)
    return np.repeat(np.arange(first, last + 1), np.diff(inside, prepend=start))
