"""Which combination is best, and which ones are tied with it.

In each question (metric, dataset, ε, attack) the combination with the best mean leads. A
combination is *tied* with it unless a one-sided t-test (`worse`) says that it is worse than some
other one: not only than the leader, for methods of one protocol share its noise and are compared
more sharply. So nothing is called tied that is clearly beaten by its neighbour in the table.

With m combinations, of which s are still tied, a test must reach α/(K s(m−1)), where K is the
number of looks at the repeats that the run may have taken (`experiment.repeats`; 1 if the number of
repeats was given). What is worse leaves, s shrinks, and the rest is tested again. Then *every*
combination that is truly best stays, with probability at least 1−α, so two that are both best are
told apart at most that often. (Of two equal ones that are not best, one may well leave and the
other stay.) For let t be truly best. Until one of them is lost, all t are tied, s ≥ t, and the
level is at most α/(K t(m−1)); one is lost only if at one of the K looks one of the t(m−1) tests of
a truly best combination against any other errs there.

Methods of one protocol share its estimates, so their repeats are compared in pairs. Collections of
different protocols are independent: Welch's test. (Common random numbers would not help: protocols
turn randomness into reports in ways of their own, so nothing says that a draw that is lucky for one
is lucky for the other, and without that a paired test is no sharper than Welch's.)

A metric that takes few values may not vary at all over a few repeats, which is no evidence. Where
values repeat, each sample gets the smallest and the largest value of both once more, and no test
says more than a permutation of the repeats could.

References
----------
Holm. *A simple sequentially rejective multiple test procedure.* Scandinavian Journal of
Statistics, 1979.
Hsu. *Multiple comparisons: theory and methods.* Chapman & Hall 1996, ch. 4 (comparison with the
best).
Agresti, Caffo. *Simple and effective confidence intervals for proportions and differences of
proportions result from adding two successes and two failures.* The American Statistician, 2000.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import BoolArray, FloatArray
from ldp3.results.axes import QUESTION, SCHEMA

ALPHA = 0.05
ROUNDING = 1e-9  # numbers that are equal in theory may differ by so much of themselves
Runs = Mapping[tuple[str, str], FloatArray]  # (protocol, method) → one value per repeat


def runs(table: pl.DataFrame) -> dict[tuple[str, str], FloatArray]:
    """The values in one question by protocol and method, in the order of the table."""
    groups = table.sort("repeat", maintain_order=True).group_by(
        "protocol", "method", maintain_order=True
    )
    found = {(str(k[0]), str(k[1])): frame["value"].to_numpy() for k, frame in groups}
    order = table.select("protocol", "method").unique(maintain_order=True).rows()
    return {(p, m): found[p, m] for p, m in order}


def leader(means: Mapping[tuple[str, str], float], better: str) -> tuple[str, str]:
    """The combination with the best mean; the first one in the table where several share it."""
    best = (min if better == "lower" else max)(means.values())
    return next(pair for pair, mean in means.items() if same(mean, best))


def p_values(measured: Runs, better: str) -> dict[tuple[str, str], float]:
    """How surprising it would be to see this much if the combination were no worse than others.

    The smallest over all others; `ties` knows how many there are.
    """
    smallest = worse(measured, better).min(axis=1)
    return dict(zip(measured, smallest.tolist(), strict=True))


def alike(measured: Runs, pair: tuple[str, str]) -> set[tuple[str, str]]:
    """The combinations that gave the same numbers as this one in every repeat, and itself."""
    values, protocol = measured[pair], pair[0]
    mine = {other: v for other, v in measured.items() if other[0] == protocol}
    return {other for other, v in mine.items() if len(v) == len(values) and same(v, values).all()}


def ties(measured: Runs, better: str, alpha: float = ALPHA, looks: int = 1) -> set[tuple[str, str]]:
    """The leader and what is tied with it, in one of so many looks."""
    p = p_values(measured, better)
    tied, before = set(measured), 0
    while len(tied) != before:
        before = len(tied)
        level = alpha / max(looks * len(tied) * (len(measured) - 1), 1)
        tied = {pair for pair in tied if p[pair] > level}
    return tied


def best(
    table: pl.DataFrame, better: Mapping[str, str], alpha: float = ALPHA, looks: int = 1
) -> pl.DataFrame:
    """Every combination in each question from best to worst, and whether it is tied."""
    frames = [
        _ranked(part, better[str(question[0])], alpha, looks).select(
            *(
                pl.lit(v, SCHEMA[name]).alias(name)
                for name, v in zip(QUESTION, question, strict=True)
            ),
            pl.all(),
        )
        for question, part in table.group_by(QUESTION, maintain_order=True)
    ]
    return pl.concat(frames)


def _ranked(part: pl.DataFrame, better: str, alpha: float, looks: int) -> pl.DataFrame:
    measured = runs(part)
    p, tied = p_values(measured, better), ties(measured, better, alpha, looks)
    means = {pair: float(values.mean()) for pair, values in measured.items()}
    first = leader(means, better)  # also where another one differs from it in the last digits
    others = [pair for pair in means if pair != first]
    order = [first, *sorted(others, key=means.__getitem__, reverse=better == "higher")]
    return pl.DataFrame(
        {
            "rank": _places(measured, order),
            "protocol": [pair[0] for pair in order],
            "method": [pair[1] for pair in order],
            "mean": [means[pair] for pair in order],
            "std": [spread(measured[pair]) for pair in order],
            "p_value": [p[pair] for pair in order],
            "tied": [pair in tied for pair in order],
        },
        schema_overrides={"std": pl.Float64},
    )


def _places(measured: Runs, order: list[tuple[str, str]]) -> list[int]:
    """1, 2, 3, …; what gave the same numbers shares a place."""
    return [1 + min(map(order.index, alike(measured, pair))) for pair in order]


def win_rates(measured: Runs, better: str) -> dict[str, float]:
    """How often each method is the best of those applied to the same estimate.

    Over all protocols and repeats; methods that share the first place share the win.
    """
    wins = dict.fromkeys((method for _, method in measured), 0.0)
    collections = 0
    for protocol in dict.fromkeys(protocol for protocol, _ in measured):
        methods = [m for p, m in measured if p == protocol]
        values = np.array([measured[protocol, m] for m in methods])
        first = values.min(axis=0) if better == "lower" else values.max(axis=0)
        winners = same(values, first)
        shares = winners / winners.sum(axis=0)
        collections += values.shape[1]
        for method, share in zip(methods, shares.sum(axis=1), strict=True):
            wins[method] += float(share)
    return {method: won / collections for method, won in wins.items()}


def spread(values: FloatArray) -> float | None:
    """Standard deviation over repeats; a single one has none."""
    return float(values.std(ddof=1)) if len(values) > 1 else None


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
