"""What is kept of reports as they go by: sums, sizes, and which were sent before."""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from ldp3.arrays import IntArray, Reports
from ldp3.kernels import bits
from ldp3.protocols.base import PureOracle
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.protocols.unary import UnaryEncoding
from ldp3.threats.screening import collision

Batches = Callable[[], Iterator[Reports]]
KEYS = 2**22  # different reports that are remembered; of more, a share that is chosen by their hash
AT_ONCE = 2**16  # reports of an array that are looked at together


class FirstLook:
    """The first reading of all reports: as much memory for a billion of them as for a few million.

    Parameters
    ----------
    oracle
        How they were made.
    batches
        The reports.
    """

    def __init__(self, oracle: PureOracle, batches: Iterator[Reports]) -> None:
        self.tally = oracle.empty
        self.sizes: IntArray | None = None
        if isinstance(oracle, UnaryEncoding):
            self.sizes = np.zeros(oracle.d + 1, dtype=np.int64)
        self.repeats = Repeats() if collision(oracle) is not None else None
        for reports in (some for some in batches if len(some)):
            self.tally += oracle.aggregate(reports)
            if self.sizes is not None:
                self.sizes += np.bincount(bits.sizes(reports), minlength=oracle.d + 1)
            if self.repeats is not None:
                seeds = reports["seed"] if isinstance(oracle, LocalHashing) else reports
                self.repeats.add(seeds)


class Repeats:
    """How many reports equal one before, among those whose hash is small enough.

    Equal reports have equal hashes, so of those that are remembered every repeat is counted.
    """

    def __init__(self) -> None:
        self._keys, self._times = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        self._halvings = 0

    def add(self, reports: Reports) -> None:
        """Take in some reports."""
        keys = self._kept(_hashes(reports))
        every, where = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
        times = np.concatenate([self._times, np.ones(len(keys), dtype=np.int64)])
        self._keys = every
        self._times = np.bincount(where, times, minlength=len(every)).astype(np.int64)
        while len(self._keys) > KEYS:
            self._halvings += 1
            small = self._keys < np.uint64(2 ** (64 - self._halvings))
            self._keys, self._times = self._keys[small], self._times[small]

    def _kept(self, keys: Reports) -> Reports:
        if self._halvings == 0:
            return keys
        return keys[keys < np.uint64(2 ** (64 - self._halvings))]

    @property
    def share(self) -> float:
        """Of all reports that there could be, the share that is remembered."""
        return 2.0**-self._halvings

    @property
    def again(self) -> int:
        """Remembered reports that equal one before."""
        return int(self._times.sum()) - len(self._times)


def _hashes(reports: Reports) -> Reports:
    words = reports.reshape(len(reports), -1)
    return pl.from_numpy(np.ascontiguousarray(words)).hash_rows(seed=0).to_numpy()


def in_batches(reports: Reports) -> Batches:
    """An array, some reports at a time."""

    def batches() -> Iterator[Reports]:
        for start in range(0, len(reports), AT_ONCE):
            yield reports[start : start + AT_ONCE]

    return batches


def sampled(
    batches: Iterator[Reports], n: int, wanted: int, rng: np.random.Generator
) -> Iterator[Reports]:
    """`wanted` of `n` reports, every set of so many alike, in the order in which they come."""
    for reports in batches:
        if wanted >= n:
            yield reports
            continue
        size = len(reports)
        few = n < 10**9  # beyond NumPy's law, whose limit is the binomial one
        drawn = (
            rng.hypergeometric(wanted, n - wanted, size) if few else rng.binomial(size, wanted / n)
        )
        chosen = rng.choice(size, min(int(drawn), wanted), replace=False)
        n, wanted = n - size, wanted - len(chosen)
        yield reports[np.sort(chosen)]
