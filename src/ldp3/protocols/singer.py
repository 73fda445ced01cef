r"""Singer's cyclic difference sets: projective geometry without coordinates.

The $K = (q^t - 1)/(q - 1)$ points of the projective space of dimension $t - 1$ over the field of
$q$ elements are the numbers below $K$, and so are its hyperplanes: hyperplane $u$ holds point $v$
if $u + v \bmod K$ is in the difference set $D$. A hyperplane holds $k = (q^{t-1} - 1)/(q - 1)$
points, and any two hyperplanes share $(q^{t-2} - 1)/(q - 1)$ of them.

Every client must build the same set, so it is fixed here. With $q = p^a$, $p$ prime, and $m = at$:

1. $f = x^m + \sum_j a_j x^j$ is the primitive polynomial over the integers modulo $p$ for which
   $\sum_j a_j p^j$ is least.
2. $s_n$ is the coefficient of $x^{m-1}$ in $x^n \bmod f$: it starts with $m - 1$ zeros and a one
and
   goes on by $s_{n+m} = -\sum_j a_j s_{n+j}$.
3. $D = \{i < K : s_i = s_{i+K} = \dots = s_{i+(a-1)K} = 0\}$, and $D = \{0\}$ if $t = 2$.

References
----------
Singer. *A theorem in finite projective geometry and some applications to number theory.*
Transactions of the American Mathematical Society, 1938.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray

Polynomial = tuple[int, ...]  # coefficients, the constant one first; the leading 1 is left out


@dataclass(frozen=True)
class Geometry:
    """The points and hyperplanes of the projective space of dimension `t - 1` and order `q`.

    >>> Geometry(2, 3).difference_set.tolist()
    [0, 1, 3]
    """

    q: int
    t: int

    @property
    def points(self) -> int:
        """Their number K, which is also that of hyperplanes."""
        return (self.q**self.t - 1) // (self.q - 1)

    @property
    def points_of_a_hyperplane(self) -> int:
        """Their number k, which is also that of hyperplanes through a point."""
        return (self.q ** (self.t - 1) - 1) // (self.q - 1)

    @cached_property
    def prime(self) -> int:
        """The characteristic p of the field."""
        return prime_factors(self.q)[0]

    @cached_property
    def exponent(self) -> int:
        """The a in q = p^a."""
        return next(a for a in count(1) if self.prime**a == self.q)

    @cached_property
    def polynomial(self) -> Polynomial:
        """The first primitive one of degree m = at."""
        return primitive_polynomial(self.prime, self.exponent * self.t)

    @property
    def polynomial_number(self) -> int:
        r"""It, as one number: $p^m + \sum_j a_j p^j$; 0 if t = 2, which needs none."""
        if self.t == 2:
            return 0
        return sum(a * self.prime**j for j, a in enumerate((*self.polynomial, 1)))

    @cached_property
    def difference_set(self) -> NDArray[np.uint32]:
        """In order."""
        return np.flatnonzero(self.members).astype(np.uint32)

    @cached_property
    def members(self) -> BoolArray:
        """Which numbers below K are in the difference set."""
        inside = np.ones(self.points, dtype=bool)
        if self.t == 2:
            inside[1:] = False
            return inside
        for e in range(self.exponent):
            inside &= self.sequence(self.points * e, self.points) == 0
        return inside

    def sequence(self, start: int, size: int) -> NDArray[np.integer]:
        r"""The terms $s_n$ for $n$ from `start` on.

        As $f(x)^P = f(x^P)$ for powers $P$ of $p$, the recurrence also holds with strides of $P$:
        long stretches come from few additions of shifted ones.
        """
        p, f = self.prime, self.polynomial
        m, taps = len(f), [(j, -a % p) for j, a in enumerate(f) if a]
        s = np.empty(max(size, m), dtype=np.min_scalar_type(p - 1))
        s[:m] = [_power(start + i, f, p)[-1] for i in range(m)]
        known, stride = m, 1
        while known < size:
            while m * stride * p <= known:
                stride *= p
            more = min((m - taps[-1][0]) * stride, size - known)
            starts = [(known - (m - j) * stride, tap) for j, tap in taps]
            if p == 2:
                terms = np.bitwise_xor.reduce([s[old : old + more] for old, _ in starts])
            else:
                shifted = (tap * s[old : old + more].astype(np.int64) for old, tap in starts)
                terms = sum(shifted) % p
            s[known : known + more] = terms
            known += more
        return s[:size]


@lru_cache(maxsize=4)
def geometry(q: int, t: int) -> Geometry:
    """The same object for the same numbers, so that its tables are built once."""
    return Geometry(q, t)


def dimension(q: int, d: int) -> int:
    """The least t ≥ 2 for which there are at least d points."""
    return next(t for t in count(2) if (q**t - 1) // (q - 1) >= d)


def is_prime_power(q: int) -> bool:
    """Whether there is a field of q elements."""
    return q >= 2 and len(prime_factors(q)) == 1


def prime_factors(n: int) -> list[int]:
    """The primes that divide n, in order.

    >>> prime_factors(360)
    [2, 3, 5]
    """
    found, divisor = [], 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            found.append(divisor)
            while n % divisor == 0:
                n //= divisor
        divisor += 1 if divisor == 2 else 2
    return [*found, n] if n > 1 else found


@lru_cache(maxsize=64)
def primitive_polynomial(p: int, m: int) -> Polynomial:
    r"""The primitive one of degree m ≥ 2 over the integers modulo p with the least $\sum a_j p^j$.

    >>> primitive_polynomial(2, 4)
    (1, 1, 0, 0)
    """
    units, points = p - 1, (p**m - 1) // (p - 1)
    orders = [units * points // r for r in sorted({*prime_factors(units), *prime_factors(points)})]
    roots = {
        g for g in range(1, p) if all(pow(g, units // r, p) != 1 for r in prime_factors(units))
    }
    one = (1,) + (0,) * (m - 1)
    for number in count(p):  # below are polynomials with two terms, and none of them is primitive
        f = tuple(number // p**j % p for j in range(m))
        norm = (-1) ** m * f[0] % p  # of a root: what it is raised to the power of K
        if norm not in roots or sum(f) % p == p - 1:  # 1 is a zero
            continue
        if _power(points, f, p) != (norm, *one[1:]):
            continue
        if all(_power(order, f, p) != one for order in orders):
            return f
    raise AssertionError  # there is one of every degree


def _power(n: int, f: Polynomial, p: int) -> Polynomial:
    """x^n modulo the polynomial x^m + f."""
    m = len(f)
    result = [1] + [0] * (m - 1)
    for bit in bin(n)[2:]:
        result = _product(result, result, f, p)
        if bit == "1":  # times x
            top = result[-1]
            result = [(r - top * a) % p for r, a in zip([0, *result[:-1]], f, strict=True)]
    return tuple(result)


def _product(one: list[int], other: list[int], f: Polynomial, p: int) -> list[int]:
    m = len(f)
    product = [0] * (2 * m - 1)
    for i, a in enumerate(one):
        if a:
            for j, b in enumerate(other):
                product[i + j] += a * b
    for i in range(2 * m - 2, m - 1, -1):
        top = product[i] % p
        if top:
            for j, a in enumerate(f):
                product[i - m + j] -= top * a
    return [a % p for a in product[:m]]
