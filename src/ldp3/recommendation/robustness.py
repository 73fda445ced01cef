"""What to deploy where some users may be fake: the race is for the worst error, not the clean one.

A combination scores the largest error among a clean and the attacked collections of the same honest
reports. Its mean bounds that of the worst attack from above, and stays paired, so the race and its
promises are as without attacks.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np

from ldp3.arrays import FloatArray
from ldp3.attacks.base import amplification
from ldp3.attacks.scene import fake_count
from ldp3.errors import InvalidParameter
from ldp3.experiment.cells import Outcome
from ldp3.experiment.grid import NOBODY, Choice, Experiment, Named
from ldp3.experiment.lab import Lab
from ldp3.plugins import load_plugins
from ldp3.protocols.base import PureOracle, build_oracle
from ldp3.recommendation.contest import Combination, Contest, Question
from ldp3.recommendation.race import Rules
from ldp3.results import names
from ldp3.results.verdict import combination
from ldp3.types import Dataset

TARGETS = 10  # rare values that fake users raise, if nobody says which; half of fewer than 20


@dataclass(frozen=True)
class Threat:
    """Fake users to be robust against.

    Parameters
    ----------
    fake_users
        How many: a number, or a share of all reports such as ``"1%"``; 0 for none.
    attacks
        What they may do.
    targets
        What they want to raise, as `ldp3.benchmark` takes it.
    """

    fake_users: float | str = 0
    attacks: Named | Sequence[Named] = "mga"
    targets: str | Sequence[str] | None = None  # the rarest values

    def on(self, data: Dataset) -> "Threat":
        """The same on these data: nobody, if there are no fake users; targets that there are."""
        rare = f"bottom:{max(1, min(TARGETS, data.d // 2))}"
        nobody = fake_count(self.fake_users, data.n) == 0
        targets = rare if self.targets is None else self.targets
        return replace(self, attacks="none" if nobody else self.attacks, targets=targets)

    def applied(self, ex: Experiment) -> tuple[Experiment, list[str]]:
        """Without protocols on which nobody knows how to simulate fake users, and what is said."""
        if ex.attacks == (NOBODY,):
            return ex, []
        kept = tuple(choice for choice in ex.protocols if _pure(ex, choice))
        lost = [choice.spec for choice in ex.protocols if choice not in kept]
        if not kept:
            raise InvalidParameter(
                f"None of {', '.join(lost)} can be attacked here: their reports do not support "
                f"values. Leave `fake_users` out."
            )
        said = f"Left out: {', '.join(lost)}: what fake users do to them cannot be simulated."
        return replace(ex, protocols=kept), [said] if lost else []


def _pure(ex: Experiment, choice: Choice) -> bool:
    modules, data = load_plugins(ex.plugins), ex.datasets[0]
    made = build_oracle(choice.thing, *modules, epsilon=ex.epsilons[0], d=data.d)
    return isinstance(made, PureOracle)


class RobustContest(Contest):
    """A contest whose scores are the worst over all attacks, and none, on the same reports."""

    def __init__(self, lab: Lab, rules: Rules, ineligible: Collection[str] = ()) -> None:
        super().__init__(lab, rules, ineligible)
        self._clean: dict[tuple[Combination, Question], FloatArray] = {}

    def combinations(self, epsilon: float) -> list[Combination]:
        return list(dict.fromkeys(super().combinations(epsilon)))  # once, whoever attacks

    def hear(self, outcome: Outcome) -> None:
        cell = outcome.block.cell
        repeats, population = slice(cell.repeat, outcome.block.stop), self._population[cell.dataset]
        for m, method in enumerate(self.methods):
            for u, metric in enumerate(self.metrics):
                question, mine = (cell.epsilon, metric), (cell.protocol, method)
                new, known = outcome.values[:, m, u], self.values(mine, question)
                worst = np.fmin if self.better[metric] == "higher" else np.fmax
                known[population, repeats] = worst(known[population, repeats], new)
                if cell.attack == NOBODY.spec:
                    clean = self._clean.setdefault((mine, question), np.full(known.shape, np.nan))
                    clean[population, repeats] = new

    def clean(self, question: Question) -> dict[Combination, float]:
        """Mean errors without attackers in the first look, which all combinations have run."""
        first = self.rules.looks[0]
        return {mine: float(np.mean(self._clean[mine, question][:, :first]))
                for mine in self.combinations(question[0])}  # fmt: skip

    def said(self, question: Question, chosen: Combination) -> str:
        """What robustness costs and what one fake user weighs, in a sentence."""
        (epsilon, metric), clean = question, self.clean(question)
        best = min if self.better[metric] == "lower" else max
        other = best(clean, key=lambda c: clean[c])
        cell = next(c for c in self.lab.cells if (c.epsilon, c.protocol) == (epsilon, chosen[0]))
        oracle = self.lab.oracle(cell)
        assert isinstance(oracle, PureOracle)
        fakes = fake_count(self.lab.experiment.fake_users[0], self.lab.datasets[cell.dataset].n)
        more = abs(clean[chosen] / clean[other] - 1)
        error = f"{names.metric(metric)} = {clean[chosen]:.4g}"
        price = f"{more:.1%} more than {combination(*other)}" if more >= 5e-4 else "the least"
        return (
            f"Errors at ε = {epsilon:g} are the worst without and with {fakes:,} fake users. "
            f"Without them {combination(*chosen)} has {error}, {price}. One fake "
            f"user weighs as {amplification(oracle):.1f} honest ones; "
            f"{self._swap(oracle, cell.dataset):,} of them swap the two most frequent values."
        )

    def _swap(self, oracle: PureOracle, dataset: str) -> int:
        """Fake users who make the second value the first, in expectation."""
        second, first = np.sort(self.lab.datasets[dataset].histogram)[-2:]
        return floor((first - second) * (oracle.p - oracle.q)) + 1


def contest(lab: Lab, rules: Rules, ineligible: Collection[str] = ()) -> Contest:
    """The contest of a lab, with or without attackers."""
    kind = Contest if lab.experiment.attacks == (NOBODY,) else RobustContest
    return kind(lab, rules, ineligible)
