"""What a fake user can send: the families of reports, and reports made to order.

Honest clients randomise; a fake one sends what it likes, as long as the server takes it. What it
can make a report support the oracle says (`report_of`, `report_with`):

- ``one``: exactly one value, any (GRR);
- ``free``: any set of values (unary encodings);
- ``subset``: any set of a fixed size (subset selection);
- ``hash``: the values that fall into one of 1/q cells under a nonce, which can be searched for;
- ``search``: anything else: look through possible reports and take the best.
"""

from typing import Literal

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports, WordArray
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally

Family = Literal["one", "free", "subset", "hash", "search"]
LISTED = 2**20  # reports that are looked through one by one, where there are no more
WORK = 2**28  # supports that are looked up for a formula
KEPT = 16  # of the best reports, that fake users choose from
ROWS = 2**24  # values of sets that are held at a time


def family(oracle: PureOracle) -> Family:
    """Which sets of values a report can be made to support."""
    sizes, none = oracle.support_sizes, np.zeros(0, dtype=np.int64)
    if sizes and oracle.report_of(np.zeros((0, oracle.d), dtype=bool)) is not None:
        if sizes[0] == sizes[1]:
            return "one" if sizes[0] == 1 else "subset"
        return "free" if sizes == (0, oracle.d) else "search"
    answers, whole = oracle.report_with(none.astype(np.uint64), none), cells(oracle) * oracle.q
    ideal = oracle.nearly_independent and abs(whole - 1) < 1e-12
    return "hash" if oracle.nonce and answers is not None and ideal else "search"


def crafted(oracle: PureOracle, members: BoolArray) -> Reports:
    """Reports that support exactly these sets, where the family says that there are such."""
    reports = oracle.report_of(members)
    assert reports is not None
    return reports


def crafted_for(oracle: PureOracle, values: IntArray) -> Reports:
    """Reports that support exactly one value each, these."""
    held, which = np.unique(values, return_inverse=True)
    parts, step = [crafted(oracle, np.zeros((0, oracle.d), dtype=bool))], max(1, ROWS // oracle.d)
    for start in range(0, len(held), step):
        parts.append(crafted(oracle, held[start : start + step, None] == np.arange(oracle.d)))
    return np.concatenate(parts)[which]


def crafted_with(oracle: PureOracle, nonces: WordArray, values: IntArray) -> Reports:
    """Reports with these nonces that support these values, under an oracle of the hash family."""
    reports = oracle.report_with(nonces, values)
    assert reports is not None
    return reports


def random_nonces(oracle: PureOracle, m: int, rng: np.random.Generator) -> WordArray:
    """Nonces as honest clients draw them."""
    assert oracle.nonce is not None
    return rng.integers(oracle.nonce[1] - 1, size=m, dtype=np.uint64, endpoint=True)


def cells(oracle: PureOracle) -> int:
    """How many different answers there are to a nonce, under an oracle of the hash family."""
    return round(1 / oracle.q)


def random_reports(oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
    """Reports drawn uniformly from all that the server takes, as far as their form says it."""
    reports = oracle.layout.random(m, rng)
    if reports is None:
        return oracle.perturb(rng.integers(oracle.d, size=m), rng)
    return reports


def hits(oracle: PureOracle, reports: Reports, values: IntArray) -> IntArray:
    """How many of `values` each report supports."""
    found = np.zeros(len(reports), dtype=np.int64)
    for v in values:
        found += oracle.supports(reports, int(v))
    return found


def best_reports(oracle: PureOracle, values: IntArray, m: int, effort: int,
                 rng: np.random.Generator) -> Reports:  # fmt: skip
    """For each of `m` fake users a report that supports as many of `values` as it finds.

    Where there are few possible reports all are looked through, and fake users choose among a few
    of the best; else each of them looks through `effort` reports of random values.
    """
    if listed(oracle):
        return rng.choice(few_best(oracle, values, rng), size=m)
    best = []
    for _ in range(m):
        seen = oracle.perturb(rng.integers(oracle.d, size=effort), rng)
        best.append(seen[np.argmax(hits(oracle, seen, values))])
    return np.array(best) if best else oracle.perturb(np.zeros(0, dtype=np.int64), rng)


def few_best(oracle: PureOracle, values: IntArray, rng: np.random.Generator) -> Reports:
    """Up to `KEPT` of the reports that support most of `values`."""
    return rng.permutation(all_best(oracle, values))[:KEPT]


def all_best(oracle: PureOracle, values: IntArray) -> Reports:
    """All reports that support most of `values`."""
    every = every_report(oracle)
    found = hits(oracle, every, values)
    return every[found == found.max()]


def every_report(oracle: PureOracle) -> Reports:
    """All reports that the server takes, where they are listed."""
    every = oracle.every_report(LISTED)
    assert every is not None
    return every


def listed(oracle: PureOracle) -> bool:
    """Whether all reports can be looked through one by one."""
    return 1 << min(64, oracle.layout.bits) <= LISTED


def rates_of(oracle: PureOracle, reports: Reports) -> FloatArray | None:
    """How many of these reports support each value, as shares; None if that takes too long."""
    if len(reports) * oracle.d > WORK:
        return None
    return np.array([oracle.supports(reports, v).mean() for v in range(oracle.d)])


def repeated(oracle: PureOracle, reports: Reports, times: IntArray) -> Tally:
    """The tally of a few different reports, each of them sent many times."""
    ones = [oracle.aggregate(reports[i : i + 1]) for i in range(len(reports))]
    parts = (Tally(one.total * int(k), int(k)) for one, k in zip(ones, times, strict=True))
    return sum(parts, start=oracle.empty)


def best_of(effort: int, r: int, g: int) -> FloatArray:
    r"""Law of the largest number of `r` targets in one of `g` cells, best of `effort` functions.

    Of one ideal hash function $P(M \le h) = r!\,[x^r] (\sum_{j \le h} (x/g)^j/j!)^g$; the best of
    $N$ has the $N$-th power of it. Index h of what is returned is the probability of h hits.
    """
    below = np.array([_fits(h, r, g) for h in range(r + 1)]) ** effort
    return np.diff(below, prepend=0.0)


def _fits(h: int, r: int, g: int) -> float:
    """Probability that no cell has more than `h` of `r` balls."""
    orders = np.arange(r + 1)
    factorial = np.cumprod(np.maximum(orders, 1).astype(np.float64))
    series = np.where(orders <= h, (1 / g) ** orders.astype(np.float64) / factorial, 0.0)
    power, rest, square = np.eye(1, r + 1)[0], g, series
    while rest:
        if rest & 1:
            power = np.convolve(power, square)[: r + 1]
        square = np.convolve(square, square)[: r + 1]
        rest >>= 1
    return min(1.0, float(power[r] * factorial[r]))
