"""Servers: what is no report is refused, tallies add up, and estimates are unbiased.

They have the stated noise, and are made only of what reports can give.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from ldp3.arrays import FloatArray, Reports
from ldp3.noise import Noise, PureNoise
from ldp3.protocols.base import CHUNK
from ldp3.protocols.pure import PureOracle
from ldp3.types import Estimate, Tally
from ldp3.verification.base import DRAWS, Finding, exact, refuses
from ldp3.verification.cases import RUNS, SMALL_DOMAIN, OracleCase, persistent
from ldp3.verification.statistics import bias_p, mean_p, rare, spread_p

LARGE = 4 * CHUNK  # reports in one batch, or counters would overflow unseen
USERS = 1_003  # a number that fills no block
ALONE = 70  # reports that are counted by themselves and added up


def validity(case: OracleCase) -> Iterator[Finding]:
    """Every honest report is valid, and hostile ones never crash or count."""
    oracle = case.oracle
    honest = np.concatenate([oracle.valid(some) for some in case.reports.values()])
    yield exact("Every honest report is valid", honest.all(), f"{honest.size} reports")
    rng, some = case.stream("hostile"), case.reports[case.values[0]][:500]
    raw = np.ascontiguousarray(some).view(np.uint8).copy()
    raw[...] = rng.integers(0, 256, raw.shape)
    hostile = raw.view(some.dtype).reshape(some.shape)
    if np.issubdtype(hostile.dtype, np.floating):  # any finite number may be an honest one
        hostile = some.copy()
        hostile.reshape(len(hostile), -1)[:3, 0] = (np.nan, np.inf, -np.inf)
    ok = oracle.valid(hostile)
    tally = oracle.aggregate(hostile[ok][:100])
    sound = bool(np.isfinite(tally.total).all())
    if isinstance(oracle, PureOracle):
        held = [np.count_nonzero(oracle.supports(hostile[ok][:100], v)) for v in case.values]
        sound = np.array_equal(oracle.support_counts(tally)[case.values], held)
    evidence = f"of {len(hostile)} rows {int(ok.sum())} may be counted"
    yield exact("Random bytes, or no numbers, cannot corrupt the counts", sound, evidence)
    if not ok.all():
        rows = {"the same rows": partial(oracle.aggregate, hostile)}
        yield refuses("`aggregate` refuses what `valid` refuses", rows)


def adding_up(case: OracleCase) -> Iterator[Finding]:
    """Tallies of batches add up, whatever the order and the size of the batches."""
    oracle, n = case.oracle, USERS
    reports = oracle.perturb(np.arange(n) % oracle.d, case.stream("batches"))
    before = reports.copy()
    whole = oracle.aggregate(reports)
    counted = isinstance(whole, Tally) and whole.n == n
    yield exact("`aggregate` gives a tally that says how many reports it holds", counted, f"of {n}")
    kept = np.array_equal(reports, before) and not np.shares_memory(whole.total, reports)
    yield exact("Reports are left untouched", kept, "compared after `aggregate`")
    worst = 0.0
    for cut in (0, 1, 17, 300):
        parts = oracle.aggregate(reports[:cut]) + oracle.aggregate(reports[cut:])
        worst = max(worst, _difference(parts, whole))
    one_by_one = sum((oracle.aggregate(reports[i : i + 1]) for i in range(ALONE)), oracle.empty)
    worst = max(worst, _difference(one_by_one, oracle.aggregate(reports[:ALONE])))
    evidence = f"1,003 reports cut in five ways, largest relative difference {worst:.2g}"
    yield exact("Tallies of batches add up", worst < 1e-12 * n, evidence)
    orders = [case.stream(f"order {i}").permutation(n) for i in range(3)]
    shuffled = [oracle.aggregate(reports[order]) for order in orders]
    same = max(_difference(tally, whole) for tally in shuffled) < 1e-9
    yield exact("The order of reports does not matter", same, "permutations of the same reports")
    if case.draws >= DRAWS // 2:
        yield from _large_batches(case, reports, whole)


def _large_batches(case: OracleCase, reports: Reports, whole: Tally) -> Iterator[Finding]:
    copies = min(case.at_once, LARGE) // len(reports)
    if copies * len(reports) <= CHUNK:
        return
    many = case.oracle.aggregate(np.concatenate([reports] * copies))
    meant = Tally(whole.total * copies, whole.n * copies)
    same = _difference(many, meant) < 1e-12 * meant.n
    evidence = f"{copies} copies of {len(reports):,} reports"
    yield exact("A large batch adds up like small ones", same, evidence)
    one = case.oracle.aggregate(reports[:1])
    many = case.oracle.aggregate(np.repeat(reports[:1], CHUNK + 5, axis=0))
    same = _difference(many, Tally(one.total * (CHUNK + 5), CHUNK + 5)) < 1e-6
    yield exact("Equal reports are counted each", same, f"{CHUNK + 5:,} times the same")


def nobody(case: OracleCase) -> Iterator[Finding]:
    """No people give the empty tally, which adds nothing."""
    oracle, none = case.oracle, np.zeros(case.oracle.d, dtype=np.int64)
    some = oracle.aggregate(oracle.perturb(np.arange(7) % oracle.d, case.stream("nobody")))
    for nothing in (oracle.empty, oracle.simulate(none, case.stream("nobody"))):
        sound = nothing.n == 0 and _difference(some + nothing, some) == 0
        yield exact("No people give the empty tally, which adds nothing", sound, f"n={nothing.n}")


def counting(case: OracleCase) -> Iterator[Finding]:
    """A tally counts what `supports` defines."""
    oracle = case.pure
    for n in (1, 64, USERS):
        reports = oracle.perturb(np.arange(n) % oracle.d, case.stream(f"counting {n}"))
        counts = oracle.support_counts(oracle.aggregate(reports))
        right = counts.shape == (oracle.d,)
        yield exact("There is one support count per value", right, "its shape")
        held = np.array([np.count_nonzero(oracle.supports(reports, v)) for v in range(oracle.d)])
        evidence = f"{np.count_nonzero(held != counts)} of {oracle.d} values differ, n={n}"
        yield exact("A tally counts what `supports` defines", (held == counts).all(), evidence)


def _difference(one: Tally, other: Tally) -> float:
    """The largest difference of two totals, relative to the largest entry; inf if n differs."""
    if one.n != other.n:
        return np.inf
    return float(np.abs(one.total - other.total).max() / max(np.abs(other.total).max(), 1e-300))


def unbiased(case: OracleCase) -> Iterator[Finding]:
    """The estimate is unbiased, and its variance is as its noise says.

    Of a pure oracle this follows from its formula and from the law of supports, which are checked.
    """
    if isinstance(case.oracle, PureOracle):
        return
    sizes = (1, 60) if case.oracle.d <= SMALL_DOMAIN else (60,)
    for n in sorted({max(n, case.fewest) for n in sizes}):
        yield from _unbiased(case, n)


def _unbiased(case: OracleCase, n: int) -> Iterator[Finding]:
    draws, histogram = n * _runs(case), case.crowd(n)
    stated = case.stated(case.tallies(histogram, 20, "stated"), histogram)

    def bias_p(again: OracleCase) -> FloatArray:
        return _bias_p(again.once(_errors, n), stated)

    def noise_p(again: OracleCase) -> FloatArray:
        return _noise_p(again.once(_errors, n), stated)

    yield persistent(f"Estimates from n={n} are unbiased", case, bias_p, draws)
    if n > 1:  # the square of one report has too long a tail for a mean
        yield persistent(f"Estimates from n={n} have the stated noise", case, noise_p, draws)


def _errors(case: OracleCase, n: int) -> FloatArray:
    """Errors of the estimates of many populations."""
    histogram = case.crowd(n)
    return case.estimates(case.tallies(histogram, _runs(case), f"unbiased {n}")) - histogram / n


def _bias_p(errors: FloatArray, stated: FloatArray) -> FloatArray:
    """p-values that every value's errors have mean 0, and that their mean over all values has.

    The variance of a mean is at most the mean of the variances.
    """
    both = np.column_stack([errors, errors.mean(axis=1)])
    return bias_p(both, np.append(stated, stated.mean()))


def _noise_p(errors: FloatArray, stated: FloatArray) -> FloatArray:
    """p-values that every value's errors have the stated variance, and that all have together."""
    each, often = spread_p(errors, stated), ~rare(errors, stated)
    if often.sum() <= 8:  # few squares are too skewed for a t-test
        return np.append(each, 1.0)
    together = (errors**2 / stated)[:, often].mean(axis=1)
    return np.append(each, mean_p(together, 1.0))


def _runs(case: OracleCase) -> int:
    few, many = case.oracle.d <= 8, case.oracle.d > SMALL_DOMAIN
    return case.count(5 * RUNS if few else RUNS // 10 if many else RUNS, 50)


def queries(case: OracleCase) -> Iterator[Finding]:
    """Weighted sums of frequencies have the variance that the noise states for them."""
    stated = case.once(_query_noise)
    if stated is not None and case.oracle.d <= SMALL_DOMAIN:
        name = "Sums over several values have the stated noise"
        draws = max(USERS, case.fewest) * _runs(case) // 10
        yield persistent(name, case, _queries_p, draws)


def _queries_p(case: OracleCase) -> FloatArray:
    """p-values of a mean along the codes, and of the share of the lower half."""
    n, rng, runs = max(USERS, case.fewest), case.stream("queries"), _runs(case) // 10
    tallies = [case.oracle.simulate(case.crowd(n), rng) for _ in range(runs)]
    errors = case.estimates(tallies) - case.crowd(n) / n
    stated = case.first.once(_query_noise)
    assert stated is not None
    return spread_p(errors @ _weights(case.oracle.d).T, stated)


def _query_noise(case: OracleCase) -> FloatArray | None:
    n = max(USERS, case.fewest)
    truth = case.crowd(n) / n
    noise = case.oracle.noise(truth, n)
    stated = [noise.of_query(weights, truth) for weights in _weights(case.oracle.d)]
    return None if None in stated else np.array(stated)


def _weights(d: int) -> FloatArray:
    return np.array([np.arange(d) / d, np.arange(d) < d // 2], dtype=np.float64)


def sound_estimate(case: OracleCase) -> Iterator[Finding]:
    """An estimate is finite, keeps its tally and says what the oracle says."""
    oracle, tally = case.oracle, case.once(_tally, USERS)
    before = np.array(tally.total)
    first, again = oracle.estimate(tally), oracle.estimate(tally)
    sound = isinstance(first, Estimate) and first.frequencies.shape == (oracle.d,)
    sound = sound and bool(np.isfinite(first.frequencies).all())
    yield exact("An estimate holds one finite frequency per value", sound, f"n={USERS}")
    spread = first.noise.variance(np.full(oracle.d, 1 / oracle.d))
    sound = isinstance(first.noise, Noise) and spread.shape == (oracle.d,)
    sound = sound and bool((spread > 0).all() and np.isfinite(spread).all())
    yield exact(
        "Its noise is a variance above 0 for every value", sound, f"{first.noise.floor:.3g}"
    )
    same = np.array_equal(first.frequencies, again.frequencies)
    same = same and np.array_equal(tally.total, before)
    yield exact("Estimating changes nothing and has no chance in it", same, "estimated twice")
    kept = first.n == USERS and np.array_equal(first.tally.total, before)
    yield exact("An estimate keeps its tally", kept, f"n={first.n}")
    evidence = f"{first.support} and {oracle.support}"
    yield exact("An estimate has its oracle's support", first.support == oracle.support, evidence)


def formula(case: OracleCase) -> Iterator[Finding]:
    """The estimate is (C/n - q)/(p - q) for every n, with the noise of p and q."""
    oracle, wrong, worst, said = case.pure, 0.0, 0.0, 0.0
    for n in (1, 2, 7, 60, USERS, 20 * USERS, 10**6, 10**9, 10**12):
        tally = _scaled(case, n)
        made, meant = oracle.estimate(tally), PureNoise.of(oracle.support, tally.n)
        shares = oracle.support_counts(tally) / tally.n
        expected = (shares - oracle.q) / (oracle.p - oracle.q)
        scale = max(float(np.abs(expected).max()), 1e-6)
        wrong = max(wrong, float(np.abs(made.frequencies - expected).max()) / scale)
        for share in np.linspace(0, 1, 5):
            law = float(meant.base + share * meant.slope)
            scale = max(float(meant.base), law)
            stated = made.noise.variance(np.full(oracle.d, share))
            worst = max(worst, float(np.abs(stated - law).max()) / scale)
            said = max(said, abs(oracle.variance(tally.n, float(share)) - law) / scale)
    for name, difference, most in (
        ("The estimate is (C/n - q)/(p - q) for every n", wrong, 1e-9),
        ("The noise of an estimate is that of p and q", worst, 1e-6),
        ("`variance` is that of the noise of an estimate", said, 1e-6),
    ):
        evidence = f"largest relative difference {difference:.2g}, n up to 10^12"
        yield exact(name, difference < most, evidence)


def impossible_tallies(case: OracleCase) -> Iterator[Finding]:
    """A tally whose n disagrees with its counts is refused."""
    oracle, tally = case.pure, case.once(_tally, USERS)
    most = int(oracle.support_counts(tally).max())
    impossible = {0, most - 1} if most > 1 else {0}
    if oracle.support_size is not None:
        impossible.add(USERS + 1)
    taken_for = {f"{USERS} taken for {n}": partial(oracle.estimate, Tally(tally.total, n))
                 for n in sorted(impossible)}  # fmt: skip
    yield refuses("A tally whose n disagrees with its counts is refused", taken_for)


def _tally(case: OracleCase, n: int) -> Tally:
    values = np.arange(n) % case.oracle.d
    return case.oracle.aggregate(case.oracle.perturb(values, case.stream(f"tally of {n}")))


def _scaled(case: OracleCase, n: int) -> Tally:
    """A tally of about `n` reports; of many, one of a few many times over."""
    few = case.once(_tally, min(n, USERS))
    copies = max(1, n // few.n)
    return Tally(few.total * copies, few.n * copies)
