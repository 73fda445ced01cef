"""Protocols whose reports support values: what follows from p, q and the supports."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log1p

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.errors import (
    InvalidData,
    InvalidParameter,
    require,
    require_generator,
    short,
)
from ldp3.noise import LinearChannel, PureNoise, Support
from ldp3.protocols.base import FrequencyOracle
from ldp3.shuffling import Blanket, Distinguisher
from ldp3.types import Estimate, Tally


@dataclass(frozen=True)
class PureOracle(FrequencyOracle):
    r"""A protocol whose reports *support* values.

    A report supports the user's own value with probability $p$ and any other value with
    probability $q < p$. With $C_v$ the number of reports that support $v$,

    $$\hat f_v = \frac{C_v/n - q}{p - q}, \qquad
      \mathrm{Var}[\hat f_v] = \frac{f_v\,p(1-p) + (1 - f_v)\,q(1-q)}{n(p-q)^2}
      = \frac{q(1-q)}{n(p-q)^2} + \frac{f_v(1-p-q)}{n(p-q)}.$$

    Subclasses say `p`, `q`, `perturb`, `supports`; the rest follows. `aggregate` is overridden
    where counting can be faster (with `support_counts`, if it tallies something else first),
    `simulate` where the law of the counts is known. What else an oracle knows of itself it says
    further below, and whoever asks takes None for "not known": nobody asks for its class.

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

    @property
    def channel(self) -> LinearChannel | None:
        return None

    @cached_property
    def support(self) -> Support:
        size = self.support_size if self.exchangeable else None
        return Support(self.p, self.q, size, self.both)

    @abstractmethod
    def supports(self, reports: Reports, value: int) -> BoolArray:
        """Which reports support `value`, shape `(n,)`: the definition, not the fast path."""

    def sizes(self, reports: Reports) -> IntArray:
        """How many values each report supports."""
        found = np.zeros(len(reports), dtype=np.int64)
        for v in range(self.d):
            found += self.supports(reports, v)
        return found

    def aggregate(self, reports: Reports) -> Tally:
        """How many reports support each value."""
        self.require_valid(reports)
        counts = [np.count_nonzero(self.supports(reports, v)) for v in range(self.d)]
        return Tally(np.array(counts), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        """How many reports support each value; where the tally holds something else, decoded."""
        return tally.total

    def estimate(self, tally: Tally) -> Estimate:
        """Unbiased frequencies."""
        if not isinstance(tally, Tally):
            raise InvalidData(
                f"{type(self).__name__}: a Tally is needed, as `aggregate` gives it, got "
                f"{short(tally)}."
            )
        counts, n = self.support_counts(tally), tally.n
        self._require_counts(counts, n)
        frequencies = (np.asarray(counts, dtype=np.float64) / n - self.q) / (self.p - self.q)
        return Estimate(frequencies, tally, self.noise(frequencies, n), self.channel)

    def noise(self, frequencies: FloatArray, n: int) -> PureNoise:  # noqa: ARG002
        return PureNoise.of(self.support, n, self.channel)

    def _require_counts(self, counts: IntArray, n: int) -> None:
        """Refuse counts that no `n` reports can have given."""
        if n < 1 or np.shape(counts) != (self.d,):
            raise InvalidData(
                f"{type(self).__name__}: an estimate needs {self.d} counts of at least one report, "
                f"got shape {np.shape(counts)} and n={n}."
            )
        size = self.support_size
        within = counts.min() >= 0 and counts.max() <= n
        if not within or (size is not None and int(counts.sum()) != size * n):
            each = f"{size} values" if size is not None else "at most each value once"
            raise InvalidData(
                f"{type(self).__name__}: these are no counts of n={n} reports, each of which "
                f"supports {each}."
            )

    def variance(self, n: int, frequency: float = 0.0) -> float:
        """Variance of the estimate of a value that a fraction `frequency` of users hold."""
        own, other = self.p * (1 - self.p), self.q * (1 - self.q)
        for name, given in (("n", n), ("frequency", frequency)):
            number = isinstance(given, int | float | np.number) and abs(given) < 2**1000
            require(number, self, f"{name} must be a number", given)
        require(n > 0, self, "n must be > 0", n)
        return (frequency * own + (1 - frequency) * other) / (n * (self.p - self.q) ** 2)

    # what it says of itself; None where it does not know

    @property
    def support_ratio(self) -> Fraction | None:
        r"""How many times as likely a report is under values that it supports as under others.

        Only where this is all that a report tells: $P(y \mid v) = c(y) r$ if $y$ supports $v$, else
        $c(y)$, with $r$ the ratio and $c$ free of $v$.
        """
        return None

    @property
    def privacy_ratio(self) -> Fraction | None:
        return self.support_ratio

    def log_prob(self, reports: Reports, value: int) -> FloatArray | None:
        """Log-probability of each report if `value` is the truth, up to a term without `value`."""
        if self.support_ratio is None:
            return None
        return self.supports(reports, value).astype(np.float64) * log1p(self.support_ratio - 1)

    @property
    def support_sizes(self) -> tuple[int, int] | None:
        """No report supports fewer or more values than these."""
        return None

    @property
    def support_size(self) -> int | None:
        """How many values each report supports, where that number is fixed."""
        least, most = self.support_sizes or (0, self.d)
        return least if least == most else None

    @property
    def independence(self) -> int | None:
        """Any so many values are supported independently of each other, given the truth."""
        return None

    @property
    def nearly_independent(self) -> bool:
        """Whether formulas may take all supports for independent: all are, or any four of them."""
        return self.independence is not None and self.independence >= min(4, self.d)

    @property
    def exchangeable(self) -> bool | None:
        """Whether the values besides the truth are alike: sets of one size are equally likely."""
        return None

    def support_both(
        self, first: IntArray, second: IntArray, frequencies: FloatArray
    ) -> FloatArray | None:
        """Probability that a report supports two different values, pair by pair.

        The truth is drawn from `frequencies`, which sum to one.
        """
        return None if self.both is None else two_levels(*self.both, first, second, frequencies)

    @property
    def both(self) -> tuple[float, float] | None:
        """Probability that a report supports two values, if one is the truth and if none is."""
        p, q, d, k = self.p, self.q, self.d, self.support_size
        if self.independence is not None and self.independence >= 2:
            return p * q, q * q
        if self.exchangeable and k is not None:
            own = p * (k - 1) / (d - 1)
            return own, (k * (k - 1) - 2 * (d - 1) * own) / ((d - 1) * max(d - 2, 1))
        return None

    @property
    def blanket(self) -> Blanket:
        if self.support_ratio is None:
            return super().blanket
        return Blanket.of_supports(self.support_ratio, self.p, self.q)

    @property
    def distinguishers(self) -> list[Distinguisher]:
        if self.d == 2:
            return [Distinguisher(self.p, self.q, others, 0.0) for others in (self.p, self.q)]
        first, second, truths = np.array([0]), np.array([1]), np.eye(3, self.d)
        own = self.support_both(first, second, truths[0])
        other = self.support_both(first, second, truths[2])  # all others hold a third value
        if own is None or other is None:
            return []
        both, rest = float(own[0]), float(other[0])
        found = [(self.p - both, self.q - both, self.q - rest)]
        if self.support_ratio is not None:
            # of reports with two levels, how often x alone of the three is supported is known, too
            ratio = float(self.support_ratio)
            three = (rest - both / ratio) / (ratio - 1)
            alone = self.p / ratio - 2 * both / ratio + three
            found.append((ratio * alone, alone, alone))
        return [Distinguisher(*rates, rates[2]) for rates in found if rates[2] > 0]

    def report_of(self, members: BoolArray) -> Reports | None:  # noqa: ARG002
        """Reports that support exactly these sets, shape `(n, d)`, of any sizes there are."""
        return None

    def report_with(self, nonces: WordArray, values: IntArray) -> Reports | None:  # noqa: ARG002
        """Reports with these nonces that support these values, one for each pair."""
        return None


def two_levels(
    own: float, other: float, first: IntArray, second: IntArray, frequencies: FloatArray
) -> FloatArray:
    """What has one probability if the truth is one of two values, and another one if it is not."""
    return other + (own - other) * (frequencies[first] + frequencies[second])


def independent_supports(support: Support, histogram: IntArray, rng: np.random.Generator) -> Tally:
    """The tally of a pure oracle that supports every value independently of all others."""
    require_generator("simulate", rng)
    n = int(histogram.sum())
    own, others = rng.binomial(histogram, support.p), rng.binomial(n - histogram, support.q)
    return Tally(own + others, n)
