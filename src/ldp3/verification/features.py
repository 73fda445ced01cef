"""Ways to look at reports: as small codes, as bits, and as words that are equal or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldp3.arrays import BoolArray, FloatArray, IntArray, Reports

ENTRIES = 64  # numbers of a long report that are looked at one by one
BITS = 512  # bits of a long report that are looked at in pairs
QUANTILES = 0.005, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995

Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Features:
    """How to look at reports of one form: which entries, which bits, where numbers are cut.

    `some` is a sample of reports of all values, `first` the entries to look at first.
    """

    some: Reports
    first: tuple[int, ...]
    rng: np.random.Generator

    @property
    def numeric(self) -> bool:
        """Whether entries are quantities: real numbers, or whole ones with a sign."""
        return self.some.dtype.kind == "f" or (
            self.some.dtype.kind == "i" and self.some.ndim > 1 and self.some.itemsize > 1
        )

    @cached_property
    def entries(self) -> list[int]:
        """The entries of a report that are looked at: all, or some of a long one."""
        width = _entries(self.some).shape[1]
        if width <= ENTRIES:
            return list(range(width))
        ends = [*(c for c in self.first if c < width), *range(8), *range(width - 8, width)]
        return sorted({*ends, *self.rng.permutation(width)[: ENTRIES - 16].tolist()})

    @cached_property
    def edges(self) -> FloatArray:
        """Where the numbers of each entry are cut: few enough to be learnt from few reports."""
        rows = _entries(self.some)[:, self.entries].astype(np.float64)
        return np.quantile(rows, QUANTILES, axis=0).T

    def codes(self, reports: Reports) -> Codes:
        """Small whole numbers that say something about each report, shape `(n, several)`.

        Its bytes, their sum and exclusive or; of numbers the rank and the grain, the exponent of
        the last bit set, which ordinary arithmetic gives away.
        """
        raw = as_bytes(reports)
        columns: list[NDArray[Any]] = [np.bitwise_xor.reduce(raw, axis=1)]
        columns += [raw.sum(axis=1, dtype=np.uint8), (raw != 0).sum(axis=1).clip(0, 255)]
        if self.numeric:
            rows = _entries(reports)[:, self.entries]
            columns += [np.searchsorted(e, c) for e, c in zip(self.edges, rows.T, strict=True)]
            columns += [grain(column) for column in rows.T]
        else:
            width = raw.shape[1] // _entries(self.some).shape[1]
            columns += [raw[:, c * width + i] for c in self.entries for i in range(width)]
        return np.stack(columns, axis=1).astype(np.uint8)

    @cached_property
    def places(self) -> IntArray:
        """The bits that vary, of those that are looked at in pairs."""
        raw = as_bytes(self.some)
        varies = np.bitwise_or.reduce(raw, axis=0) ^ np.bitwise_and.reduce(raw, axis=0)
        every = np.flatnonzero(np.unpackbits(varies, bitorder="little"))
        return every if len(every) <= BITS else np.sort(self.rng.permutation(every)[:BITS])

    def bits(self, reports: Reports, *only: int) -> BoolArray:
        """Bits of each report; of numbers, whether they are high, low, very high, and odd."""
        some = np.array(only) if only else slice(None)
        if not self.numeric:
            raw, (byte, bit) = as_bytes(reports), np.divmod(self.places[some], 8)
            return (raw[:, byte] >> bit.astype(np.uint8) & 1).astype(bool)
        rows = _entries(reports)[:, self.entries]
        cuts = [rows > self.edges[:, i] for i in (3, 6, 9)]
        return np.concatenate([*cuts, np.floor(rows) % 2 == 1], axis=1)[:, some]

    @cached_property
    def high(self) -> FloatArray:
        """From where on the numbers of every entry are low, high and very high."""
        some = _entries(self.some)
        return np.quantile(some[:: max(1, len(some) // 4_000)], [0.1, 0.8, 0.98], axis=0)

    def levels(self, reports: Reports) -> Iterator[BoolArray]:
        """For every entry, whether its number is above each of these."""
        rows = _entries(reports)
        yield from (rows[:, c] > level for levels in self.high for c, level in enumerate(levels))

    def words(self, reports: Reports) -> Iterator[NDArray[np.uint64]]:
        """Each report as one word and, if it is made of real numbers, some of those."""
        yield fold(as_bytes(reports))
        if reports.dtype.kind == "f":
            rows = _entries(reports).astype(np.float64)
            for c in [c for c in self.first if c < rows.shape[1]] if rows.shape[1] > 1 else [0]:
                yield np.ascontiguousarray(rows[:, c]).view(np.uint64)


def _entries(reports: Reports) -> NDArray[Any]:
    """Reports as rows of numbers; of records, the bytes."""
    if reports.dtype.names is not None:
        return as_bytes(reports)
    return reports.reshape(len(reports), -1)


def as_bytes(reports: Reports) -> Codes:
    """The bytes of each report, padding included."""
    rows = np.ascontiguousarray(reports)
    return rows.view(np.uint8).reshape(len(rows), -1)


def fold(raw: Codes) -> NDArray[np.uint64]:
    """A 64-bit word per row; equal rows have equal words."""
    padded = np.zeros((len(raw), -(-raw.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : raw.shape[1]] = raw
    word = np.zeros(len(raw), dtype=np.uint64)
    for column in padded.view(np.uint64).T:
        word = (word ^ column) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(29)
    return word


def grain(numbers: NDArray[Any]) -> IntArray:
    """Exponent of the last bit set, 0…255: how fine a number is."""
    mantissa, exponent = np.frexp(numbers.astype(np.float64))
    whole = np.abs(np.nan_to_num(mantissa) * 2.0**53).astype(np.int64)
    last = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64)
    return np.clip(exponent.astype(np.int64) - 53 + last, -127, 128) + 127
