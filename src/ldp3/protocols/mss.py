"""Modular subset selection."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import InvalidData, require, require_values, whole
from ldp3.kernels import bits
from ldp3.noise import BoundedNoise
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.layout import Numbers
from ldp3.protocols.singer import prime_factors
from ldp3.protocols.subset_selection import SS
from ldp3.types import Estimate, Tally

MOST_VALUES = 4096


@final
@dataclass(frozen=True)
class MSS(FrequencyOracle):
    r"""Modular subset selection: SS of the value modulo one of $l$ numbers.

    Draw one of the moduli $m_1, …, m_l$ at random and report SS of $v \bmod m_j$. With $C_j$ the
    support counts of the reports with $m_j$, and $P$ the weighted least-squares inverse of "value
    $v$ has residue $r$ modulo $m_j$",

    $$\hat f = \frac{l}{n} \sum_j P_j \frac{C_j - q_j n_j}{p_j - q_j}.$$

    Frequencies are told apart only if $\sum_j (m_j - 1) + 1 ≥ d$, whatever $\prod_j m_j$ is, and
    barely so if that is all: the moduli are the first $l$ primes with twice as much. Reports are
    shorter than those of SS, and noisier, value by value. For simulation only, up to 4,096 values.

    Parameters
    ----------
    l
        Number of moduli.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = MSS(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Arcolezi. *Private frequency estimation via residue number systems.* AAAI 2026.
    """

    aliases: ClassVar[tuple[str, ...]] = ("modular subset selection",)
    instead: ClassVar[str] = "pgr: less noise in far fewer bits"

    l: int = 4  # noqa: E741 (the paper's ℓ)

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.d <= MOST_VALUES, self, f"d must be at most {MOST_VALUES}", self.d)
        require(whole(self.l, 1, 64), self, "l must be an integer in 1..64", self.l)
        sound = self.epsilon > 2.0**-40
        require(sound, self, "epsilon must be > 0 by more than rounding can tell", self.epsilon)

    @cached_property
    def oracles(self) -> list[SS]:
        """SS for each modulus."""
        least = max(2, -(-2 * (self.d - 1) // self.l) + 1)  # twice what identifies
        primes = (m for m in count(least) if prime_factors(m) == [m])
        return [SS(self.epsilon, m) for m, _ in zip(primes, range(self.l), strict=False)]

    @property
    def moduli(self) -> list[int]:
        """m_1, …, m_l."""
        return [oracle.d for oracle in self.oracles]

    @property
    def privacy_ratio(self) -> Fraction:
        return max(oracle.support_ratio for oracle in self.oracles)

    @property
    def layout(self) -> Numbers:
        return Numbers(np.dtype(np.uint64), (1 + bits.width(self.moduli[-1]),))

    @property
    def report_bits(self) -> int:
        return (self.l - 1).bit_length() + self.moduli[-1]

    def valid(self, reports: Reports) -> BoolArray:
        if not self.layout.fits(reports).all() or reports.dtype != np.uint64:
            return np.zeros(len(reports), dtype=bool)
        ok = np.zeros(len(reports), dtype=bool)
        for j, oracle in enumerate(self.oracles):
            width = 1 + bits.width(oracle.d)
            fits = oracle.valid(np.ascontiguousarray(reports[:, 1:width]))
            ok |= (reports[:, 0] == j) & fits & (reports[:, width:] == 0).all(axis=1)
        return ok

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d)
        which = rng.integers(self.l, size=len(codes))
        reports = np.zeros((len(codes), *self.layout.shape), dtype=np.uint64)
        reports[:, 0] = which
        for j, oracle in enumerate(self.oracles):
            rows = oracle.perturb(codes[which == j] % oracle.d, rng)
            reports[which == j, 1 : 1 + rows.shape[1]] = rows
        return reports

    def aggregate(self, reports: Reports) -> Tally:
        """The support counts of all residues, and how many reports have each modulus."""
        self.require_valid(reports)
        parts: list[IntArray] = []
        for j, oracle in enumerate(self.oracles):
            mine = reports[reports[:, 0] == j, 1 : 1 + bits.width(oracle.d)]
            parts += [bits.count(mine, oracle.d), np.array([len(mine)])]
        return Tally(np.concatenate(parts).astype(np.int64), len(reports))

    def estimate(self, tally: Tally) -> Estimate:
        ends = np.cumsum([m + 1 for m in self.moduli])
        if tally.n < 1 or tally.total.shape != (ends[-1],) or tally.total.min() < 0:
            raise InvalidData(f"MSS: an estimate needs {ends[-1]} counts of at least one report.")
        parts = np.split(tally.total, ends[:-1])
        whole_ = sum(int(part[-1]) for part in parts) == tally.n
        sizes = (
            o.k * part[-1] == part[:-1].sum() for o, part in zip(self.oracles, parts, strict=True)
        )
        if not whole_ or not all(sizes):
            raise InvalidData(f"MSS: these are no counts of n={tally.n} reports.")
        frequencies = np.zeros(self.d)
        for oracle, part, weights in zip(self.oracles, parts, self._inverse, strict=True):
            residues = (part[:-1] - oracle.q * part[-1]) / (oracle.p - oracle.q)
            frequencies += self.l / tally.n * np.einsum("vr,r->v", weights, residues)
        return Estimate(frequencies, tally, self.noise(frequencies, tally.n))

    def noise(self, frequencies: FloatArray, n: int) -> "UserNoise":  # noqa: ARG002
        moments, (least, highest) = self._second_moments / n, self._scores / n
        mean = moments.mean(axis=1)  # if all values are as frequent
        return UserNoise(mean, -1 / n, 1 / n - least, highest, moments)

    @cached_property
    def _inverse(self) -> list[FloatArray]:
        """P, by modulus: shape `(d, m_j)`."""
        values = np.arange(self.d)
        rows = [np.arange(m)[:, None] == values % m for m in self.moduli]
        trust = [oracle.variance(1) ** -0.5 for oracle in self.oracles]
        weighted = np.concatenate([t * row for t, row in zip(trust, rows, strict=True)])
        inverse = np.linalg.pinv(weighted)
        ends = np.cumsum(self.moduli)[:-1]
        return [t * part for t, part in zip(trust, np.split(inverse, ends, axis=1), strict=True)]

    @cached_property
    def _scores(self) -> FloatArray:
        """The least and the highest score that one report can give each value, shape `(2, d)`."""
        ends = []
        for oracle, weights in zip(self.oracles, self._inverse, strict=True):
            ordered, blind = np.sort(weights, axis=1), oracle.q * weights.sum(axis=1)
            some = ordered[:, : oracle.k].sum(axis=1), ordered[:, -oracle.k :].sum(axis=1)
            ends.append(self.l * (np.array(some) - blind) / (oracle.p - oracle.q))
        return np.stack([np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]])

    @cached_property
    def _second_moments(self) -> FloatArray:
        """Of one user's score for v (row), if the user holds w (column)."""
        total = np.zeros((self.d, self.d))
        for oracle, weights in zip(self.oracles, self._inverse, strict=True):
            moments = _moments(oracle, weights) * self.l / (oracle.p - oracle.q) ** 2
            total += moments[:, np.arange(self.d) % oracle.d]
        return total


def _moments(oracle: SS, weights: FloatArray) -> FloatArray:
    """E (a·(s - q))² for the rows a of the weights and the subset s of a user with residue r."""
    m, k, p, q = oracle.d, oracle.k, oracle.p, oracle.q
    both = (p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)) / ((m - 1) * max(m - 2, 1))
    with_own = p * (k - 1) / (m - 1)
    total, squares = weights.sum(axis=1)[:, None], (weights**2).sum(axis=1)[:, None]
    rest, rest_squares = total - weights, squares - weights**2
    second = p * weights**2 + q * rest_squares + both * (rest**2 - rest_squares)
    second += 2 * with_own * weights * rest
    mean = p * weights + q * rest
    return np.asarray(second - 2 * q * total * mean + (q * total) ** 2)


@dataclass(frozen=True, eq=False)
class UserNoise(BoundedNoise):
    """Noise that depends on who holds what: the second moment of each score under each value."""

    moments: FloatArray = field(default_factory=lambda: np.ones((1, 1)))

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates, if these are the frequencies."""
        spread = np.einsum("vw,w->v", self.moments, frequencies) + self.slope * frequencies
        return np.maximum(spread, 0)

    def worst(self, alpha: float, d: int) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        own = np.diagonal(self.moments)
        others = np.where(np.eye(d, dtype=bool), 0, self.moments).max(axis=1)
        return others, own + self.slope - others
