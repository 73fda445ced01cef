"""What a protocol costs besides noise, and what one collection with it will be good for."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.printing import number, visible
from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import Words, stream
from ldp3.types import Tally

SECONDS = 0.02  # of work that is timed, at the least, where there is enough of it
BATCH = 4096  # reports that make good for what is paid once for all of them
MOST_TIMED = 2**20  # reports that are timed
USELESS = 0.25  # share of the people under a wrong value from which on it is no distribution
NAMED = 8  # values that stand out, named


@dataclass(frozen=True)
class ProtocolCost:
    """Of one report and of one decoding, measured here and now on one core.

    Parameters
    ----------
    bits
        Of a report on the wire.
    client
        Seconds to draw one report, one at a time as a client does; None if it cannot be deployed.
    perturb, count
        Seconds per report, many at a time.
    decode
        Seconds from the tally to the estimate.
    """

    bits: int
    client: float | None
    perturb: float
    count: float
    decode: float

    def server(self, n: int) -> float:
        """Seconds that counting and decoding `n` reports take."""
        return n * self.count + self.decode


def measure(oracle: FrequencyOracle) -> ProtocolCost:
    """Time it; what takes longer is timed on fewer reports."""
    size, rng = 64, stream(0, "cost")
    oracle.estimate(
        _batch(oracle, size, rng)
    )  # compiles kernels and builds tables, if there are any
    while True:
        values = np.arange(size) % oracle.d
        perturb, reports = _timed(lambda values=values: oracle.perturb(values, rng))  # type: ignore[misc]
        count, tally = _timed(lambda reports=reports: oracle.aggregate(reports))  # type: ignore[misc]
        slow = perturb + count >= (SECONDS if size >= BATCH else 1.0)
        if slow or size >= min(MOST_TIMED, oracle.chunk_size):
            break
        size *= 4
    decode = min(_timed(lambda: oracle.estimate(tally))[0] for _ in range(2))
    client = _one_by_one(oracle) if oracle.deployable else None
    return ProtocolCost(oracle.report_bits, client, perturb / size, count / size, decode)


def _batch(oracle: FrequencyOracle, size: int, rng: np.random.Generator) -> Tally:
    return oracle.aggregate(oracle.perturb(np.arange(size) % oracle.d, rng))


def _one_by_one(oracle: FrequencyOracle) -> float:
    words, many = Words.drawn(stream(0, "client")), 1
    while True:
        values = [v % oracle.d for v in range(many)]
        seconds, _ = _timed(lambda values=values: [oracle.draw(v, words) for v in values])  # type: ignore[misc]
        if seconds >= SECONDS or many >= 1024:
            return seconds / many
        many *= 4


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
    traffic
        Bytes of all reports.
    server
        Seconds of one core to count and decode them, measured here and now.
    """

    standing_out: int
    labels: tuple[str, ...]
    threshold: float
    misplaced: float
    traffic: int
    server: float = field(compare=False)

    @property
    def useless(self) -> bool:
        """Whether it tells next to nothing."""
        return not self.standing_out or self.misplaced >= USELESS

    def sentences(self, d: int, confidence: float) -> list[str]:
        """In words."""
        sure = f"at {100 * confidence:g} % confidence"
        if not self.standing_out:
            out = f"No value stands out of the noise of all {d:,} {sure}"
        else:
            more = ", …" if self.standing_out > len(self.labels) else ""
            named = ", ".join(map(visible, self.labels)) + more
            verb = "stands" if self.standing_out == 1 else "stand"
            out = f"{self.standing_out:,} of {d:,} values {verb} out of the noise {sure}: {named}"
        above = f"(above {100 * self.threshold:.2g} %)"
        wrong = f"{100 * self.misplaced:.2g} % of the people will be counted under a wrong value."
        said = [f"{out} {above}. {wrong}"]
        if self.useless:
            said.append(
                "As a distribution that is useless: ask more people (`ldp3 size` says how many), "
                "raise ε, or have fewer values."
            )
        return said

    def cost(self, users: int, bits: int) -> str:
        """What the reports take."""
        return (
            f"{users:,} reports of {bits:,} bits are {_size(self.traffic)}; to count and decode "
            f"them takes {_time(self.server)} of one core here."
        )


def worth(
    oracle: FrequencyOracle,
    n: int,
    frequencies: FloatArray,
    labels: Sequence[str],
    threshold: float,
    off: FloatArray,
) -> Worth:
    """Of `n` reports, where values are off by `off`, one row for each simulated collection."""
    order = np.argsort(-frequencies, kind="stable")
    out = int(np.count_nonzero(frequencies > threshold))
    return Worth(
        out,
        tuple(labels[v] for v in order[: min(out, NAMED)]),
        threshold,
        float(off.sum(axis=1).mean() / 2),
        -(-n * oracle.report_bits // 8),
        measure(oracle).server(n),
    )


def _time(seconds: float) -> str:
    """Seconds as people say them."""
    return f"about {number(seconds, 2)} s" if seconds >= 0.01 else "less than 0.01 s"


def _size(size: int) -> str:
    """Bytes in a unit that suits them."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{number(size / unit, 2)} {name}"
    return f"{size} bytes"
