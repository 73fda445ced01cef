"""Which values reports support, and how often; whether any value of the domain stands out."""

from collections.abc import Iterator, Mapping
from math import exp

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.noise import LinearChannel
from ldp3.protocols.pure import PureOracle
from ldp3.tails import at_least_p, binomial_p
from ldp3.types import Tally
from ldp3.verification.base import Finding, exact
from ldp3.verification.cases import SMALL_DOMAIN, OracleCase, as_bytes, persistent
from ldp3.verification.statistics import bias_p, clopper_pearson, coins, far_binomial_p

BLOCKS = 20  # of the reports of a value
OFTEN = 5  # times in a block that something happens at the least, or its tail is too long
FLIPS = 1_999  # of signs
EVERY = 100_000  # reports of all values together
EACH = 32  # of each value at the least
MOST_VALUES = 1024  # values that are looked at one by one
MEANS = 1e-9  # chance that the mean over all values is above its bound


def own_and_others(case: OracleCase) -> Iterator[Finding]:
    """Own value is supported with p, others with q."""

    def p_values(again: OracleCase) -> FloatArray:
        return own_and_others_p(again, again.reports)

    name = "Own value is supported with p, others with q"
    yield persistent(name, case, p_values, case.size * len(case.values))


def own_and_others_p(case: OracleCase, reports: Mapping[int, Reports]) -> FloatArray:
    """p-values of how often the own value and others are supported by the reports of each."""
    hits = np.array([case.supported(some, *case.values).sum(axis=0) for some in reports.values()])
    own = np.eye(len(hits), dtype=bool)
    users = len(next(iter(reports.values())))
    return binomial_p(hits, users, np.where(own, case.pure.p, case.pure.q)).ravel()


def small_biases(case: OracleCase) -> Iterator[Finding]:
    """No pair of values goes together more or less often than q, be it ever so little.

    What few hash functions or lies that prefer some values do: a bias of every pair that no pair
    shows alone. The deviations of blocks of reports are multiplied block by block and added up
    over all values; without a bias the sign of every block is a coin.
    """
    if case.oracle.d <= 4096 and case.size >= 2 * BLOCKS:
        name = "Deviations from p and q do not recur"
        yield persistent(name, case, _recurring_p, case.size * len(case.values))


def _recurring_p(case: OracleCase) -> FloatArray:
    rng, size = case.stream("signs"), case.size // BLOCKS
    signs = rng.choice([-1.0, 1.0], (FLIPS, len(case.values), BLOCKS))
    sums = []
    for i, (v, reports) in enumerate(case.reports.items()):
        blocks = reports[: size * BLOCKS].reshape(BLOCKS, size, *reports.shape[1:])
        counts = np.array([case.pure.support_counts(case.oracle.aggregate(b)) for b in blocks])
        chance = np.where(np.arange(case.oracle.d) == v, case.pure.p, case.pure.q)
        away = (counts - size * chance)[:, size * np.minimum(chance, 1 - chance) >= OFTEN]
        gram = np.triu(away @ away.T, 1)
        flipped = np.einsum("fa,ab,fb->f", signs[:, i], gram, signs[:, i], optimize=True)
        sums.append(np.append(gram.sum(), flipped))
    seen, *flipped = np.sum(sums, axis=0)
    return np.array([(np.count_nonzero(flipped >= seen) + 1) / (FLIPS + 1)])


def declared_law(case: OracleCase) -> Iterator[Finding]:
    """Reports follow `log_prob`.

    Where log P(r|w) - log P(r|v) is l, a report is e^l times as likely from a user with w as from
    one with v: of such reports of both, drawn at random, e^l / (1 + e^l) are of w.
    """
    oracle, limit = case.pure, case.oracle.epsilon * (1 + 1e-9) + 1e-12
    some = case.reports[case.values[0]]
    if oracle.log_prob(some[:1], case.values[0]) is None:
        return
    draws = case.size * len(case.values)
    yield persistent("Reports follow `log_prob`", case, _shares_p, draws)
    widest = max(float(np.abs(_ratio(oracle, case.reports[v], v, w)).max()) for v, w in case.pairs)
    evidence = f"largest log-ratio {widest:.6g} against ε = {oracle.epsilon:g}"
    yield exact("`log_prob` stays within ε", widest <= limit, evidence)


def _ratio(oracle: PureOracle, reports: FloatArray, v: int, w: int) -> FloatArray:
    own, other = oracle.log_prob(reports, v), oracle.log_prob(reports, w)
    assert own is not None
    assert other is not None
    return other - own


def _shares_p(case: OracleCase) -> FloatArray:
    """p-values of how many of alike reports are of w, for pairs v, w.

    Reports of one kind may differ in l: their number is a sum of unequal coins, whose tails are
    within those of equal ones (Hoeffding 1956).
    """
    rng, p_values = case.stream("shares"), []
    for v, w in case.pairs:
        first, second = coins(case.size, rng)
        both = np.concatenate([case.reports[v][:first], case.reports[w][:second]])
        ratio = _ratio(case.pure, both, v, w)
        kind = (case.supported(both, v, w) @ [2, 1]) * 3 + np.sign(ratio.round(9)).astype(int) + 1
        every = np.bincount(kind, minlength=12)
        later = np.bincount(kind[first:], minlength=12)
        share = np.bincount(kind, 1 / (1 + np.exp(-ratio)), minlength=12) / np.maximum(every, 1)
        p_values.append(np.where(every > 0, binomial_p(later, every, share), 1.0))
    return np.concatenate(p_values)


def channel(case: OracleCase) -> Iterator[Finding]:
    """The channel is that of the reports, in both directions."""
    channel, d, rng = case.oracle.channel, case.oracle.d, case.stream("channel")
    if channel is None:
        return
    one = rng.dirichlet(np.ones(d))
    law = channel.forward(one)
    weights = rng.random(len(law))
    ahead, back = law @ weights, channel.backward(weights) @ one
    evidence = f"{ahead:.12g} and {back:.12g}"
    name = "The channel's two directions belong together"
    yield exact(name, abs(ahead - back) <= 1e-9 * abs(ahead), evidence)
    draws = case.size * len(case.values)
    yield persistent("The channel is that of the reports", case, _channel_p, draws)
    if isinstance(channel, LinearChannel):
        yield from _scores(case, channel, one)


def _scores(case: OracleCase, channel: LinearChannel, weights: FloatArray) -> Iterator[Finding]:
    scores, few = channel.scores(weights), 1_003
    off = float(np.abs(channel.backward(scores) - weights).max() / np.abs(weights).max())
    name = "The scores of reports have the weights of their values as means"
    yield exact(name, off < 1e-6, f"largest relative difference {off:.2g}")
    tally = case.oracle.aggregate(
        case.oracle.perturb(np.arange(few) % case.oracle.d, case.stream("scores"))
    )
    summed, estimate = float(scores @ tally.total) / few, case.oracle.estimate(tally)
    scale = float(np.abs(weights) @ np.abs(estimate.frequencies))
    same = abs(summed - float(weights @ estimate.frequencies)) <= 1e-6 * scale
    yield exact("A weighted sum of estimates is the mean score", same, f"{summed:.9g}")


def _channel_p(case: OracleCase) -> FloatArray:
    channel, p_values = case.oracle.channel, []
    assert channel is not None
    for v, reports in case.reports.items():
        tally: Tally = case.oracle.aggregate(reports)
        law = channel.forward(np.eye(case.oracle.d)[v])
        p_values.append(binomial_p(channel.counts(tally.total), tally.n, np.clip(law, 0, 1)))
    return np.concatenate(p_values)


def every_value(case: OracleCase) -> Iterator[Finding]:
    """No value of the domain stands out, and none is forgotten.

    Privacy bounds the probability of an event under any value by e^ε times its mean over all.
    """
    count, each = len(case.once(_all_or_many)), _each(case)
    name = "No value's reports exceed e^ε times the mean over all values"
    what = f" events, for each of {count} values"
    yield persistent(name, case, _standing_out, count * each, what)
    if isinstance(case.oracle, PureOracle):
        name = "Every value is supported with p by its own reports, with q by others"
        what = f", for {count**2} pairs of values"
        yield persistent(name, case, _supported, count * each, what)
    else:
        name = "People who hold one value are estimated so, whichever it is"
        yield persistent(name, case, _estimated, count * each, f", for {count} values")
        name = "People who hold one value are estimated so on average"
        yield persistent(name, case, _estimated_on_average, count * each)


def _all_or_many(case: OracleCase) -> IntArray:
    d = case.oracle.d
    others = case.stream("which values").permutation(np.setdiff1d(np.arange(d), case.values))
    most = min(MOST_VALUES, max(len(case.values), case.count(EVERY) // EACH))
    if case.fewest > 1 and d > SMALL_DOMAIN:  # what joins groups takes long to say its noise
        most = len(case.values)
    return np.sort(np.append(case.values, others[: most - len(case.values)]))


def _each(case: OracleCase) -> int:
    """How many reports of each value are drawn."""
    least = max(EACH, case.fewest)
    return max(least << case.look, case.count(EVERY) // len(case.first.once(_all_or_many)))


def _batches(case: OracleCase) -> Iterator[Reports]:
    """The reports of all values, one value after the other, some values at a time."""
    values, each, rng = case.first.once(_all_or_many), _each(case), case.stream("every value")
    step = max(1, case.at_once // each)
    for start in range(0, len(values), step):
        yield case.oracle.perturb(np.repeat(values[start : start + step], each), rng)


def _hits(case: OracleCase) -> IntArray:
    """How often each event happened under each value."""
    values, each = case.first.once(_all_or_many), _each(case)
    counts = [[event.reshape(-1, each).sum(axis=1) for event in _events(case, reports, values)]
              for reports in _batches(case)]  # fmt: skip
    return np.concatenate([np.stack(count, axis=1) for count in counts])


def _estimated(case: OracleCase) -> FloatArray:
    """p-values of the estimates of users who all hold one value, for every value and each entry.

    Rough for all of them; of one alone by a t-test over blocks of its users.
    """
    from scipy.special import ndtr

    values, d = case.first.once(_all_or_many), case.oracle.d
    if case.focus is None:
        errors, stated = case.once(_errors)
        spread = np.sqrt(stated + OFTEN / _each(case) ** 2)  # a few rare reports more or less
        return np.asarray(2 * ndtr(-np.abs(errors / spread))).ravel()
    which, entry = divmod(case.focus, d)
    users = np.full(max(OFTEN, _each(case) // BLOCKS), values[which])
    rng, p_values = case.stream("one value"), np.ones(len(values) * d)
    blocks = [_error(case, case.oracle.perturb(users, rng), values[which]) for _ in range(BLOCKS)]
    errors, stated = np.array(blocks)[:, :, entry].T
    p_values[case.focus] = bias_p(errors[:, None], stated[:1])[0]
    return p_values


def _estimated_on_average(case: OracleCase) -> FloatArray:
    """The p-value that the own share of a value is 1 on average: a scale that is a little off."""
    values, (errors, stated) = case.first.once(_all_or_many), case.once(_errors)
    own = np.arange(len(values)), values
    return bias_p(errors[own][:, None], stated[own].mean(keepdims=True))


def _errors(case: OracleCase) -> FloatArray:
    """Errors of the estimates of each value's users, and their stated variances."""
    users = (u for r in _batches(case) for u in r.reshape(-1, _each(case), *r.shape[1:]))
    held = case.first.once(_all_or_many)
    return np.array([_error(case, u, v) for u, v in zip(users, held, strict=True)]).swapaxes(0, 1)


def _error(case: OracleCase, reports: Reports, value: int) -> FloatArray:
    truth = np.eye(1, case.oracle.d, value)[0]
    estimate = case.oracle.estimate(case.oracle.aggregate(reports))
    return np.stack([estimate.frequencies - truth, estimate.noise.variance(truth)])


def _standing_out(case: OracleCase) -> FloatArray:
    """p-values that a value keeps to the bound, of an event and of its opposite."""
    made, hits, each = [], case.once(_hits), _each(case)
    for counts in (hits, each - hits):
        totals = counts.sum(axis=0)
        means = np.array(
            [clopper_pearson(int(t), counts.shape[0] * each, MEANS)[1] for t in totals]
        )
        bound = np.minimum(1.0, exp(min(case.oracle.epsilon, 700.0)) * means)
        above, p_values = counts > each * bound, np.ones(counts.shape)
        bounds = np.broadcast_to(bound, counts.shape)[above]
        p_values[above] = np.minimum(1.0, at_least_p(counts[above], each, bounds) + MEANS)
        made.append(p_values)
    return np.concatenate(made, axis=None)


def _supported(case: OracleCase) -> FloatArray:
    """p-values of every pair of values, and of every value over the reports of all others."""
    oracle, hits, each = case.pure, case.once(_hits), _each(case)
    count = len(hits)
    held = hits[:, :count]
    expected = np.where(np.eye(count, dtype=bool), oracle.p, oracle.q)
    others = held.sum(axis=0) - held.diagonal()
    over_all = binomial_p(others, (count - 1) * each, oracle.q)
    own = binomial_p(held.trace(), count * each, oracle.p)
    return np.concatenate([far_binomial_p(held, each, expected), over_all, own], axis=None)


def _events(case: OracleCase, reports: Reports, values: IntArray) -> Iterator[BoolArray]:
    """Things that a report may or may not do."""
    if isinstance(case.oracle, PureOracle):
        yield from (case.oracle.supports(reports, int(w)) for w in values)
    features = case.features
    if features.numeric:
        yield from features.levels(reports)
        return
    raw = as_bytes(reports)
    columns = [np.bitwise_xor.reduce(raw, axis=1), raw.sum(axis=1, dtype=np.uint8)]
    columns += [*raw.T] if raw.shape[1] <= 32 else []
    yield from ((column >> bit) & 1 == 1 for column in columns for bit in range(8))
    few = (raw != 0).sum(axis=1)
    yield from (few == count for count in range(3))
