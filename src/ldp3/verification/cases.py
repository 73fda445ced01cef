"""An oracle under examination: samples of its reports, ways to look at them, and looking again.

Reports are looked at as small codes, as bits, and as words that are equal or not.

What is suspicious is drawn anew, and more of it, before it is called a fault. A first look tests
many things at once, and its p-values may be rough. If the smallest of them is suspicious, that one
thing is tested alone on fresh draws, twice as many, and once more on four times as many. It is a
fault if both say so. Those two looks alone bound the chance of a false alarm, by
$10^{-3} · 10^{-3}$, so that only what they compute needs to be exact or conservative.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS, stream
from ldp3.schemes.base import Scheme
from ldp3.types import Tally
from ldp3.verification.base import DRAWS, Finding
from ldp3.verification.statistics import Codes

BYTES = 2**27  # of those reports together, at a first look
CLOSELY = 8  # values that are looked at closely
RUNS = 2_000  # populations, where the estimate of a population is one draw
SMALL_DOMAIN = 100  # a domain in which all values are looked at
ENTRIES = 64  # numbers of a long report that are looked at one by one
BITS = 512  # bits of a long report that are looked at in pairs
QUANTILES = 0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995
MEMBERS = 60  # people in the smallest group of a scheme whose estimates are looked at
SUSPICIOUS = 0.01  # of a first look, for everything that it tests together
CONFIRMED = 0.001  # of every further look, at one thing
AGAIN = 1, 2  # further looks, each at twice as many draws as the one before
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Features:
    """How to look at reports of one form: which entries, which bits, where numbers are cut.

    `some` is a sample of reports of all values, `first` the entries to look at first.
    """

    some: Reports
    first: tuple[int, ...]
    rng: np.random.Generator

    @property
    def numeric(self) -> bool:
        """Whether entries are quantities: real numbers, or whole ones with a sign."""
        return self.some.dtype.kind == "f" or (
            self.some.dtype.kind == "i" and self.some.ndim > 1 and self.some.itemsize > 1
        )

    @cached_property
    def entries(self) -> list[int]:
        """The entries of a report that are looked at: all, or some of a long one."""
        width = _entries(self.some).shape[1]
        if width <= ENTRIES:
            return list(range(width))
        ends = [*(c for c in self.first if c < width), *range(8), *range(width - 8, width)]
        return sorted({*ends, *self.rng.permutation(width)[: ENTRIES - 16].tolist()})

    @cached_property
    def edges(self) -> FloatArray:
        """Where the numbers of each entry are cut: few enough to be learnt from few reports."""
        rows = _entries(self.some)[:, self.entries].astype(np.float64)
        return np.quantile(rows, QUANTILES, axis=0).T

    def codes(self, reports: Reports) -> Codes:
        """Small whole numbers that say something about each report, shape `(n, several)`.

        Its bytes, their sum and exclusive or; of numbers the rank and the grain, the exponent of
        the last bit set, which ordinary arithmetic gives away.
        """
        raw = as_bytes(reports)
        columns: list[NDArray[Any]] = [np.bitwise_xor.reduce(raw, axis=1)]
        columns += [raw.sum(axis=1, dtype=np.uint8), (raw != 0).sum(axis=1).clip(0, 255)]
        if self.numeric:
            rows = _entries(reports)[:, self.entries]
            columns += [np.searchsorted(e, c) for e, c in zip(self.edges, rows.T, strict=True)]
            columns += [grain(column) for column in rows.T]
        else:
            width = raw.shape[1] // _entries(self.some).shape[1]
            columns += [raw[:, c * width + i] for c in self.entries for i in range(width)]
        return np.stack(columns, axis=1).astype(np.uint8)

    @cached_property
    def places(self) -> IntArray:
        """The bits that vary, of those that are looked at in pairs."""
        raw = as_bytes(self.some)
        varies = np.bitwise_or.reduce(raw, axis=0) ^ np.bitwise_and.reduce(raw, axis=0)
        every = np.flatnonzero(np.unpackbits(varies, bitorder="little"))
        return every if len(every) <= BITS else np.sort(self.rng.permutation(every)[:BITS])

    def bits(self, reports: Reports, *only: int) -> BoolArray:
        """Bits of each report; of numbers, whether they are high, low, very high, and odd."""
        some = np.array(only) if only else slice(None)
        if not self.numeric:
            raw, (byte, bit) = as_bytes(reports), np.divmod(self.places[some], 8)
            return (raw[:, byte] >> bit.astype(np.uint8) & 1).astype(bool)
        rows = _entries(reports)[:, self.entries]
        cuts = [rows > self.edges[:, i] for i in (3, 6, 9)]
        return np.concatenate([*cuts, np.floor(rows) % 2 == 1], axis=1)[:, some]

    @cached_property
    def high(self) -> FloatArray:
        """From where on the numbers of every entry are low, high and very high."""
        some = _entries(self.some)
        return np.quantile(some[:: max(1, len(some) // 4_000)], [0.1, 0.8, 0.98], axis=0)

    def levels(self, reports: Reports) -> Iterator[BoolArray]:
        """For every entry, whether its number is above each of these."""
        rows = _entries(reports)
        yield from (rows[:, c] > level for levels in self.high for c, level in enumerate(levels))

    def words(self, reports: Reports) -> Iterator[NDArray[np.uint64]]:
        """Each report as one word and, if it is made of real numbers, some of those."""
        yield fold(as_bytes(reports))
        if reports.dtype.kind == "f":
            rows = _entries(reports).astype(np.float64)
            for c in [c for c in self.first if c < rows.shape[1]] if rows.shape[1] > 1 else [0]:
                yield np.ascontiguousarray(rows[:, c]).view(np.uint64)


def _entries(reports: Reports) -> NDArray[Any]:
    """Reports as rows of numbers; of records, the bytes."""
    if reports.dtype.names is not None:
        return as_bytes(reports)
    return reports.reshape(len(reports), -1)


def as_bytes(reports: Reports) -> Codes:
    """The bytes of each report, padding included."""
    rows = np.ascontiguousarray(reports)
    return rows.view(np.uint8).reshape(len(rows), -1)


def fold(raw: Codes) -> NDArray[np.uint64]:
    """A 64-bit word per row; equal rows have equal words."""
    padded = np.zeros((len(raw), -(-raw.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : raw.shape[1]] = raw
    word = np.zeros(len(raw), dtype=np.uint64)
    for column in padded.view(np.uint64).T:
        word = (word ^ column) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    return word


def grain(numbers: NDArray[Any]) -> IntArray:
    """Exponent of the last bit set, 0…255: how fine a number is."""
    mantissa, exponent = np.frexp(numbers.astype(np.float64))
    whole = np.abs(np.nan_to_num(mantissa) * 2.0**53).astype(np.int64)
    last = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    return np.clip(exponent.astype(np.int64) - 53 + last, -127, 128) + 127


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

    @property
    def fewest(self) -> int:
        """People from whom on estimates are looked at: groups that are small vary in size."""
        if not isinstance(self.oracle, Scheme):
            return 1
        return MEMBERS * WORDS // min(group.share for group in self.oracle.groups)

    @cached_property
    def values(self) -> list[int]:
        """The values looked at: both ends, both sides of a 64-bit word, and others at random."""
        d, known = self.oracle.d, [0, 1, 63, 64, self.oracle.d - 1]
        kept = {v for v in known if v < d}
        others = np.setdiff1d(np.arange(d), list(kept))
        rng = self.first.stream("values")
        return sorted([*kept, *rng.permutation(others)[: CLOSELY - len(kept)].tolist()])

    @cached_property
    def two(self) -> tuple[int, int]:
        """Two of them, at random."""
        v, w = self.first.stream("two").permutation(self.values)[:2].tolist()
        return v, w

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

    def crowd(self, n: int) -> IntArray:
        """A histogram of `n` users: most hold one value, some values nobody, the others a few."""
        rng, d = self.first.stream(f"crowd {n}"), self.oracle.d
        weights = np.maximum(rng.permutation(d) - d // 4, 0.0)
        histogram = rng.multinomial(n // 3, weights / weights.sum())
        histogram[rng.integers(d)] += n - n // 3
        return np.asarray(histogram, dtype=np.int64)

    def once(self, make: Callable[..., T], *given: Any) -> T:
        """What is made of this case, made once."""
        if (make, given) not in self._made:
            self._made[make, given] = make(self, *given)
        made: T = self._made[make, given]
        return made

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return {}

    def tallies(self, histogram: IntArray, runs: int, what: str) -> list[Tally]:
        """Tallies of `runs` populations with this histogram, by the user path."""
        rng, values = self.stream(what), np.repeat(np.arange(self.oracle.d), histogram)
        return [self.oracle.aggregate(self.oracle.perturb(values, rng)) for _ in range(runs)]

    def stated(self, tallies: list[Tally], histogram: IntArray) -> FloatArray:
        """The variance that estimates from these state for this histogram, on average."""
        truth = histogram / histogram.sum()
        some = tallies[: 20 if self.oracle.d <= SMALL_DOMAIN else 4]
        made = (self.oracle.estimate(tally).noise for tally in some)
        return np.mean([noise.variance(truth) for noise in made], axis=0)

    def estimates(self, tallies: list[Tally]) -> FloatArray:
        """The frequencies estimated from each."""
        return np.array([self.oracle.estimate(tally).frequencies for tally in tallies])


def persistent(
    check: str,
    case: OracleCase,
    p_values: Callable[[OracleCase], FloatArray],
    draws: int,
    what: str = "",
) -> Finding:
    """A finding by p-values of any dependence, confirmed by looking again.

    `p_values` gives all of them, always in the same order. Of a case with a `focus` it may compute
    that one alone and leave the others as they are.
    """
    first = np.append(_known(p_values(case)), 1.0)
    index, worst = int(first.argmin()), float(first.min())
    evidence = f"smallest p-value {worst:.2g} of {first.size - 1:,}{what}"
    seen, drawn, suspicious = list[float](), draws, worst * (first.size - 1) < SUSPICIOUS
    while suspicious and len(seen) < len(AGAIN):
        look = AGAIN[len(seen)]
        seen.append(float(_known(p_values(case.again(look, index)))[index]))
        drawn += draws << look
        suspicious = seen[-1] < CONFIRMED
    evidence += "".join(f", looked at again {p:.2g}" for p in seen)
    return Finding(check, not (seen and suspicious), evidence, drawn, CONFIRMED ** len(AGAIN))


def _known(p: FloatArray) -> FloatArray:
    """What could not be computed is no pass."""
    return np.nan_to_num(p, nan=0.0)
