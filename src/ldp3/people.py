"""People whose values are known: of one attribute, or of several."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3 import display
from ldp3.arrays import FloatArray, IntArray, apportion
from ldp3.domain import Domain, Labels, Records
from ldp3.errors import (
    MOST_VALUES,
    InvalidData,
    InvalidParameter,
    as_python,
    require,
    short,
    whole,
)

MOST_CELLS = 2**22  # of all tables of so many attributes, which a run compares


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
        if records.min() < 0 or (records.max(axis=0) >= self.domain.sizes).any():
            raise InvalidData(f"{self.name}: codes of records lie outside their attributes.")
        codes = self.domain.codes(records)
        order = np.argsort(codes)
        order = order[counts[order] > 0]
        if not np.diff(codes[order]).all():
            raise InvalidData(f"{self.name}: each record stands once, with its number of people.")
        object.__setattr__(self, "records", records[order].astype(np.int64, copy=False))
        object.__setattr__(self, "counts", counts[order].astype(np.int64, copy=False))

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
        histogram = self._counted(tuple(map(self.domain.number, asked)), view.d)
        domain = view if several else view.parts[0]
        return Dataset(f"{self.name}:{','.join(view.names)}", domain, histogram)

    def _counted(self, attributes: tuple[int, ...], d: int) -> IntArray:
        """How many people hold each of the d combinations; kept, for all records are looked at."""
        if attributes not in self._cache:
            codes = np.zeros(len(self.records), dtype=np.int64)
            for a in attributes:
                codes = codes * self.sizes[a] + self.records[:, a]
            if self.n < 2**53:  # sums in floats are exact, and many times as fast
                held = np.bincount(codes, self.counts, d).astype(np.int64)
            else:
                held = np.zeros(d, dtype=np.int64)
                np.add.at(held, codes, self.counts)
            self._cache[attributes] = held
        return self._cache[attributes]

    @cached_property
    def _cache(self) -> dict[tuple[int, ...], IntArray]:
        return {}

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
                f"{MOST_CELLS:,}: leave columns out, or make fewer values, as in page(top=20)."
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
