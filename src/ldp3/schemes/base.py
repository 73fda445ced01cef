"""What a scheme promises: groups of people, each asked one view of a record by an ordinary oracle.

A scheme is a frequency oracle that is made of others, so that plans, clients, tallies, simulation
and the contract take it as they take any. A report is the number of the group and that group's
ordinary report. The group is drawn before anybody looks at the person's data, so it tells nothing
of them, and whoever reads the report may know it.
"""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import FloatArray, IntArray, Reports, Total
from ldp3.errors import (
    InvalidData,
    require,
    require_codes,
    require_generator,
    require_histogram,
    whole,
)
from ldp3.kernels.transforms import places
from ldp3.noise import Channel
from ldp3.protocols.base import CHUNK_BITS, MOST_AT_ONCE, FrequencyOracle
from ldp3.protocols.layout import Grouped
from ldp3.randomness import WORDS, Words
from ldp3.types import Tally

MOST_GROUPS = 2**16  # so that two bytes number them
FEW = 128  # groups, up to which a lot is held against the bound of each
AT_ONCE = 2**22  # numbers of people in records and groups, while records are dealt out
A_LOT = 4  # what one takes, in groups over which the people of a record are split
SMALL = 2**17  # entries of a channel that is written down


@dataclass(frozen=True)
class View:
    """What a group is asked: some attributes, each at a number of bins, or (None) as it is.

    A margin, a resolution, the whole record and their products have this one form, which is plain
    data, so that a client in another language can follow it.

    Examples
    --------
    >>> coarse = View(((0, 4), (1, None)))  # the first attribute in 4 bins, and all of the second
    >>> coarse.size((64, 3)), coarse.cells((64, 3), np.array([[40, 1]]))
    (12, array([7]))
    """

    parts: tuple[tuple[int, int | None], ...]

    def sizes(self, sizes: Sequence[int]) -> list[int]:
        """How many bins or values each of its attributes has; `sizes` are those of the records."""
        return [sizes[a] if bins is None else bins for a, bins in self.parts]

    def suits(self, sizes: Sequence[int]) -> bool:
        """Whether it is of different attributes, each in no more bins than it has values."""
        different = len(dict(self.parts)) == len(self.parts) > 0
        return different and all(
            whole(a, 0, len(sizes) - 1) and (bins is None or whole(bins, 1, sizes[a]))
            for a, bins in self.parts
        )

    def size(self, sizes: Sequence[int]) -> int:
        """How many cells there are."""
        return prod(self.sizes(sizes))

    def cells(self, sizes: Sequence[int], records: IntArray) -> IntArray:
        """The cell of each record, shape `(n, attributes)`; the last part counts fastest."""
        cells = np.zeros(len(records), dtype=np.int64)
        for (attribute, bins), size in zip(self.parts, self.sizes(sizes), strict=True):
            own = records[:, attribute]
            # in whole numbers, so that bins need not divide the size and clients agree
            cells = cells * size + (own if bins is None else own * bins // sizes[attribute])
        return cells

    def answers(self, sizes: Sequence[int], codes: IntArray) -> IntArray:
        """The same for records given by their numbers, of which only its own parts are looked at.

        >>> View(((0, 4), (1, None))).answers((64, 3), np.array([40 * 3 + 1]))
        array([7])
        """
        found: IntArray | int = 0
        for (attribute, bins), size in zip(self.parts, self.sizes(sizes), strict=True):
            after = prod(sizes[attribute + 1 :])
            own = codes // after if after > 1 else codes
            if attribute:
                own = own % sizes[attribute]
            found = found * size + (own if bins is None else own * bins // sizes[attribute])
        return np.asarray(found)

    def refines(self, other: "View") -> bool:
        """Whether it sees all that the other one sees."""
        mine = dict(self.parts)
        return all(
            a in mine and (mine[a] is None or (bins is not None and mine[a] % bins == 0))  # type: ignore[operator]
            for a, bins in other.parts
        )

    def describe(self, names: Sequence[str]) -> list[list[str | int | None]]:
        """The same for programs, as JSON can hold it."""
        return [[names[attribute], bins] for attribute, bins in self.parts]


@dataclass(frozen=True)
class Group:
    """Some of the people: what they are asked, how many of 2⁶⁴ they are, and by which oracle."""

    view: View
    share: int
    oracle: FrequencyOracle


def whole_shares(weights: Sequence[float]) -> list[int]:
    """Whole numbers that sum to 2⁶⁴, in proportion; what rounding leaves goes to the largest.

    >>> [share / 2**64 for share in whole_shares([1.0, 3.0])]
    [0.25, 0.75]
    """
    exact = [Fraction(weight) for weight in weights]
    shares = [int(weight * WORDS / sum(exact)) for weight in exact]
    shares[shares.index(max(shares))] += WORDS - sum(shares)
    return shares


@dataclass(frozen=True)
class Scheme(FrequencyOracle):
    """People split by lot over groups, each of which answers one view by an oracle of its own.

    A value is the number of a record: of one attribute its code, of several in mixed radix, the
    last attribute fastest. Subclasses say `groups`, `sizes` where there are several attributes, and
    how the answers are joined: `estimate`.
    """

    @property
    @abstractmethod
    def groups(self) -> tuple[Group, ...]:
        """Who is asked what; a cached property, for everybody asks."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each attribute."""
        return (self.d,)

    def require_groups(self) -> None:
        """Refuse groups that no report can name; a subclass calls it when it knows them."""
        shares = [group.share for group in self.groups]
        fine = 1 <= len(shares) <= MOST_GROUPS and min(shares) > 0 and sum(shares) == WORDS
        require(fine, self, f"1 to {MOST_GROUPS:,} groups whose shares sum to 2⁶⁴", len(shares))
        for group in self.groups:
            size = group.view.size(self.sizes)
            require(group.oracle.d == size, self, f"an oracle over {size} cells", group.oracle)

    def with_groups(self, groups: Sequence[Group]) -> Self:
        """The same with groups that were chosen before, such as those that a plan states.

        Shares come from an optimiser, whose last digits are not the same on every machine.
        """
        other = replace(self)
        other.__dict__["groups"] = tuple(groups)
        other.require_groups()
        return other

    def records(self, values: object) -> IntArray:
        """The columns of records with these numbers, shape `(n, attributes)`."""
        codes = require_codes(self, values, self.d).astype(np.int64)
        return np.stack(np.unravel_index(codes, self.sizes), axis=1).astype(np.int64)

    # the client

    @property
    def deployable(self) -> bool:
        return all(group.oracle.deployable for group in self.groups)

    @cached_property
    def layout(self) -> Grouped:
        return Grouped(tuple(group.oracle.layout for group in self.groups))

    @cached_property
    def bounds(self) -> list[int]:
        """A word below the first is for the first group, and so on."""
        return list(accumulate(group.share for group in self.groups))

    def choose(self, words: Words) -> int:
        """The group that a person is in: it takes the first word, before any value is seen."""
        return bisect_right(self.bounds, next(words))

    def cell(self, group: int, value: int) -> int:
        """What a person with this record answers in a group."""
        code = require_codes(self, [value], self.d).astype(np.int64)
        return int(self.groups[group].view.answers(self.sizes, code)[0])

    def draw(self, value: int, words: Words, group: int | None = None) -> int:
        """One report; of somebody who was in a group before, from that `group` again."""
        chosen = self.choose(words) if group is None else group
        payload = self.groups[chosen].oracle.draw(self.cell(chosen, value), words)
        return chosen | payload << 8 * self.layout.head

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        codes = require_codes(self, values, self.d).astype(np.int64, copy=False)
        require_generator(self, rng)
        lots = rng.integers(0, WORDS - 1, len(codes), dtype=np.uint64, endpoint=True)
        of = self._chosen(lots)
        rows = self.layout.rows(of)
        for number, mine in enumerate(places(of, len(self.groups))):
            group = self.groups[number]
            some = group.oracle.perturb(group.view.answers(self.sizes, codes.take(mine)), rng)
            self.layout.put(rows, mine, number, some)
        return rows

    def _chosen(self, lots: NDArray[np.uint64]) -> NDArray[np.integer[Any]]:
        """The group that each word is for."""
        bounds = np.array(self.bounds[:-1], np.uint64)
        if len(bounds) > FEW:
            return np.searchsorted(bounds, lots, side="right")
        of = np.zeros(len(lots), dtype=np.uint8)
        for bound in bounds:  # no branches, which are slow where lots decide
            of += lots >= bound
        return of

    # the server

    @property
    def chunk_size(self) -> int:
        most = max(1, 8 * CHUNK_BITS // self.report_bits)
        return min(max(group.oracle.chunk_size for group in self.groups), MOST_AT_ONCE, most)

    def aggregate(self, reports: Reports) -> Tally:
        """Of each group, the number of its reports and then their own total."""
        split = self.layout.split(reports) if isinstance(reports, np.ndarray) else []
        if sum(int(np.count_nonzero(fine)) for _, _, fine in split) < len(reports) or not split:
            self.require_valid(reports)
        parts = zip(self.groups, split, strict=True)
        return self.join([group.oracle.aggregate(part) for group, (_, part, _) in parts])

    def parts(self, reports: Reports) -> list[Reports]:
        """The reports of each group, as its oracle makes them, in their order."""
        return [part for _, part, _ in self.layout.split(reports)]

    def join(self, tallies: Sequence[Tally]) -> Tally:
        """One tally of those of the groups."""
        parts = [np.concatenate([[tally.n], tally.total]) for tally in tallies]
        return Tally(np.concatenate(parts), sum(tally.n for tally in tallies))

    def split(self, tally: Tally) -> list[Tally]:
        """The tally of each group."""
        if np.shape(tally.total) != (self._ends[-1],):
            raise InvalidData(
                f"{type(self).__name__}: a tally of {len(self.groups)} groups is needed, "
                f"{self._ends[-1]} numbers, got shape {np.shape(tally.total)}."
            )
        parts = [Tally(p[1:], int(p[0])) for p in np.split(tally.total, self._ends[:-1])]
        if sum(part.n for part in parts) != tally.n:
            raise InvalidData(
                f"{type(self).__name__}: the groups of a tally of n={tally.n} have other sizes."
            )
        return parts

    @cached_property
    def _ends(self) -> IntArray:
        return np.cumsum([1 + len(group.oracle.empty.total) for group in self.groups])

    def require_tally(self, tally: Tally) -> None:
        for group, part in zip(self.groups, self.split(tally), strict=True):
            group.oracle.require_tally(part)

    @property
    def simulates_exactly(self) -> bool:
        return all(group.oracle.simulates_exactly for group in self.groups)

    def simulate(self, histogram: IntArray, rng: np.random.Generator) -> Tally:
        histogram = require_histogram(self, histogram, self.d)
        held = np.flatnonzero(histogram)
        return self.simulate_records(self.records(held), histogram[held], rng)

    def simulate_records(
        self, records: IntArray, counts: IntArray, rng: np.random.Generator
    ) -> Tally:
        """The tally of people with these distinct records, however many each of them has."""
        require_generator(self, rng)
        held = [np.zeros(group.oracle.d, dtype=np.int64) for group in self.groups]
        step = max(1, AT_ONCE // len(self.groups))
        for start in range(0, len(records), step):
            part = slice(start, start + step)
            for own, group, (some, people) in zip(
                held, self.groups, self._dealt(records[part], counts[part], rng), strict=True
            ):
                np.add.at(own, group.view.cells(self.sizes, some), people)
        groups = zip(self.groups, held, strict=True)
        return self.join([group.oracle.simulate(own, rng) for group, own in groups])

    def _dealt(
        self, records: IntArray, counts: IntArray, rng: np.random.Generator
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """For each group, records and how many of their people are in it.

        People of a record are split at once, but where they are few everybody has a lot.
        """
        few = counts * A_LOT <= len(self.groups)
        many = records[~few]
        split = rng.multinomial(counts[~few], [g.share / WORDS for g in self.groups])
        each = np.repeat(np.flatnonzero(few), counts[few])
        lots = rng.integers(0, WORDS - 1, len(each), dtype=np.uint64, endpoint=True)
        for number, mine in enumerate(places(self._chosen(lots), len(self.groups))):
            alone = records.take(each.take(mine), axis=0)
            yield np.concatenate([many, alone]), np.append(split[:, number], np.ones_like(mine))

    # what it says of itself

    @property
    def privacy_ratio(self) -> Fraction | None:
        """The worst group's: two records may differ in all that it sees, and the lot sees none."""
        ratios = [group.oracle.privacy_ratio for group in self.groups]
        known = [ratio for ratio in ratios if ratio is not None]
        return max(known) if len(known) == len(ratios) else None

    @cached_property
    def channel(self) -> "Stack | None":
        """One likelihood for all reports of groups whose oracles have a channel."""
        starts = [0, *self._ends[:-1]]
        every = np.arange(self.d)
        parts = tuple(
            Layer(g.share / WORDS, g.oracle.channel, g.view.answers(self.sizes, every), start + 1)
            for g, start in zip(self.groups, starts, strict=True)
            if g.oracle.channel is not None
        )
        return Stack(self.d, parts) if parts else None


@dataclass(frozen=True, eq=False)
class Layer:
    """One group in the likelihood of all.

    Parameters
    ----------
    share
        How likely a person is in it.
    channel, cells
        What its reports tell of its cells, and in which of them each value lies.
    start
        Where its reports are counted in the scheme's tally.
    """

    share: float
    channel: Channel
    cells: IntArray
    start: int

    @cached_property
    def _size(self) -> int:
        return int(self.cells.max()) + 1

    @cached_property
    def reports(self) -> int:
        """How many different ones there are."""
        return len(self.channel.forward(np.full(self._size, 1 / self._size)))

    @cached_property
    def _starts(self) -> IntArray | None:
        """Where each cell begins, if values that follow each other fill one cell after another."""
        steps = np.diff(self.cells)
        in_order = self.cells[0] == 0 and ((steps == 0) | (steps == 1)).all()
        return np.flatnonzero(np.append(1, steps)) if in_order else None

    @cached_property
    def _matrix(self) -> FloatArray | None:
        """The channel itself, a row for each cell, where that is faster than any function."""
        small = self._size * self.reports <= SMALL
        return self.share * self.channel.forward(np.eye(self._size)) if small else None

    def forward(self, frequencies: FloatArray) -> FloatArray:
        held = self._held(frequencies)
        if self._matrix is not None:
            return held @ self._matrix
        return self.share * self.channel.forward(held)

    def _held(self, frequencies: FloatArray) -> FloatArray:
        if self._size == len(self.cells) and self._starts is not None:
            return frequencies
        if self._starts is not None:
            return np.add.reduceat(frequencies, self._starts, axis=-1)
        held = np.zeros((self._size, *frequencies.shape[:-1]))
        np.add.at(held, self.cells, frequencies.T)
        return held.T

    def backward(self, weights: FloatArray) -> FloatArray:
        if self._matrix is not None:
            return (weights @ self._matrix.T).take(self.cells, axis=-1)
        return self.share * self.channel.backward(weights).take(self.cells, axis=-1)


@dataclass(frozen=True, eq=False)
class Stack(Channel):
    """The channel of a scheme: a report is one of some group's."""

    d: int
    layers: tuple[Layer, ...]

    def counts(self, total: Total) -> IntArray:
        parts = [total[layer.start : layer.start + layer.reports] for layer in self.layers]
        return np.concatenate(parts)

    def forward(self, frequencies: FloatArray) -> FloatArray:
        return np.concatenate([layer.forward(frequencies) for layer in self.layers], axis=-1)

    def backward(self, weights: FloatArray) -> FloatArray:
        found, start = np.zeros((*weights.shape[:-1], self.d)), 0
        for layer in self.layers:
            found += layer.backward(weights[..., start : start + layer.reports])
            start += layer.reports
        return found
