"""What a protocol costs besides noise, and what one collection with it will be good for."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import floor
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.people import Dataset
from ldp3.printing import number, percent, visible
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import stream

SECONDS = 0.02  # of work that is timed, at the least, where there is enough of it
BATCH = 4096  # reports that make good for what is paid once for all of them
MOST_TIMED = 2**20  # reports that are timed
USELESS = 0.25  # share of the people under a wrong value from which on it is no distribution
ROUGH, GOOD = 0.1, 0.02  # shares that say something, and that say all that most people ask for
NAMED = 8  # values that stand out, named
MOST_PEOPLE = 10**10  # that a collection is imagined with


@dataclass(frozen=True)
class ProtocolCost:
    """Of one report and of one decoding, measured here and now on one core.

    Parameters
    ----------
    bits
        Of a report on the wire.
    perturb, count
        Seconds per report, many at a time.
    decode
        Seconds from the tally to the estimate.
    """

    bits: int
    perturb: float
    count: float
    decode: float

    def server(self, n: int) -> float:
        """Seconds that counting and decoding `n` reports take."""
        return n * self.count + self.decode


def measure(oracle: FrequencyOracle) -> ProtocolCost:
    """Time it; what takes longer is timed on fewer reports."""
    size, rng = 64, stream(0, "cost")
    few = oracle.perturb(np.arange(size) % oracle.d, rng)
    oracle.estimate(oracle.aggregate(few))  # compiles kernels and builds tables, if there are any
    while True:
        values = np.arange(size) % oracle.d
        perturb, reports = _timed(lambda values=values: oracle.perturb(values, rng))  # type: ignore[misc]
        count, tally = _timed(lambda reports=reports: oracle.aggregate(reports))  # type: ignore[misc]
        slow = perturb + count >= (SECONDS if size >= BATCH else 1.0)
        if slow or size >= min(MOST_TIMED, oracle.chunk_size):
            break
        size *= 4
    decode = min(_timed(lambda: oracle.estimate(tally))[0] for _ in range(2))
    return ProtocolCost(oracle.report_bits, perturb / size, count / size, decode)


def _timed(work: Callable[[], object]) -> tuple[float, Any]:
    began = time.thread_time()
    result = work()
    return max(time.thread_time() - began, 1e-9), result


@dataclass(frozen=True)
class Worth:
    """What one collection will be good for.

    Parameters
    ----------
    standing_out
        How many values are so frequent that their estimate stands out of the noise of all values,
        before post-processing, with the confidence of the answer.
    labels
        The first of them, most frequent first.
    threshold
        The frequency from which on they do.
    misplaced
        Share of the people that is counted under a wrong value in the mean, half of ℓ1.
    ranked
        How many of the most frequent values come out in the right order, with that confidence.
    traffic
        Bytes of all reports.
    needed
        People for the next better word: `ROUGH`, if it is useless, or `GOOD`.
    fakes
        Fake users beside them, who do their worst.
    server
        Seconds of one core to count and decode them, measured here and now.
    by_order
        Whether the protocol tells where people lie, not single values.
    on_line
        Whether the metric goes by where people lie: then who is under a wrong value is no matter.
    """

    standing_out: int
    labels: tuple[str, ...]
    threshold: float
    misplaced: float
    ranked: int
    traffic: int
    needed: int
    fakes: int
    server: float = field(compare=False)
    by_order: bool = False
    on_line: bool = False

    @property
    def useless(self) -> bool:
        """Whether it tells next to nothing; of places there is no such limit."""
        if self.on_line:
            return False
        told = self.standing_out > 0 or self.by_order
        return not told or self.misplaced >= USELESS

    @property
    def goal(self) -> float:
        """The share under a wrong value that would deserve the next better word."""
        return ROUGH if self.useless else GOOD

    def expected(self, people: int, d: int) -> str:
        """What error to expect, in people's terms."""
        wrong = f"about {_people(self.misplaced * people)} ({percent(self.misplaced)})"
        beside = f", with {self.fakes:,} fake ones beside them," if self.fakes else ""
        if self.on_line:
            return f"{people:,} people{beside.rstrip(',')}:"
        said = f"Of {people:,} people{beside} {wrong} will be counted under a wrong value"
        if self.ranked >= d:
            return f"{said}; all values come out in their order."
        if self.ranked > 1:
            return f"{said}; the {self.ranked:,} most frequent values come out in their order."
        alone = (
            "the most frequent value comes out first"
            if self.ranked
            else ("which value is the most frequent remains open")
        )
        return f"{said}; {alone}."

    def enough(self) -> str:
        """Whether that is enough, or how many people would be; of places only who asks can say."""
        if self.on_line:
            return "More people do not help against the same share of fake ones." * (self.fakes > 0)
        if self.fakes:
            good = "useless" if self.useless else "rough" if self.misplaced > GOOD else "good"
            return f"That is {good}; more people do not help against the same share of fake ones."
        if self.misplaced <= GOOD and not self.useless:
            return "That is good; half the error takes about four times as many people."
        many = "more than" if self.needed >= MOST_PEOPLE else "about"
        goal = f"for {percent(self.goal)} under a wrong value {many} {_people(self.needed)}"
        if not self.useless:
            return f"That is rough: {goal} people are needed."
        return (
            f"That is useless: {goal} people are needed, or a larger ε, or fewer values: `bins` "
            f"for numbers, `top` for the most frequent."
        )

    def sentences(self, d: int, confidence: float) -> str:
        """Which values can be read, in words."""
        sure = f"at {100 * confidence:g} % confidence"
        above = f"(above {percent(self.threshold)})"
        if not self.standing_out:
            return f"No value stands out of the noise of all {d:,} {sure} {above}."
        more = ", …" if self.standing_out > len(self.labels) else ""
        named = ", ".join(map(visible, self.labels)) + more
        out = f"{self.standing_out:,} of {d:,} values stand{'s' * (self.standing_out == 1)} out"
        return f"{out} of the noise {sure}: {named} {above}."

    def cost(self, users: int, bits: int) -> str:
        """What the reports take."""
        return (
            f"{users:,} reports of {bits:,} bits are {_size(self.traffic)}; to count and decode "
            f"them takes {_time(self.server)} of one core here."
        )


def worth(
    oracle: FrequencyOracle,
    n: int,
    sample: Dataset,
    threshold: float,
    misplaced: float,
    ranked: int,
) -> Worth:
    """Of `n` reports, where this share is misplaced and so many values are ranked."""
    order = np.argsort(-sample.frequencies, kind="stable")
    out = int(np.count_nonzero(sample.frequencies > threshold))
    return Worth(
        out,
        tuple(sample.labels[v] for v in order[: min(out, NAMED)]),
        threshold,
        misplaced,
        ranked,
        -(-n * oracle.report_bits // 8),
        0,
        0,
        measure(oracle).server(n),
        oracle.needs_order,
    )


def in_order(estimates: FloatArray, truths: FloatArray, level: float) -> int:
    """How many of the most frequent values come out in their order, in this share of collections.

    >>> in_order(np.array([[0.5, 0.2, 0.3]]), np.array([[0.6, 0.3, 0.1]]), 0.95)
    1
    """
    held = np.take_along_axis(truths, np.argsort(-estimates, axis=1, kind="stable"), axis=1)
    right = np.logical_and.accumulate(held == -np.sort(-truths, axis=1), axis=1).sum(axis=1)
    return int(np.sort(right)[floor((1 - level) * len(right))])


def _people(number_of: float) -> str:
    """A number of people, to two digits.

    >>> _people(25_481), _people(7)
    ('25,000', '7')
    """
    digits = max(len(str(int(number_of))) - 2, 0)
    return f"{int(round(number_of, -digits)):,}"


def _time(seconds: float) -> str:
    """Seconds as people say them."""
    return f"about {number(seconds, 2)} s" if seconds >= 0.01 else "less than 0.01 s"


def _size(size: int) -> str:
    """Bytes in a unit that suits them."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{number(size / unit, 2)} {name}"
    return f"{size} bytes"
