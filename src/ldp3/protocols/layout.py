"""How a report is written: as a code, as bits, as fields.

A layout says what the array of a protocol's reports looks like and how each of them is written as
a whole number below $2^{bits}$, little-endian. Everything that stores or sends reports follows
from it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, Reports
from ldp3.errors import require
from ldp3.kernels import bits, transforms

Bytes = NDArray[np.uint8]


class Layout(ABC):
    """The form of a report, in memory and on the wire."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Size of one report."""

    @property
    def size(self) -> int:
        """Whole bytes of one report."""
        return -(-self.bits // 8)

    @property
    def head(self) -> int:
        """How many of them, in front, are the number of a group."""
        return 0

    @property
    @abstractmethod
    def form(self) -> str:
        """What a report is, in words."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The same for programs, as JSON can hold it."""

    @abstractmethod
    def fits(self, reports: Reports) -> BoolArray:
        """Which rows of an array have this form."""

    def random(self, n: int, rng: np.random.Generator) -> Reports | None:  # noqa: ARG002
        """Reports of this form, each as likely as any other; None where that is not known."""
        return None

    @abstractmethod
    def encode(self, reports: Reports) -> Bytes:
        """The bytes of each report, shape `(n, size)`."""

    @abstractmethod
    def decode(self, rows: Bytes) -> Reports:
        """The reports in rows of bytes, shape `(n, size)`; whether they fit is not said."""


@dataclass(frozen=True)
class Code(Layout):
    """One of `values` whole numbers.

    >>> Code(300).encode(np.array([258], dtype=np.uint16))
    array([[2, 1]], dtype=uint8)
    """

    values: int

    @property
    def bits(self) -> int:
        return max(1, (self.values - 1).bit_length())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest type that holds a report."""
        return np.min_scalar_type(self.values - 1)

    @property
    def form(self) -> str:
        return f"an integer in [0, {self.values})"

    def describe(self) -> dict[str, Any]:
        return {"code": self.values}

    def fits(self, reports: Reports) -> BoolArray:
        if reports.ndim != 1 or not np.issubdtype(reports.dtype, np.integer):
            return np.zeros(len(reports), dtype=bool)
        return (reports >= 0) & (reports < self.values)

    def random(self, n: int, rng: np.random.Generator) -> Reports:
        return rng.integers(self.values, size=n).astype(self.dtype)

    def encode(self, reports: Reports) -> Bytes:
        return _as_bytes(reports.astype(self.dtype, copy=False), self.size)

    def decode(self, rows: Bytes) -> Reports:
        return _as_numbers(rows)


@dataclass(frozen=True)
class Bits(Layout):
    """A set of values below `d` as packed bits, 64 to a word; `ones` of them, if that is fixed."""

    d: int
    ones: int | None = None

    @property
    def bits(self) -> int:
        return self.d

    @property
    def form(self) -> str:
        what = f"{self.d} bits" if self.ones is None else f"{self.ones} of {self.d} values"
        return f"{what} packed into {bits.width(self.d)} words of 64 bits"

    def describe(self) -> dict[str, Any]:
        return {"bits": self.d} if self.ones is None else {"bits": self.d, "ones": self.ones}

    def fits(self, reports: Reports) -> BoolArray:
        ok = bits.well_formed(reports, self.d)
        if self.ones is None or not ok.any():
            return ok
        return ok & (bits.sizes(reports) == self.ones)

    def random(self, n: int, rng: np.random.Generator) -> Reports:
        if self.ones is None:
            return bits.packed(rng.random((n, self.d)) < 0.5)
        return bits.packed(bits.random_subsets(n, np.arange(self.d), self.ones, self.d, rng))

    def encode(self, reports: Reports) -> Bytes:
        return _as_bytes(reports, self.size)

    def decode(self, rows: Bytes) -> Reports:
        wide = np.zeros((len(rows), 8 * bits.width(self.d)), dtype=np.uint8)
        wide[:, : self.size] = rows
        return wide.view("<u8").astype(np.uint64, copy=False)


@dataclass(frozen=True)
class Fields(Layout):
    """Several whole numbers, each below its bound, one after the other in as many bits as it needs.

    >>> Fields((("place", 300), ("sign", 2))).bits
    10
    """

    fields: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        fine = self.fields and all(2 <= bound <= 2**64 for _, bound in self.fields)
        require(bool(fine), self, "the bounds of fields are from 2 to 2⁶⁴", self.fields)

    @property
    def bits(self) -> int:
        return sum(width for _, _, width in self._places)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """A record of the fields."""
        return np.dtype([(name, "<u8" if b > 2**32 else "<u4") for name, b in self.fields])

    @property
    def form(self) -> str:
        parts = (f"{name} in [0, {_bound(bound)})" for name, bound in self.fields)
        return f"a record of {' and '.join(parts)}"

    def describe(self) -> dict[str, Any]:
        # a list, because JSON does not keep the order of names; bounds as text, because many
        # readers of JSON lose the last digits of numbers above 2⁵³
        return {"fields": [[name, str(bound)] for name, bound in self.fields]}

    def fits(self, reports: Reports) -> BoolArray:
        if reports.dtype != self.dtype or reports.ndim != 1:
            return np.zeros(len(reports), dtype=bool)
        # NumPy cannot compare a 64-bit word with 2⁶⁴
        within = [reports[name] <= np.uint64(bound - 1) for name, bound in self.fields]
        return np.asarray(np.logical_and.reduce(within))

    def random(self, n: int, rng: np.random.Generator) -> Reports:
        reports = np.empty(n, dtype=self.dtype)
        for name, bound in self.fields:  # with the last value, for 2⁶⁴ is no 64-bit word
            reports[name] = rng.integers(bound - 1, size=n, dtype=np.uint64, endpoint=True)
        return reports

    def number(self, *fields: int) -> int:
        """One report as a whole number, the first field lowest: what a `draw` gives.

        >>> Fields((("place", 300), ("sign", 2))).number(258, 1) == 258 + 2**9
        True
        """
        places = zip(fields, self._places, strict=True)
        return sum(field << start for field, (_, start, _) in places)

    def encode(self, reports: Reports) -> Bytes:
        if self._in_bytes:
            parts = [_as_bytes(reports[name], -(-width // 8)) for name, _, width in self._places]
            return np.concatenate(parts, axis=1)
        words = np.zeros((len(reports), bits.width(self.bits)), dtype="<u8")
        for name, start, width in self._places:
            word, shift = divmod(start, 64)
            field = reports[name].astype(np.uint64)
            words[:, word] |= field << np.uint64(shift)
            if shift + width > 64:  # the rest goes into the next word
                words[:, word + 1] |= field >> np.uint64(64 - shift)
        return _as_bytes(words, self.size)

    def decode(self, rows: Bytes) -> Reports:
        reports = np.empty(len(rows), dtype=self.dtype)
        if self._in_bytes:
            for name, start, width in self._places:
                reports[name] = _as_numbers(rows[:, start // 8 : -(-(start + width) // 8)])
            return reports
        wide = np.zeros((len(rows), 8 * bits.width(self.bits)), dtype=np.uint8)
        wide[:, : self.size] = rows
        words = wide.view("<u8")
        for name, start, width in self._places:
            word, shift = divmod(start, 64)
            number = words[:, word] >> np.uint64(shift)
            if shift + width > 64:
                number |= words[:, word + 1] << np.uint64(64 - shift)
            reports[name] = number & np.uint64(2**width - 1)
        if self.bits % 8:
            # bits after the last field are 0; a record that had others must not fit
            stray = rows[:, -1] >> self.bits % 8 != 0
            reports[self._loose][stray] = np.iinfo(self.dtype[self._loose]).max
        return reports

    @cached_property
    def _places(self) -> list[tuple[str, int, int]]:
        """Of each field: its name, its first bit, and how many it has."""
        places, start = [], 0
        for name, bound in self.fields:
            width = (bound - 1).bit_length()
            places.append((name, start, width))
            start += width
        return places

    @cached_property
    def _in_bytes(self) -> bool:
        """Whether each field begins with a byte, so that whole columns can be copied."""
        return all(start % 8 == 0 for _, start, _ in self._places)

    @cached_property
    def _loose(self) -> str:
        """A field whose type holds numbers beyond its bound; it exists if bits are left over."""
        return next(name for name, _, width in self._places if width not in (32, 64))


@dataclass(frozen=True)
class Grouped(Layout):
    """The number of a group and then a report of that group's own layout; in memory as on the wire.

    All have one length: shorter ones end in zeros.

    >>> Grouped((Code(300), Code(4))).size
    3
    """

    layouts: tuple[Layout, ...]

    @property
    def head(self) -> int:
        return -(-(len(self.layouts) - 1).bit_length() // 8)

    @cached_property  # of many layouts, and asked for with each of them
    def bits(self) -> int:
        return 8 * (self.head + max(layout.size for layout in self.layouts))

    @property
    def form(self) -> str:
        return f"the number of one of {len(self.layouts)} groups and a report of that group"

    def describe(self) -> dict[str, Any]:
        return {"groups": [layout.describe() for layout in self.layouts]}

    def groups(self, rows: Bytes) -> NDArray[np.uint32]:
        """The number of each report's group."""
        of = np.zeros(len(rows), dtype=np.uint32)
        for byte in range(self.head):
            of |= rows[:, byte].astype(np.uint32) << 8 * byte
        return of

    def part(self, rows: Bytes, group: int) -> Reports:
        """The reports themselves, of rows of one group."""
        layout = self.layouts[group]
        return layout.decode(np.ascontiguousarray(rows[:, self.head : self.head + layout.size]))

    def rows(self, of: NDArray[np.integer[Any]]) -> Bytes:
        """Rows with the numbers of their groups, to `put` reports into."""
        rows = np.zeros((len(of), self.size), dtype=np.uint8)
        for byte in range(self.head):
            rows[:, byte] = of >> 8 * byte & 0xFF
        return rows

    def put(self, rows: Bytes, places: NDArray[np.int64], group: int, reports: Reports) -> None:
        """Write reports of one group into these rows."""
        transforms.scatter(rows, places, self.head, self.layouts[group].encode(reports))

    def split(self, rows: Reports) -> list[tuple[NDArray[np.int64], Reports, BoolArray]]:
        """Of each group: where its rows are, their reports, and which of them fit.

        Nothing of what is no array of such rows.
        """
        if rows.ndim != 2 or rows.dtype != np.uint8 or rows.shape[1] != self.size:
            return []
        several, found = len(self.layouts), []
        of = transforms.places(np.minimum(self.groups(rows), several), several + 1)
        for layout, mine in zip(self.layouts, of[:-1], strict=True):
            stop = self.head + layout.size
            part = layout.decode(transforms.gather(rows, mine, self.head, stop))
            fine = layout.fits(part)
            if stop < self.size:
                fine &= ~transforms.gather(rows, mine, stop, self.size).any(axis=1)
            found.append((mine, part, fine))
        return found

    def fits(self, reports: Reports) -> BoolArray:
        fine = np.zeros(len(reports), dtype=bool)
        for mine, _, own in self.split(reports):
            fine[mine] = own
        return fine

    def encode(self, reports: Reports) -> Bytes:
        return reports

    def decode(self, rows: Bytes) -> Reports:
        return rows


@dataclass(frozen=True)
class Numbers(Layout):
    """Any array of numbers, bit by bit: what an oracle has that says nothing else."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def bits(self) -> int:
        return max(1, self.dtype.itemsize * int(np.prod(self.shape, dtype=int))) * 8

    @property
    def form(self) -> str:
        return f"finite numbers of type {self.dtype} and shape {self.shape}"

    def describe(self) -> dict[str, Any]:
        return {"numbers": str(self.dtype), "shape": list(self.shape)}

    def fits(self, reports: Reports) -> BoolArray:
        kinds = reports.dtype.kind, self.dtype.kind
        same = kinds[0] == kinds[1] or all(kind in "biuf" for kind in kinds)
        if reports.shape[1:] != self.shape or not same or kinds[0] == "O":
            return np.zeros(len(reports), dtype=bool)
        if kinds[0] != "f":
            return np.full(len(reports), reports.dtype.names == self.dtype.names)
        return np.asarray(np.isfinite(reports).all(axis=tuple(range(1, reports.ndim))))

    def encode(self, reports: Reports) -> Bytes:
        rows = np.ascontiguousarray(reports, dtype=self.dtype)
        return rows.view(np.uint8).reshape(len(rows), self.size)

    def decode(self, rows: Bytes) -> Reports:
        return np.ascontiguousarray(rows).view(self.dtype).reshape(len(rows), *self.shape)


def _bound(bound: int) -> str:
    power = bound.bit_length() - 1
    return f"2^{power}" if bound == 2**power and power > 20 else str(bound)


def _as_bytes(numbers: Reports, size: int) -> Bytes:
    """The `size` low bytes of each row of unsigned numbers, little-endian."""
    little = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<"))
    width = little.itemsize * (1 if little.ndim == 1 else little.shape[1])
    return little.view(np.uint8).reshape(len(numbers), width)[:, :size]


def _as_numbers(rows: Bytes) -> Reports:
    """Rows of up to eight bytes as the narrowest numbers that hold them."""
    width = 1 << (rows.shape[1] - 1).bit_length()
    wide = np.zeros((len(rows), width), dtype=np.uint8)
    for byte in range(rows.shape[1]):  # NumPy is slow at short rows
        wide[:, byte] = rows[:, byte]
    return wide.view(f"<u{width}")[:, 0].astype(f"u{width}", copy=False)
