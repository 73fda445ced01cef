"""An oracle under examination: samples of its reports, and ways to look at them."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness.streams import stream
from ldp3.types import Tally

REPORTS = 40_000  # per value
SECONDS = 0.4  # of perturbing, per sample: a slow oracle is asked for fewer reports
BYTES = 2**27  # of reports held at a time
COLUMNS = 32  # looked at where reports are long
RUNS = 2_000  # populations, where the estimate of a population is one draw
SMALL = 100  # a domain in which all values are looked at
OFTEN = 100  # times that something rare is expected before its mean is looked at


@dataclass(frozen=True)
class OracleCase:
    """An oracle, with a sample of its reports that several checks share."""

    oracle: FrequencyOracle
    seed: int = 0

    @property
    def pure(self) -> PureOracle:
        """The oracle, for a check that only pure ones are asked."""
        assert isinstance(self.oracle, PureOracle)
        return self.oracle

    @cached_property
    def values(self) -> list[int]:
        """The values looked at: both ends, the middle, and both sides of a 64-bit word."""
        d = self.oracle.d
        return sorted(v for v in {0, 1, 2, d // 2, 63, 64, d - 2, d - 1} if 0 <= v < d)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of them, in both directions: each with its neighbour and with both ends."""
        ring = list(zip(self.values, self.values[1:] + self.values[:1], strict=True))
        ends = [(v, w) for v in self.values for w in (self.values[0], self.values[-1]) if v != w]
        return sorted({*ring, *ends, *((w, v) for v, w in ring + ends)})

    @cached_property
    def cost(self) -> tuple[float, int]:
        """Seconds and bytes per report, from a few of them."""
        values = np.arange(400) % self.oracle.d
        self.oracle.perturb(values, self.stream("warm up"))  # compiles kernels, if there are any
        began = time.thread_time()
        some = np.asarray(self.oracle.perturb(values, self.stream("cost")))
        return max(time.thread_time() - began, 1e-6) / 400, max(1, some.nbytes // 400)

    @property
    def at_once(self) -> int:
        """How many reports may be held at a time."""
        return BYTES // self.cost[1]

    def affordable(self, wanted: int, least: int = 200, seconds: float = SECONDS) -> int:
        """How many reports to draw of those wanted; fewer by powers of two if they are costly."""
        while wanted > max(seconds / self.cost[0], least):
            wanted //= 2
        return wanted

    @cached_property
    def size(self) -> int:
        """Reports per value."""
        wanted = min(REPORTS * len(self.values), self.at_once)
        return self.affordable(wanted) // len(self.values) // 4 * 4

    @cached_property
    def reports(self) -> dict[int, Reports]:
        """Reports of users who all hold one value, by value: two batches of one generator."""
        return {v: self._two_batches(v) for v in self.values}

    def _two_batches(self, value: int) -> Reports:
        rng, values = self.stream(f"reports of {value}"), np.full(self.size // 2, value)
        return np.concatenate([self.oracle.perturb(values, rng) for _ in range(2)])

    def stream(self, what: str) -> np.random.Generator:
        """Randomness for one purpose."""
        return stream(self.seed, "verify", what, repr(self.oracle))

    def runs(self, wanted: int, n: int) -> int:
        """How many populations of `n` users to draw of those wanted."""
        values, began = np.arange(n) % self.oracle.d, time.thread_time()
        self.oracle.aggregate(self.oracle.perturb(values, self.stream("one run")))
        seconds = max(time.thread_time() - began, 1e-6)
        while wanted > max(SECONDS / seconds, 50):
            wanted //= 2
        return wanted

    def tallies(self, histogram: IntArray, runs: int, what: str) -> list[Tally]:
        """Tallies of `runs` populations with this histogram, by the user path."""
        rng, values = self.stream(what), np.repeat(np.arange(self.oracle.d), histogram)
        return [self.oracle.aggregate(self.oracle.perturb(values, rng)) for _ in range(runs)]

    def estimates(self, tallies: list[Tally]) -> FloatArray:
        """The frequencies estimated from each."""
        return np.array([self.oracle.estimate(tally).frequencies for tally in tallies])

    def told(self, histogram: IntArray, runs: int) -> BoolArray:
        """The values whose counts vary enough in so many runs to tell of a mean and a variance."""
        if not isinstance(self.oracle, PureOracle):
            return np.ones(self.oracle.d, dtype=bool)
        p, q, n = self.oracle.p, self.oracle.q, int(histogram.sum())
        rarer = histogram * min(p, 1 - p) + (n - histogram) * min(q, 1 - q)
        return np.asarray(runs * rarer >= OFTEN)

    def codes(self, reports: Reports) -> NDArray[np.uint8]:
        """Small whole numbers that say something about each report, shape `(n, several)`.

        Its bytes, their sum and exclusive or; of real numbers the rank and the grain, the exponent
        of the last bit set, which ordinary arithmetic gives away.
        """
        rows = reports.reshape(len(reports), -1) if reports.dtype.names is None else reports
        if np.issubdtype(rows.dtype, np.floating):
            some = self._columns(rows.shape[1])
            ranks = [np.searchsorted(self.ranks[c], rows[:, c]) for c in some]
            columns = [*ranks, *(grain(rows[:, c]) for c in some)]
        else:
            raw = as_bytes(reports)
            keep = raw.shape[1] if raw.shape[1] <= 2 * COLUMNS else COLUMNS
            columns = [np.bitwise_xor.reduce(raw, axis=1), raw.sum(axis=1, dtype=np.uint8)]
            columns += [*raw[:, :keep].T, *raw[:, keep:][:, -COLUMNS:].T]
        return np.stack(columns, axis=1).astype(np.uint8)

    def supported(self, reports: Reports, v: int, w: int) -> NDArray[np.uint8]:
        """Which of the two values each report supports, as a column; none if it is not pure."""
        if not isinstance(self.oracle, PureOracle):
            return np.zeros((len(reports), 0), dtype=np.uint8)
        both = 2 * self.oracle.supports(reports, v) + self.oracle.supports(reports, w)
        return both.astype(np.uint8)[:, None]

    def _columns(self, width: int) -> list[int]:
        wanted = range(width) if width <= COLUMNS else {*self.values, width - 1}
        return sorted(c for c in wanted if c < width)

    @cached_property
    def ranks(self) -> FloatArray:
        """Quantiles of each column of real reports, pooled over the values."""
        some = np.concatenate(
            [r[:500].reshape(min(500, len(r)), -1) for r in self.reports.values()]
        )
        return np.quantile(some, np.linspace(0.01, 0.99, 40), axis=0).T


def as_bytes(reports: Reports) -> NDArray[np.uint8]:
    """The bytes of each report, padding included."""
    rows = np.ascontiguousarray(reports)
    return rows.view(np.uint8).reshape(len(rows), -1)


def fold(raw: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A 64-bit word per row; equal rows have equal words."""
    word = np.zeros(len(raw), dtype=np.uint64)
    for column in raw.T:
        word = (word ^ column) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    return word


def grain(numbers: NDArray[np.floating[Any]]) -> IntArray:
    """Exponent of the last bit set, 0…255: how fine a real number is."""
    mantissa, exponent = np.frexp(numbers.astype(np.float64))
    whole = np.abs(np.nan_to_num(mantissa) * 2.0**53).astype(np.int64)
    last = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    return np.clip(exponent.astype(np.int64) - 53 + last, -127, 128) + 127
