"""How surely each combination is worse than each other one: one-sided t-tests, all at once.

Methods of one protocol share its estimates, so their repeats are compared in pairs. Collections of
different protocols are independent: Welch's test. (Common random numbers would not help: protocols
turn randomness into reports in ways of their own, so nothing says that a draw that is lucky for one
is lucky for the other, and without that a paired test is no sharper than Welch's.)

A metric that takes few values may not vary at all over a few repeats, which is no evidence. Where
values repeat, each sample gets the smallest and the largest value of both once more, and no test
says more than a permutation of the repeats could.

References
----------
Agresti, Caffo. *Simple and effective confidence intervals for proportions and differences of
proportions result from adding two successes and two failures.* The American Statistician, 2000.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ldp3.arrays import BoolArray, FloatArray

ROUNDING = 1e-9  # numbers that are equal in theory may differ by so much of themselves
Runs = Mapping[tuple[str, str], FloatArray]  # (protocol, method) → one value per repeat


def same(values: Any, other: Any) -> Any:
    """Equal but for rounding: methods that agree in theory differ in the last digits."""
    return np.isclose(values, other, rtol=ROUNDING, atol=0)


def worse(measured: Runs, better: str) -> FloatArray:
    """The p-value against "row is no worse than column"; 1 where its mean is no worse."""
    sign = 1.0 if better == "lower" else -1.0
    samples = [sign * values for values in measured.values()]
    means = np.array([sample.mean() for sample in samples])
    p = _unpaired(samples, means)
    for members in _sharing(list(measured), samples):
        p[np.ix_(members, members)] = _paired(np.array([samples[i] for i in members]))
    apart = (means[:, None] > means) & ~same(means[:, None], means)
    return np.where(apart, p, 1.0)


def _sharing(pairs: Sequence[tuple[str, str]], samples: Sequence[FloatArray]) -> list[list[int]]:
    """Which combinations were measured on the same estimates."""
    groups: dict[tuple[str, int], list[int]] = {}
    for i, (protocol, _) in enumerate(pairs):
        groups.setdefault((protocol, len(samples[i])), []).append(i)
    return list(groups.values())


def _paired(samples: FloatArray) -> FloatArray:
    """Samples by row; one column at a time, as there may be many repeats."""
    count = samples.shape[1]
    p = np.ones((len(samples), len(samples)))
    if count < 2:
        return p
    for j, other in enumerate(samples):
        gaps = np.where(same(samples, other), 0.0, samples - other)
        largest = np.abs(gaps).max(axis=1)
        doubtful = _repeating(gaps)
        mean, squares = gaps.mean(axis=1), gaps.var(axis=1) * count
        plain = _student(mean, [(squares, count)])
        padded = _student(*_with_ends(mean, squares, count, largest, -largest))
        p[:, j] = np.where(doubtful, np.maximum(padded, 0.5**count), plain)  # all signs flipped
    return p


def _unpaired(samples: Sequence[FloatArray], means: FloatArray) -> FloatArray:
    n = np.array([len(sample) for sample in samples])
    squares = np.array([sample.var() * len(sample) for sample in samples])
    highest, lowest = (np.array([f(sample) for sample in samples]) for f in (np.max, np.min))
    doubtful = np.array([_repeating(sample[None])[0] for sample in samples])
    row, column = (means[:, None], squares[:, None], n[:, None]), (means, squares, n)
    plain = _student(row[0] - column[0], [row[1:], column[1:]])
    high, low = np.maximum(highest[:, None], highest), np.minimum(lowest[:, None], lowest)
    first, [one] = _with_ends(*row, high, low)
    second, [two] = _with_ends(*column, high, low)
    padded = np.maximum(_student(first - second, [one, two]), _least(n[:, None], n))
    enough = np.minimum(n[:, None], n) >= 2
    return np.where(enough, np.where(doubtful[:, None] | doubtful, padded, plain), 1.0)


def _least(n: Any, other: Any) -> FloatArray:
    """One over the ways to deal the repeats to two samples."""
    from scipy.special import gammaln

    return np.asarray(np.exp(gammaln(n + 1) + gammaln(other + 1) - gammaln(n + other + 1)))


def _with_ends(mean: Any, squares: Any, n: Any, high: Any, low: Any) -> tuple[Any, list[Any]]:
    """Mean, and squares about it with their number, of samples with two more values."""
    up, down = high - mean, low - mean
    shift = (up + down) / (n + 2)
    return mean + shift, [(squares + up**2 + down**2 - (n + 2) * shift**2, n + 2)]


def _student(gap: Any, samples: Sequence[tuple[Any, Any]]) -> FloatArray:
    """One-sided p-value that the gap is not above zero: squares about the mean, and how many."""
    from scipy.special import stdtr  # scipy.stats takes most of a second to import

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        parts = [np.maximum(squares, 0) / ((n - 1) * n) for squares, n in samples]
        below = sum(a**2 / (n - 1) for a, (_, n) in zip(parts, samples, strict=True))
        freedom = sum(parts) ** 2 / below  # Welch–Satterthwaite; n - 1 for one sample
        p = stdtr(freedom, -gap / np.sqrt(sum(parts)))
    return np.where(np.asarray(below) > 0, p, 1.0)  # repeats that do not vary: no evidence


def _repeating(samples: FloatArray) -> BoolArray:
    """Whether a value occurs twice in a row, but for rounding."""
    ordered = np.sort(samples, axis=1)
    return np.asarray(same(ordered[:, 1:], ordered[:, :-1]).any(axis=1))
