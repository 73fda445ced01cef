"""The contract of schemes catches planted bugs, and lets ours pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from ldp3.arrays import BoolArray, IntArray, Reports
from ldp3.protocols.grr import GRR
from ldp3.protocols.layout import Grouped
from ldp3.randomness import WORDS
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.schemes.resolutions import Join, Resolutions
from ldp3.types import Estimate, Tally
from ldp3.verification import estimation, schemes
from ldp3.verification.base import Finding
from ldp3.verification.cases import OracleCase

DRAWS = 10_000


@dataclass(frozen=True)
class Halves(Scheme):
    """Some are asked in which half a value lies, the others for the value; only they count."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        shares = whole_shares([1, 3])
        coarse = Group(View(((0, 2),)), shares[0], GRR(self.epsilon, 2))
        return coarse, Group(View(((0, None),)), shares[1], GRR(self.epsilon, self.d))

    def estimate(self, tally: Tally) -> Estimate:
        return self.groups[1].oracle.estimate(self.split(tally)[1])


@dataclass(frozen=True)
class AsksTheFirstHalfMore(Halves):
    """The lot sees the value."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        rows = super().perturb(values, rng)
        again = (np.asarray(values) < self.d // 2) & (rng.random(len(values)) < 0.1)
        rows[again] = super().perturb(np.asarray(values)[again], rng)
        rows[again, 0] |= 1
        return rows


@dataclass(frozen=True)
class OtherShares(Halves):
    """Shares are not as stated."""

    @cached_property
    def bounds(self) -> list[int]:
        return [WORDS // 3, WORDS]


@dataclass(frozen=True)
class OtherCells(Halves):
    """Clients and servers take different values together."""

    def perturb(self, values: IntArray, rng: np.random.Generator) -> Reports:
        return super().perturb((np.asarray(values) + 1) % self.d, rng)


@dataclass(frozen=True)
class SpendsTwice(Halves):
    """One group's oracle has twice the budget."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        first, second = super().groups
        return Group(first.view, first.share, GRR(2 * self.epsilon, 2)), second


class Careless(Grouped):
    """Takes anything behind the end of a report."""

    def fits(self, reports: Reports) -> BoolArray:
        return np.asarray(reports[:, 0] < len(self.layouts))


@dataclass(frozen=True)
class TakesStrayBytes(Halves):
    """Padding need not be zero."""

    @cached_property
    def layout(self) -> Grouped:
        return Careless(tuple(group.oracle.layout for group in self.groups))


Check = Callable[[OracleCase], Iterator[Finding]]


@pytest.mark.parametrize(
    ("cls", "check"),
    [
        (AsksTheFirstHalfMore, schemes.lot),
        (OtherShares, schemes.lot),
        (OtherCells, schemes.members),
        (SpendsTwice, schemes.members),
        (TakesStrayBytes, schemes.one_length),
    ],
)
def test_a_planted_bug_is_caught(cls: type[Halves], check: Check) -> None:
    d = 300  # so that one group's reports are longer
    assert not all(f.passed for f in check(OracleCase(cls(1.0, d), 0, DRAWS)))
    assert [str(f) for f in check(OracleCase(Halves(1.0, d), 0, DRAWS)) if not f.passed] == []


def test_noise_without_who_is_in_which_group_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = Resolutions(5.0, 8, wave=0.5)
    made = list(estimation.unbiased(OracleCase(scheme, 0, DRAWS // 10)))
    assert [str(f) for f in made if not f.passed] == []
    monkeypatch.setattr(Join, "_chosen", 0.0)
    made = list(estimation.unbiased(OracleCase(scheme, 0, DRAWS // 10)))
    assert [f.check.endswith("stated noise") for f in made if not f.passed] == [True]
