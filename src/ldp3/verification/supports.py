"""Pure oracles: which values reports support, and how often."""

from collections.abc import Iterator

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.protocols.base import PureOracle
from ldp3.types import Tally
from ldp3.verification.base import Finding, binomial_p, exact
from ldp3.verification.case import OracleCase
from ldp3.verification.looks import persistent
from ldp3.verification.telling import coins

BLOCKS = 20  # of the reports of a value
OFTEN = 5  # times in a block that something happens at the least, or its tail is too long
FLIPS = 1_999  # of signs


def own_and_others(case: OracleCase) -> Iterator[Finding]:
    """Own value is supported with p, others with q."""
    name = "Own value is supported with p, others with q"
    yield persistent(name, case, _own_and_others_p, case.size * len(case.values))


def _own_and_others_p(case: OracleCase) -> FloatArray:
    hits = [case.supported(reports, *case.values).sum(axis=0) for reports in case.reports.values()]
    own = np.eye(len(hits), dtype=bool)
    return binomial_p(np.array(hits), case.size, np.where(own, case.pure.p, case.pure.q)).ravel()


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


def fixed_support(case: OracleCase) -> Iterator[Finding]:
    """A report supports as many values as `support_size` says."""
    oracle = case.pure
    if oracle.support_size is not None and oracle.d <= 1024:
        some = np.concatenate([reports[:500] for reports in case.reports.values()])
        held = np.sum([oracle.supports(some, v) for v in range(oracle.d)], axis=0)
        passed = (held == oracle.support_size).all()
        evidence = f"{held.min()}..{held.max()} against {oracle.support_size}"
        yield exact("A report supports as many values as stated", passed, evidence)


def channel(case: OracleCase) -> Iterator[Finding]:
    """The channel is that of the reports, in both directions."""
    channel, d, rng = case.oracle.channel, case.oracle.d, case.stream("channel")
    if channel is None:
        return
    one, weights = rng.dirichlet(np.ones(d)), rng.random(len(case.oracle.empty.total))
    ahead, back = channel.forward(one) @ weights, channel.backward(weights) @ one
    evidence = f"{ahead:.12g} and {back:.12g}"
    name = "The channel's two directions belong together"
    yield exact(name, abs(ahead - back) <= 1e-9 * abs(ahead), evidence)
    draws = case.size * len(case.values)
    yield persistent("The channel is that of the reports", case, _channel_p, draws)


def _channel_p(case: OracleCase) -> FloatArray:
    channel, p_values = case.oracle.channel, []
    assert channel is not None
    for v, reports in case.reports.items():
        tally: Tally = case.oracle.aggregate(reports)
        law = channel.forward(np.eye(case.oracle.d)[v])
        p_values.append(binomial_p(tally.total, tally.n, np.clip(law, 0, 1)))
    return np.concatenate(p_values)
