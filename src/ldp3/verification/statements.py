"""What an oracle says of itself: the attacks and the tests that ask for it rely on every word."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, Reports
from ldp3.protocols.pure import PureOracle
from ldp3.tails import binomial_p
from ldp3.verification.base import ALPHA, Finding, exact
from ldp3.verification.cases import OracleCase, as_bytes, fold, persistent
from ldp3.verification.independence import traits
from ldp3.verification.statistics import Traits, told_apart_p

VALUES = 1024  # of a domain in which all of them are asked for
SOME = 500  # reports of each value whose sizes are counted
LISTED = 2**12  # reports that are looked at one by one, where there are no more
AT_ONCE = 4  # values whose supports are looked at together, at the most
FEWEST, TOLD = 64, 2_000  # reports of a kind that are told apart
SETS = 64  # that are made to order

Sets = Sequence[tuple[int, ...]]  # places in the list of values that are looked at


def sizes(case: OracleCase) -> Iterator[Finding]:
    """A report supports as many values as stated."""
    oracle, stated = case.pure, case.pure.support_sizes
    if oracle.d > VALUES:
        return
    some = np.concatenate([reports[:SOME] for reports in case.reports.values()])
    held = _table(oracle, some).sum(axis=1)
    same = np.array_equal(oracle.sizes(some), held)
    yield exact("`sizes` counts the values that a report supports", same, f"{len(some):,} reports")
    if stated is None:
        return
    evidence = f"{held.min()}..{held.max()} against {stated[0]}..{stated[1]}"
    within = stated[0] <= held.min() and held.max() <= stated[1]
    yield exact("A report supports as many values as stated", within, evidence)
    every = oracle.every_report(LISTED)
    if every is not None and len(every):
        held = _table(oracle, every).sum(axis=1)
        reached = (int(held.min()), int(held.max())) == tuple(stated)
        evidence = f"{held.min()}..{held.max()} in all {len(every):,} reports"
        yield exact("The fewest and the most values are those of some report", reached, evidence)


def all_that_is_told(case: OracleCase) -> Iterator[Finding]:
    """Given which of two values it supports, a report does not tell the one from the other."""
    if case.pure.support_ratio is not None:
        name, draws = "What a report supports is all that it tells", case.size * len(case.values)
        yield persistent(name, case, _beyond_supports_p, draws)


def _beyond_supports_p(case: OracleCase) -> FloatArray:
    """p-values that reports of two values are alike if they support the same of both, or neither.

    One value is held against another, and against the first or the last.
    """
    rng, few = case.stream("all that is told"), case.first.reports[case.values[0]][:FEWEST]
    count = len(told_apart_p(traits(case.first, few), traits(case.first, few), rng))
    p_values: list[FloatArray] = []
    v, other_value = case.two
    for w in sorted({other_value, case.values[0 if v == case.values[-1] else -1]} - {v}):
        both = [case.reports[v], case.reports[w]]
        kinds = [case.supported(reports, v, w) @ [2, 1] for reports in both]
        for kind in range(4):
            one, other = (
                r[k == kind][: TOLD << case.look] for r, k in zip(both, kinds, strict=True)
            )
            enough = min(len(one), len(other)) >= FEWEST
            mine = case.focus is None or case.focus // count == len(p_values)
            told = np.ones(count)
            if enough and mine:
                told = told_apart_p(traits(case, one), traits(case, other), rng)
            p_values.append(told)
    return np.concatenate(p_values)


def together(case: OracleCase) -> Iterator[Finding]:
    """Two values are supported together as often as stated."""
    ends = np.array(case.values[:1]), np.array(case.values[-1:])
    if case.pure.support_both(*ends, _held(case, case.values[0])) is not None:
        name = "Two values are supported together as often as `support_both` says"
        yield persistent(name, case, _together_p, case.size * len(case.values))


def _together_p(case: OracleCase) -> FloatArray:
    pairs = _sets(len(case.values), 2, 2)
    first, second = np.array(case.values)[np.array(pairs)].T
    p_values = []
    for truth, supported in _supported(case):
        stated = case.pure.support_both(first, second, _held(case, truth))
        assert stated is not None
        chance = np.clip(stated, 0, 1)
        p_values.append(binomial_p(_all_of(supported, pairs), case.size, chance))
    return np.concatenate(p_values)


def independent(case: OracleCase) -> Iterator[Finding]:
    """Supports are as independent as stated."""
    stated = case.pure.independence
    if stated is None:
        return
    fits = 1 <= stated <= case.oracle.d
    yield exact("`independence` is a number of values", fits, f"{stated} of {case.oracle.d}")
    if fits:
        name = "Values are supported as independently as `independence` says"
        yield persistent(name, case, _independent_p, case.size * len(case.values))


def _independent_p(case: OracleCase) -> FloatArray:
    oracle, count = case.pure, len(case.values)
    sets = _sets(count, 1, min(AT_ONCE, count, oracle.independence or 1))
    p_values = []
    for truth, supported in _supported(case):
        alone = np.where(np.array(case.values) == truth, oracle.p, oracle.q)
        chance = np.array([alone[list(places)].prod() for places in sets])
        p_values.append(binomial_p(_all_of(supported, sets), case.size, chance))
    if oracle.independence == oracle.d <= VALUES:
        p_values += [_sizes_p(oracle, reports) for reports in case.reports.values()]
    return np.concatenate(p_values)


def _sizes_p(oracle: PureOracle, reports: Reports) -> FloatArray:
    """p-values of every number of supported values, if all are supported independently."""
    from scipy.stats import binom

    others = binom.pmf(np.arange(oracle.d), oracle.d - 1, oracle.q)
    law = np.convolve(others, [1 - oracle.p, oracle.p])
    seen = np.bincount(oracle.sizes(reports), minlength=oracle.d + 1)
    return binomial_p(seen, len(reports), np.clip(law, 0, 1))


def alike(case: OracleCase) -> Iterator[Finding]:
    """Values besides the truth are alike, if that is stated."""
    if case.pure.exchangeable and len(case.values) > 2:
        name = "Values besides the truth are supported alike"
        yield persistent(name, case, _alike_p, case.size * len(case.values))


def _alike_p(case: OracleCase) -> FloatArray:
    """p-values that a set is supported as often as the next one of its size.

    A coin decides which of the two sets is looked for in a report, so that of the reports in which
    it is found each is as likely to be of the one as of the other.
    """
    rng, places, p_values = case.stream("coins"), range(len(case.values)), []
    for truth, supported in _supported(case):
        others = [place for place in places if case.values[place] != truth]
        coin = rng.random(case.size) < 0.5
        for size in range(1, min(AT_ONCE, len(others))):
            sets = list(combinations(others, size))
            heads, tails = _all_of(supported[coin], sets), _all_of(supported[~coin], sets)
            tails = np.roll(tails, -1)
            p_values.append(binomial_p(heads, heads + tails, 0.5))
    return np.concatenate(p_values)


def nonce(case: OracleCase) -> Iterator[Finding]:
    """The nonce is drawn afresh and uniformly, whatever the value."""
    if case.oracle.nonce is None:
        return
    name, bound = case.oracle.nonce
    known = getattr(case.oracle.layout, "fields", ())
    listed = (name, bound) in known
    yield exact(
        "The nonce is a field of the layout", listed, f"{name!r} of {[n for n, _ in known]}"
    )
    if not listed:
        return
    what, draws = "The nonce is uniform, whatever the value", case.size * len(case.values)
    yield persistent(what, case, _nonce_p, draws)
    every = np.concatenate([reports[name] for reports in case.reports.values()])
    chance = comb(len(every), 2) / bound
    if chance <= ALPHA:
        again = len(every) - len(np.unique(every))
        evidence = f"{again} of {len(every):,} were seen before"
        yield Finding("The nonce is drawn afresh", again == 0, evidence, len(every), chance)


def _nonce_p(case: OracleCase) -> FloatArray:
    assert case.oracle.nonce is not None
    name, bound = case.oracle.nonce
    chance = np.array([_share_of_ones(bound, bit) for bit in range((bound - 1).bit_length())])
    seen = [_traits_of(reports[name], len(chance)) for reports in case.reports.values()]
    p_values = [binomial_p(v.bits.sum(axis=0), len(v.bits), chance) for v in seen]
    told = told_apart_p(seen[0], seen[-1], case.stream("nonces"))
    return np.concatenate([*p_values, told])


def _share_of_ones(bound: int, bit: int) -> float:
    """Of the numbers below `bound`, the share in which this bit is 1."""
    whole, rest = divmod(bound, 2 << bit)
    return ((whole << bit) + max(0, rest - (1 << bit))) / bound


def _traits_of(numbers: NDArray[np.integer], width: int) -> Traits:
    raw = as_bytes(numbers.astype("<u8"))
    bits = np.unpackbits(raw, axis=1, bitorder="little")[:, :width].astype(bool)
    return Traits(raw, bits, fold(raw))


def made_to_order(case: OracleCase) -> Iterator[Finding]:
    """Reports that are made to order support what was ordered."""
    oracle, rng = case.pure, case.stream("made to order")
    if oracle.d > VALUES:
        return
    least, most = oracle.support_sizes or (0, oracle.d)
    wanted = np.r_[least, most, rng.integers(least, most + 1, SETS - 2)]
    ranks = rng.random((SETS, oracle.d)).argsort(axis=1).argsort(axis=1)
    members: BoolArray = ranks < wanted[:, None]
    made = oracle.report_of(members)
    if made is not None:
        right = bool(oracle.valid(made).all()) and np.array_equal(_table(oracle, made), members)
        evidence = f"{SETS} sets of {least} to {most} values"
        yield exact("`report_of` supports exactly what it is asked for", right, evidence)
    if oracle.nonce is None:
        return
    name, values = oracle.nonce[0], rng.integers(oracle.d, size=SETS)
    nonces = oracle.perturb(values, rng)[name]
    with_them = oracle.report_with(nonces, values)
    if with_them is not None:
        held = _table(oracle, with_them)[np.arange(SETS), values]
        kept = np.array_equal(with_them[name], nonces) and bool(oracle.valid(with_them).all())
        what = "`report_with` keeps the nonce and supports the value"
        yield exact(what, kept and held.all(), f"{SETS} nonces and values")


def _table(oracle: PureOracle, reports: Reports) -> BoolArray:
    """Which values each report supports, shape `(n, d)`."""
    return np.stack([oracle.supports(reports, v) for v in range(oracle.d)], axis=1)


def _supported(case: OracleCase) -> Iterator[tuple[int, BoolArray]]:
    """Each truth, and which of the values that are looked at its reports support."""
    for truth, reports in case.reports.items():
        yield truth, case.supported(reports, *case.values) == 1


def _held(case: OracleCase, truth: int) -> FloatArray:
    """The frequencies if everybody holds one value."""
    held = np.zeros(case.oracle.d)
    held[truth] = 1.0
    return held


def _sets(count: int, least: int, most: int) -> Sets:
    sizes = range(least, most + 1)
    return [places for size in sizes for places in combinations(range(count), size)]


def _all_of(supported: BoolArray, sets: Sets) -> NDArray[np.int64]:
    """In how many rows all members of each set are supported."""
    return np.array([supported[:, list(places)].all(axis=1).sum() for places in sets])
