"""An oracle under examination: samples of its reports, and ways to look at them."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness import stream
from ldp3.types import Tally
from ldp3.verification.features import Features

DRAWS = 40_000  # reports of each value that is looked at closely
BYTES = 2**27  # of those reports together, at a first look
RUNS = 2_000  # populations, where the estimate of a population is one draw
SMALL = 100  # a domain in which all values are looked at


@dataclass(frozen=True)
class OracleCase:
    """An oracle, with a sample of its reports that several checks share.

    Every number of draws is fixed by `draws`, the size of a report, and how often it was looked at
    before: the clock has no say.
    """

    oracle: FrequencyOracle
    seed: int = 0
    draws: int = DRAWS
    look: int = 0
    focus: int | None = None
    before: "OracleCase | None" = None

    def again(self, look: int, focus: int) -> "OracleCase":
        """The same oracle with fresh randomness and 2^look times as many draws, for one thing."""
        return replace(self, look=look, focus=focus, before=self.first)

    @property
    def first(self) -> "OracleCase":
        """The first look at the oracle."""
        return self.before or self

    def count(self, usual: int, least: int = 1) -> int:
        """How many draws to make where `usual` ones are made if nobody says how many."""
        return max(least, usual * self.draws // DRAWS) << self.look

    def stream(self, what: str) -> np.random.Generator:
        """Randomness for one purpose."""
        return stream(self.seed, "verify", what, repr(self.oracle), self.look)

    @property
    def odds(self) -> float:
        """e^ε, or so much of it that nothing changes any more."""
        return exp(min(self.oracle.epsilon, 20.0))

    @property
    def share(self) -> float:
        """Of an event's occurrences, how many may be under one of two values."""
        return 1 / (1 + exp(-self.oracle.epsilon))

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
    def report_bytes(self) -> int:
        """Size of one report in memory."""
        some = np.asarray(self.oracle.perturb(np.zeros(64, dtype=np.int64), self.stream("size")))
        return max(1, some.nbytes // 64)

    @property
    def at_once(self) -> int:
        """How many reports may be held at a time."""
        return (BYTES << self.look) // self.report_bytes

    @cached_property
    def size(self) -> int:
        """Reports per value, a multiple of four."""
        return max(4, min(self.count(DRAWS), self.at_once // len(self.values)) // 4 * 4)

    @cached_property
    def reports(self) -> dict[int, Reports]:
        """Reports of users who all hold one value, by value: two batches of one generator."""
        return {v: self._two_batches(v) for v in self.values}

    def _two_batches(self, value: int) -> Reports:
        rng, values = self.stream(f"reports of {value}"), np.full(self.size // 2, value)
        return np.concatenate([self.oracle.perturb(values, rng) for _ in range(2)])

    @cached_property
    def features(self) -> Features:
        """How to look at its reports; what varies is learnt from a quarter of a first sample."""
        if self.before is not None:  # the same ones, or nothing could be looked at again
            return self.before.features
        some = np.concatenate([r[: self.size // 4] for r in self.reports.values()])
        return Features(some, tuple(self.values), self.stream("features"))

    def supported(self, reports: Reports, *values: int) -> NDArray[np.uint8]:
        """Which of the values each report supports, a column for each; none if it is not pure."""
        if not isinstance(self.oracle, PureOracle):
            return np.zeros((len(reports), 0), dtype=np.uint8)
        held = [self.oracle.supports(reports, v) for v in values]
        return np.stack(held, axis=1).astype(np.uint8)

    def tallies(self, histogram: IntArray, runs: int, what: str) -> list[Tally]:
        """Tallies of `runs` populations with this histogram, by the user path."""
        rng, values = self.stream(what), np.repeat(np.arange(self.oracle.d), histogram)
        return [self.oracle.aggregate(self.oracle.perturb(values, rng)) for _ in range(runs)]

    def estimates(self, tallies: list[Tally]) -> FloatArray:
        """The frequencies estimated from each."""
        return np.array([self.oracle.estimate(tally).frequencies for tally in tallies])
