"""Statistical tests whose chance of a false alarm is known.

Whether two samples of reports have one law: can anybody guess which one a report is from? One half
teaches guesses, the other half scores them. The number of reports that the second half takes from
either sample is drawn by fair coins, so that without a difference every guess is right with
probability ½, whatever the reports are: the p-values are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray
from ldp3.tails import at_least_p, binomial_p

MOSTLY = 0.9  # share of errors that are alike, above which the others are rare
Codes = NDArray[np.uint8]  # small whole numbers that say something, a row for each report
GUESSED_CELLS = 8  # pairs of bits that are guessed by


def far_binomial_p(
    successes: NDArray[Any], trials: NDArray[Any] | int, p: FloatArray
) -> FloatArray:
    """The same for very many counts at once: exact where it can matter, 1 near the mean."""
    k, n, p = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (successes, trials, p))
    )
    far = np.abs(k - n * p) > 2.5 * np.sqrt(n * p * (1 - p))
    made = np.ones(k.shape)
    made[far] = binomial_p(k[far], n[far], p[far])
    return made


def mean_p(samples: FloatArray, expected: float | FloatArray) -> FloatArray:
    """Two-sided p-values that the rows of `samples` have this mean, per column (t-test)."""
    from scipy.special import stdtr

    samples = samples.reshape(len(samples), -1)
    error = samples.mean(axis=0) - expected
    scale = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    constant = scale <= 1e-12 * np.maximum(1.0, np.abs(samples).max(axis=0))
    t = error / np.where(constant, 1.0, scale)
    return np.where(constant, np.abs(error) < 1e-9, 2 * stdtr(len(samples) - 1, -np.abs(t)))


def bias_p(errors: FloatArray, variance: FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `errors` with this variance have mean 0, per column.

    Where nearly all errors are alike, the others are too rare for a t-test: the p-value is at
    least what Bernstein's inequality gives, with the largest error there is for the largest that
    there could be.
    """
    mean, largest = np.abs(errors.mean(axis=0)), np.abs(errors).max(axis=0)
    exponent = len(errors) * mean**2 / 2 / (variance + largest * mean / 3)
    bound = np.minimum(1.0, 2 * np.exp(-exponent))
    usual = mean_p(errors, 0.0)
    return np.where(rare(errors, variance), np.maximum(usual, bound), usual)


def rare(errors: FloatArray, variance: FloatArray) -> BoolArray:
    """The columns in which more than nine of ten errors are about the same, for this variance."""
    return np.asarray(_alike(errors, variance) > MOSTLY)


def _alike(errors: FloatArray, variance: FloatArray) -> FloatArray:
    """The share of errors within a tenth of the standard deviation of the median, per column."""
    near = np.abs(errors - np.median(errors, axis=0)) <= 0.1 * np.sqrt(variance)
    return np.asarray(near.mean(axis=0))


def spread_p(errors: FloatArray, expected: FloatArray) -> FloatArray:
    """Two-sided p-values that rows of `errors` vary around 0 with this variance, per column.

    χ², with the degrees of freedom that the kurtosis of the errors leaves (Box 1953): squares are
    too skewed for a t-test of few of them. Where nearly all errors are alike, the number of the
    others is Poisson's. If there are none, this is no evidence.
    """
    from scipy.special import chdtr, chdtrc, gammainc, gammaincc

    squares, runs = errors**2, len(errors)
    spread = np.maximum(squares.mean(axis=0), 1e-150)
    tailed = np.maximum((squares**2).mean(axis=0), 1e-300) / spread**2  # kurtosis
    freedom = runs / (1 + np.maximum(tailed - 3, 0) / 2)
    statistic = freedom * spread / expected
    many = np.minimum(chdtr(freedom, statistic), chdtrc(freedom, statistic))
    events = runs / tailed
    mean = events * expected / spread
    few = np.minimum(gammaincc(events + 1, mean), gammainc(events, mean))
    alike = _alike(errors, expected)
    p = np.minimum(1.0, 2 * np.where(alike > MOSTLY, few, many))
    return np.where(alike == 1, 1.0, p)


def autocorrelation_p(coins: NDArray[Any], reach: int | None = None) -> FloatArray:
    """p-values that a row of coins is independent at every lag up to half its length."""
    from scipy.special import ndtr

    n = len(coins)
    away = coins - coins.mean()
    spectrum = np.fft.rfft(away, 2 * n)  # twice the length: no wrapping around
    lags = np.arange(1, (reach or n // 2) + 1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[lags]
    spread = max(float((away**2).mean()), np.finfo(float).tiny)
    return 2 * ndtr(-np.abs(products) / spread / np.sqrt(n - lags))


def clopper_pearson(successes: int, trials: int, alpha: float) -> tuple[float, float]:
    """Lower and upper bound of a probability, each wrong with probability `alpha` at the most."""
    from scipy.special import betaincinv

    low = float(betaincinv(successes, trials - successes + 1, alpha)) if successes else 0.0
    high = 1.0
    if successes < trials:
        high = float(1 - betaincinv(trials - successes, successes + 1, alpha))
    return low, high


@dataclass(frozen=True, eq=False)
class Traits:
    """What is seen of each report of a sample: codes, bits, and a word for the whole of it."""

    codes: Codes
    bits: BoolArray
    words: NDArray[np.uint64]

    def part(self, rows: slice) -> "Traits":
        """Some of the reports."""
        return Traits(self.codes[rows], self.bits[rows], self.words[rows])


def told_apart_p(first: Traits, second: Traits, rng: np.random.Generator) -> FloatArray:
    """p-values that two samples have one law, by every code, by pairs of bits, and by the whole."""
    n = min(len(first.words), len(second.words))
    half = slice(0, n // 2)
    ahead, behind = coins(n - n // 2, rng)
    scored = [s.part(slice(n // 2, n // 2 + k)) for s, k in ((first, ahead), (second, behind))]
    guesses = _guesses((first.part(half), second.part(half)), (scored[0], scored[1]))
    right = np.array([[(a > 0).sum() + (b < 0).sum(), (a != 0).sum() + (b != 0).sum()]
                      for a, b in guesses])  # fmt: skip
    return at_least_p(right[:, 0], right[:, 1], 0.5)


def coins(n: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many of two samples of `n` to take, if a fair coin had chosen each; nearly all."""
    tosses = max(0, int(2 * n - 8 * np.sqrt(n)))
    first = int(rng.binomial(tosses, 0.5))
    return min(first, n), min(tosses - first, n)


Guess = tuple[FloatArray, FloatArray]  # above 0 for the first sample, below for the second


def _guesses(learn: tuple[Traits, Traits], scored: tuple[Traits, Traits]) -> Iterator[Guess]:
    tables = [_log_counts(one.codes) for one in learn]
    lean = tables[0] - tables[1]
    columns = range(lean.shape[0])
    by_column = [[lean[c, s.codes[:, c]] for c in columns] for s in scored]
    yield from zip(*by_column, strict=True)
    yield _sum(by_column[0]), _sum(by_column[1])
    yield _by_words(learn, scored)
    yield from _by_cells(learn, scored)


def _sum(scores: list[FloatArray]) -> FloatArray:
    return np.sum(scores, axis=0).round(9)


def _log_counts(codes: Codes) -> FloatArray:
    """Logarithm of how often each code occurs in each column, and half a time more."""
    return np.log([np.bincount(column, minlength=256) + 0.5 for column in codes.T])


def _by_words(learn: tuple[Traits, Traits], scored: tuple[Traits, Traits]) -> Guess:
    counts = word_counts([one.words for one in learn])
    return counts.lean(scored[0].words), counts.lean(scored[1].words)


@dataclass(frozen=True, eq=False)
class WordCounts:
    """How often words were seen, in each of several samples."""

    known: NDArray[np.uint64]
    often: FloatArray  # a row for every sample

    def seen(self, words: NDArray[np.uint64]) -> FloatArray:
        """How often each word was seen; a row per sample."""
        place = np.minimum(np.searchsorted(self.known, words), len(self.known) - 1)
        return np.where(self.known[place] == words, self.often[:, place], 0.0)

    def log(self, words: NDArray[np.uint64]) -> FloatArray:
        """Logarithm of how often each word was seen, and half a time more; a row per sample."""
        return np.asarray(np.log(self.seen(words) + 0.5))

    def lean(self, words: NDArray[np.uint64]) -> FloatArray:
        """Above 0 where the first sample has seen a word more often than the second."""
        logs = self.log(words)
        return np.asarray(logs[0] - logs[1])


def word_counts(samples: list[NDArray[np.uint64]]) -> WordCounts:
    """How often each word occurs in each sample."""
    known, which = np.unique(np.concatenate(samples), return_inverse=True)
    parts = np.split(which, np.cumsum([len(s) for s in samples])[:-1])
    often = np.array([np.bincount(part, minlength=len(known)) for part in parts], dtype=float)
    return WordCounts(known, often)


def _by_cells(learn: tuple[Traits, Traits], scored: tuple[Traits, Traits]) -> Iterator[Guess]:
    """Guesses by two bits at a time, those that differed most."""
    tables = [cells(one.bits) for one in learn]
    gap = np.abs(tables[0] - tables[1]) / np.sqrt(tables[0] + tables[1] + 1)
    for cell, j, k in top_cells(gap, GUESSED_CELLS):
        sign = 1.0 if tables[0][cell, j, k] > tables[1][cell, j, k] else -1.0
        a, b = (np.where(in_cell(one.bits, cell, j, k), sign, 0.0) for one in scored)
        yield a, b
    for _ in range(GUESSED_CELLS - gap.shape[1] * (gap.shape[1] - 1) * 2):
        yield np.zeros(0), np.zeros(0)  # always as many guesses, or they could not be found again


def cells(bits: BoolArray) -> NDArray[np.float32]:
    """How often any two bits are 00, 01, 10 and 11, shape `(4, bits, bits)`."""
    wide = bits.astype(np.float32)
    ones, both = wide.sum(axis=0), wide.T @ wide
    only = ones[:, None] - both
    return np.stack([len(bits) - both - only - only.T, only.T, only, both])


def top_cells(score: NDArray[np.float32], most: int) -> list[tuple[int, int, int]]:
    """The pairs of bits with the highest scores, each pair of bits once for each cell."""
    size = score.shape[1]
    if size < 2:
        return []
    flat = np.where(np.triu(np.ones((size, size), dtype=bool), 1), score, -np.inf).reshape(-1)
    most = min(most, 4 * size * (size - 1) // 2)
    best = np.argpartition(-flat, most - 1)[:most]
    best = best[np.lexsort((best, -flat[best]))]
    return [(int(i) // size**2, int(i) // size % size, int(i) % size) for i in best]


def in_cell(bits: BoolArray, cell: int, j: int, k: int) -> BoolArray:
    """Which reports have bit j and bit k as the cell says."""
    return (bits[:, j] == (cell >> 1)) & (bits[:, k] == (cell & 1))
