"""The tests: each is right whatever people hold, as long as their clients are honest."""

from math import comb, exp, lgamma, log

import numpy as np
from scipy.stats import binom, hypergeom, norm

from ldp3.arrays import FloatArray, IntArray
from ldp3.protocols.base import PureOracle
from ldp3.protocols.local_hashing import LocalHashing
from ldp3.protocols.unary import UnaryEncoding
from ldp3.threats.findings import Finding
from ldp3.threats.pairs import independent
from ldp3.verification.statistics import binomial_p

NEAR = 2.0  # standard deviations within which a pair is not worth an exact p-value
EXPECTED = 20.0  # reports of a group of sizes, at least: rare sizes are taken together


def sum_test(oracle: PureOracle, counts: IntArray, n: int) -> Finding:
    r"""Does the sum of all estimates fit? Unpadded fake reports lower it.

    Honest reports support $p + (d-1)q$ values each, whatever is held, with the variance
    $p(1-p) + (d-1)q(1-q)$; the p-value is Bernstein's bound, which holds for every n.
    """
    if not independent(oracle):
        return Finding("sum", None, "every report supports equally many values: nothing to see.")
    p, q, d = oracle.p, oracle.q, oracle.d
    mean, variance = n * (p + (d - 1) * q), n * (p * (1 - p) + (d - 1) * q * (1 - q))
    away = abs(float(counts.sum()) - mean)
    bound = 2 * exp(-(away**2) / (2 * (variance + d * away / 3))) if away else 1.0
    seen = (float(counts.sum()) - mean) / (n * (p - q))
    return Finding("sum", min(1.0, bound), f"the frequencies sum to {1 + seen:.4f} instead of 1.")


def size_test(oracle: PureOracle, sizes: IntArray | None) -> Finding:
    """Do reports support as many values as honest ones? Reports of one size stand out.

    `sizes` says how many reports support 0, 1, 2, … values. Each group of sizes has a binomial
    number of honest reports: exact, and corrected for groups.
    """
    if sizes is None or not isinstance(oracle, UnaryEncoding):
        return Finding("size", None, "reports of this protocol have no size of their own.")
    n, d = int(sizes.sum()), oracle.d
    law = np.convolve(binom.pmf(np.arange(d), d - 1, oracle.q), [1 - oracle.p, oracle.p])
    groups = _groups(law * n)
    share: FloatArray = np.bincount(groups, law) / law.sum()
    if len(share) < 2:
        return Finding("size", None, "too few reports to look at their sizes.")
    seen = np.bincount(groups, sizes).astype(np.int64)
    chance = binomial_p(seen, n, share)
    worst = int(np.argmin(chance))
    members = np.flatnonzero(groups == worst)
    size = f"{members[0]}" if len(members) == 1 else f"{members[0]} to {members[-1]}"
    text = f"{seen[worst]:,} reports support {size} values, {n * share[worst]:,.0f} are expected."
    return Finding("size", min(1.0, float(chance[worst]) * len(share)), text)


def _groups(expected: FloatArray) -> IntArray:
    """Neighbouring sizes put together until each group expects enough reports."""
    groups, current, filled = np.zeros(len(expected), dtype=np.int64), 0, 0.0
    for size, more in enumerate(expected):
        if filled >= EXPECTED and expected[size:].sum() >= EXPECTED:
            current, filled = current + 1, 0.0
        groups[size], filled = current, filled + more
    return groups


def pair_p_values(counts: IntArray, pairs: IntArray, n: int) -> FloatArray:
    r"""How likely two values are supported together so often, for each pair; 1 below the diagonal.

    Of honest reports the covariance is $-(p-q)^2 f_u f_v \le 0$. Given how often each is supported,
    independent ones are supported together a hypergeometric number of times, honest ones less.
    Pairs that are far from conspicuous among so many are called 1, which is never too little.
    """
    chance = np.ones(pairs.shape)
    tested = max(1, len(counts) * (len(counts) - 1) // 2)
    far = max(NEAR, float(norm.isf(0.05 / tested)) - 1)
    rate = counts / n
    spread = np.sqrt(n * rate * (1 - rate) * n / max(1, n - 1))
    for u in range(len(counts)):
        away = pairs[u] - counts[u] * rate
        v = np.flatnonzero(away > far * spread[u] * np.sqrt(rate * (1 - rate)))
        v = v[v > u]
        chance[u, v] = hypergeom.sf(pairs[u, v] - 1, n, counts[u], counts[v])
    return chance


def repeat_test(oracle: PureOracle, n: int, again: int, share: float) -> Finding:
    """Are reports, or seeds, sent more than once? Honest ones never are, or hardly ever.

    `again` of them were, among a share of all that there could be.
    """
    chance = collision(oracle)
    if chance is None:
        return Finding("repeats", None, "honest reports of this protocol repeat each other.")
    what = "seeds" if isinstance(oracle, LocalHashing) else "reports"
    expected = comb(n, 2) * (chance + 2.0**-64) * share  # two hashes of 64 bits may be equal, too
    p_value = 1.0 if again == 0 else min(1.0, expected / again)  # Markov: always right
    part = "" if share == 1 else f" (a share of {share:g} of them was looked at)"
    return Finding("repeats", p_value, f"{again:,} of {n:,} {what} were sent before{part}.")


def collision(oracle: PureOracle) -> float | None:
    """At most how likely two honest reports are equal; None if that is likely."""
    if isinstance(oracle, LocalHashing):
        return 2.0**-64
    if isinstance(oracle, UnaryEncoding):
        q = oracle.q
        chance = exp((oracle.d - 2) * log(q * q + (1 - q) ** 2))
    elif oracle.support_size is not None and oracle.support_size > 1:
        k, d = oracle.support_size, oracle.d
        chance = exp(oracle.epsilon - lgamma(d + 1) + lgamma(k + 1) + lgamma(d - k + 1))
    else:
        return None
    return chance if chance < 1e-9 else None
