"""Resolutions: an ordered domain asked in coarse and in fine bins, by a lot for each person."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import ClassVar, final

import numpy as np

from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.errors import InvalidData, require
from ldp3.noise import Noise
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.grr import GRR
from ldp3.protocols.pgr import PGR
from ldp3.protocols.pure import PureOracle
from ldp3.protocols.sw import SW
from ldp3.randomness import WORDS
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.types import Estimate, Tally

MOST_VALUES = 2**14  # the variances of all of them cost O(d² log d)
ROWS = 2**18  # numbers in the weights of several queries that are looked at together
LEAST = 1e-9  # ε
GRAIN = 64  # shares are whole numbers of so many, or rounding would make them differ by machine
STEPS = 3_000  # towards the best shares, at the most


@final
@dataclass(frozen=True)
class Resolutions(Scheme):
    r"""Resolutions: each person answers in 2, 4, 8, … or all $d$ bins, by lot; then least squares.

    Values in $d$ bins are the leaves of a tree, whose depth $l$ has $m_l = \min(2^l, d)$ nodes. A
    person answers for one depth, by `grr` or `pgr`, whichever has less variance there. Depth $l$
    sees, of every node at a depth $t \le l$, by how much its mass differs from half of that above
    it, with a variance $\propto m_l v_l / n_l$. What several depths say of it is weighted by the
    inverse of that; masses follow from the top, which holds one:

    $$\hat f_u = \tfrac12 \hat f_{\mathrm{parent}(u)} + \sum_{l \ge t} a_{tl}\,
      \big(\hat f^{(l)}_u - \tfrac12 \hat f^{(l)}_{\mathrm{parent}(u)}\big), \qquad
      a_{tl} \propto \frac{n_l}{m_l v_l}, \quad \sum_l a_{tl} = 1.$$

    Unbiased whatever the weights, in $O(d)$. Shares of people are those with the least mean
    variance over all ranges, $\min_π \sum_t e_t / \sum_{l \ge t} π_l d / (m_l v_l)$ with $e_t$ the
    mean square of what a range has at depth $t$: a convex programme. The variance of any weighted
    sum is exact, with that of who is in which group. A report is the number of a group and that
    group's report.

    For values whose order means something: shares of ranges, quantiles and the distribution. With
    `wave` that share of the people answers by the square wave instead, which sees the coarse shape
    best: one likelihood of all reports, by `adaptive_em`, is nearer to the truth than either alone;
    unbiased frequencies come from the resolutions, and their mean from both.

    Parameters
    ----------
    wave
        Share of the people who answer by `sw`, from 0 to below 1; ``resolutions(wave=0.5)`` is a
        good default for whole distributions.

    Examples
    --------
    >>> from ldp3 import stream
    >>> oracle = Resolutions(epsilon=1.0, d=64)
    >>> [group.oracle.d for group in oracle.groups]
    [4, 8, 16, 32, 64]
    >>> tally = oracle.aggregate(oracle.perturb(np.full(50_000, 20), stream(0)))
    >>> oracle.estimate(tally).frequencies[16:24].sum().round(1)
    np.float64(1.0)

    References
    ----------
    Hay, Rastogi, Miklau, Suciu. *Boosting the accuracy of differentially private histograms through
    consistency.* PVLDB 2010; Cormode, Kulkarni, Srivastava. *Answering range queries under local
    differential privacy.* PVLDB 2019; here with the best shares, exact variances and the square
    wave of Li, Wang, Lopuhaä-Zwakenberg, Li, Škorić. *Estimating numerical distributions under
    local differential privacy.* SIGMOD 2020.
    """

    aliases: ClassVar[tuple[str, ...]] = ("multiple resolutions",)
    examples: ClassVar[tuple[str, ...]] = ("resolutions(wave=0.5)",)
    needs_order: ClassVar[bool] = True
    most_values: ClassVar[int] = MOST_VALUES

    wave: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        tells = self.epsilon >= LEAST
        require(tells, self, f"epsilon must be {LEAST} or more, which floats tell", self.epsilon)
        sound = isinstance(self.wave, int | float) and 0 <= self.wave < 1
        require(sound, self, "wave must be a share from 0 to below 1 (1 would be sw)", self.wave)
        object.__setattr__(self, "wave", float(self.wave))

    @property
    def usual_method(self) -> str:  # type: ignore[override]
        return "adaptive_em" if self.wave else "isotonic"

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The levels, the coarsest first, and then the square wave, if there is one."""
        levels = _levels(self.epsilon, self.d)
        asked: list[tuple[float, FrequencyOracle]]
        asked = [(share * (1 - self.wave) / GRAIN, oracle) for share, oracle in levels]
        if self.wave:
            asked.append((self.wave, SW(self.epsilon, self.d)))
        shares = whole_shares([share for share, _ in asked])
        return tuple(
            Group(View(((0, None if oracle.d == self.d else oracle.d),)), share, oracle)
            for share, (_, oracle) in zip(shares, asked, strict=True)
        )

    @property
    def correlated(self) -> bool:
        return True

    def estimate(self, tally: Tally) -> Estimate:
        parts = self.split(tally)
        join = self._join([part.n for part in parts])
        return Estimate(join.frequencies(parts), tally, JoinedNoise.of(join), self.channel)

    def noise(self, frequencies: FloatArray, n: int) -> "JoinedNoise":  # noqa: ARG002
        return JoinedNoise.of(self._join([n * group.share / WORDS for group in self.groups]))

    def _join(self, people: Sequence[float]) -> "Join":
        finest = len(_levels(self.epsilon, self.d)) - 1
        if not people[finest]:
            raise InvalidData(
                f"Resolutions: an estimate needs somebody who was asked in all {self.d} bins, and "
                f"none of {sum(people):,.0f} was: collect more."
            )
        return Join(Tree(self.d), self.groups, tuple(people))


@dataclass(frozen=True)
class Tree:
    """Values as the leaves of a tree; each node has two children, just above the leaves one or two.

    >>> [size for size in Tree(5).sizes]
    [1, 2, 4, 5]
    """

    d: int

    @cached_property
    def sizes(self) -> list[int]:
        """The number of nodes at each depth."""
        depth = (self.d - 1).bit_length()
        return [*(2**t for t in range(depth)), self.d]

    @cached_property
    def children(self) -> list[IntArray]:
        """How many each node has, of the depth above each."""
        sizes = self.sizes
        return [np.bincount(np.arange(m) * above // m) for above, m in pairwise(sizes)]

    @cached_property
    def _starts(self) -> list[IntArray]:
        return [np.cumsum(several) - several for several in self.children]

    def up(self, nodes: FloatArray, depth: int) -> FloatArray:
        """What nodes of this depth hold, added up to the depth above; of several rows, for each."""
        return np.add.reduceat(nodes, self._starts[depth - 1], axis=-1)

    def down(self, nodes: FloatArray, depth: int) -> FloatArray:
        """What nodes above this depth hold, for each of their children."""
        return np.repeat(nodes, self.children[depth - 1], axis=-1)

    def evenly(self, nodes: FloatArray, depth: int) -> FloatArray:
        """The same, shared among them."""
        return self.down(nodes / self.children[depth - 1], depth)


@dataclass(frozen=True, eq=False)
class Join:
    """How the answers of groups become one: linear, unbiased, and O(d).

    Parameters
    ----------
    tree, groups
        The nodes, and who is asked for which depth of them; a square wave comes last.
    people
        How many answered in each group.
    """

    tree: Tree
    groups: tuple[Group, ...]
    people: tuple[float, ...]

    @cached_property
    def levels(self) -> list[tuple[int, PureOracle, float]]:
        """The depth, the oracle and the number of people of each resolution that has some."""
        depth = {size: t for t, size in enumerate(self.tree.sizes)}
        groups = zip(self.groups, self.people, strict=True)
        return [
            (depth[group.oracle.d], group.oracle, n)
            for group, n in groups
            if isinstance(group.oracle, PureOracle) and n
        ]

    @cached_property
    def wave(self) -> tuple[SW, float] | None:
        """The square wave and its number of people, if it has some."""
        last, n = self.groups[-1].oracle, self.people[-1]
        return (last, n) if isinstance(last, SW) and n else None

    @cached_property
    def precision(self) -> FloatArray:
        """What each level knows of the nodes of each depth, shape `(depths, levels)`.

        The inverse of the variance of a node's difference from its half of the node above, in the
        mean over nodes, if all values are held alike.
        """
        depths = np.arange(1, len(self.tree.sizes))
        know = [np.where(depths <= t, 2.0 ** (depths + 1) * n / (o.d * _spread(o)), 0)
                for t, o, n in self.levels]  # fmt: skip
        return np.array(know).T

    @cached_property
    def _weights(self) -> FloatArray:
        return self.precision / self.precision.sum(axis=1, keepdims=True)

    def together(self, parts: Sequence[FloatArray], root: float) -> FloatArray:
        """The leaves of a tree whose nodes the levels see as in `parts`, with `root` at the top."""
        tree, depths = self.tree, len(self.tree.sizes)
        apart = [np.zeros(size) for size in tree.sizes]
        for (depth, _, _), part, weights in zip(self.levels, parts, self._weights.T, strict=True):
            nodes = part
            for t in range(depth, 0, -1):
                above = tree.up(nodes, t)
                apart[t] += weights[t - 1] * (nodes - tree.evenly(above, t))
                nodes = above
        nodes = np.array([root])
        for t in range(1, depths):
            nodes = tree.evenly(nodes, t) + apart[t]
        return nodes

    def apart(self, rows: FloatArray) -> list[FloatArray]:
        """With which weights each level's nodes enter weighted sums of the leaves, row by row."""
        tree, means = self.tree, [rows]
        for t in range(len(tree.sizes) - 1, 0, -1):
            means.append(tree.up(means[-1], t) / tree.children[t - 1])
        means.reverse()
        found = []
        for (depth, _, _), weights in zip(self.levels, self._weights.T, strict=True):
            nodes = np.zeros((*rows.shape[:-1], 1))
            for t in range(1, depth + 1):
                beside = means[t] - tree.down(means[t - 1], t)
                nodes = tree.down(nodes, t) + weights[t - 1] * beside
            found.append(nodes)
        return found

    # the mean, which the square wave knows better

    @cached_property
    def line(self) -> FloatArray:
        """Weights whose sum over the frequencies is the mean, from the middle of the domain."""
        return np.arange(self.tree.d, dtype=np.float64) - (self.tree.d - 1) / 2

    @cached_property
    def scores(self) -> FloatArray:
        """What each report of the square wave says of that mean."""
        assert self.wave is not None
        return self.wave[0].channel.scores(self.line)

    @cached_property
    def gain(self) -> FloatArray:
        """How much each frequency moves for a mean of the wave that is one higher than the levels'.

        By least squares: their covariance with the mean of the levels over the variance of what
        both differ by, at even frequencies.
        """
        if self.wave is None:
            return np.zeros(self.tree.d)
        oracle, n = self.wave
        levels = zip(self.levels, self.apart(self.line), strict=True)
        along = self.together([_spread(o) / m * w for (_, o, m), w in levels], 0.0)
        even = oracle.channel.forward(np.full(oracle.d, 1 / oracle.d))
        return along / float(self.line @ along + even @ self.scores**2 / n)

    def frequencies(self, tallies: Sequence[Tally]) -> FloatArray:
        """Unbiased, from the tally of each group."""
        asked = zip(self.groups, tallies, strict=True)
        levels = [
            g.oracle.estimate(t) for g, t in asked if isinstance(g.oracle, PureOracle) and t.n
        ]
        f = self.together([estimate.frequencies for estimate in levels], 1.0)
        if self.wave is None:
            return f
        oracle, last = self.wave[0], tallies[-1]
        oracle.require_histogram(last, oracle.places)
        mean = self.scores @ last.total / last.n
        return f + self.gain * (mean - self.line @ f)

    def variances(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray:
        r"""Of weighted sums of the frequencies, row by row; exact, given who was asked how often.

        A group's mean score varies by what its reports add, and by who is in the group: of all
        the $n$ people, whose own sum does not vary,

        $$\sum_g \frac{E s_g^2 - E w_g^2}{n_g}
          + \frac{n}{n - 1}
          \Big(\sum_g \frac{\mathrm{Var}\,w_g}{n_g} - \frac{\mathrm{Var}\,w}{n}\Big)$$

        with $s_g$ the score of a report, $w_g$ its mean given the value, and $\sum_g w_g = w$ but
        for a constant. It is concave in the frequencies, so that it is least where all hold one
        value: estimates, which are no distribution, are not to say less.
        """
        moved, d = rows @ self.gain, self.tree.d
        own, each = self._of_levels(rows - moved[:, None] * self.line, frequencies)
        of_wave, each_of_wave = self._of_wave(frequencies)
        people = self._chosen * _spread_of(rows, frequencies) / sum(self.people)
        least = sum(values[:, np.arange(d) * values.shape[1] // d] for values in each)
        least = least + np.multiply.outer(moved**2, each_of_wave)
        return np.maximum(own + moved**2 * of_wave - people, np.maximum(least.min(axis=1), 0))

    @property
    def _chosen(self) -> float:
        """n/(n - 1), for groups are chosen from n people, none of them twice."""
        n = sum(self.people)
        return n / max(n - 1, 1)

    def _of_levels(
        self, rows: FloatArray, frequencies: FloatArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """The variances, and what they are for each level if all people are in one of its cells."""
        found, each = np.zeros(len(rows)), []
        for (_, oracle, m), weights in zip(self.levels, self.apart(rows), strict=True):
            held, channel = self._cells(frequencies, oracle.d), oracle.channel
            assert channel is not None
            scores, square = channel.scores(weights) ** 2, weights**2
            reports = scores @ channel.forward(held) - square @ held
            found += (reports + self._chosen * _spread_of(weights, held)) / m
            each.append((channel.backward(scores) - square) / m)
        return found, each

    def _of_wave(self, frequencies: FloatArray) -> tuple[float, FloatArray]:
        """Of the mean by the square wave, and for each value if all people hold it."""
        if self.wave is None:
            return 0.0, np.zeros(self.tree.d)
        oracle, m = self.wave
        reports = oracle.channel.forward(frequencies) @ self.scores**2
        reports -= frequencies @ self.line**2
        who = self._chosen * _spread_of(self.line[None], frequencies)[0]
        each = oracle.channel.backward(self.scores**2) - self.line**2
        return float(reports + who) / m, each / m

    def _cells(self, frequencies: FloatArray, size: int) -> FloatArray:
        d = self.tree.d
        held: FloatArray = np.bincount(np.arange(d) * size // d, frequencies, size).astype(float)
        return held


@dataclass(frozen=True, eq=False)
class JoinedNoise(Noise):
    """The noise of joined levels, which hangs together.

    Parameters
    ----------
    join
        How the levels are joined.
    """

    join: Join | None = None

    @classmethod
    def of(cls, join: Join) -> "JoinedNoise":
        # if all values are held alike: each depth adds its own noise, of which a leaf gets a part
        tree, base = join.tree, np.zeros(1)
        for t, known in enumerate(join.precision.sum(axis=1), start=1):
            several = tree.children[t - 1]
            base = tree.down(base / several**2 + (several > 1) / known, t)
        return cls(np.maximum(base, 1e-300), 0.0, join)

    @property
    def correlated(self) -> bool:
        return True

    @property
    def in_bins(self) -> int:
        """How many people were asked in bins, and so tell of more than the mean."""
        assert self.join is not None
        return round(sum(n for _, _, n in self.join.levels))

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Variance of the estimates, if these are the frequencies.

        Of values that are not all, and so not said which, it is that of the loudest.
        """
        assert self.join is not None
        d = self.join.tree.d
        if len(frequencies) != d:
            return np.full(len(frequencies), np.max(self.base))
        step = max(1, ROWS // d)
        rows = (np.eye(min(step, d - start), d, start) for start in range(0, d, step))
        return np.concatenate([self.join.variances(some, frequencies) for some in rows])

    def of_queries(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray:
        assert self.join is not None
        return self.join.variances(rows, frequencies)

    def farthest(self, frequencies: FloatArray, level: float) -> float:
        # variances are dear: asked for once
        return Noise(np.maximum(self.variance(frequencies), 1e-300)).farthest(frequencies, level)


def _spread(oracle: PureOracle) -> float:
    """n times the variance of what a level says of its cells, off their sum, if they are even.

    With that of who is in the level: all of them vary alike.
    """
    m = oracle.d
    return oracle.variance(1, 1 / m) * m / (m - 1) + 1 / m


def _spread_of(rows: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Variance of weights over people, row by row."""
    return rows**2 @ frequencies - (rows @ frequencies) ** 2


@cache
def _levels(epsilon: float, d: int) -> list[tuple[int, PureOracle]]:
    """The share, of `GRAIN`, and the oracle of each level that somebody is asked for."""
    sizes = Tree(d).sizes[1:]
    oracles: list[PureOracle] = [
        min((GRR(epsilon, m), PGR(epsilon, m)), key=lambda o: o.variance(1, 1 / m)) for m in sizes
    ]
    shares = _best_shares(d, np.array(sizes), np.array([_spread(o) for o in oracles]))
    known = zip(shares, oracles, strict=True)
    return [(share, oracle) for share, oracle in known if share]


def _best_shares(d: int, sizes: IntArray, spreads: FloatArray) -> list[int]:
    """How many of `GRAIN` people each level gets, for the least mean variance over all ranges."""
    depth = np.arange(1, len(sizes) + 1)
    nodes, half = 2.0 ** (depth - 1), d / 2.0**depth
    # Of an end of a range that falls into a node, what counts is how far from its edges: x or
    # 2h - x. Mean square (2h² + 1)/6, variance (h² + 2)/12; both ends are in one node at times.
    apart, both = 2 * (2 * half**2 + 1) / 6, 2 * (half**2 + 2) / 12
    energy = (apart * (1 - 1 / nodes) + both / nodes) / (2 * half)
    known = np.where(depth[None, :] >= depth[:, None], d / (sizes * spreads), 0)
    shares = np.full(len(sizes), 1 / len(sizes))
    for _ in range(STEPS):
        each = energy / (known @ shares)
        pull = (each / (known @ shares)) @ known / each.sum()  # 1 at most where it is best
        if pull.max() < 1 + 1e-9:
            break
        shares *= pull**0.8
        shares /= shares.sum()
    return apportion(shares, GRAIN).tolist()
