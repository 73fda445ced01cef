"""PI-RAPPOR."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports
from ldp3.errors import require, require_values, whole
from ldp3.kernels.source import words
from ldp3.protocols.design import risk
from ldp3.protocols.grr import lie_words, respond
from ldp3.protocols.layout import Code
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.singer import prime_factors
from ldp3.randomness import WORDS, exp
from ldp3.types import Tally

MOST_REPORTS = 2**22


@final
@dataclass(frozen=True)
class PiRAPPOR(PureOracle):
    r"""PI-RAPPOR: RAPPOR with pairwise independent bits, a hyperplane that need not pass through 0.

    Value $v$ is a vector of $t$ digits to the prime base $q$. Report a vector $a$ and a number $r$
    with $\langle a, v \rangle + r = 0$ modulo $q$ with probability $p$, else with another $r$:

    $$p = \frac{e^ε}{e^ε + q - 1}, \qquad q_s = \frac1q.$$

    A report is one of $q^{t+1}$, and supports the values on its hyperplane: local hashing by linear
    functions. For simulation only.

    Parameters
    ----------
    order
        The prime q (``pi_rappor(q=3)``); 0 for the least variance.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = PiRAPPOR(epsilon=2.0, d=4)
    >>> reports = oracle.perturb(np.repeat([0, 1], 50_000), stream(0))
    >>> oracle.estimate(oracle.aggregate(reports)).frequencies.round(1) + 0.0
    array([0.5, 0.5, 0. , 0. ])

    References
    ----------
    Feldman, Talwar. *Lossless compression of efficient private local randomizers.* ICML 2021.
    """

    title: ClassVar[str] = "PI-RAPPOR"
    aliases: ClassVar[tuple[str, ...]] = ("pairwise independent RAPPOR",)
    instead: ClassVar[str] = "pgr: the same noise in fewer bits, and a faster server"
    symbols: ClassVar[dict[str, str]] = {"order": "q"}

    order: int = 0

    def __post_init__(self) -> None:
        self.settle()
        if self.order == 0:
            object.__setattr__(self, "order", _best_prime(self.epsilon, self.d))
        sound = whole(self.order, 2) and prime_factors(self.order) == [self.order]
        require(sound, self, "q must be a prime", self.order)
        many, reports = "d and q must need at most 2^22 reports", self.order ** (self.digits + 1)
        require(reports <= MOST_REPORTS, self, many, reports)
        super().__post_init__()

    @property
    def digits(self) -> int:
        """t: how many digits a value has."""
        return _digits(self.order, self.d)

    @cached_property
    def lie(self) -> int:
        """Words, of 2⁶⁴, that give one particular wrong r."""
        return lie_words(self.epsilon, self.order)

    @cached_property
    def truth(self) -> int:
        """Words, of 2⁶⁴, that give the right r."""
        return WORDS - (self.order - 1) * self.lie

    @property
    def p(self) -> float:
        return self.truth / WORDS

    @property
    def q(self) -> float:
        return 1 / self.order

    @property
    def support_ratio(self) -> Fraction:
        return Fraction(self.truth, self.lie)

    @property
    def support_sizes(self) -> tuple[int, int]:
        return 0, self.d  # if the vector is 0

    @property
    def independence(self) -> int | None:
        return 2 if self.order == 2 else None

    def support_both(
        self, first: IntArray, second: IntArray, frequencies: FloatArray
    ) -> FloatArray:
        # three values on a line are supported all, or one at the most
        first, second = np.broadcast_arrays(first, second)
        line = np.zeros(first.shape)
        for step in range(self.order):
            point = np.zeros(first.shape, dtype=np.int64)
            for place in (self.order**i for i in range(self.digits)):
                one, other = first // place % self.order, second // place % self.order
                point += (one + step * (other - one)) % self.order * place
            line += np.append(frequencies, 0.0)[np.minimum(point, self.d)]
        return self.q**2 + (self.p - self.q) * self.q * line

    @property
    def layout(self) -> Code:
        return Code(self.order ** (self.digits + 1))

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_values(self, values, self.d).astype(np.int64)
        vectors = rng.integers(self.order**self.digits, size=len(codes))
        told, right = np.empty(len(codes), dtype=np.int64), self._right(vectors, codes)
        draws = words(rng, len(codes))
        respond(right, draws, np.uint64(self.truth), np.uint64(self.lie), told)
        return (vectors * self.order + told).astype(self.layout.dtype)

    def _right(self, vectors: IntArray, codes: IntArray | int) -> IntArray:
        """The r on whose hyperplane the value lies."""
        q, product = self.order, np.zeros(len(vectors), dtype=np.int64)
        for place in range(self.digits):
            product += vectors // q**place % q * (codes // q**place % q)
        return -product % q

    def supports(self, reports: Reports, value: int) -> BoolArray:
        vectors, r = np.divmod(reports.astype(np.int64), self.order)
        return self._right(vectors, value) == r

    def aggregate(self, reports: Reports) -> Tally:
        """How often each report was sent."""
        self.require_valid(reports)
        return Tally(np.bincount(reports, minlength=self.layout.values), len(reports))

    def support_counts(self, tally: Tally) -> IntArray:
        # digit by digit, the digit of a is summed out and that of v put in its place
        self.require_histogram(tally, self.layout.values)
        q, sums = self.order, tally.total.reshape((self.order,) * (self.digits + 1))
        for axis in range(self.digits):
            old, sums = np.moveaxis(sums, axis, 0), np.zeros_like(sums)
            new = np.moveaxis(sums, axis, 0)
            first = q if axis else -(-self.d // q ** (self.digits - 1))  # digits that values have
            for v in range(first):
                for a in range(q):  # what the other digits and r add up to is -a·v
                    new[v] += np.roll(old[a], a * v, axis=-1)
        return sums[..., 0].reshape(-1)[: self.d].copy()


def _digits(q: int, d: int) -> int:
    t = 1
    while q**t < d:
        t += 1
    return t


def _best_prime(epsilon: float, d: int) -> int:
    x, best = exp(epsilon), min(int(2 * exp(epsilon)), 2**13) + 4
    primes = [q for q in range(2, best) if prime_factors(q) == [q]]
    fit = [q for q in primes if q ** (_digits(q, d) + 1) <= MOST_REPORTS] or [2]
    return min(fit, key=lambda q: risk(x / (x + q - 1), Fraction(1, q), None))
