r"""Tables of several attributes, joined from the answers of groups that saw different ones.

With $D_S$ the number of cells of the table of the attributes $S$, every such table is a sum of
*interactions* (Efron and Stein's decomposition, the analysis of variance), which are the same
whichever table they are taken from:

$$f_S = \frac{1}{D_S}\Bigl(1 + \sum_{\emptyset \ne T \subseteq S} c_T\Bigr), \qquad
  c_T = \prod_{j \in T} (1 - M_j)\; D_T f_T,$$

where $M_j$ is the mean along attribute $j$, so that an interaction sums to zero along each of its
attributes. A group $G$ of $n_G$ people tells every $c_T$ with $T \subseteq G$; least squares are
the mean, weighted with the information $n_G ρ_G$. So no equations are solved, tables with an
attribute in common agree on it, and no table is better estimated by any other unbiased linear
rule, for people spread evenly over the cells.

References
----------
Efron, Stein. *The jackknife estimate of variance.* Annals of Statistics, 1981.
Xiao, He, Zhang, Kifer. *An optimal and scalable matrix mechanism for noisy marginals under convex
loss functions.* NeurIPS 2023 (the same parts of a table, under central privacy).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.associations import Association, Shares, associated, shares_within
from ldp3.domain import Records
from ldp3.errors import InvalidData, InvalidParameter, short, whole
from ldp3.noise import LinearChannel, Noise
from ldp3.types import Estimate, Tally

Attributes = tuple[int, ...]  # their numbers; the axes of a table, in this order
Key = str | int | tuple[str | int, ...]


def parts(attributes: Sequence[int]) -> list[Attributes]:
    """All sets of them but the empty one, small ones first.

    >>> parts((0, 2))
    [(0,), (2,), (0, 2)]
    """
    sizes = range(1, len(attributes) + 1)
    return [T for size in sizes for T in combinations(sorted(attributes), size)]


def margin(table: FloatArray, own: Attributes, kept: Attributes) -> FloatArray:
    """The table of some of its attributes."""
    drop = tuple(axis for axis, a in enumerate(own) if a not in kept)
    left = [a for a in own if a in kept]
    return table.sum(axis=drop).transpose([left.index(a) for a in kept])


def spread(table: FloatArray, own: Attributes, over: Attributes) -> FloatArray:
    """The same numbers along the axes of more attributes, ready to be broadcast."""
    shape = [table.shape[own.index(a)] if a in own else 1 for a in over]
    return table.transpose([own.index(a) for a in over if a in own]).reshape(shape)


def centred(table: FloatArray, axes: Sequence[int] | None = None) -> FloatArray:
    """What is left when its means along these axes, or along each, are taken away."""
    for axis in range(table.ndim) if axes is None else axes:
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def interaction(table: FloatArray, own: Attributes, wanted: Attributes) -> FloatArray:
    """The interaction of some attributes of a table."""
    some = margin(table, own, wanted)
    return centred(some * some.size)


def composed(interactions: Mapping[Attributes, FloatArray], own: Attributes) -> FloatArray:
    """The table that has these interactions, which are those of all its `parts`.

    >>> f = np.array([[0.1, 0.2], [0.3, 0.4]])
    >>> composed({T: interaction(f, (0, 1), T) for T in parts((0, 1))}, (0, 1))
    array([[0.1, 0.2],
           [0.3, 0.4]])
    """
    one = np.ones([interactions[(a,)].size for a in own])
    total = sum((spread(interactions[T], T, own) for T in parts(own)), one)
    return np.asarray(total / one.size)


@dataclass(frozen=True, eq=False)
class GroupAnswer:
    r"""What one group answered.

    Parameters
    ----------
    attributes, table, n
        What it was asked, its unbiased frequencies, and how many people it is.
    base, slope
        Of one report: the variance of $\sum_v w_v \hat f_v$ with weights that sum to zero is
        $\mathrm{base} \sum w_v^2 + \mathrm{slope} \sum w_v^2 f_v$.
    channel
        Of its oracle, where that says more: of `pgr` the line above is a mean over the cells.
    """

    attributes: Attributes
    table: FloatArray
    n: int
    base: float
    slope: float
    channel: LinearChannel | None = None

    @property
    def information(self) -> float:
        """On each direction of each interaction: one over its variance, for even data."""
        return self.n / (self.base * self.table.size + self.slope + 1)


@dataclass(frozen=True, eq=False)
class TableNoise(Noise):
    """The noise of a joined table, at what was estimated: errors of its cells hang together."""

    tables: "Tables" = field(default_factory=lambda: Tables((2, 2), (), Tally(np.zeros(0), 0)))
    attributes: Attributes = ()

    def variance(self, frequencies: FloatArray) -> FloatArray:
        """Of each cell, whatever frequencies are said: those of other groups are in it."""
        if len(frequencies) != np.size(self.base):
            return np.full(len(frequencies), np.max(self.base))
        return np.asarray(self.base)

    def of_queries(self, rows: FloatArray, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        return np.array([max(float(self.covariance(row[None])[0, 0]), 0.0) for row in rows])

    def covariance(self, queries: FloatArray) -> FloatArray:
        """Of weighted sums of the cells, one row of weights each."""
        return self.tables.covariance(self.attributes, queries)

    def of_population(self, queries: FloatArray, truth: FloatArray) -> FloatArray:
        """The same, for people who are a sample of a population that has this table."""
        return self.tables.covariance(self.attributes, queries, truth)


@dataclass(frozen=True, eq=False)
class Tables(Mapping[Key, Estimate]):
    """Estimates of all tables that some group saw, which agree with each other.

    Indexed by names or numbers of attributes: ``tables["sex", "age"]``. A table is refused unless
    one group that has reports saw all its attributes: for the others an interaction would be
    missing, which is not the same as none. Whoever iterates gets the `targets` that are there.

    Parameters
    ----------
    sizes
        The number of values of each attribute.
    answers
        What the groups answered; those without reports are left out.
    tally
        What it all comes from.
    targets
        The tables that were wanted.
    domain
        What the attributes are, where that is known.
    """

    sizes: tuple[int, ...]
    answers: tuple[GroupAnswer, ...]
    tally: Tally
    targets: tuple[Attributes, ...] = ()
    domain: Records | None = None

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.tally.n

    def __getitem__(self, key: Key) -> Estimate:
        own = self.attributes(key)
        if not self.seen(own):
            if len(own) == 1:
                raise InvalidData(f"No group that has reports saw {self.called(own)}.")
            raise InvalidData(
                f"No group that has reports saw {self.called(own)} together, so that nothing is "
                f"known of how they go together: ask for a table of fewer attributes."
            )
        found = self._estimate(own)
        return Estimate(found.frequencies, self.tally, found.noise, domain=self._domain(own))

    def __iter__(self) -> Iterator[Key]:
        names: Sequence[Any] = self.names
        for own in self.targets:
            if self.seen(own):
                yield names[own[0]] if len(own) == 1 else tuple(names[a] for a in own)

    def __len__(self) -> int:
        return sum(map(self.seen, self.targets))

    def __repr__(self) -> str:
        return f"Tables of {self.n:,} reports, to be asked for by {short(list(self))}"

    @property
    def names(self) -> Sequence[str] | Sequence[int]:
        """What the attributes are called; their numbers, where nobody said."""
        return range(len(self.sizes)) if self.domain is None else self.domain.names

    def called(self, attributes: Attributes) -> str:
        """Some of the attributes, in words."""
        return " × ".join(str(self.names[a]) for a in attributes)

    def attributes(self, key: Key) -> Attributes:
        """The numbers of the attributes that a key names."""
        given = key if isinstance(key, tuple) else (key,)
        own = tuple(self._number(one) for one in given)
        if len(set(own)) < len(own) or not own:
            raise InvalidParameter(f"A table is of different attributes, got {short(key)}.")
        return own

    def _number(self, one: object) -> int:
        if self.domain is not None:
            return self.domain.number(one)  # type: ignore[arg-type]
        if not whole(one, 0, len(self.sizes) - 1):
            most = len(self.sizes) - 1
            raise InvalidParameter(f"Attributes have numbers from 0 to {most}, got {short(one)}.")
        return int(one)

    def _domain(self, own: Attributes) -> Any:
        if self.domain is None:
            return None
        return self.domain.parts[own[0]] if len(own) == 1 else self.domain.only(*own)

    @property
    def flat(self) -> FloatArray:
        """The frequencies of all targets that are there, one table after the other."""
        return np.concatenate([np.zeros(0), *(self[key].frequencies for key in self)])

    def seen(self, own: Attributes) -> bool:
        """Whether some group that has reports saw all these attributes."""
        return any(set(own) <= set(answer.attributes) for answer in self.answers)

    def people(self, own: Attributes) -> int:
        """How many were asked all these attributes, maybe among others."""
        return sum(a.n for a in self.answers if set(own) <= set(a.attributes))

    def interaction(self, wanted: Attributes) -> FloatArray:
        """That of some attributes, in ascending order: the weighted mean over the groups."""
        return self._joined(wanted)[0]

    def information(self, wanted: Attributes) -> float:
        """How much is known of an interaction: one over the variance of a direction of it."""
        return self._joined(wanted)[1]

    def table(self, own: Attributes) -> FloatArray:
        """Unbiased frequencies, one axis for each attribute."""
        return composed({T: self.interaction(T) for T in parts(own)}, own)

    def _joined(self, wanted: Attributes) -> tuple[FloatArray, float]:
        if wanted not in self._cache:
            told = [a for a in self.answers if set(wanted) <= set(a.attributes)]
            sums = sum(a.information * interaction(a.table, a.attributes, wanted) for a in told)
            known = sum(a.information for a in told)
            self._cache[wanted] = np.asarray(sums / known), known
        return self._cache[wanted]

    @cached_property
    def _cache(self) -> dict[Attributes, tuple[FloatArray, float]]:
        return {}

    def _estimate(self, own: Attributes) -> Estimate:
        table = self.table(own)
        noise = TableNoise(self._variances(own, table).ravel(), 0.0, self, own)
        return Estimate(table.ravel(), self.tally, noise)

    # the error: that of the reports, and of who happens to be in which group

    def _overlaps(self, own: Attributes) -> Iterator[tuple[GroupAnswer, Attributes]]:
        """The groups that tell something of a table, and the attributes of it that they saw."""
        for answer in self.answers:
            if common := tuple(a for a in own if a in answer.attributes):
                yield answer, common

    def _weight(self, answer: GroupAnswer, wanted: Attributes) -> float:
        """The weight of a group in the mean over groups that is an interaction."""
        return answer.information / self.information(wanted)

    def _variances(self, own: Attributes, table: FloatArray) -> FloatArray:
        r"""The variance of each cell, by a sum over what other cells have in common with it.

        What group $G$ adds to the estimate of cell $x$ is a sum over its answers with weights
        $h(A)$ that depend only on the attributes $A$ in which $x$ and the answer agree. So all
        sums over answers become sums over the sets $A$, and over the frequency with which people
        agree with $x$ exactly there: by inclusion and exclusion from the margins of the table.
        """
        margins: dict[Attributes, FloatArray | float] = {(): 1.0}
        for T in parts(own):
            margins[T] = spread(margin(table, own, T), T, own)
        total = -np.maximum(table * (1 - table), 0) / self.n
        for answer, common in self._overlaps(own):
            squares, held, mean = 0.0, np.zeros(table.shape), np.zeros(table.shape)
            for agreeing in [(), *parts(common)]:
                h = (
                    sum(
                        self._weight(answer, T)
                        * prod(self.sizes[a] * (a in agreeing) - 1 for a in T)
                        for T in parts(common)
                    )
                    / table.size
                )
                share = np.zeros(table.shape)
                apart = tuple(sorted(set(common) - set(agreeing)))
                for more in [(), *parts(apart)]:
                    share += (-1) ** len(more) * margins[tuple(sorted((*agreeing, *more)))]
                share = np.maximum(share, 0)
                squares += h**2 * prod(self.sizes[a] - 1 for a in apart)
                held, mean = held + h**2 * share, mean + h * share
            cells = answer.table.size / prod(self.sizes[a] for a in common)
            total += self._of_group(answer, cells * squares, held, mean**2)
        return np.maximum(total, 1e-9 / self.n**2)

    @staticmethod
    def _of_group(answer: GroupAnswer, squares: Any, held: Any, mean: Any) -> Any:
        """Variance of a group's part, from sums over its answers: w², w²f, and (wf)²."""
        return (answer.base * squares + (answer.slope + 1) * held - mean) / answer.n

    def covariance(
        self, own: Attributes, queries: FloatArray, population: FloatArray | None = None
    ) -> FloatArray:
        """That of weighted sums over the cells of a table, one row of weights each.

        For the people at hand: groups are drawn without replacement, so what all of them together
        vary by is taken away; not so if they are a sample of a `population` with this table.
        """
        table = self.table(own) if population is None else population
        rows = np.asarray(queries, dtype=np.float64).reshape(len(queries), *table.shape)
        axes = tuple(range(1, rows.ndim))
        mean = (rows * table).sum(axis=axes)
        flat = rows.reshape(len(rows), -1)
        total = np.zeros((len(rows), len(rows)))
        if population is None:
            total -= ((flat * table.ravel()) @ flat.T - np.outer(mean, mean)) / self.n
        for answer, common in self._overlaps(own):
            shape = [self.sizes[a] for a in common]
            w = np.zeros((len(rows), *shape))
            named, inside = (-1, *own), (-1, *common)  # the queries are one more axis
            for T in parts(common):
                some = margin(rows, named, (-1, *T))
                scale = self._weight(answer, T) * some[0].size / table.size
                w += scale * spread(centred(some, range(1, some.ndim)), (-1, *T), inside)
            f = margin(table, own, common)
            if answer.channel is None:
                f, w = f.ravel(), w.reshape(len(rows), -1)
                held, cells = np.outer(w @ f, w @ f), answer.table.size / f.size
                total += self._of_group(answer, cells * w @ w.T, (w * f) @ w.T, held)
            else:
                total += self._of_channel(answer, answer.channel, common, w, f)
        return np.asarray(total)

    def _of_channel(
        self,
        answer: GroupAnswer,
        channel: LinearChannel,
        common: Attributes,
        w: FloatArray,
        f: FloatArray,
    ) -> FloatArray:
        """Covariance of a group's part, exact but that its other attributes are taken as apart."""
        asked, shape = answer.attributes, answer.table.shape
        held = spread(f, common, asked)
        for a in set(asked) - set(common):
            held = held * spread(np.maximum(self.table((a,)), 0), (a,), asked)
        weights = spread(w, (-1, *common), (-1, *asked))
        scores = channel.scores(np.broadcast_to(weights, (len(w), *shape)).reshape(len(w), -1))
        sent = np.maximum(channel.forward(held.ravel()), 0)  # of what was estimated, not of people
        sent /= sent.sum()
        mean = scores @ sent
        return np.asarray(((scores * sent) @ scores.T - np.outer(mean, mean)) / answer.n)

    # what people ask

    def association(self, first: str | int, second: str | int, level: float = 0.95) -> Association:
        """Whether two attributes go together, and how much.

        In the population that the people are a sample of: those at hand never are independent to
        the last person.
        """
        found = self[first, second]
        shape = [self.sizes[a] for a in self.attributes((first, second))]
        noise = self._noise_of(found)
        return associated(found.frequencies.reshape(shape), noise.of_population, self.n, level)

    def share(self, of: str | int, *, by: str | int, level: float = 0.95) -> Shares:
        """The shares of the values of one attribute among people with each value of another.

        Of the people at hand, as all intervals of estimates are.
        """
        found = self[by, of]
        rows, columns = self.attributes((by, of))
        table = found.frequencies.reshape(self.sizes[rows], self.sizes[columns])
        names = [() if self.domain is None else self._domain((a,)).labels for a in (rows, columns)]
        return shares_within(table, self._noise_of(found).covariance, level, *names)

    @staticmethod
    def _noise_of(found: Estimate) -> TableNoise:
        if not isinstance(found.noise, TableNoise):
            raise InvalidData(
                "It is not known how the errors of this scheme's cells hang together."
            )
        return found.noise
