"""The races of all questions on one run: what is still worth measuring, look by look."""

from collections.abc import Collection, Sequence

import numpy as np

from ldp3.arrays import BoolArray, FloatArray
from ldp3.experiment.cells import Outcome
from ldp3.experiment.lab import Lab
from ldp3.experiment.schedule import Wanted
from ldp3.postprocessing.base import PostProcessor
from ldp3.recommendation import race
from ldp3.recommendation.race import Rules, Standing

Combination = tuple[str, str]  # protocol, method
Question = tuple[float, str]  # ε, metric


class Contest:
    """A race for every question; those of one ε share their cells.

    The datasets of the lab are the populations that a sample may come from. Methods that are
    `ineligible` must not win and take no part.
    """

    def __init__(self, lab: Lab, rules: Rules, ineligible: Collection[str] = ()) -> None:
        ex = lab.experiment
        self.lab, self.rules, self.ineligible = lab, rules, ineligible
        self.methods = [c.spec for c in ex.methods]
        self.metrics = [c.spec for c in ex.metrics]
        self.better = {
            spec: metric.better
            for spec, metric in zip(self.metrics, lab.metrics[ex.datasets[0].name], strict=True)
        }
        self._population = {name: i for i, name in enumerate(lab.datasets)}
        self._values: dict[tuple[Combination, Question], FloatArray] = {}
        self.standings: dict[Question, Standing] = {
            (e, u): race.start(len(self.combinations(e))) for e in ex.epsilons for u in self.metrics
        }

    def follow(self, heat: "Contest") -> None:
        """Go on with those who are left after a heat on other populations."""
        self.standings = {q: race.after(standing) for q, standing in heat.standings.items()}

    @property
    def decided(self) -> bool:
        """Whether no race needs more."""
        return all(standing.reason is not None for standing in self.standings.values())

    @property
    def looks(self) -> Sequence[int]:
        """Repeats after which to look."""
        return self.rules.looks

    def combinations(self, epsilon: float) -> list[Combination]:
        """Every method on every protocol that it applies to."""
        first = next(iter(self.lab.datasets))
        return [
            (cell.protocol, self.methods[m])
            for cell in self.lab.cells
            if cell.dataset == first and cell.epsilon == epsilon
            for m in np.flatnonzero(self.lab.applies(cell))
            if self.methods[m] not in self.ineligible
        ]

    @property
    def populations(self) -> int:
        """How many there are."""
        return len(self._population)

    def hear(self, outcome: Outcome) -> None:
        """Keep the scores of a block."""
        cell = outcome.block.cell
        repeats = slice(cell.repeat, outcome.block.stop)
        for m, method in enumerate(self.methods):
            for u, metric in enumerate(self.metrics):
                values = self.values((cell.protocol, method), (cell.epsilon, metric))
                values[self._population[cell.dataset], repeats] = outcome.values[:, m, u]

    def values(self, combination: Combination, question: Question) -> FloatArray:
        """The scores of a combination, by population and repeat."""
        shape = len(self._population), self.rules.looks[-1]
        return self._values.setdefault((combination, question), np.full(shape, np.nan))

    def scores(self, question: Question) -> FloatArray:
        """By combination, population and repeat; lower is better."""
        sign = -1.0 if self.better[question[1]] == "higher" else 1.0
        rows = [self.values(c, question) for c in self.combinations(question[0])]
        return sign * np.array(rows)

    def over(self, repeats: int) -> bool:
        """Look and drop; whether every race is over."""
        self._look(repeats)
        return self.decided

    def wanted(self) -> Wanted:
        """Which methods are left in some race."""
        needed = {
            (cell.epsilon, cell.protocol): np.zeros(len(self.methods), dtype=bool)
            for cell in self.lab.cells
        }
        for question in (q for q, standing in self.standings.items() if standing.reason is None):
            left = self.standings[question].running | self._watched(question)
            for (protocol, method), there in zip(self.combinations(question[0]), left, strict=True):
                needed[question[0], protocol][self.methods.index(method)] |= there
        return needed

    def _look(self, repeats: int) -> None:
        for question, before in self.standings.items():
            if before.reason is None:
                values = self.scores(question)[:, :, :repeats]
                after = race.look(values, before, self.rules, self._watched(question))
                self.standings[question] = after

    def _watched(self, question: Question) -> BoolArray:
        """The usual methods of the protocols that still run: people will ask how much worse."""
        all_ = self.combinations(question[0])
        run = {all_[i][0] for i in np.flatnonzero(self.standings[question].running)}
        usual = PostProcessor.sets["usual"]
        return np.array([method in usual and protocol in run for protocol, method in all_])
