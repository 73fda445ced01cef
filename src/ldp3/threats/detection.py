"""Whether reports look as if honest clients had sent them.

Each test is right whatever people hold, as long as their clients are honest. What a test needs to
know of a protocol it asks the oracle; where the oracle does not say it, the test does not apply.
"""

from dataclasses import asdict, dataclass
from math import comb, exp, lgamma, log

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom, hypergeom, norm

from ldp3.answers import Answer, Items
from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.collection.plan import Plan
from ldp3.errors import InvalidParameter, require
from ldp3.noise import binomial_p
from ldp3.protocols.base import FrequencyOracle, PureOracle
from ldp3.randomness import stream
from ldp3.threats.report_batches import Batches, FirstPass, in_batches, sampled, together

ALL_PAIRS = 4096  # values; with more, pairs of half as many of the largest and of a sample
TESTS = 4  # that share α, at most
WORK = 2 * 10**11  # multiplications of the pair test; with more reports, a sample of them
CLOSE = 2.0  # standard deviations within which a pair is not worth an exact p-value
EXPECTED = 20.0  # reports of a group of sizes, at least: rare sizes are taken together
RARE = 1e-9  # chance of two equal reports, above which honest ones repeat each other
NAMED = 20  # suspected targets that people are told


@dataclass(frozen=True)
class HonestyTest:
    """What one test found.

    Parameters
    ----------
    test
        What it is called.
    p_value
        How likely honest reports look as strange, at most; None where the test does not apply.
    text
        What it looked at and saw, in one sentence.
    """

    test: str
    p_value: float | None
    text: str

    @property
    def said(self) -> str:
        """In one line."""
        found = "does not apply" if self.p_value is None else f"p = {self.p_value:.2g}"
        return f"{self.test}, {found}: {self.text}"


@dataclass(frozen=True)
class Inspection:
    """All tests on one collection.

    Parameters
    ----------
    tests
        What each of them found.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    targets
        Codes of the values that fake users seem to raise.
    fakes
        How many fake users there seem to be; None where no test can tell.
    labels
        What the targets are called.
    n
        How many reports were looked at.
    """

    tests: tuple[HonestyTest, ...]
    alpha: float
    targets: tuple[int, ...] = ()
    fakes: int | None = None
    labels: tuple[str, ...] = ()
    n: int = 0

    @property
    def applied(self) -> tuple[float, ...]:
        """The p-values of the tests that apply."""
        return tuple(test.p_value for test in self.tests if test.p_value is not None)

    @property
    def suspicious(self) -> bool:
        """Whether any test says that honest reports would almost never look like this."""
        return bool(self.applied) and min(self.applied) * len(self.applied) <= self.alpha

    @property
    def exit_code(self) -> int:
        """1 if the reports are suspicious, 3 if no test applies, 0 otherwise."""
        if not self.applied:
            return 3
        return 1 if self.suspicious else 0

    def answer(self) -> Answer:
        """What people and programs are told."""
        import polars as pl

        content = {"suspicious": self.suspicious if self.applied else None, **asdict(self)}
        seen = Items([test.said for test in self.tests])
        tests = pl.DataFrame([asdict(test) for test in self.tests], infer_schema_length=None)
        return Answer([self._verdict(), seen], content, tests)

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)

    def __str__(self) -> str:
        return self.render()

    def _verdict(self) -> str:
        if not self.applied:
            return "No test applies: whether users are fake cannot be told."
        verdict = "Suspicious" if self.suspicious else "Nothing suspicious"
        said = [f"{verdict}, where honest reports are called so in {self.alpha:.3g} of cases."]
        if self.fakes is not None:
            said.append(f"About {self.fakes:,} fake users would explain it.")
        if self.targets:
            more = f" and {len(self.targets) - NAMED} more" if len(self.targets) > NAMED else ""
            said.append(f"Suspected targets: {', '.join(self.labels[:NAMED])}{more}.")
        return " ".join(said)


def inspect(
    collection: Plan | FrequencyOracle, reports: Reports, *, alpha: float = 0.01, seed: int = 0
) -> Inspection:
    """Whether reports look as if honest clients had sent them, whatever people hold.

    Parameters
    ----------
    collection
        The plan, or the protocol, which must be pure.
    reports
        As `oracle.perturb` makes them, only those that `oracle.valid` accepts.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    seed
        Of the sample that is looked at where there are very many values or reports.

    Examples
    --------
    >>> from ldp3 import oracle, stream
    >>> oue = oracle("oue", 1.0, 20)
    >>> inspect(oue, oue.perturb(np.arange(10_000) % 20, stream(1))).suspicious
    False
    """
    oracle = _pure(collection)
    oracle.require_valid(reports)
    require(len(reports) > 0, oracle, "at least one report is needed", len(reports))
    return inspect_batches(collection, in_batches(reports), alpha=alpha, seed=seed)


def _pure(collection: Plan | FrequencyOracle) -> PureOracle:
    oracle = collection.oracle if isinstance(collection, Plan) else collection
    if not isinstance(oracle, PureOracle):
        raise InvalidParameter(
            f"{type(oracle).__name__}: only reports that support values can be inspected."
        )
    return oracle


def inspect_batches(
    collection: Plan | FrequencyOracle, batches: Batches, *, alpha: float = 0.01, seed: int = 0
) -> Inspection:
    """The same for reports that come in batches, read twice: memory does not grow with them."""
    oracle = _pure(collection)
    sound = isinstance(alpha, int | float) and 0 < alpha < 1
    require(sound, "inspect", "`alpha` must be between 0 and 1", alpha)
    chance = equal_chance(oracle)
    compared = chance is not None and chance < RARE
    seen = FirstPass(oracle, batches(), sized=_sizes_known(oracle), compared=compared)
    n = seen.tally.n
    require(n > 0, oracle, "at least one report is needed", 0)
    frequencies = oracle.estimate(seen.tally).frequencies
    pairs, targets, fakes = pair_test(oracle, batches, n, frequencies, alpha, seed)
    again, share = (seen.repeats.again, seen.repeats.share) if seen.repeats else (0, 1.0)
    tests = (
        sum_test(oracle, oracle.support_counts(seen.tally), n),
        size_test(oracle, seen.sizes),
        pairs,
        repeat_test(oracle, n, again, share),
    )
    name = collection.label if isinstance(collection, Plan) else str
    return Inspection(tests, alpha, targets, fakes, tuple(map(name, targets)), n)


def sum_test(oracle: PureOracle, counts: IntArray, n: int) -> HonestyTest:
    r"""Does the sum of all estimates fit? Unpadded fake reports lower it.

    Honest reports support $μ = p + (d-1)q$ values each in the mean, whatever is held. Their
    variance is $p(1-p) + (d-1)q(1-q)$ where any two values are supported independently, and never
    above $(b - μ)(μ - a)$ where a report supports $a$ to $b$ values (Bhatia and Davis 2000). The
    p-value is Bernstein's bound, which holds for every n.
    """
    p, q, d = oracle.p, oracle.q, oracle.d
    if oracle.support_size is not None:
        return HonestyTest("sum", None, "every report supports equally many values.")
    if oracle.support_sizes is None:
        return HonestyTest("sum", None, _unknown("how many values its reports support"))
    (least, most), mean = oracle.support_sizes, p + (d - 1) * q
    spread = (most - mean) * (mean - least)
    if oracle.independence is not None and oracle.independence >= 2:
        spread = p * (1 - p) + (d - 1) * q * (1 - q)
    away = abs(float(counts.sum()) - n * mean)
    bound = 2 * exp(-(away**2) / (2 * (n * spread + (most - least) * away / 3))) if away else 1.0
    total = 1 + (float(counts.sum()) - n * mean) / (n * (p - q))
    text = f"the frequencies sum to {total:.4f} instead of 1."
    return HonestyTest("sum", min(1.0, bound), text)


def _unknown(what: str) -> str:
    return f"cannot tell: the protocol does not say {what}."


def _sizes_known(oracle: PureOracle) -> bool:
    """Whether the law of the number of values that a report supports is known, and has spread."""
    return oracle.independence == oracle.d


def size_test(oracle: PureOracle, sizes: IntArray | None) -> HonestyTest:
    """Do reports support as many values as honest ones? Reports of one size stand out.

    `sizes` says how many reports support 0, 1, 2, … values. Each group of sizes has a binomial
    number of honest reports: exact, and corrected for groups.
    """
    if oracle.support_size is not None:
        return HonestyTest("size", None, "every report supports equally many values.")
    if sizes is None or not _sizes_known(oracle):
        return HonestyTest("size", None, _unknown("how often reports support how many values"))
    n, d = int(sizes.sum()), oracle.d
    law = np.convolve(binom.pmf(np.arange(d), d - 1, oracle.q), [1 - oracle.p, oracle.p])
    groups = _groups(law * n)
    share: FloatArray = np.bincount(groups, law) / law.sum()
    if len(share) < 2:
        return HonestyTest("size", None, "too few reports to look at their sizes.")
    seen = np.bincount(groups, sizes).astype(np.int64)
    chance = binomial_p(seen, n, share)
    worst = int(np.argmin(chance))
    members = np.flatnonzero(groups == worst)
    size = f"{members[0]}" if len(members) == 1 else f"{members[0]} to {members[-1]}"
    text = f"{seen[worst]:,} reports support {size} values, {n * share[worst]:,.0f} are expected."
    return HonestyTest("size", min(1.0, float(chance[worst]) * len(share)), text)


def _groups(expected: FloatArray) -> IntArray:
    """Neighbouring sizes put together until each group expects enough reports."""
    groups, current, filled = np.zeros(len(expected), dtype=np.int64), 0, 0.0
    for size, more in enumerate(expected):
        if filled >= EXPECTED and expected[size:].sum() >= EXPECTED:
            current, filled = current + 1, 0.0
        groups[size], filled = current, filled + more
    return groups


def pair_test(
    oracle: PureOracle,
    batches: Batches,
    n: int,
    frequencies: FloatArray,
    alpha: float,
    seed: int,
) -> tuple[HonestyTest, tuple[int, ...], int | None]:
    """Are two values supported together too often? And which, and by how many fake users?"""
    if oracle.support_sizes is not None and oracle.support_sizes[1] < 2:
        return HonestyTest("pairs", None, "no report supports two values."), (), None
    if oracle.independence is None or oracle.independence < 2:
        text = _unknown("that honest reports support any two values independently")
        return HonestyTest("pairs", None, text), (), None
    values = _looked_at(frequencies, seed)
    seen = min(n, max(1_000, WORK // max(1, len(values)) ** 2))
    chosen = sampled(batches(), n, seen, stream(seed, "inspected reports"))
    counts, pairs, seen = together(oracle, chosen, values)
    chance = pair_p_values(counts, pairs, seen)
    tested = len(values) * (len(values) - 1) // 2
    guilty = np.argwhere(chance * tested <= alpha / TESTS)
    where = f"{tested:,} pairs of {_scope(len(values), oracle.d)}"
    text = f"{len(guilty):,} of {where} are together too often in {seen:,} reports."
    found = HonestyTest("pairs", min(1.0, float(chance.min()) * tested), text)
    if not len(guilty):
        return found, (), None
    members, share = _clearest(counts, pairs, guilty, seen)
    return found, tuple(sorted(map(int, values[members]))), round(share * n)


def pair_p_values(counts: IntArray, pairs: IntArray, n: int) -> FloatArray:
    r"""How likely two values are supported together so often, for each pair; 1 below the diagonal.

    Of honest reports the covariance is $-(p-q)^2 f_u f_v \le 0$. Given how often each is supported,
    independent ones are supported together a hypergeometric number of times, honest ones less.
    Pairs that are far from conspicuous among so many are called 1, which is never too little.
    """
    chance = np.ones(pairs.shape)
    tested = max(1, len(counts) * (len(counts) - 1) // 2)
    far = max(CLOSE, float(norm.isf(0.05 / tested)) - 1)
    rate = counts / n
    spread = np.sqrt(n * rate * (1 - rate) * n / max(1, n - 1))
    for u in range(len(counts)):
        away = pairs[u] - counts[u] * rate
        v = np.flatnonzero(away > far * spread[u] * np.sqrt(rate * (1 - rate)))
        v = v[v > u]
        chance[u, v] = hypergeom.sf(pairs[u, v] - 1, n, counts[u], counts[v])
    return chance


def _looked_at(frequencies: FloatArray, seed: int) -> IntArray:
    d = len(frequencies)
    if d <= ALL_PAIRS:
        return np.arange(d)
    largest = np.argsort(-frequencies, kind="stable")[: ALL_PAIRS // 2]
    rest = np.setdiff1d(np.arange(d), largest)
    return np.concatenate(
        [largest, stream(seed, "inspected values").choice(rest, ALL_PAIRS // 2, replace=False)]
    )


def _scope(values: int, d: int) -> str:
    return (
        f"{d:,} values" if values == d else f"the largest and a sample, {values:,} of {d:,} values"
    )


def _clearest(
    counts: IntArray, pairs: IntArray, guilty: IntArray, n: int
) -> tuple[IntArray, float]:
    """The group of values that go together most, and the share of fakes that would explain it.

    What fake reports leave out goes together too, by being left out; less so, as q is below ½.
    """
    u, v = guilty[:, 0], guilty[:, 1]
    rate = counts / n
    excess = pairs[u, v] / n - rate[u] * rate[v]
    edges = coo_array((np.ones(len(u)), (u, v)), shape=pairs.shape)
    group = connected_components(edges, directed=False)[1]
    strength = {g: float(np.median(excess[group[u] == g])) for g in np.unique(group[u])}
    best = max(strength, key=lambda g: strength[g])
    own = group[u] == best
    share = np.clip(excess[own] / ((1 - rate[u[own]]) * (1 - rate[v[own]])), 0, 1)
    return np.flatnonzero(group == best), float(np.median(share))


def repeat_test(oracle: PureOracle, n: int, again: int, share: float) -> HonestyTest:
    """Are reports, or nonces, sent more than once? Honest ones never are, or hardly ever.

    `again` of them were, among a share of all that there could be.
    """
    chance = equal_chance(oracle)
    if chance is None:
        return HonestyTest("repeats", None, _unknown("how likely two reports are equal"))
    if chance >= RARE:
        return HonestyTest("repeats", None, "honest reports of this protocol repeat each other.")
    what = f"{oracle.nonce[0]}s" if oracle.nonce else "reports"
    expected = comb(n, 2) * (chance + 2.0**-64) * share  # two hashes of 64 bits may be equal, too
    p_value = 1.0 if again == 0 else min(1.0, expected / again)  # Markov: always right
    part = "" if share == 1 else f" (a share of {share:g} of them was looked at)"
    return HonestyTest("repeats", p_value, f"{again:,} of {n:,} {what} were sent before{part}.")


def equal_chance(oracle: PureOracle) -> float | None:
    """At most how likely two honest reports, or their nonces, are equal; None if not known.

    Equal reports support the same values. Where any are supported independently, all but the two
    truths agree with probability $q^2 + (1-q)^2$ each; where all sets of a size are alike, no set
    is more likely than $e^ε$ times their mean.
    """
    d, q, k = oracle.d, oracle.q, oracle.support_size
    if oracle.nonce is not None:
        return 1 / oracle.nonce[1]
    if oracle.independence == d:
        return exp((d - 2) * log(q * q + (1 - q) ** 2))
    if oracle.exchangeable and k is not None:
        return min(1.0, exp(oracle.epsilon - lgamma(d + 1) + lgamma(k + 1) + lgamma(d - k + 1)))
    return None
