"""What every frequency oracle must do.

A check asks one question of one oracle and answers with findings. What an oracle says of itself
(`p`, `q`, `log_prob`, `privacy_ratio`, `variance`) is never taken on trust: every statement is
held against reports that `perturb` made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property
from math import log

import numpy as np

from ldp3.errors import LDPError
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness import stream
from ldp3.types import FloatArray, IntArray, Reports
from ldp3.verification.base import (
    ALPHA,
    Finding,
    binomial_p,
    clopper_pearson,
    covariances,
    exact,
    mean_p,
    same_law_p,
    statistical,
    variance_p,
)

REPORTS = 40_000  # per value
VALUES = 6  # how many values are looked at in a large domain
RUNS = 2_000  # populations, where the estimate of a population is one draw


@dataclass(frozen=True)
class Case:
    """An oracle under examination, with a sample of its reports that several checks share."""

    oracle: FrequencyOracle
    seed: int = 0

    @cached_property
    def values(self) -> list[int]:
        """The values looked at: all of a small domain, both ends and some more of a large one."""
        d = self.oracle.d
        return sorted({*range(min(d, VALUES // 2)), *range(max(0, d - VALUES // 2), d), d // 2})

    @cached_property
    def size(self) -> int:
        """Reports per value; fewer where reports are long."""
        return min(REPORTS, max(2_000, 2**31 // self.oracle.report_bits))

    @cached_property
    def reports(self) -> dict[int, Reports]:
        """Many reports of users who all hold one value, by value."""
        rng = self.stream("reports")
        return {v: self.oracle.perturb(np.full(self.size, v), rng) for v in self.values}

    def stream(self, what: str) -> np.random.Generator:
        """Randomness for one purpose."""
        return stream(self.seed, "verify", what, repr(self.oracle))

    def estimates(self, histogram: IntArray, runs: int, what: str) -> FloatArray:
        """Estimates from `runs` populations with this histogram."""
        rng, n = self.stream(what), int(histogram.sum())
        values = np.repeat(np.arange(self.oracle.d), histogram)
        totals = (self.oracle.aggregate(self.oracle.perturb(values, rng)) for _ in range(runs))
        return np.array([self.oracle.estimate(total, n).frequencies for total in totals])


def verify_oracle(oracle: FrequencyOracle, seed: int = 0) -> list[Finding]:
    """Every check that applies to `oracle`; an exception is a finding too."""
    case, findings = Case(oracle, seed), list[Finding]()
    checks = CHECKS + PURE_CHECKS if isinstance(oracle, PureOracle) else CHECKS
    for check in checks:
        try:
            findings.extend(check(case))
        except Exception as problem:
            title = (check.__doc__ or check.__name__).splitlines()[0].rstrip(".")
            findings.append(exact(title, False, f"raised {type(problem).__name__}: {problem}"))
    return findings


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

    Half of the reports choose, for each pair of values, the events that look most telling; the
    other half bounds their probabilities (Clopper and Pearson), which gives a lower bound on the
    true ε whatever the oracle says of itself.
    """
    best, pairs = 0.0, [(v, w) for v in case.values for w in case.values if v != w]
    half = case.size // 2
    tries = [(v, w, k) for v, w in pairs for k in range(len(_views(case, case.reports[v], v, w)))]
    for v, w, k in tries:
        seen_v = _views(case, case.reports[v], v, w)[k]
        seen_w = _views(case, case.reports[w], v, w)[k]
        event = _most_telling(seen_v[:half], seen_w[:half])
        hits_v = int(np.isin(seen_v[half:], event).sum())
        hits_w = int(np.isin(seen_w[half:], event).sum())
        alpha = ALPHA / len(tries) / 2
        low, _ = clopper_pearson(hits_v, case.size - half, alpha)
        _, high = clopper_pearson(hits_w, case.size - half, alpha)
        best = max(best, log(low / high) if low > 0 else 0.0)
    evidence = f"ε is at least {best:.3f} by {len(tries)} events, declared {case.oracle.epsilon:g}"
    draws = case.size * len(case.values)
    passed = best <= case.oracle.epsilon
    yield Finding(
        "No event tells two values apart by more than e^ε", passed, evidence, draws, ALPHA
    )


def _views(case: Case, reports: Reports, v: int, w: int) -> list[IntArray]:
    """Ways to look at reports, each a small code per report, that may tell `v` from `w`."""
    oracle, views = case.oracle, []
    if isinstance(oracle, PureOracle):
        views.append(2 * oracle.supports(reports, v) + oracle.supports(reports, w))
    rows = np.ascontiguousarray(reports).reshape(len(reports), -1)
    if np.issubdtype(rows.dtype, np.floating):
        index = (v, w) if rows.shape[1] > max(v, w) else (0, -1)
        gap = rows[:, index[0]] - rows[:, index[1]]
        views.append(np.digitize(gap, np.linspace(-4, 4, 81)))
    else:
        raw = rows.view(np.uint8).reshape(len(rows), -1)
        if raw.shape[1] <= 64:  # any function of the whole report, folded into some buckets
            powers = 31 ** np.arange(raw.shape[1], dtype=np.uint64) + np.uint64(1)
            views.append(((raw * powers).sum(axis=1) % np.uint64(1021)).astype(np.int64))
    return [np.asarray(view, dtype=np.int64) for view in views]


def _most_telling(first: IntArray, second: IntArray) -> IntArray:
    """The codes that are most in favour of `first`, enough of them to be measured well."""
    size = int(max(first.max(), second.max())) + 1
    a, b = np.bincount(first, minlength=size), np.bincount(second, minlength=size)
    order = np.argsort(-(a + 0.5) / (b + 0.5), kind="stable")
    gain, spread = np.cumsum(a[order]) + 0.5, np.cumsum(b[order]) + 0.5
    # a lower bound of the log-ratio, three standard errors below what it looks like
    score = np.log(gain / spread) - 3 * np.sqrt(1 / gain + 1 / spread)
    return order[: int(np.argmax(score)) + 1]


def unbiased(case: Case) -> Iterator[Finding]:
    """The estimate is unbiased, with few reports and with many."""
    d = case.oracle.d
    if d > 64:
        return
    for n in (1, 5, 200):
        runs = 2 * RUNS if n <= 5 else RUNS
        histogram = np.zeros(d, dtype=np.int64)
        histogram[0] = n - n // 3
        histogram[d - 1] += n // 3
        sample = case.estimates(histogram, runs, f"unbiased {n}")
        yield statistical(f"Estimates from n={n} are unbiased", mean_p(sample, histogram / n), runs)


def stated_noise(case: Case) -> Iterator[Finding]:
    """The variance of the estimates is as stated."""
    oracle, n = case.oracle, 400
    if oracle.d > 64:
        return
    histogram = np.zeros(oracle.d, dtype=np.int64)
    histogram[0] = n
    sample = case.estimates(histogram, RUNS, "variance")
    noise = oracle.estimate(oracle.aggregate(oracle.perturb(
        np.zeros(n, dtype=np.int64), case.stream("noise"))), n).noise  # fmt: skip
    p = variance_p(sample[:, 1:], noise)
    yield statistical("A value that nobody holds has the stated noise", p, RUNS)
    if isinstance(oracle, PureOracle):
        p = variance_p(sample[:, 0], oracle.variance(n, frequency=1.0))
        yield statistical("A value that all hold has the stated variance", p, RUNS)


def adding_up(case: Case) -> Iterator[Finding]:
    """Aggregates of batches add up, whatever the order and the size of the batches."""
    oracle, n = case.oracle, 1_003
    reports = oracle.perturb(np.arange(n) % oracle.d, case.stream("batches"))
    whole = oracle.aggregate(reports)
    for cut in (0, 1, 17, 300):
        parts = oracle.aggregate(reports[:cut]) + oracle.aggregate(reports[cut:])
        yield exact(
            f"Batches of {cut} and {n - cut} reports add up",
            np.allclose(parts, whole, rtol=1e-12, atol=1e-9),
            f"largest difference {np.abs(parts - whole).max():g}",
        )
    shuffled = oracle.aggregate(reports[case.stream("order").permutation(n)])
    same = np.allclose(shuffled, whole, rtol=1e-12, atol=1e-9)
    yield exact("The order of reports does not matter", same, "a permutation of the same reports")


def randomness(case: Case) -> Iterator[Finding]:
    """Randomness comes from the generator alone, and goes on from batch to batch."""
    oracle, n = case.oracle, 200
    values = np.arange(n) % oracle.d
    before = values.copy()
    rng = case.stream("again")
    first, later = oracle.perturb(values, rng), oracle.perturb(values, rng)
    again = oracle.perturb(values, case.stream("again"))
    name = "Randomness comes from the generator alone"
    yield exact(name, np.array_equal(first, again), "the same generator gives the same reports")
    name = "Randomness goes on from batch to batch"
    yield exact(name, not np.array_equal(first, later), "a second batch has other reports")
    yield exact("Values are left untouched", (values == before).all(), "compared after `perturb`")


def bad_values(case: Case) -> Iterator[Finding]:
    """A value outside the domain is refused, never sent."""
    d = case.oracle.d
    for what, values in {
        "negative": np.array([0, -1]),
        "too large": np.array([0, d]),
        "far too large": np.array([0, 2**32 + 1]),
        "not an integer": np.array([0.0, 0.5]),
    }.items():
        try:
            case.oracle.perturb(values, case.stream("bad"))
            evidence, refused = "it was sent", False
        except LDPError as refusal:
            evidence, refused = str(refusal), True
        yield exact(f"A value that is {what} is refused", refused, evidence)


def own_and_others(case: Case) -> Iterator[Finding]:
    """Own value is supported with p, others with q."""
    oracle = _pure(case)
    p_values = []
    for v, reports in case.reports.items():
        for w in case.values:
            hits = np.count_nonzero(oracle.supports(reports, w))
            p_values.append(binomial_p(hits, case.size, oracle.p if w == v else oracle.q))
    yield statistical("Own value is supported with p, others with q", np.array(p_values), case.size)


def independence(case: Case) -> Iterator[Finding]:
    """Reports of different users are independent."""
    oracle = _pure(case)
    p_values = []
    for v, reports in case.reports.items():
        hits = oracle.supports(reports, v)
        both = np.count_nonzero(hits[0::2] & hits[1::2])
        p_values.append(binomial_p(both, case.size // 2, oracle.p**2))
    name = "Reports of neighbours are independent"
    yield statistical(name, np.array(p_values), case.size)
    mixed = np.tile(case.values, 2_000)
    reports = oracle.perturb(mixed, case.stream("mixed"))
    hits = np.array(
        [np.count_nonzero(oracle.supports(reports[mixed == v], v)) for v in case.values]
    )
    p = binomial_p(hits, 2_000, oracle.p)
    yield statistical("A report depends on its own user's value alone", p, len(mixed))


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
    values = range(oracle.d) if oracle.d <= 256 else case.values
    wrong = [v for v in values if np.count_nonzero(oracle.supports(reports, v)) != counts[v]]
    evidence = f"{len(wrong)} of {len(values)} values differ"
    yield exact("`aggregate` counts what `supports` defines", not wrong, evidence)
    yield exact("`aggregate` gives one count per value", counts.shape == (oracle.d,), "its shape")


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
    oracle = _pure(case)
    honest = np.concatenate([oracle.valid(some) for some in case.reports.values()])
    yield exact("Every honest report is valid", honest.all(), f"{honest.size} reports")
    rng, some = case.stream("hostile"), case.reports[0][:500]
    raw = np.ascontiguousarray(some).view(np.uint8).copy()
    raw[...] = rng.integers(0, 256, raw.shape)
    hostile = raw.view(some.dtype).reshape(some.shape)
    ok = oracle.valid(hostile)
    counted = oracle.aggregate(hostile[ok])
    supported = [np.count_nonzero(oracle.supports(hostile[ok], v)) for v in case.values]
    sound = counted.shape == (oracle.d,) and np.array_equal(counted[case.values], supported)
    evidence = f"of 500 rows of random bytes {int(ok.sum())} may be counted"
    yield exact("Random bytes cannot corrupt the counts", sound, evidence)
    if not ok.all():
        try:
            oracle.aggregate(hostile)
            refused = False
        except LDPError:
            refused = True
        yield exact("`aggregate` refuses what `valid` refuses", refused, "the same rows")


def simulation(case: Case) -> Iterator[Finding]:
    """`simulate` has the law of the user path."""
    oracle = _pure(case)
    if type(oracle).simulate is FrequencyOracle.simulate or oracle.d > 64:
        return
    d, runs = oracle.d, 10 * RUNS if oracle.d <= 8 else 2 * RUNS
    histogram = np.zeros(d, dtype=np.int64)
    histogram[: min(d, 3)] = (3, 2, 1)[: min(d, 3)]
    rng, values = case.stream("simulate"), np.repeat(np.arange(d), histogram)
    drawn = np.array([oracle.simulate(histogram, rng) for _ in range(runs)])
    # many populations at a time: the same users again and again, counted group by group
    reports = oracle.perturb(np.tile(values, runs), rng)
    held = np.stack([oracle.supports(reports, v) for v in range(d)], axis=1)
    by_users = held.reshape(runs, len(values), d).sum(axis=1)
    few = slice(0, 4)
    p = np.array([same_law_p(drawn[:, few], by_users[:, few])])
    yield statistical("`simulate` has the joint law of the user path", p, 2 * runs)
    difference = (drawn - by_users).astype(float)
    yield statistical("`simulate` has the means of the user path", mean_p(difference, 0.0), runs)
    some = case.values
    products = covariances(drawn[:, some]) - covariances(by_users[:, some])
    name = "`simulate` has the variances and covariances of the user path"
    yield statistical(name, mean_p(products, 0.0), runs)
    laws = [same_law_p(drawn[:, [v]], by_users[:, [v]]) for v in range(d)]
    name = "`simulate` has the law of the user path for each value"
    yield statistical(name, np.array(laws), 2 * runs)


def _pure(case: Case) -> PureOracle:
    assert isinstance(case.oracle, PureOracle)
    return case.oracle


CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    bounded_ratio,
    audit,
    unbiased,
    stated_noise,
    adding_up,
    randomness,
    bad_values,
)
PURE_CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    own_and_others,
    independence,
    declared_law,
    counting,
    fixed_support,
    validity,
    simulation,
)
