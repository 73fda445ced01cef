"""What a protocol costs besides noise: bits, time on the client, time on the server."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldp3.protocols.base import FrequencyOracle
from ldp3.randomness import Words, stream
from ldp3.types import Tally

SECONDS = 0.02  # of work that is timed, at the least, where there is enough of it
BATCH = 4096  # reports that make good for what is paid once for all of them
MOST = 2**20  # reports that are timed


@dataclass(frozen=True)
class Cost:
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


def measure(oracle: FrequencyOracle) -> Cost:
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
        if slow or size >= min(MOST, oracle.chunk_size):
            break
        size *= 4
    decode = min(_timed(lambda: oracle.estimate(tally))[0] for _ in range(2))
    client = _one_by_one(oracle) if oracle.deployable else None
    return Cost(oracle.report_bits, client, perturb / size, count / size, decode)


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
