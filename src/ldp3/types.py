"""The values that flow from one stage to the next."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ldp3 import display
from ldp3.arrays import BoolArray, FloatArray, IntArray, Total, apportion
from ldp3.domain import Domain, Labels, Records
from ldp3.errors import (
    MOST_VALUES,
    InvalidData,
    InvalidParameter,
    as_floats,
    as_python,
    needing_full,
    require,
    require_share,
    settle_numbers,
    several,
    short,
    whole,
)
from ldp3.noise import Channel, Noise, PureNoise, Support
from ldp3.questions import PLACES, Distribution, Quantity, Questions

if TYPE_CHECKING:
    import polars as pl

MOST_CELLS = 2**22  # of all tables of so many attributes, which a run compares

# Of a posterior, what a metric wants and a method answers. A share is the mean, scaled so that all
# sum to one; a root the square of the mean root, likewise.
Point = Literal["mean", "median", "share", "root"]


@dataclass(frozen=True, eq=False)
class Tally:
    """What a server has added up, and from how many reports. Tallies of batches add.

    Parameters
    ----------
    total
        Whatever adds up over reports: support counts, a histogram of reports, real vectors.
    n
        Number of reports in it.

    Examples
    --------
    >>> Tally(np.array([3, 1]), 4) + Tally(np.array([0, 2]), 2)
    Tally(total=array([3, 3]), n=6)
    """

    total: Total
    n: int

    def __post_init__(self) -> None:
        settle_numbers(self)
        require(whole(self.n, 0), self, "n must be an integer of at least 0", self.n)
        total = np.asarray(self.total)
        require(total.dtype.kind in "biufc", self, "total must be an array of numbers", self.total)
        object.__setattr__(self, "total", total)

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        if self.total.shape != other.total.shape:
            raise InvalidData(
                f"Tallies of one protocol, ε and domain add up, got totals of shape "
                f"{self.total.shape} and {other.total.shape}."
            )
        return Tally(self.total + other.total, self.n + other.n)

    def __radd__(self, other: object) -> "Tally":
        return self if other == 0 else NotImplemented  # so that `sum` works


class Oracle(Protocol):
    """What a post-processor may ask of a frequency oracle before it runs, or of an estimate."""

    @property
    def support(self) -> Support | None: ...
    @property
    def channel(self) -> Channel | None: ...
    @property
    def correlated(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a server knows after a collection; it holds no truth.

    Parameters
    ----------
    frequencies
        Unbiased estimates, shape `(d,)`; they may be negative and need not sum to one.
    tally
        What they come from.
    noise
        What is known of their error; a number stands for a constant variance, an array for one
        per value.
    channel
        Probability of each report given each value, where the tally is a histogram of reports and
        the oracle says it.
    domain
        What the values are, where that is known.
    """

    frequencies: FloatArray
    tally: Tally
    noise: Noise
    channel: Channel | None = None
    domain: Domain | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.noise, Noise):
            object.__setattr__(self, "noise", Noise(self.noise))
        if self.domain is not None:
            fits = self.domain.d == self.d
            require(fits, self, f"a domain of {self.d} values is needed", self.domain.d)

    @classmethod
    def of(cls, frequencies: FloatArray, n: int, noise: Noise | Support | float) -> "Estimate":
        """An estimate without its tally, to try methods on; a `Support` says pure noise.

        >>> Estimate.of(np.array([0.5, 0.5]), n=300, noise=Support(p=0.5, q=0.25)).std
        array([0.10801234, 0.10801234])
        """
        (frequencies,) = as_floats(cls.__name__, frequencies=frequencies)
        require(frequencies.ndim == 1, cls.__name__, "frequencies are a list", frequencies)
        known = PureNoise.of(noise, n) if isinstance(noise, Support) else noise
        return cls(frequencies, Tally(np.zeros(0), n), known)  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.tally.n

    @property
    def reports(self) -> IntArray | None:
        """How often each report was sent, where there is a channel."""
        return None if self.channel is None else self.channel.counts(self.tally.total)

    @property
    def d(self) -> int:
        """Size of the domain."""
        return len(self.frequencies)

    @property
    def support(self) -> Support | None:
        """How reports support values, where the oracle is pure."""
        return self.noise.support

    @property
    def correlated(self) -> bool:
        """Whether errors of different values hang together too much to be taken alone."""
        return self.noise.correlated

    @cached_property
    def variance(self) -> FloatArray:
        r"""Variance of each estimate.

        The estimate stands for the frequency, which is unbiased, as the variance is linear in it.
        """
        return self.noise.variance(self.frequencies)

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of each estimate: the root of `variance`."""
        return np.sqrt(self.variance)

    def confidence_interval(
        self, level: float = 0.95, simultaneous: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        r"""Ends (low, high) of an interval for each frequency, within $[0, 1]$.

        For the frequency among the n users who reported, not in a wider population that they may
        be a sample of. With a pure oracle each interval holds with probability `level` or more,
        whatever n, d and ε (`PureNoise.interval`); with another one the noise is taken as normal
        (`Noise.interval`), which is right for many reports. A frequency lies in $[0, 1]$, so the
        ends are cut there, which takes no coverage away: an estimate far below zero gets
        $[0, 0]$. With `simultaneous` all $d$ intervals hold at once, by Bonferroni: each at the
        level $1 - (1 - \mathrm{level})/d$.

        Examples
        --------
        >>> est = Estimate.of(np.array([0.5, 0.0]), n=100, noise=0.01)
        >>> low, high = est.confidence_interval(0.95)
        >>> low.round(3), high.round(3)
        (array([0.304, 0.   ]), array([0.696, 0.196]))
        """
        require_share("level", level)
        alpha = (1 - level) / (self.d if simultaneous else 1)
        require(1 - alpha < 1, self, "level must be one that floats tell from 1", level)
        low, high = self.noise.interval(self.frequencies, 1 - alpha)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)

    def mean(self, level: float = 0.95, guaranteed: bool = False) -> Quantity:
        """The mean of the values, unbiased, with its interval; of bins, that of their middles.

        Numbers that were clipped to a range have the mean of clipped numbers. The interval is by
        the normal law, which is right for many reports; if `guaranteed`, it holds with probability
        `level` or more for every number of reports, and is wider (by half, for `sw`).

        >>> from ldp3 import oracle, stream
        >>> sw = oracle("sw", epsilon=1.0, d=100)
        >>> histogram = np.bincount([30] * 60_000 + [50] * 40_000, minlength=100)
        >>> print(sw.estimate(sw.simulate(histogram, stream(0))).mean())
        38.49 (37.88 to 39.1)
        """
        return self._questions(guaranteed).mean(level)

    def quantile(self, q: float, level: float = 0.95, guaranteed: bool = False) -> Quantity:
        """Where a share q of the people lies below, with its interval: 0.5 is the median."""
        return self._questions(guaranteed).quantile(q, level)

    def share(
        self,
        *,
        above: float | None = None,
        below: float | None = None,
        between: tuple[float, float] | None = None,
        level: float = 0.95,
        guaranteed: bool = False,
    ) -> Quantity:
        """The share of people from `above` on, or below `below`, or from one up to another."""
        return self._questions(guaranteed).share(above, below, between, level)

    def cdf(self, level: float = 0.95, guaranteed: bool = False) -> Distribution:
        """The share of people up to each value, unbiased, with an interval for each."""
        return self._questions(guaranteed).cdf(level)

    def until(self, level: float = 0.95) -> Distribution | None:
        """The `cdf` with one place for each value, where there is one to show; for drawings."""
        in_line = self.domain is None or self.domain.in_line
        if self.d > PLACES or not in_line:
            return None
        if self.noise.of_query(np.ones(self.d), self.frequencies) is None:
            return None
        found = self.cdf(level)
        return found if len(found.places) == self.d else None

    def _questions(self, guaranteed: bool) -> Questions:
        return Questions(self.frequencies, self.noise, self.domain, guaranteed)

    def above_noise(self, level: float = 0.95) -> BoolArray:
        """Which values stand above the noise: somebody holds them.

        With probability `level` or more, all that are named do (by simultaneous intervals). One
        that is not named may be held by many, too: noise hides it.

        Examples
        --------
        >>> Estimate.of(np.array([0.5, 0.1]), n=100, noise=0.01).above_noise()
        array([ True, False])
        """
        require_share("level", level)
        if 1 - (1 - level) / self.d == 1:  # floats know no interval that is so sure
            return np.zeros(self.d, dtype=bool)
        return self.confidence_interval(level, simultaneous=True)[0] > 0

    def to_frame(
        self, labels: "Sequence[str] | None" = None, level: float = 0.95, simultaneous: bool = False
    ) -> "pl.DataFrame":
        """One row per value, in the order of the domain, as a Polars table.

        `label` (of the domain, or the code where none is known), `frequency`, its `std`, the ends
        `low` and `high` of its confidence interval, `users` (as unbiased as the frequency: it may
        be negative) and `above_noise`.

        Examples
        --------
        >>> est = Estimate.of(np.array([0.5, 0.1]), n=100, noise=0.01)
        >>> est.to_frame(["yes", "no"])["users"].to_list()
        [50, 10]
        """
        known = range(self.d) if self.domain is None else self.domain.labels
        names = known if labels is None else several(labels, "labels")
        require(len(names) == self.d, self, f"d={self.d} labels are needed", len(names))
        with needing_full("Estimate.to_frame"):
            import polars as pl
        low, high = self.confidence_interval(level, simultaneous)
        columns = {
            "label": [str(name) for name in names],
            "frequency": self.frequencies,
            "std": self.std,
            "low": low,
            "high": high,
            "users": np.rint(self.n * self.frequencies).astype(np.int64),
            "above_noise": self.above_noise(level),
        }
        return pl.DataFrame(columns)

    def _repr_html_(self) -> str:
        return display.of_estimate(self)


@dataclass(frozen=True, eq=False)  # compare digests: arrays have no single answer to ==
class Dataset:
    """What the users hold: what values there are, and how many hold each of them.

    Parameters
    ----------
    name
        What tables call it.
    domain
        What values there are.
    histogram
        Number of people per value, shape `(d,)`.
    values
        The users' codes in `[0, d)`, in the order of the file, if they were kept.
    notes
        What the loader did and a person should know, one sentence each.

    Examples
    --------
    >>> from ldp3 import Labels
    >>> Dataset("pets", Labels(["cat", "dog"]), np.array([2, 1])).frequencies
    array([0.66666667, 0.33333333])
    """

    name: str
    domain: Domain
    histogram: IntArray
    values: NDArray[np.integer[Any]] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(isinstance(self.name, str), self, "name must be a text", self.name)
        h = np.asarray(self.histogram)
        object.__setattr__(self, "histogram", h)
        if h.ndim != 1 or len(h) < 2:
            raise InvalidData(f"{self.name}: at least two different values are needed.")
        if not np.issubdtype(h.dtype, np.integer) or h.min() < 0 or h.sum() < 1:
            raise InvalidData(f"{self.name}: a histogram holds numbers of people, at least one.")
        fine = isinstance(self.domain, Domain)
        require(fine, self, 'domain must be one, such as ldp3.Labels(["a", "b"])', self.domain)
        if self.domain.d != len(h):
            raise InvalidData(
                f"{self.name}: a domain of {self.domain.d} values, but a histogram of {len(h)}."
            )

    @property
    def labels(self) -> Sequence[str]:
        """What the values are called."""
        return self.domain.labels

    @property
    def positions(self) -> FloatArray | None:
        """Where the values lie on a line, if they do."""
        return self.domain.line

    @property
    def ordered(self) -> bool:
        """Whether the order of the values means something."""
        return self.domain.ordered

    @property
    def d(self) -> int:
        """Size of the domain."""
        return len(self.histogram)

    @cached_property
    def n(self) -> int:
        """Number of people."""
        return int(self.histogram.sum())

    @cached_property
    def frequencies(self) -> FloatArray:
        """The truth that metrics compare with."""
        return self.histogram / self.n

    @cached_property
    def digest(self) -> str:
        """SHA-256 of histogram, labels and positions: what the data *is*, whatever its name."""
        content = sha256(self.histogram.astype("<i8").tobytes())
        content.update(json.dumps(self.labels).encode())
        if (line := self.positions) is not None:
            content.update(line.astype("<f8").tobytes())
        return content.hexdigest()

    def scaled(self, population: int) -> "Dataset":
        """The same distribution for `population` users, by largest remainders."""
        counts = apportion(self.histogram, _people(population))
        return replace(self, histogram=counts, values=None)

    def _repr_html_(self) -> str:
        return display.of_dataset(self)


@dataclass(frozen=True, eq=False)  # compare digests, as of datasets
class Table:
    """What people hold of several attributes: how many hold each record that occurs.

    ``table["age"]`` is the dataset of one attribute, ``table["sex", "age"]`` that of two together.

    Parameters
    ----------
    name
        What tables call it.
    domain
        The attributes.
    records
        The codes of each distinct record, shape `(records, attributes)`; they are kept in order.
    counts
        Number of people per record.
    notes
        What the loader did and a person should know, one sentence each.

    Examples
    --------
    >>> from ldp3 import Labels, Records
    >>> domain = Records([Labels(["f", "m"], name="sex"), Labels(["yes", "no"], name="answer")])
    >>> table = Table("people", domain, np.array([[0, 0], [1, 0], [1, 1]]), np.array([5, 2, 3]))
    >>> table["answer"].histogram, table["sex", "answer"].histogram
    (array([7, 3]), array([5, 0, 2, 3]))
    """

    name: str
    domain: Records
    records: IntArray
    counts: IntArray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(isinstance(self.name, str), self, "name must be a text", self.name)
        fine = isinstance(self.domain, Records)
        require(fine, self, "domain must be Records of its attributes", self.domain)
        records, counts = np.asarray(self.records), np.asarray(self.counts)
        shape = len(counts), len(self.domain.parts)
        numbers = all(np.issubdtype(array.dtype, np.integer) for array in (records, counts))
        if not numbers or counts.ndim != 1 or records.shape != shape:
            raise InvalidData(f"{self.name}: needs a row of codes and a number of people each.")
        if not len(counts) or counts.min() < 0 or counts.sum() < 1:
            raise InvalidData(f"{self.name}: counts are numbers of people, at least one.")
        if records.min() < 0 or (records >= self.domain.sizes).any():
            raise InvalidData(f"{self.name}: codes of records lie outside their attributes.")
        held = counts > 0
        records, counts = records[held].astype(np.int64), counts[held].astype(np.int64)
        codes = self.domain.codes(records)
        order = np.argsort(codes)
        if not np.diff(codes[order]).all():
            raise InvalidData(f"{self.name}: each record stands once, with its number of people.")
        object.__setattr__(self, "records", records[order])
        object.__setattr__(self, "counts", counts[order])

    @property
    def names(self) -> tuple[str, ...]:
        """What the attributes are called."""
        return self.domain.names

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self.domain.sizes

    @property
    def d(self) -> int:
        """How many records there could be."""
        return self.domain.d

    @cached_property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    def __getitem__(self, attributes: str | int | tuple[str | int, ...]) -> Dataset:
        several = isinstance(attributes, tuple)
        asked: tuple[str | int, ...] = attributes if several else (attributes,)  # type: ignore[assignment]
        view = self.domain.only(*asked)
        if view.d > MOST_VALUES:
            raise InvalidData(
                f"{self.name}: {', '.join(view.names)} have {view.d:,} combinations, and a table "
                f"has at most {MOST_VALUES:,}."
            )
        codes = view.codes(self.records[:, [self.domain.number(one) for one in asked]])
        if self.n < 2**53:  # sums in floats are exact, and many times as fast
            histogram = np.bincount(codes, self.counts, view.d).astype(np.int64)
        else:
            histogram = np.zeros(view.d, dtype=np.int64)
            np.add.at(histogram, codes, self.counts)
        domain = view if several else view.parts[0]
        return Dataset(f"{self.name}:{','.join(view.names)}", domain, histogram)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of records, counts and domain: what the data *is*, whatever its name."""
        content = sha256(self.domain.digest.encode())
        for array in (self.records, self.counts):
            content.update(array.astype("<i8").tobytes())
        return content.hexdigest()

    def scaled(self, population: int) -> "Table":
        """The same distribution for `population` people, by largest remainders."""
        return replace(self, counts=apportion(self.counts, _people(population)))

    def _repr_html_(self) -> str:
        return display.of_table(self)


@dataclass(frozen=True, eq=False)
class Marginals(Dataset):
    """All tables of so many attributes of a table, one after the other, as a run compares them.

    Each of them has all people, so that frequencies sum to one in each.

    Parameters
    ----------
    table, way
        Whose they are, and of how many attributes each of them is.

    Examples
    --------
    >>> from ldp3 import Integers, Records
    >>> domain = Records([Integers(2, name="a"), Integers(3, name="b")])
    >>> table = Table("t", domain, np.array([[0, 0], [1, 2]]), np.array([3, 1]))
    >>> Marginals.of(table, 1).frequencies
    array([0.75, 0.25, 0.75, 0.  , 0.25])
    """

    table: Table | None = None
    way: int = 1

    @classmethod
    def of(cls, table: Table, way: int) -> "Marginals":
        """The tables of so many attributes."""
        targets = list(combinations(range(len(table.names)), way))
        cells = sum(prod(table.sizes[j] for j in target) for target in targets)
        if cells > MOST_CELLS:
            raise InvalidData(
                f"{table.name}: its tables of {way} attributes have {cells:,} cells, more than "
                f"{MOST_CELLS:,}: leave columns out, or make fewer values with `top` or `bins`."
            )
        views = [table[target] for target in targets]
        labels = [f"{view.domain.name}: {label}" for view in views for label in view.labels]
        histogram = np.concatenate([view.histogram for view in views])
        name = f"{table.name}, {way}-way tables"
        notes = table.notes if way == 1 else ()  # they are told once
        return cls(name, Labels(labels), histogram, None, notes, table, way)

    @property
    def people(self) -> Table:
        """The table that these are of."""
        assert self.table is not None
        return self.table

    @cached_property
    def n(self) -> int:
        return self.people.n

    @cached_property
    def targets(self) -> tuple[tuple[int, ...], ...]:
        """The attributes of each table, by their numbers."""
        return tuple(combinations(range(len(self.people.names)), self.way))

    @cached_property
    def parts(self) -> list[tuple[Dataset, slice]]:
        """Each table, and where its cells stand among all of them."""
        views = [self.people[t if self.way > 1 else t[0]] for t in self.targets]
        ends = np.cumsum([0, *(view.d for view in views)]).tolist()
        return [(view, slice(*ends[i : i + 2])) for i, view in enumerate(views)]

    @cached_property
    def digest(self) -> str:
        return sha256(f"{self.people.digest} {self.way}".encode()).hexdigest()

    def scaled(self, population: int) -> "Marginals":
        return replace(Marginals.of(self.people.scaled(population), self.way), name=self.name)


def one_attribute(data: Dataset | Table) -> Dataset:
    """The dataset, where a table of several attributes makes no sense."""
    if isinstance(data, Dataset):
        return data
    raise InvalidParameter(
        f"{data.name} has several attributes, {', '.join(data.names)}, and this is for one: choose "
        f"it with `column`, or as table[{data.names[0]!r}] in Python."
    )


def _people(population: object) -> int:
    users = as_python(population)
    if not whole(users, 1, 2**62):
        raise InvalidParameter(
            f"`population` must be an integer from 1 to 2⁶², got {short(population)}."
        )
    return int(users)
