"""Whether reports look as if honest clients had sent them.

Each test is right whatever people hold, as long as their clients are honest. What a test needs to
know of a protocol it asks the oracle; where the oracle does not say it, the test does not apply.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from math import comb, exp, lgamma, log

import numpy as np
from scipy.stats import binom

from ldp3.answers import Answer, Items
from ldp3.arrays import FloatArray, IntArray, Reports
from ldp3.collection.plan import Plan
from ldp3.errors import require
from ldp3.noise import PureNoise
from ldp3.printing import percent, plural
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.randomness import WORDS
from ldp3.schemes.base import Scheme
from ldp3.tails import binomial_p
from ldp3.threats.pairs import conspicuous_pairs, unknown
from ldp3.threats.report_batches import Batches, FirstPass, in_batches
from ldp3.types import Estimate, Tally

TESTS = 5  # that share α, at most
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
            return "No test applies: whether reports are fake cannot be told."
        verdict = "Suspicious" if self.suspicious else "Nothing suspicious"
        said = [f"{verdict} (false alarms: at most {percent(self.alpha)} of honest collections)."]
        if self.fakes is not None:
            said.append(f"About {plural(self.fakes, 'fake user')} would explain it.")
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
        The plan, or the protocol; tests are known for pure ones.
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
    oracle = collection.oracle if isinstance(collection, Plan) else collection
    oracle.require_valid(reports)
    require(len(reports) > 0, oracle, "at least one report is needed", len(reports))
    return inspect_batches(collection, in_batches(reports), alpha=alpha, seed=seed)


def inspect_batches(
    collection: Plan | FrequencyOracle, batches: Batches, *, alpha: float = 0.01, seed: int = 0
) -> Inspection:
    """The same for reports that come in batches, read twice: memory does not grow with them."""
    oracle = collection.oracle if isinstance(collection, Plan) else collection
    sound = isinstance(alpha, int | float) and 0 < alpha < 1
    require(sound, "inspect", "`alpha` must be between 0 and 1", alpha)
    if isinstance(oracle, Scheme):
        return _inspect_groups(collection, oracle, batches, alpha, seed)
    name = collection.label if isinstance(collection, Plan) else str
    return _inspect_one(oracle, batches, alpha, seed, name)


def _inspect_one(
    oracle: FrequencyOracle,
    batches: Batches,
    alpha: float,
    seed: int,
    name: Callable[[int], str],
) -> Inspection:
    """All tests on reports of one protocol."""
    if not isinstance(oracle, PureOracle):
        return Inspection(
            (HonestyTest("supports", None, "reports support no values here."),), alpha
        )
    chance = equal_chance(oracle)
    compared = chance is not None and chance < RARE
    seen = FirstPass(oracle, batches(), sized=_sizes_known(oracle), compared=compared)
    n = seen.tally.n
    require(n > 0, oracle, "at least one report is needed", 0)
    estimate = oracle.estimate(seen.tally)
    again, share = (seen.repeats.again, seen.repeats.share) if seen.repeats else (0, 1.0)
    pairs = conspicuous_pairs(oracle, batches, n, estimate.frequencies, alpha / TESTS, seed)
    tests = (
        below_zero_test(estimate, alpha / TESTS, name),
        sum_test(oracle, oracle.support_counts(seen.tally), n),
        size_test(oracle, seen.sizes),
        repeat_test(oracle, n, again, share),
        HonestyTest("pairs", pairs.p_value, pairs.text),
    )
    return Inspection(tests, alpha, pairs.targets, pairs.fakes, tuple(map(name, pairs.targets)), n)


def _inspect_groups(
    collection: Plan | FrequencyOracle, scheme: Scheme, batches: Batches, alpha: float, seed: int
) -> Inspection:
    """Reports per group against the shares; and those of each group as if there were no other.

    All groups share α. Targets are cells of different views, which have no code in common: they are
    told for each group. Tests that do not apply to a group are left out.
    """
    sizes: IntArray = np.zeros(len(scheme.groups), dtype=np.int64)
    for some in batches():
        sizes += np.bincount(scheme.layout.groups(some), minlength=len(sizes))
    require(sizes.sum() > 0, scheme, "at least one report is needed", 0)
    tests, fakes = [shares_test(scheme, sizes)], 0
    each = alpha / (len(scheme.groups) + 1)
    for number, group in enumerate(scheme.groups):
        if sizes[number]:
            own = partial(_of_group, scheme, batches, number)
            name = partial(_cell_said, collection, scheme, number)
            found = _inspect_one(group.oracle, own, each, seed, name)
            where = _view_said(collection, scheme, number)
            for test in found.tests:
                targets = ", ".join(found.labels[:NAMED]) if test.test == "pairs" else ""
                text = f"{test.text} Suspected targets: {targets}." if targets else test.text
                if test.p_value is not None:
                    tests.append(HonestyTest(f"{test.test} ({where})", test.p_value, text))
            fakes += found.fakes or 0
    return Inspection(tuple(tests), alpha, fakes=fakes or None, n=int(sizes.sum()))


def _of_group(scheme: Scheme, batches: Batches, number: int) -> Iterator[Reports]:
    for some in batches():
        mine = some[scheme.layout.groups(some) == number]
        yield scheme.layout.part(mine, number)


def _cell_said(collection: Plan | FrequencyOracle, scheme: Scheme, number: int, cell: int) -> str:
    """What a cell of a group's view is called."""
    view = scheme.groups[number].view
    if not isinstance(collection, Plan):
        return str(cell)
    codes = np.unravel_index(cell, view.sizes(scheme.sizes))
    return ", ".join(
        collection.attributes[a].label(int(code)) if bins is None else f"bin {code} of {bins}"
        for (a, bins), code in zip(view.parts, codes, strict=True)
    )


def _view_said(collection: Plan | FrequencyOracle, scheme: Scheme, number: int) -> str:
    """Which group it is: its number, and what it is asked."""
    names = [f"attribute {a}" for a in range(len(scheme.sizes))]
    if isinstance(collection, Plan):
        names = [attribute.name for attribute in collection.attributes]
    parts = scheme.groups[number].view.parts
    said = (names[a] if bins is None else f"{names[a]} in {bins} bins" for a, bins in parts)
    return f"group {number}: {' × '.join(said)}"


def shares_test(scheme: Scheme, sizes: IntArray) -> HonestyTest:
    """Have the groups the sizes that lots give? Whoever chooses a group gains by a small one.

    Each group has a binomial number of honest reports, whatever people hold: exact, and corrected
    for the number of groups.
    """
    n, share = int(sizes.sum()), np.array([group.share / WORDS for group in scheme.groups])
    if len(share) < 2:
        return HonestyTest("shares", None, "everybody is in one group.")
    chance = binomial_p(sizes, n, share)
    worst = int(np.argmin(chance))
    text = (
        f"{sizes[worst]:,} of {n:,} reports are of group {worst}, {n * share[worst]:,.0f} are "
        f"expected."
    )
    return HonestyTest("shares", min(1.0, float(chance[worst]) * len(share)), text)


def inspect_tally(collection: Plan, tally: Tally, *, alpha: float = 0.01) -> Inspection | None:
    """The tests that need the counts alone; None for protocols whose reports support no values."""
    oracle = collection.oracle
    if isinstance(oracle, Scheme):
        sizes = np.array([part.n for part in oracle.split(tally)], dtype=np.int64)
        return Inspection((shares_test(oracle, sizes),), alpha, n=tally.n)
    if not isinstance(oracle, PureOracle):
        return None
    tests = (
        below_zero_test(oracle.estimate(tally), alpha / TESTS, collection.label),
        sum_test(oracle, oracle.support_counts(tally), tally.n),
    )
    return Inspection(tests, alpha, n=tally.n)


def below_zero_test(
    estimate: Estimate, alpha: float, name: Callable[[int], str] = str
) -> HonestyTest:
    """Is a value supported too rarely? Fake reports that do not support it stand for honest ones.

    Exact for every pure protocol, over all values; see `PureNoise.below_zero`. It does not apply
    where reports are so few that no support at all would not be called suspicious.
    """
    d, noise = estimate.d, estimate.noise
    assert isinstance(noise, PureNoise)
    if d * (1 - noise.support.q) ** noise.n > alpha:
        return HonestyTest("below zero", None, "too few reports: even an unsupported value may be.")
    chance = noise.below_zero(estimate.frequencies)
    lowest = int(np.argmin(chance))
    share = percent(estimate.frequencies[lowest], 3)
    seen = noise.n - binom.ppf(alpha / d, noise.n, noise.support.q) / noise.support.q
    text = (
        f"the lowest of {d:,} estimates is {share}, of {name(lowest)}. This test sees about "
        f"{seen:,.0f} fake users or more, if they leave out a value that nobody holds."
    )
    return HonestyTest("below zero", min(1.0, float(chance[lowest]) * d), text)


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
        return HonestyTest("sum", None, unknown("how many values its reports support"))
    (least, most), mean = oracle.support_sizes, p + (d - 1) * q
    spread = (most - mean) * (mean - least)
    if oracle.independence is not None and oracle.independence >= 2:
        spread = p * (1 - p) + (d - 1) * q * (1 - q)
    away = abs(float(counts.sum()) - n * mean)
    bound = 2 * exp(-(away**2) / (2 * (n * spread + (most - least) * away / 3))) if away else 1.0
    total = 1 + (float(counts.sum()) - n * mean) / (n * (p - q))
    text = f"the frequencies sum to {total:.4f} instead of 1."
    return HonestyTest("sum", min(1.0, bound), text)


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
        return HonestyTest("size", None, unknown("how often reports support how many values"))
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


def repeat_test(oracle: PureOracle, n: int, again: int, share: float) -> HonestyTest:
    """Are reports, or nonces, sent more than once? Honest ones never are, or hardly ever.

    `again` of them were, among a share of all that there could be.
    """
    chance = equal_chance(oracle)
    if chance is None:
        return HonestyTest("repeats", None, unknown("how likely two reports are equal"))
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
