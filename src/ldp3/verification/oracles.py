"""What every frequency oracle must do.

A check asks one question of one oracle and answers with findings. What an oracle says of itself
(`p`, `q`, `log_prob`, `privacy_ratio`, `variance`) is never taken on trust: every statement is
held against reports that `perturb` made.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports, Total
from ldp3.errors import LDPError
from ldp3.protocols.base import CHUNK, FrequencyOracle, PureOracle
from ldp3.types import Estimate
from ldp3.verification.base import (
    Finding,
    autocorrelation_p,
    binomial_p,
    covariances,
    exact,
    examine,
    mean_p,
    same_law_p,
    statistical,
    variance_p,
)
from ldp3.verification.case import SECONDS, Case, as_bytes, fold
from ldp3.verification.privacy import audit, bounded_ratio, every_value, one_form

RUNS = 2_000  # populations, where the estimate of a population is one draw
BATCHES = 1_200  # small ones
SMALL = 100  # a domain in which all values are looked at


def oracle_findings(oracle: FrequencyOracle, seed: int = 0) -> Iterator[Finding]:
    """Every check that applies to `oracle`, as they are made."""
    checks = CHECKS + PURE_CHECKS if isinstance(oracle, PureOracle) else CHECKS
    return examine(checks, Case(oracle, seed), f"epsilon={oracle.epsilon:g}, d={oracle.d}")


def unbiased(case: Case) -> Iterator[Finding]:
    """The estimate is unbiased, with few reports and with many."""
    oracle = case.oracle
    if oracle.d > SMALL and isinstance(oracle, PureOracle):
        return  # the formula of the estimate and the law of supports, both checked, say it
    for n in (1, 5, 200):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[oracle.d // 2] = n
        if n > 5:
            histogram[oracle.d // 2] -= 2 * (n // 6)
            histogram[[0, -1]] += n // 6
        runs = case.runs(RUNS, n)
        sample = case.estimates(case.totals(histogram, runs, f"unbiased {n}"), n)
        if n <= 5 and isinstance(oracle, PureOracle):  # too few for a t-test, and this is exact
            counts = ((sample * (oracle.p - oracle.q) + oracle.q) * n).sum(axis=0).round()
            p = binomial_p(counts, runs * n, np.where(histogram > 0, oracle.p, oracle.q))
        else:
            p = mean_p(sample, histogram / n)
        yield statistical(f"Estimates from n={n} are unbiased", p, runs)


def stated_noise(case: Case) -> Iterator[Finding]:
    """The variance of the estimates is as stated."""
    oracle = case.oracle
    if oracle.d > SMALL:
        return
    for n, wanted in ((60, RUNS // 2), (400, RUNS)):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[0] = n
        runs = case.runs(wanted, n)
        totals = case.totals(histogram, runs, f"variance {n}")
        sample = case.estimates(totals, n)
        p = variance_p(sample[:, 1:], oracle.estimate(totals[0], n).noise)
        yield statistical(f"A value that nobody of {n} holds has the stated noise", p, runs)
        if isinstance(oracle, PureOracle):
            p = variance_p(sample[:, 0], oracle.variance(n, frequency=1.0))
            yield statistical(f"A value that all of {n} hold has the stated variance", p, runs)


def sound_estimate(case: Case) -> Iterator[Finding]:
    """An estimate is finite, and says what the oracle says."""
    oracle, n = case.oracle, 1_003
    total = oracle.aggregate(oracle.perturb(np.arange(n) % oracle.d, case.stream("estimate")))
    before = np.array(total)
    first, again = oracle.estimate(total, n), oracle.estimate(total, n)
    sound = isinstance(first, Estimate) and first.frequencies.shape == (oracle.d,)
    sound = sound and bool(np.isfinite(first.frequencies).all()) and 0 < first.noise < np.inf
    yield exact("An estimate holds one finite frequency per value, and its noise", sound, "n=1003")
    same = np.array_equal(first.frequencies, again.frequencies) and np.array_equal(total, before)
    yield exact("Estimating changes nothing and has no chance in it", same, "estimated twice")
    said = (first.n, first.p, first.q, first.support_size)
    meant = (n, oracle.p, oracle.q, oracle.support_size)
    name = "An estimate repeats n, p, q and support_size of its oracle"
    yield exact(name, said == meant and np.array_equal(first.total, before), f"{said} and {meant}")
    if isinstance(oracle, PureOracle):
        wrong = 0.0
        for users in (1, 7, n, 10**6, 10**12):
            counts = np.arange(oracle.d) * users // max(1, oracle.d - 1)
            formula = (counts / users - oracle.q) / (oracle.p - oracle.q)
            made = oracle.estimate(counts, users).frequencies
            wrong = max(wrong, float(np.abs(made - formula).max() / np.abs(formula).max()))
        name = "The estimate is (C/n - q)/(p - q) for every n"
        yield exact(name, wrong < 1e-9, f"largest relative difference {wrong:.2g}, n up to 10^12")


def adding_up(case: Case) -> Iterator[Finding]:
    """Aggregates of batches add up, whatever the order and the size of the batches."""
    oracle, n = case.oracle, 1_003
    reports = oracle.perturb(np.arange(n) % oracle.d, case.stream("batches"))
    began = time.thread_time()
    whole = np.asarray(oracle.aggregate(reports))
    affordable = SECONDS / max(time.thread_time() - began, 1e-6)
    worst = 0.0
    for cut in (0, 1, 17, 300):
        parts = oracle.aggregate(reports[:cut]) + oracle.aggregate(reports[cut:])
        worst = max(worst, float(np.abs(parts - whole).max() / np.abs(whole).max()))
    evidence = f"1,003 reports cut in four ways, largest relative difference {worst:.2g}"
    yield exact("Aggregates of batches add up", worst < 1e-12 * n, evidence)
    shuffled = np.asarray(oracle.aggregate(reports[case.stream("order").permutation(n)]))
    same = np.allclose(shuffled, whole, rtol=1e-12, atol=1e-9 * np.abs(whole).max())
    yield exact("The order of reports does not matter", same, "a permutation of the same reports")
    copies = min(case.at_once // n, 16 * CHUNK // n, int(affordable))
    if copies * n > 2 * CHUNK:  # many of them, or counters would overflow unseen
        many = np.asarray(oracle.aggregate(np.concatenate([reports] * copies)))
        same = np.allclose(many, whole * float(copies), rtol=1e-12 * n * copies)
        evidence = f"{copies} copies of 1,003 reports"
        yield exact("A large batch adds up like small ones", same, evidence)


def randomness(case: Case) -> Iterator[Finding]:
    """Randomness comes from the generator alone, and goes on from batch to batch."""
    oracle, n = case.oracle, 500
    values = np.arange(n) % oracle.d
    before = values.copy()
    rng = case.stream("again")
    first = oracle.perturb(values, rng)
    few = [_advanced(case.stream("again"), words) for words in range(2)]
    spawned = getattr(rng.bit_generator.seed_seq, "n_children_spawned", 0)
    enough = spawned > 0 or rng.bit_generator.state["state"] not in few
    later = oracle.perturb(values, rng)
    again = oracle.perturb(values, case.stream("again"))
    name = "Randomness comes from the generator alone"
    yield exact(name, np.array_equal(first, again), "the same generator gives the same reports")
    name = "Randomness goes on from batch to batch"
    yield exact(name, not np.array_equal(first, later), "a second batch has other reports")
    evidence = f"{n} reports moved it on by {'more' if enough else 'less'} than a 64-bit seed"
    yield exact("At least 128 bits are taken from the generator", enough, evidence)
    kept = (values == before).all() and not np.shares_memory(first, values)
    yield exact("Values are left untouched", kept, "compared after `perturb`")


def _advanced(rng: np.random.Generator, words: int) -> object:
    rng.integers(2**63, size=words)
    return rng.bit_generator.state["state"]


def bad_values(case: Case) -> Iterator[Finding]:
    """A value outside the domain is refused, never sent."""
    d, sent = case.oracle.d, []
    for what, values in {
        "negative": np.array([0, -1]),
        "too large": np.array([0, d]),
        "far too large": np.array([0, 2**32 + 1]),
        "not an integer": np.array([0.0, 0.5]),
    }.items():
        try:
            case.oracle.perturb(values, case.stream("bad"))
            sent.append(what)
        except LDPError:
            pass
    evidence = f"sent: {', '.join(sent)}; call `require_values` first" if sent else "four kinds"
    yield exact("A value outside the domain is refused with one line", not sent, evidence)


def batches(case: Case) -> Iterator[Finding]:
    """A report depends on its own user's value alone: not on its place, nor on others.

    Reports from batches of all sizes, where the user is alone, first, last, or beside users who
    hold something else, against reports of users who all hold the same.
    """
    oracle, rng = case.oracle, case.stream("batches")
    v, w = case.values[-1], case.values[0]
    count = case.affordable(BATCHES * 35) // 35
    alone = [oracle.perturb(np.array([v]), rng) for _ in range(count)]
    rows: list[list[Reports]] = [[], [], [], []]
    for i in range(count):
        values = np.full(2 + i % 67, w)
        values[0 if i % 2 else -1] = v
        reports = oracle.perturb(values, rng)
        # v first and the w after it, or v last and the w before it
        ends = (reports[:1], reports[1:2]) if i % 2 else (reports[-1:], reports[-2:-1])
        for kept, row in zip(rows[:2] if i % 2 else rows[2:], ends, strict=True):
            kept.append(row)
    p_values = [
        _same_codes(case, np.concatenate(some), case.reports[u], v, w)
        for some, u in zip([alone, *rows], (v, v, w, v, w), strict=True)
    ]
    name = "A report depends neither on its place nor on other users"
    yield statistical(name, np.concatenate(p_values), 2 * count)
    tail = min(case.size, 5_000)
    if case.affordable(CHUNK + tail, seconds=1.0) == CHUNK + tail <= case.at_once:
        values = np.append(np.full(CHUNK, w), np.full(tail, v))
        end = oracle.perturb(values, rng)[CHUNK:]
        p = _same_codes(case, end, case.reports[v], v, w)
        yield statistical(f"Reports after {CHUNK} others have the same law", p, len(values))


def _same_codes(case: Case, some: Reports, others: Reports, v: int, w: int) -> FloatArray:
    size = min(len(some), len(others))
    first, second = (
        np.concatenate([case.codes(reports), case.supported(reports, v, w)], axis=1)
        for reports in (some[:size], others[:size])
    )
    return np.array([same_law_p(a, b) for a, b in zip(first.T, second.T, strict=True)])


def independence(case: Case) -> Iterator[Finding]:
    """Reports of different users are independent, at every distance."""
    p_values = []
    for v, reports in case.reports.items():
        columns = [case.codes(reports)[:, :3], case.supported(reports, v, v)]
        coins = [c > np.median(c) - 0.5 for c in np.concatenate(columns, axis=1).T]
        coins.append(fold(as_bytes(reports)) & np.uint64(1) == 1)
        usable = (c.astype(np.float64) for c in coins if 0.05 < c.mean() < 0.95)
        p_values += [autocorrelation_p(coin) for coin in usable]
    if p_values:
        name = "Reports of different users are independent"
        draws = case.size * len(case.values)
        yield statistical(name, np.concatenate(p_values), draws, " distances")


def own_and_others(case: Case) -> Iterator[Finding]:
    """Own value is supported with p, others with q."""
    oracle = _pure(case)
    p_values = []
    for v, reports in case.reports.items():
        for w in case.values:
            hits = np.count_nonzero(oracle.supports(reports, w))
            p_values.append(binomial_p(hits, case.size, oracle.p if w == v else oracle.q))
    yield statistical("Own value is supported with p, others with q", np.array(p_values), case.size)


def declared_law(case: Case) -> Iterator[Finding]:
    """Reports follow `log_prob`."""
    oracle, limit = _pure(case), case.oracle.epsilon * (1 + 1e-9) + 1e-12
    p_values, widest = [], 0.0
    for v, reports in case.reports.items():
        own = oracle.log_prob(reports, v)
        if own is None:
            return
        for w in case.values:
            other = oracle.log_prob(reports, w)
            assert other is not None
            widest = max(widest, float(np.abs(other - own).max()))
            # reports of v, weighted by the likelihood ratio, are reports of w
            weight = np.exp(other - own)
            supported = np.stack([oracle.supports(reports, u) for u in (v, w)], axis=1)
            expected = [1.0, *(oracle.p if u == w else oracle.q for u in (v, w))]
            sample = np.column_stack([weight, weight[:, None] * supported])
            p_values.append(mean_p(sample, np.array(expected)))
    draws = case.size * len(case.values)
    yield statistical("Reports follow `log_prob`", np.concatenate(p_values), draws)
    evidence = f"largest log-ratio {widest:.6g} against ε = {oracle.epsilon:g}"
    yield exact("`log_prob` stays within ε", widest <= limit, evidence)


def counting(case: Case) -> Iterator[Finding]:
    """`aggregate` counts what `supports` defines."""
    oracle = _pure(case)
    reports = oracle.perturb(np.arange(1_003) % oracle.d, case.stream("counting"))
    counts = oracle.aggregate(reports)
    yield exact("`aggregate` gives one count per value", counts.shape == (oracle.d,), "its shape")
    held = np.array([np.count_nonzero(oracle.supports(reports, v)) for v in range(oracle.d)])
    evidence = f"{np.count_nonzero(held != counts)} of {oracle.d} values differ"
    yield exact("`aggregate` counts what `supports` defines", (held == counts).all(), evidence)


def fixed_support(case: Case) -> Iterator[Finding]:
    """A report supports as many values as `support_size` says."""
    oracle = _pure(case)
    if oracle.support_size is not None and oracle.d <= 256:
        some = case.reports[0][:1_000]
        held = np.sum([oracle.supports(some, v) for v in range(oracle.d)], axis=0)
        passed = (held == oracle.support_size).all()
        evidence = f"{held.min()}..{held.max()} against {oracle.support_size}"
        yield exact("A report supports as many values as stated", passed, evidence)


def validity(case: Case) -> Iterator[Finding]:
    """Every honest report is valid, and hostile ones never crash or count."""
    oracle = case.oracle
    honest = np.concatenate([oracle.valid(some) for some in case.reports.values()])
    yield exact("Every honest report is valid", honest.all(), f"{honest.size} reports")
    rng, some = case.stream("hostile"), case.reports[0][:500]
    raw = np.ascontiguousarray(some).view(np.uint8).copy()
    raw[...] = rng.integers(0, 256, raw.shape)
    hostile = raw.view(some.dtype).reshape(some.shape)
    if np.issubdtype(hostile.dtype, np.floating):  # any finite number may be an honest one
        hostile = some.copy()
        hostile.reshape(len(hostile), -1)[:3, 0] = (np.nan, np.inf, -np.inf)
    ok = oracle.valid(hostile)
    counted = np.asarray(oracle.aggregate(hostile[ok][:100]))
    sound = bool(np.isfinite(counted).all())
    if isinstance(oracle, PureOracle):
        held = [np.count_nonzero(oracle.supports(hostile[ok][:100], v)) for v in case.values]
        sound = counted.shape == (oracle.d,) and np.array_equal(counted[case.values], held)
    evidence = f"of {len(hostile)} rows {int(ok.sum())} may be counted"
    yield exact("Random bytes, or no numbers, cannot corrupt the counts", sound, evidence)
    if not ok.all():
        try:
            oracle.aggregate(hostile)
            refused = False
        except LDPError:
            refused = True
        yield exact("`aggregate` refuses what `valid` refuses", refused, "the same rows")


def simulation(case: Case) -> Iterator[Finding]:
    """`simulate` has the law of the user path."""
    oracle = case.oracle
    if type(oracle).simulate is FrequencyOracle.simulate or oracle.d > SMALL:
        return
    d = oracle.d
    histogram = np.zeros(d, dtype=np.int64)
    histogram[: min(d, 3)] = (3, 2, 1)[: min(d, 3)]
    runs = case.runs(5 * RUNS if d <= 8 else RUNS, 6)
    rng, before = case.stream("simulate"), histogram.copy()
    drawn = np.array([oracle.simulate(histogram, rng) for _ in range(runs)]).reshape(runs, -1)
    by_users = _populations(case, histogram, runs)
    same = np.array_equal(oracle.simulate(histogram, case.stream("twice")),
                          oracle.simulate(histogram, case.stream("twice")))  # fmt: skip
    same = same and np.array_equal(histogram, before)
    yield exact("`simulate` draws from its generator alone", same, "drawn twice, input compared")
    ranks = [drawn, by_users]
    if np.issubdtype(drawn.dtype, np.floating):  # real totals are compared by rank
        edges = np.quantile(np.concatenate(ranks), np.linspace(0, 1, 33)[1:-1], axis=0)
        ranks = [(some[:, None, :] > edges).sum(axis=1) for some in ranks]
    few = slice(0, 4)
    p = np.array([same_law_p(ranks[0][:, few], ranks[1][:, few])])
    yield statistical("`simulate` has the joint law of the user path", p, 2 * runs)
    difference = (drawn - by_users).astype(float)
    yield statistical("`simulate` has the means of the user path", mean_p(difference, 0.0), runs)
    some = [c for c in case.values if c < drawn.shape[1]]
    products = covariances(drawn[:, some]) - covariances(by_users[:, some])
    name = "`simulate` has the variances and covariances of the user path"
    yield statistical(name, mean_p(products, 0.0), runs)
    laws = [same_law_p(ranks[0][:, c], ranks[1][:, c]) for c in range(drawn.shape[1])]
    name = "`simulate` has the law of the user path for each value"
    yield statistical(name, np.array(laws), 2 * runs)


def _populations(case: Case, histogram: IntArray, runs: int) -> Total:
    """Totals by the user path; many populations at a time where supports can be counted."""
    oracle, n = case.oracle, int(histogram.sum())
    if not isinstance(oracle, PureOracle):
        totals = case.totals(histogram, runs, "populations")
        return np.array(totals, dtype=np.float64).reshape(runs, -1)
    values = np.repeat(np.arange(oracle.d), histogram)
    reports = oracle.perturb(np.tile(values, runs), case.stream("populations"))
    held = np.stack([oracle.supports(reports, v) for v in range(oracle.d)], axis=1)
    return held.reshape(runs, n, oracle.d).sum(axis=1, dtype=np.int64)


def large_populations(case: Case) -> Iterator[Finding]:
    """`simulate` is right for a million users and for ten thousand million."""
    oracle, runs = case.oracle, 60
    if type(oracle).simulate is FrequencyOracle.simulate:
        return
    for n in (10**6, 10**10):
        histogram = np.zeros(oracle.d, dtype=np.int64)
        histogram[0], histogram[-1] = n - n // 3, n // 3
        rng = case.stream(f"simulate {n}")
        sample = case.estimates([oracle.simulate(histogram, rng) for _ in range(runs)], n)
        p = mean_p(sample, histogram / n)
        yield statistical(f"`simulate` is unbiased for {n:,} users", p, runs)
        noise = oracle.estimate(oracle.simulate(histogram, rng), n).noise
        if oracle.d > 2:
            p = variance_p(sample[:, 1:-1], noise)
            yield statistical(f"`simulate` has the stated noise for {n:,} users", p, runs)


def _pure(case: Case) -> PureOracle:
    assert isinstance(case.oracle, PureOracle)
    return case.oracle


Check = Callable[[Case], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    one_form,
    bounded_ratio,
    audit,
    every_value,
    batches,
    independence,
    randomness,
    bad_values,
    unbiased,
    stated_noise,
    sound_estimate,
    adding_up,
    validity,
    simulation,
    large_populations,
)
PURE_CHECKS: tuple[Check, ...] = (own_and_others, declared_law, counting, fixed_support)
