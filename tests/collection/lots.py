"""A plug-in: small schemes, for one attribute and for several."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ldp3.protocols.base import build_oracle
from ldp3.schemes.base import Group, Scheme, View, whole_shares
from ldp3.types import Estimate, Tally


@dataclass(frozen=True)
class Halves(Scheme):
    """A third of the people say in which of two halves they are, the others where."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        first, second = whole_shares([1, 2])
        coarse = build_oracle("grr", epsilon=self.epsilon, d=2)
        fine = build_oracle("olh(g=3)", epsilon=self.epsilon, d=self.d)
        views = View(((0, 2),)), View(((0, None),))
        return Group(views[0], first, coarse), Group(views[1], second, fine)

    def estimate(self, tally: Tally) -> Estimate:
        return self.groups[1].oracle.estimate(self.split(tally)[1])


@dataclass(frozen=True)
class Lots(Scheme):
    """One attribute in two bins, each attribute, and all of them, each for some of the people."""

    needs_records: ClassVar[bool] = True
    most_values: ClassVar[int] = 2**63 - 1

    sizes: tuple[int, ...] = ()

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        every = tuple((attribute, None) for attribute in range(len(self.sizes)))
        views = [View(((0, 2),)), *(View((part,)) for part in every), View(every)]
        shares = whole_shares([1, *(2 for _ in every), 3])
        return tuple(
            Group(view, share, build_oracle(spec, epsilon=self.epsilon, d=view.size(self.sizes)))
            for view, share, spec in zip(
                views, shares, ["grr", *("pgr" for _ in every), "ss"], strict=True
            )
        )

    def estimate(self, tally: Tally) -> Estimate:
        return self.groups[-1].oracle.estimate(self.split(tally)[-1])
