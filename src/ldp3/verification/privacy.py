"""Is it ε-private? What an oracle says of itself is not asked."""

from collections.abc import Iterator
from decimal import Context, Decimal
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.verification.base import (
    ALPHA,
    Finding,
    binomial_p,
    clopper_pearson,
    exact,
    statistical,
)
from ldp3.verification.case import COLUMNS, Case, as_bytes, fold

EACH = 96  # reports of every value of the domain
MOST = 1024  # values that are looked at one by one


def bounded_ratio(case: Case) -> Iterator[Finding]:
    """The declared likelihood ratio is at most e^ε."""
    ratio = case.oracle.privacy_ratio
    if ratio is not None:
        digits = Context(prec=60)
        bound = Decimal(case.oracle.epsilon).exp(digits)
        declared = digits.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
        evidence = f"ratio {declared:.12g} against e^ε = {bound:.12g}"
        yield exact("The declared likelihood ratio is at most e^ε", declared <= bound, evidence)


def audit(case: Case) -> Iterator[Finding]:
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

    def __init__(self, case: Case, reports: Reports, half: int) -> None:
        self.reports, self.half = reports, half
        self.codes, self.words = case.codes(reports), _words(reports)
        self.often = _often(self.codes[:half])


def _often(codes: NDArray[np.uint8]) -> FloatArray:
    """How often each code occurs in each column, and half a time more."""
    return np.array([np.bincount(column, minlength=256) for column in codes.T]) + 0.5


def _scores(
    case: Case, views: dict[int, _View], v: int, w: int
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


def every_value(case: Case) -> Iterator[Finding]:
    """No value of the domain stands out.

    Privacy bounds the probability of an event under any value by e^ε times its mean over all.
    """
    oracle, values = case.oracle, _all_or_many(case)
    rng, step = case.stream("every value"), max(1, case.at_once // EACH)
    parts = []
    for start in range(0, len(values), step):
        some = np.repeat(values[start : start + step], EACH)
        events = _events(case, oracle.perturb(some, rng), values)
        parts.append(np.stack([e.reshape(-1, EACH).sum(axis=1) for e in events], axis=1))
    hits, draws = np.concatenate(parts), len(values) * EACH
    p_values = [_standing_out(case, hits), _standing_out(case, EACH - hits)]
    name = "No value's reports exceed e^ε times the mean over all values"
    what = f" events, for each of {len(values)} values"
    yield statistical(name, np.concatenate(p_values), draws, what)
    if isinstance(oracle, PureOracle):
        held = hits[:, : len(values)]
        own = np.eye(len(values), dtype=bool)
        p = [_extremes(held[own], oracle.p), _extremes(held[~own], oracle.q)]
        name = "Every value is supported with p by its own reports, with q by others"
        yield statistical(name, np.concatenate(p), draws, f", for {held.size} pairs of values")


def _all_or_many(case: Case) -> IntArray:
    d, rng = case.oracle.d, case.stream("which values")
    most = case.affordable(min(d, MOST) * EACH, EACH * len(case.values), seconds=2.0) // EACH
    others = rng.permutation(np.setdiff1d(np.arange(d), case.values))
    return np.sort(np.append(case.values, others[: most - len(case.values)]))


def _standing_out(case: Case, hits: IntArray) -> FloatArray:
    """For each event a p-value that the value that favours it most keeps to the bound."""
    from scipy.special import bdtrc

    alpha = ALPHA / 4 / hits.shape[1]
    draws = len(hits) * EACH
    means = [clopper_pearson(int(t), draws, alpha)[1] for t in hits.sum(axis=0)]
    bound = np.minimum(1.0, exp(case.oracle.epsilon) * np.array(means))
    most = hits.max(axis=0)
    tail = np.where(most > 0, bdtrc(np.maximum(most - 1, 0), EACH, bound), 1.0)
    return np.minimum(1.0, 2 * len(hits) * tail)  # the other half of α is spent on the means


def _extremes(counts: IntArray, p: float) -> FloatArray:
    """p-values of the smallest and the largest of many counts."""
    ends = np.array([counts.min(), counts.max()])
    return np.minimum(1.0, counts.size * binomial_p(ends, EACH, p))


def _events(case: Case, reports: Reports, values: IntArray) -> Iterator[NDArray[np.bool_]]:
    """Things that a report may or may not do."""
    if isinstance(case.oracle, PureOracle):
        yield from (case.oracle.supports(reports, int(w)) for w in values)
    rows = reports.reshape(len(reports), -1)
    if np.issubdtype(rows.dtype, np.floating):
        yield from (rows[:, c] > case.ranks[c, 32] for c in range(min(rows.shape[1], MOST)))
        return
    raw = as_bytes(reports)
    columns = [np.bitwise_xor.reduce(raw, axis=1), raw.sum(axis=1, dtype=np.uint8)]
    columns += [*raw.T] if raw.shape[1] <= COLUMNS else []
    yield from ((column >> bit) & 1 == 1 for column in columns for bit in range(8))


def one_form(case: Case) -> Iterator[Finding]:
    """Reports have one form, whatever the value and the number of users."""
    forms = set()
    for n in (0, 1, 2, 65):
        for v in case.values:
            reports = case.oracle.perturb(np.full(n, v), case.stream(f"form {n} {v}"))
            rows = len(reports) == n if isinstance(reports, np.ndarray) else None
            forms.add((type(reports).__name__, rows) if not rows else
                      (str(reports.dtype), reports.shape[1:]))  # fmt: skip
    only = next(iter(forms))
    sound = len(forms) == 1 and isinstance(only[1], tuple) and only[0] != "object"
    evidence = "; ".join(f"{kind} {shape}" for kind, shape in sorted(forms, key=str))
    name = "Reports are an array with one row per user, of one form for every value"
    yield exact(name, sound, evidence)
