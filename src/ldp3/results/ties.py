"""Which combination is best, and which ones cannot be told from it.

In each question (metric, dataset, ε, attack) the combination with the best mean leads. Any other
one is *tied* with it unless a one-sided t-test says that it is worse: paired over repeats where
the protocol is the same (methods share the estimate), Welch's where it is not.

With m combinations, of which s are still tied, a test must reach α/(s(m−1)); what is worse leaves,
s shrinks, and the rest is tested again. Then *every* combination that is truly best stays, with
probability at least 1−α, so two that are both best are told apart at most that often. (Of two equal
ones that are not best, one may well leave and the other stay.) For let t be truly best. Until one
of them is lost, all t are tied, s ≥ t, and the level is at most α/(t(m−1)); one is lost only if one
of the t(m−1) tests of a truly best combination against any other errs there.

A metric that takes few values may not vary at all over a few repeats, which is no evidence. Where
values repeat, each sample gets the smallest and the largest value of both once more, and no test
says more than a permutation of the repeats could.

References
----------
Agresti, Caffo. *Simple and effective confidence intervals for proportions and differences of
proportions result from adding two successes and two failures.* The American Statistician, 2000.
Holm. *A simple sequentially rejective multiple test procedure.* Scandinavian Journal of
Statistics, 1979.
Hsu. *Multiple comparisons: theory and methods.* Chapman & Hall 1996, ch. 4 (comparison with the
best).
"""

from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
import polars as pl

from ldp3.arrays import FloatArray

ALPHA = 0.05
ROUNDING = 1e-9  # numbers that are equal in theory may differ by so much of themselves
# What combinations are compared in, and never pooled over
QUESTION = ["metric", "dataset", "n", "d", "epsilon", "attack"]
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
    return next(pair for pair, mean in means.items() if _same(mean, best))


def p_values(measured: Runs, better: str) -> dict[tuple[str, str], float]:
    """How surprising it would be to see this much if the combination were as good as the leader."""
    best = leader({pair: float(v.mean()) for pair, v in measured.items()}, better)
    sign = 1.0 if better == "lower" else -1.0
    return {
        pair: 1.0
        if pair == best
        else _worse(sign * values, sign * measured[best], paired=pair[0] == best[0])
        for pair, values in measured.items()
    }


def ties(measured: Runs, better: str, alpha: float = ALPHA) -> set[tuple[str, str]]:
    """The leader and what cannot be told from it."""
    p = p_values(measured, better)
    tied, before = set(measured), 0
    while len(tied) != before:
        before = len(tied)
        level = alpha / max(len(tied) * (len(measured) - 1), 1)
        tied = {pair for pair in tied if p[pair] > level}
    return tied


def best(table: pl.DataFrame, better: Mapping[str, str], alpha: float = ALPHA) -> pl.DataFrame:
    """Every combination in each question from best to worst, and whether it is tied."""
    frames = [
        _ranked(part, better[str(question[0])], alpha).select(
            *(pl.lit(value).alias(name) for name, value in zip(QUESTION, question, strict=True)),
            pl.all(),
        )
        for question, part in table.group_by(QUESTION, maintain_order=True)
    ]
    return pl.concat(frames)


def _ranked(part: pl.DataFrame, better: str, alpha: float) -> pl.DataFrame:
    measured = runs(part)
    p, tied = p_values(measured, better), ties(measured, better, alpha)
    means = {pair: float(values.mean()) for pair, values in measured.items()}
    first = leader(means, better)  # also where another one differs from it in the last digits
    others = [pair for pair in means if pair != first]
    order = [first, *sorted(others, key=means.__getitem__, reverse=better == "higher")]
    return pl.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "protocol": [pair[0] for pair in order],
            "method": [pair[1] for pair in order],
            "mean": [means[pair] for pair in order],
            "std": [spread(measured[pair]) for pair in order],
            "p_value": [p[pair] for pair in order],
            "tied": [pair in tied for pair in order],
        },
        schema_overrides={"std": pl.Float64},
    )


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
        winners = _same(values, first)
        shares = winners / winners.sum(axis=0)
        collections += values.shape[1]
        for method, share in zip(methods, shares.sum(axis=1), strict=True):
            wins[method] += float(share)
    return {method: won / collections for method, won in wins.items()}


def spread(values: FloatArray) -> float | None:
    """Standard deviation over repeats; a single one has none."""
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _worse(values: FloatArray, best: FloatArray, *, paired: bool) -> float:
    """One-sided p-value against "no worse than the best", where lower is better."""
    if min(len(values), len(best)) < 2 or _same(values.mean(), best.mean()):
        return 1.0
    if paired:
        differences = np.where(_same(values, best), 0, values - best)
        largest, least = np.abs(differences).max(), 0.5 ** len(differences)  # all signs flipped
        samples, ends = [differences], [largest, -largest]
    else:
        both = np.concatenate([values, best])
        samples, ends = [values, best], [both.max(), both.min()]
        least = 1 / comb(len(both), len(best))
    if any(_repeats(sample) for sample in samples):
        return max(_student([np.append(sample, ends) for sample in samples]), least)
    return _student(samples)


def _student(samples: list[FloatArray]) -> float:
    """One-sided p-value that the mean is not above zero, or the first not above the second."""
    from scipy.special import stdtr  # scipy.stats takes most of a second to import

    gap = samples[0].mean() - (samples[1].mean() if len(samples) > 1 else 0.0)
    parts = [sample.var(ddof=1) / len(sample) for sample in samples]
    below = sum(a**2 / (len(sample) - 1) for a, sample in zip(parts, samples, strict=True))
    if below == 0:  # two repeats that differ by rounding: no evidence
        return 1.0
    freedom = sum(parts) ** 2 / below  # Welch–Satterthwaite; n - 1 for one sample
    return float(stdtr(freedom, -gap / np.sqrt(sum(parts))))


def _repeats(sample: FloatArray) -> bool:
    """Whether a value occurs twice, but for rounding."""
    ordered = np.sort(sample)
    return bool(_same(ordered[1:], ordered[:-1]).any())


def _same(values: Any, other: Any) -> Any:
    """Equal but for rounding: methods that agree in theory differ in the last digits."""
    return np.isclose(values, other, rtol=ROUNDING, atol=0)
