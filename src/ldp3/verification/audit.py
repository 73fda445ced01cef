"""An attack on two values: how well do reports tell them apart? Nothing is taken on trust."""

from collections.abc import Iterator
from math import log

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import ALPHA, Finding, clopper_pearson
from ldp3.verification.case import OracleCase, as_bytes, fold


def audit(case: OracleCase) -> Iterator[Finding]:
    """No event tells two values apart by more than e^ε.

    Of the reports of two values, half teach a score how telling a report is, a quarter chooses how
    high a score must be, and on the last quarter the probabilities of that event are bounded
    (Clopper and Pearson): a lower bound on the true ε, whatever the oracle says of itself.
    """
    half, three = case.size // 2, case.size // 4 * 3
    views = {v: _View(case, reports, half) for v, reports in case.reports.items()}
    scored = []
    for v, w in case.pairs:
        for first, second in _scores(case, views, v, w):
            level = _level(first[half:three], second[half:three])
            hits = [int(np.count_nonzero(s[three:] >= level)) for s in (first, second)]
            scored.append((v, w, *hits))
    best, where, alpha = 0.0, "", ALPHA / max(1, len(scored)) / 2
    for v, w, hits_v, hits_w in scored:
        low, _ = clopper_pearson(hits_v, case.size - three, alpha)
        _, high = clopper_pearson(hits_w, case.size - three, alpha)
        if low > 0 and log(low / high) > best:
            best, where = log(low / high), f", best {hits_v} against {hits_w} for {v} and {w}"
    declared = case.oracle.epsilon
    evidence = f"ε ≥ {best:.3f} by {len(scored)} events{where}; declared {declared:g}"
    draws = case.size * len(case.values)
    name = "No event tells two values apart by more than e^ε"
    yield Finding(name, best <= declared, evidence, draws, ALPHA)


class _View:
    """Reports of one value as small codes and as words, and how often the codes occur."""

    def __init__(self, case: OracleCase, reports: Reports, half: int) -> None:
        self.reports, self.half = reports, half
        self.codes, self.words = case.codes(reports), _words(reports)
        self.often = _often(self.codes[:half])


def _often(codes: NDArray[np.uint8]) -> FloatArray:
    """How often each code occurs in each column, and half a time more."""
    return np.array([np.bincount(column, minlength=256) for column in codes.T]) + 0.5


def _scores(
    case: OracleCase, views: dict[int, _View], v: int, w: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """How much each report of `v` and of `w` speaks for `v`, in several ways."""
    one, two = views[v], views[w]
    yield _additive(one.codes, two.codes, one.often, two.often)
    if isinstance(case.oracle, PureOracle):
        first, second = (case.supported(view.reports, v, w) for view in (one, two))
        yield _additive(first, second, *(_often(codes[: one.half]) for codes in (first, second)))
    for c in {0, v + 1, w + 1} & {*range(one.words.shape[1])}:
        yield _seen(one.words[:, c], two.words[:, c], one.half)


def _additive(
    first: NDArray[np.uint8], second: NDArray[np.uint8], in_first: FloatArray, in_second: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sum of the log-ratios of those columns whose laws differ: naive Bayes."""
    both = in_first + in_second
    signal, codes = ((in_first - in_second) ** 2 / both).sum(axis=1), (both > 1).sum(axis=1)
    # by chance it is about the number of codes seen: a column without a signal is noise
    telling = np.flatnonzero(signal > codes + 4 * np.sqrt(2 * codes))
    tables = np.log(in_first / in_second)
    scores = np.zeros(len(first)), np.zeros(len(second))
    for column in telling:
        scores[0][:] += tables[column, first[:, column]]
        scores[1][:] += tables[column, second[:, column]]
    return scores


def _words(reports: Reports) -> NDArray[np.uint64]:
    """Each report as one word and, if it is made of real numbers, each of them."""
    whole = fold(as_bytes(reports))[:, None]
    if not np.issubdtype(reports.dtype, np.floating):
        return whole
    rows = reports.reshape(len(reports), -1).astype(np.float64)
    return np.concatenate([whole, rows.view(np.uint64)], axis=1)


def _seen(
    first: NDArray[np.uint64], second: NDArray[np.uint64], half: int
) -> tuple[FloatArray, FloatArray]:
    """Log-ratio of how often a word was seen before."""
    known, which = np.unique(np.concatenate([first[:half], second[:half]]), return_inverse=True)
    a, b = (np.bincount(part, minlength=len(known)) for part in np.split(which, [half]))
    table = np.log((a + 0.5) / (b + 0.5))

    def score(words: NDArray[np.uint64]) -> FloatArray:
        at = np.minimum(np.searchsorted(known, words), len(known) - 1)
        return np.where(known[at] == words, table[at], 0.0)

    return score(first), score(second)


def _level(first: FloatArray, second: FloatArray) -> float:
    """The score from which on a report tells the most, surely enough to be measured well."""
    levels = np.unique(first)
    gain = len(first) - np.searchsorted(np.sort(first), levels) + 0.5
    spread = len(second) - np.searchsorted(np.sort(second), levels) + 0.5
    # a lower bound of the log-ratio, three standard errors below what it looks like
    return float(levels[np.argmax(np.log(gain / spread) - 3 * np.sqrt(1 / gain + 1 / spread))])
