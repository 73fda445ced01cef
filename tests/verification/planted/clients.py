"""Oracles to be deployed whose reports are drawn, written or described wrongly."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ldp3.arrays import Reports
from ldp3.protocols.layout import Bytes, Code, Layout
from ldp3.randomness import Words
from tests.verification.planted.honest import HonestClient


class DrawsTheTruthTooOften(HonestClient):
    """A tenth of the lies are not told."""

    def draw(self, value: int, words: Words) -> int:
        report = super().draw(value, words)
        return value if next(words) % 10 == 0 else report


class DrawsTheTruthAsALie(HonestClient):
    """Lies do not step over the true value."""

    def draw(self, value: int, words: Words) -> int:
        word = next(words)
        return value if word < self.truth else (word - self.truth) // self.lie


class DrawsFromItsOwnGenerator(HonestClient):
    def draw(self, value: int, words: Words) -> int:
        own = Words.drawn(np.random.Generator(np.random.PCG64()))
        return super().draw(value, own)


class DrawsFromOneSeed(HonestClient):
    """The same report for everybody with the same value."""

    def draw(self, value: int, words: Words) -> int:
        return super().draw(value, Words.drawn(np.random.Generator(np.random.PCG64(value))))


class DrawsWhatIsNoReport(HonestClient):
    """Beyond what the layout can write, once in a while."""

    def draw(self, value: int, words: Words) -> int:
        return super().draw(value, words) + (next(words) % 5 == 0) * 2**self.layout.bits


class DrawsFractions(HonestClient):
    def draw(self, value: int, words: Words) -> int:
        return super().draw(value, words) / 1  # type: ignore[return-value]


class ConstantsAreFractions(HonestClient):
    @property
    def constants(self) -> dict[str, int]:
        return {"p": self.p, "q": self.q}  # type: ignore[dict-item]


class LayoutIsTooNarrow(HonestClient):
    """A bit is missing, though the byte has room for it."""

    @property
    def layout(self) -> Layout:
        return _Narrow(self.d)


class LayoutReadsAnother(HonestClient):
    @property
    def layout(self) -> Layout:
        return _Reversed(self.d)


class LayoutReadsTwoWays(HonestClient):
    """Bits that no report has are dropped when it is read."""

    @property
    def layout(self) -> Layout:
        return _Forgiving(self.d)


class LayoutCannotBeDescribed(HonestClient):
    @property
    def layout(self) -> Layout:
        return _Wordless(self.d)


@dataclass(frozen=True)
class _Narrow(Code):
    @property
    def bits(self) -> int:
        return super().bits - 1


@dataclass(frozen=True)
class _Reversed(Code):
    def decode(self, rows: Bytes) -> Reports:
        return self.values - 1 - super().decode(rows)


@dataclass(frozen=True)
class _Forgiving(Code):
    def decode(self, rows: Bytes) -> Reports:
        return super().decode(rows) & (2**self.bits - 1)


@dataclass(frozen=True)
class _Wordless(Code):
    def describe(self) -> dict[str, Any]:
        return {"layout": self}
