r"""Hyperplanes through points: how often each is drawn by many users at once.

Each of `keep[v]` users draws a uniform hyperplane through point $v$, and `blind` others draw any.
Point by point this takes as many steps as there are users, or as there are pairs of a held point
and a hyperplane through it. The butterfly takes about $t q^{t+2}$ binomial draws, whatever the
number of people. It needs coordinates: with $T_n$ the trace of $\theta α^n$ in the field of $q$
elements, hyperplane $u$ has the vector $X_u = (T_u, …, T_{u+t-1})$ and point $v$ the vector $Y_v =
H^{-1} X_v$ with $H_{ij} = T_{i+j}$, and $\langle X_u, Y_v \rangle = T_{u+v}$, which is 0 where $u +
v \in D$.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import IntArray
from ldp3.kernels import transforms
from ldp3.kernels.compile import njit
from ldp3.kernels.sampling import BINOMIAL_TIME, scatter
from ldp3.kernels.source import Key, key_of, open_source
from ldp3.protocols.singer import Geometry

MOST_STATES = 2**27  # of a butterfly: 2 GiB
Codes = NDArray[np.int64]  # elements of the field, as numbers below q


def simulated(space: Geometry, keep: IntArray, blind: int, rng: np.random.Generator) -> IntArray:
    """How often each hyperplane is drawn."""
    k = space.points_of_a_hyperplane
    one_by_one = float(np.minimum(keep, BINOMIAL_TIME * k).sum()) / BINOMIAL_TIME
    butterflies = space.t * float(space.q) ** (space.t + 2)
    fits = space.t > 2 and space.q ** (space.t + 1) <= MOST_STATES
    if fits and butterflies < one_by_one:
        counts = by_butterfly(space, keep, rng)
    else:
        counts = by_point(space, keep, rng)
    _scatter_blind(blind, np.arange(space.points, dtype=np.uint32), key_of(rng), counts)
    return counts


def by_point(space: Geometry, keep: IntArray, rng: np.random.Generator) -> IntArray:
    """The draws of users who keep their point, point by point."""
    counts = np.zeros(space.points, dtype=np.int64)
    _scatter_kept(keep, space.difference_set, key_of(rng), counts)
    return counts


def by_butterfly(space: Geometry, keep: IntArray, rng: np.random.Generator) -> IntArray:
    """The same, with the same law, for all users at once."""
    places = coordinates(space)
    users = np.zeros(space.q**space.t, dtype=np.int64)
    users[places.of_points(len(keep))] = keep
    drawn = transforms.orthogonal(users, places.add, places.multiply, False, key_of(rng))
    return np.asarray(drawn[places.of_hyperplanes].sum(axis=0))


@dataclass(frozen=True)
class Coordinates:
    r"""Vectors over the field of q elements, as numbers to the base q.

    An element $z$ is written as the number with the digits $\mathrm{Tr}(z), \mathrm{Tr}(γz), …$ to
    the base $p$, where $γ = α^K$ generates the field: of $T_n$ these are $s_n, s_{n+K}, …$ So
    elements add digit by digit, and $T_{n+K} = γ T_n$ gives products. The first $T_n$ that is not 0
    stands for the one of the field, which changes all products alike.
    """

    space: Geometry

    @cached_property
    def traces(self) -> Codes:
        """T_n for n < K + 2t."""
        space, size = self.space, self.space.points + 2 * self.space.t
        digits = [space.sequence(space.points * e, size) for e in range(space.exponent)]
        return sum(s.astype(np.int64) * space.prime**e for e, s in enumerate(digits))

    @cached_property
    def powers(self) -> Codes:
        """1, γ, γ², …, all elements but 0."""
        space, first = self.space, int(np.argmax(self.traces > 0))
        steps = range(space.q - 2 + space.exponent)
        s = [int(space.sequence(first + space.points * e, 1)[0]) for e in steps]
        digits = [s[e : e + space.q - 1] for e in range(space.exponent)]
        return np.array(
            [sum(x * space.prime**e for e, x in enumerate(z)) for z in zip(*digits, strict=True)]
        )

    @cached_property
    def add(self) -> Codes:
        """The table of sums."""
        q, p = self.space.q, self.space.prime
        places = p ** np.arange(self.space.exponent)
        digits = np.arange(q)[:, None] // places % p
        return np.asarray((digits[:, None] + digits) % p @ places)

    @cached_property
    def multiply(self) -> Codes:
        """The table of products."""
        q, powers = self.space.q, self.powers
        table, steps = np.zeros((q, q), dtype=np.int64), np.arange(q - 1)
        table[np.ix_(powers, powers)] = powers[(steps[:, None] + steps) % (q - 1)]
        return table

    @cached_property
    def of_hyperplanes(self) -> IntArray:
        """The numbers of the vectors of each hyperplane: one column each, all its multiples."""
        t = self.space.t
        windows = [self.traces[i : i + self.space.points] for i in range(t)]
        return np.array([self._number([self.multiply[z, w] for w in windows]) for z in self.powers])

    def of_points(self, d: int) -> IntArray:
        """The number of a vector of each of the first d points."""
        t, traces = self.space.t, self.traces
        inverse = self._inverse(np.array([traces[i : i + t] for i in range(t)]))
        rows = []
        for row in inverse:
            terms = [self.multiply[z, traces[i : i + d]] for i, z in enumerate(row)]
            rows.append(self._sum(terms))
        return self._number(rows)

    def _number(self, digits: list[Codes]) -> IntArray:
        return sum(z * self.space.q ** (len(digits) - 1 - i) for i, z in enumerate(digits))

    def _sum(self, terms: list[Codes]) -> Codes:
        total = terms[0]
        for term in terms[1:]:
            total = self.add[total, term]
        return total

    def _inverse(self, matrix: Codes) -> Codes:
        """By Gauss and Jordan."""
        t, one = len(matrix), int(self.powers[0])
        minus = np.argmax(self.add == 0, axis=1)
        inverses = np.argmax(self.multiply == one, axis=1)
        rows = np.concatenate([matrix, one * np.eye(t, dtype=np.int64)], axis=1)
        for i in range(t):
            pivot = i + int(np.argmax(rows[i:, i] != 0))
            rows[[i, pivot]] = rows[[pivot, i]]
            rows[i] = self.multiply[inverses[rows[i, i]], rows[i]]
            for j in (j for j in range(t) if j != i):
                rows[j] = self.add[rows[j], self.multiply[minus[rows[j, i]], rows[i]]]
        return rows[:, t:]


@lru_cache(maxsize=2)
def coordinates(space: Geometry) -> Coordinates:
    """The same object for the same space, so that its tables are built once."""
    return Coordinates(space)


@njit
def _scatter_kept(keep: IntArray, through: NDArray[np.uint32], key: Key, counts: IntArray) -> None:
    source = open_source(key)
    for v in range(keep.size):
        scatter(keep[v], through, v, counts, source)


@njit
def _scatter_blind(blind: int, places: NDArray[np.uint32], key: Key, counts: IntArray) -> None:
    scatter(blind, places, 0, counts, open_source(key))
