"""Steering: make the estimates come out as the attacker likes."""

from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np

from ldp3.arrays import FloatArray, IntArray, Reports, apportion
from ldp3.attacks.base import Attack
from ldp3.attacks.crafting import crafted, crafted_for, family
from ldp3.errors import require
from ldp3.protocols.base import FrequencyOracle
from ldp3.protocols.pure import PureOracle
from ldp3.types import Tally

Goal = Literal["uniform", "reverse", "targets"]


@final
@dataclass(frozen=True, eq=False)
class Steer(Attack):
    r"""Send what makes the expected estimates those of a goal $γ$, as near as $m$ reports can.

    With $ρ = m/n$ the share of fake reports that must support $v$ is

    $$s_v = q + (p - q)\left(γ_v + \frac{γ_v - f_v}{ρ}\right),$$

    feasible if all $s_v$ lie in $[0, 1]$; else they are cut there. Fake users agree on who sends
    what, so their counts carry no noise at all. Where reports can be made to support any set of
    values (of a fixed size): GRR, unary encodings, subset selection.

    Parameters
    ----------
    goal
        ``uniform``: all values alike. ``reverse``: the most frequent value gets the frequency of
        the rarest, and so on. ``targets``: the targets share everything.
    """

    goal: Goal = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.goal in get_args(Goal), self, f"goal is one of {get_args(Goal)}", self.goal)

    def applies(self, oracle: FrequencyOracle) -> bool:
        return isinstance(oracle, PureOracle) and family(oracle) in ("one", "free", "subset")

    def aim(self) -> FloatArray:
        """The frequencies that the estimates are to show."""
        truth = self.honest / self.honest.sum()
        if self.goal == "uniform":
            return np.full(len(truth), 1 / len(truth))
        aim = np.zeros(len(truth))
        if self.goal == "targets":
            aim[list(self.targets)] = 1 / len(self.targets)
        else:
            order = np.argsort(truth, kind="stable")
            aim[order] = truth[order[::-1]]
        return aim

    def needed(self, oracle: PureOracle) -> float:
        r"""The least $ρ = m/n$ with which the goal is reached in expectation; may be infinite."""
        aim, truth = self.aim(), self.honest / self.honest.sum()
        p, q, away = oracle.p, oracle.q, self.aim() - self.honest / self.honest.sum()
        up, down = (1 - q) / (p - q) - aim, aim + q / (p - q)
        room = np.where(away > 0, up, down)
        assert len(truth) == len(aim)
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.where(away == 0, 0.0, np.where(room > 0, np.abs(away) / room, np.inf))
        return float(least.max())

    def reports(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Reports:
        counts = self._counts(oracle, m)
        # value after value, each report in turn: none gets a value twice, as no count is above m
        values = np.repeat(np.arange(oracle.d), counts)
        if family(oracle) == "one":
            return crafted_for(oracle, rng.permutation(values))
        members = np.zeros((m, oracle.d), dtype=bool)
        members[np.arange(len(values)) % m, values] = True
        return crafted(oracle, rng.permutation(members))

    def tally(self, oracle: PureOracle, m: int, rng: np.random.Generator) -> Tally:  # noqa: ARG002
        return Tally(self._counts(oracle, m), m)

    def rates(self, oracle: PureOracle) -> FloatArray | None:  # noqa: ARG002
        return None  # they depend on how many fake users there are

    def expected_gain(self, oracle: PureOracle, m: int) -> float:
        n, codes = int(self.honest.sum()), list(self.targets)
        if m == 0:
            return 0.0
        rates = self._counts(oracle, m)[codes] / m
        seems = (rates.sum() - len(codes) * oracle.q) / (oracle.p - oracle.q)
        return float(m / (n + m) * (seems - self.share))

    def _counts(self, oracle: PureOracle, m: int) -> IntArray:
        """How many fake reports support each value."""
        if m == 0:
            return np.zeros(oracle.d, dtype=np.int64)
        aim, truth = self.aim(), self.honest / self.honest.sum()
        rho = m / self.honest.sum()
        wish = oracle.q + (oracle.p - oracle.q) * (aim + (aim - truth) / rho)
        size = oracle.support_size
        if size is None:
            return np.rint(np.clip(wish, 0, 1) * m).astype(np.int64)
        return _whole(_cut(wish, size), size * m, m)


def _cut(wish: FloatArray, size: int) -> FloatArray:
    """The nearest rates within [0, 1] that sum to `size`: all moved alike, then cut."""
    low, high = -1.0 - wish.max(), 1.0 - wish.min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if np.clip(wish + middle, 0, 1).sum() > size else (middle, high)
    return np.clip(wish + high, 0, 1)


def _whole(rates: FloatArray, total: int, most: int) -> IntArray:
    """Whole counts near `rates` of `most` that add up to `total`, none above `most`."""
    counts = apportion(np.maximum(rates, 0), total)
    while (over := int(np.maximum(counts - most, 0).sum())) > 0:
        counts = np.minimum(counts, most)
        room = np.flatnonzero(counts < most)[:over]
        counts[room] += 1
    return counts
