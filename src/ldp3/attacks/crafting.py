"""What a fake user can send: the families of reports, and reports made to order.

Honest clients randomise; a fake one sends what it likes, as long as the server takes it. What it
can make a report support depends on the form of reports alone:

- ``one``: exactly one value, any (GRR);
- ``free``: any set of values (unary encodings);
- ``subset``: any set of a fixed size (subset selection);
- ``hash``: the values that fall into one cell of a hash function, which can be searched for;
- ``search``: anything else: look through possible reports and take the best.
"""

from typing import Literal

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.protocols.base import PureOracle
from ldp3.protocols.layout import Bits, Code, Fields
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.types import Tally

Family = Literal["one", "free", "subset", "hash", "search"]
LISTED = 2**20  # reports that are looked through one by one, where there are no more
WORK = 2**28  # supports that are looked up for a formula
KEPT = 16  # of the best reports, that fake users choose from
PROBES = 64  # values that are tried before bits are taken at their word


def family(oracle: PureOracle) -> Family:
    """Which sets of values a report can be made to support."""
    layout = oracle.layout
    if isinstance(oracle, LocalHashing):
        return "hash"
    if isinstance(layout, Bits) and layout.d == oracle.d and _bits_are_values(oracle):
        return "free" if layout.ones is None else "subset"
    if isinstance(layout, Code) and layout.values == oracle.d and _codes_are_values(oracle):
        return "one"
    return "search"


def _bits_are_values(oracle: PureOracle) -> bool:
    probes = _probes(oracle.d)
    members = np.zeros((len(probes), oracle.d), dtype=bool)
    members[np.arange(len(probes)), probes] = True
    reports = packed(members)
    found = np.array([oracle.supports(reports, int(v)) for v in probes])
    return bool((found == np.eye(len(probes), dtype=bool)).all())


def _codes_are_values(oracle: PureOracle) -> bool:
    probes = _probes(oracle.d)
    reports = probes.astype(np.min_scalar_type(oracle.d - 1))
    found = np.array([oracle.supports(reports, int(v)) for v in probes])
    return bool((found == np.eye(len(probes), dtype=bool)).all())


def _probes(d: int) -> IntArray:
    return np.unique(np.linspace(0, d - 1, min(d, PROBES)).astype(np.int64))


def packed(members: BoolArray) -> Reports:
    """Sets of values, shape `(n, d)`, as rows of 64-bit words."""
    n, d = members.shape
    wide = np.zeros((n, 64 * -(-d // 64)), dtype=bool)
    wide[:, :d] = members
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def random_subsets(n: int, values: IntArray, size: IntArray | int, d: int,
                   rng: np.random.Generator) -> BoolArray:  # fmt: skip
    """For each of `n` rows a uniform subset of `values` with its size, as members of `[0, d)`."""
    order = np.argsort(rng.random((n, len(values))), axis=1)
    taken = np.argsort(order, axis=1) < np.broadcast_to(size, (n,))[:, None]
    members = np.zeros((n, d), dtype=bool)
    members[:, values] = taken
    return members


def random_reports(oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
    """Reports drawn uniformly from all that the server takes, as far as their form says it."""
    layout = oracle.layout
    if isinstance(layout, Bits) and layout.ones is None:
        return packed(rng.random((m, layout.d)) < 0.5)
    if isinstance(layout, Bits):
        return packed(random_subsets(m, np.arange(layout.d), layout.ones or 0, layout.d, rng))
    if isinstance(layout, Code):
        return rng.integers(layout.values, size=m).astype(layout.dtype)
    if isinstance(layout, Fields):
        reports = np.empty(m, dtype=layout.dtype)
        for name, bound in layout.fields:  # the last value, for 2⁶⁴ is no 64-bit word
            reports[name] = rng.integers(bound - 1, size=m, dtype=np.uint64, endpoint=True)
        return reports
    return oracle.perturb(rng.integers(oracle.d, size=m), rng)


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
        return rng.choice(best_codes(oracle, values, rng), size=m)
    best = []
    for _ in range(m):
        seen = oracle.perturb(rng.integers(oracle.d, size=effort), rng)
        best.append(seen[np.argmax(hits(oracle, seen, values))])
    return np.array(best) if best else oracle.perturb(np.zeros(0, dtype=np.int64), rng)


def best_codes(oracle: PureOracle, values: IntArray, rng: np.random.Generator) -> Reports:
    """Up to `KEPT` of the codes that support most of `values`."""
    return rng.permutation(fullest_codes(oracle, values))[:KEPT]


def fullest_codes(oracle: PureOracle, values: IntArray) -> Reports:
    """All codes that support most of `values`."""
    codes = every_code(oracle)
    found = hits(oracle, codes, values)
    return codes[found == found.max()]


def every_code(oracle: PureOracle) -> Reports:
    """All reports that the server takes, where they are codes."""
    assert isinstance(oracle.layout, Code)
    codes = np.arange(oracle.layout.values).astype(oracle.layout.dtype)
    return codes[oracle.valid(codes)]


def listed(oracle: PureOracle) -> bool:
    """Whether all reports can be looked through one by one."""
    return isinstance(oracle.layout, Code) and oracle.layout.values <= LISTED


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
