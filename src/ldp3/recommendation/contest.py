"""The races of all questions on one run: what is still worth measuring, look by look.

Where some users may be fake the race is for the worst error, not the clean one (`RobustContest`).
"""

from collections.abc import Collection, Sequence
from math import floor

import numpy as np

from ldp3.arrays import BoolArray, FloatArray
from ldp3.attacks.base import amplification
from ldp3.attacks.targets import fake_count
from ldp3.experiment.grid import NOBODY
from ldp3.experiment.outcomes import Outcome
from ldp3.experiment.schedule import Wanted
from ldp3.experiment.simulator import Simulator
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.base import PureOracle
from ldp3.recommendation import race
from ldp3.recommendation.race import Rules, Standing
from ldp3.results import names
from ldp3.results.verdict import combination

Combination = tuple[str, str]  # protocol, method
Question = tuple[float, str]  # ε, metric


class Contest:
    """A race for every question; those of one ε share their cells.

    The datasets of the simulator are the populations that a sample may come from. Methods that are
    `ineligible` must not win and take no part.
    """

    def __init__(
        self, simulator: Simulator, rules: Rules, ineligible: Collection[str] = ()
    ) -> None:
        ex = simulator.experiment
        self.simulator, self.rules, self.ineligible = simulator, rules, ineligible
        self.methods = [c.spec for c in ex.methods]
        self.metrics = [c.spec for c in ex.metrics]
        self.better = {
            spec: metric.better
            for spec, metric in zip(
                self.metrics, simulator.metrics[ex.datasets[0].name], strict=True
            )
        }
        self._population = {name: i for i, name in enumerate(simulator.datasets)}
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
        first = next(iter(self.simulator.datasets))
        return [
            (cell.protocol, self.methods[m])
            for cell in self.simulator.cells
            if cell.dataset == first and cell.epsilon == epsilon
            for m in np.flatnonzero(self.simulator.applies(cell))
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
            for cell in self.simulator.cells
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


class RobustContest(Contest):
    """A contest whose scores are the worst over all attacks, and none, on the same reports.

    The mean of the largest error among a clean and the attacked collections bounds that of the
    worst attack from above, and stays paired, so the race and its promises are as without attacks.
    """

    def __init__(
        self, simulator: Simulator, rules: Rules, ineligible: Collection[str] = ()
    ) -> None:
        super().__init__(simulator, rules, ineligible)
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
        cell = next(
            c for c in self.simulator.cells if (c.epsilon, c.protocol) == (epsilon, chosen[0])
        )
        oracle = self.simulator.oracle(cell)
        assert isinstance(oracle, PureOracle)
        fakes = fake_count(
            self.simulator.experiment.fake_users[0], self.simulator.datasets[cell.dataset].n
        )
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
        second, first = np.sort(self.simulator.datasets[dataset].histogram)[-2:]
        return floor((first - second) * (oracle.p - oracle.q)) + 1


def contest_of(simulator: Simulator, rules: Rules, ineligible: Collection[str] = ()) -> Contest:
    """The contest of a simulator, with or without attackers."""
    kind = Contest if simulator.experiment.attacks == (NOBODY,) else RobustContest
    return kind(simulator, rules, ineligible)
