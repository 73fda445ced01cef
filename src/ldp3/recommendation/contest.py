"""The races of all questions on one run: what is still worth measuring, look by look.

Scores are what the metrics say with the luck of the raw noise taken out. The raw estimate of a pure
protocol has a known mean error in ℓ1 and ℓ2 on every population; a collection whose raw error is
above it was unlucky with all methods. So every score is corrected by what the raw errors were off,
times slopes that are fitted within worlds (control variates): linear, so without bias.

Where some users may be fake the race is for the worst error, the largest of a clean and the
attacked collections of the same reports. Its mean bounds that of the worst attack from above, and
stays paired, so the race and its promises are as without attacks.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.attacks.base import amplification, overtaking
from ldp3.attacks.targets import fake_count
from ldp3.experiment.grid import NOBODY, Choice, Experiment
from ldp3.experiment.outcomes import Outcome
from ldp3.experiment.schedule import Wanted
from ldp3.experiment.simulator import Simulator
from ldp3.noise import PureNoise
from ldp3.postprocessing.base import PostProcessor
from ldp3.protocols.pure import PureOracle
from ldp3.recommendation import race
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.race import Rules, Standing
from ldp3.results import names
from ldp3.results.axes import Cell
from ldp3.results.verdict import combination

Combination = tuple[str, str]  # protocol, method
Question = tuple[float, str]  # ε, metric
CONTROLS = "l1", "l2"  # raw errors whose means are known
NORMAL = 2_000  # users from which on their means are as of normal noise
STEEPEST = 3.0  # slope of a control


class Contest:
    """A race for every question on all populations; those of one ε share their cells.

    Methods that are `ineligible` must not win and take no part.
    """

    def __init__(
        self,
        ex: Experiment,
        populations: Populations,
        threads: int,
        alpha: float,
        margin: float,
        ineligible: Collection[str] = (),
    ) -> None:
        self.populations, self.ineligible = populations, ineligible
        self.world_of: IntArray = populations.world_of
        per_world = np.bincount(self.world_of, minlength=len(populations.worlds))
        weights = (populations.believed / np.maximum(per_world, 1))[self.world_of]
        looks, afforded = looks_of(ex)
        self.rules = Rules(alpha, margin, looks, weights, afforded)
        self.metrics = [c.spec for c in ex.metrics]
        more = tuple(Choice(name, name) for name in CONTROLS if name not in self.metrics)
        self.simulator = Simulator(
            replace(
                ex,
                datasets=populations.drawn(threads),
                repeats=self.rules.afforded,
                metrics=(*ex.metrics, *more),
                limit=False,
            )
        )
        self.methods = [c.spec for c in ex.methods]
        first = next(iter(self.simulator.metrics.values()))
        self.better = {spec: m.better for spec, m in zip(self.metrics, first, strict=False)}
        self.on_line = {spec: m.needs_order for spec, m in zip(self.metrics, first, strict=False)}
        self._place = {name: i for i, name in enumerate(self.simulator.datasets)}
        self._measured: dict[Cell, FloatArray] = {}  # population, repeat, method, metric
        self.standings: dict[Question, Standing] = {
            (e, u): race.start(len(self.combinations(e))) for e in ex.epsilons for u in self.metrics
        }

    @property
    def looks(self) -> Sequence[int]:
        """Repeats after which to look."""
        return self.rules.looks

    def combinations(self, epsilon: float) -> list[Combination]:
        """Every method on every protocol that it applies to."""
        return [
            (cell.protocol, self.methods[m])
            for cell in self._cells
            if cell.epsilon == epsilon
            for m in np.flatnonzero(self.simulator.applies(cell))
            if self.methods[m] not in self.ineligible
        ]

    @cached_property
    def _cells(self) -> list[Cell]:
        """Of the first population, without attacks."""
        first = next(iter(self.simulator.datasets))
        cells = self.simulator.cells
        return [c for c in cells if c.dataset == first and c.attack == NOBODY.spec]

    def cell(self, epsilon: float, protocol: str) -> Cell:
        """The one without attacks on the first population."""
        return next(c for c in self._cells if (c.epsilon, c.protocol) == (epsilon, protocol))

    def hear(self, outcome: Outcome) -> None:
        """Keep the scores of a block."""
        cell = outcome.block.cell
        at = replace(cell.first, dataset="")
        shape = len(self._place), self.rules.looks[-1], *outcome.values.shape[1:]
        known = self._measured.setdefault(at, np.full(shape, np.nan))
        known[self._place[cell.dataset], cell.repeat : outcome.block.stop] = outcome.values

    def scores(self, question: Question, repeats: int | None = None) -> FloatArray:
        """By combination, population and repeat, controlled; lower is better."""
        epsilon, metric = question
        u, sign = self.metrics.index(metric), self._sign(metric)
        made = []
        for protocol in dict.fromkeys(p for p, _ in self.combinations(epsilon)):
            taken = [m for p, m in self.combinations(epsilon) if p == protocol]
            own = {at: v for at, v in self._measured.items()
                   if (at.epsilon, at.protocol) == (epsilon, protocol)}  # fmt: skip
            clean = next(v for at, v in own.items() if at.attack == NOBODY.spec)[:, :repeats]
            worst = np.fmax.reduce([sign * v[:, :repeats, :, u] for v in own.values()])
            control = self._control(epsilon, protocol, clean)
            for m in taken:
                values = worst[:, :, self.methods.index(m)]
                made.append(values if control is None else self._controlled(values, *control, u))
        return np.array(made)

    def _sign(self, metric: str) -> float:
        return -1.0 if self.better[metric] == "higher" else 1.0

    def perfect(self, metric: str) -> float:
        """The score of the truth itself, below which there is none."""
        u, every = self.metrics.index(metric), self.simulator.datasets.values()
        made = zip(
            self.simulator.metrics.values(), (data.frequencies for data in every), strict=True
        )
        return min(self._sign(metric) * measures[u](f, f) for measures, f in made)

    def clean(self, question: Question) -> dict[Combination, float]:
        """Mean errors without attackers in the first look, which all combinations have run."""
        (epsilon, metric), first = question, self.rules.looks[0]
        u = self.metrics.index(metric)
        found = {}
        for protocol, method in self.combinations(epsilon):
            at = replace(self.cell(epsilon, protocol), dataset="")
            values = self._measured[at][:, :first, self.methods.index(method), u]
            found[protocol, method] = float(values.mean(axis=1) @ self.rules.weights)
        return found

    def _control(
        self, epsilon: float, protocol: str, clean: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """How far raw ℓ1 and ℓ2 were off their means, as shares, and these means."""
        specs = [c.spec for c in self.simulator.experiment.metrics]
        known = self._known.get((epsilon, protocol))
        if known is None:
            return None
        raw = clean[:, :, 0, [specs.index(name) for name in CONTROLS]]  # `none` comes first
        return raw / known[:, None] - 1, known

    @cached_property
    def _known(self) -> dict[tuple[float, str], FloatArray]:
        """Mean raw ℓ1 and ℓ2 on each population, by ε and protocol, where they are known."""
        n = self.populations.n
        found = {}
        for cell in self._cells:
            support = self.simulator.oracle(cell).support
            if support is not None and n >= NORMAL:
                noise = PureNoise.of(support, n)
                every = [d.frequencies for d in self.simulator.datasets.values()]
                found[cell.epsilon, cell.protocol] = np.array(
                    [raw_errors(noise.variance(f)) for f in every]
                )
        return found

    def _controlled(
        self, values: FloatArray, off: FloatArray, known: FloatArray, u: int
    ) -> FloatArray:
        spec = self.simulator.experiment.metrics[u].spec
        scale = known[:, CONTROLS.index(spec)] if spec in CONTROLS else None
        return controlled(values, off, self.world_of, scale)

    def over(self, repeats: int) -> bool:
        """Look and drop; whether every race is over."""
        for question, before in self.standings.items():
            if before.reason is None:
                values, watched = self.scores(question, repeats), self._watched(question)
                self.standings[question] = race.look(values, before, self.rules, watched)
        return all(standing.reason is not None for standing in self.standings.values())

    def wanted(self) -> Wanted:
        """Which methods are left in some race."""
        needed = {
            (cell.epsilon, cell.protocol): np.zeros(len(self.methods), dtype=bool)
            for cell in self._cells
        }
        for question in (q for q, standing in self.standings.items() if standing.reason is None):
            left = self.standings[question].left | self._watched(question)
            for (protocol, method), there in zip(self.combinations(question[0]), left, strict=True):
                needed[question[0], protocol][self.methods.index(method)] |= there
        for each in needed.values():
            each[0] |= each.any()  # the raw estimate is the control of all
        return needed

    def _watched(self, question: Question) -> BoolArray:
        """The usual methods of the protocols that still run: people will ask how much worse."""
        all_ = self.combinations(question[0])
        run = {all_[i][0] for i in np.flatnonzero(self.standings[question].left)}
        usual = PostProcessor.sets["usual"]
        return np.array([method in usual and protocol in run for protocol, method in all_])

    def said_of_attacks(self, question: Question, chosen: Combination) -> list[str]:
        """What robustness costs and what one fake user weighs, in a sentence, if any may be."""
        ex, (epsilon, metric) = self.simulator.experiment, question
        if ex.attacks == (NOBODY,):
            return []
        clean = self.clean(question)
        best = min if self.better[metric] == "lower" else max
        other = best(clean, key=lambda c: clean[c])
        oracle = self.simulator.oracle(self.cell(epsilon, chosen[0]))
        assert isinstance(oracle, PureOracle)
        fakes = fake_count(ex.fake_users[0], self.populations.n)
        more = abs(clean[chosen] / clean[other] - 1)
        error = f"{names.metric(metric)} = {clean[chosen]:.4g}"
        price = f"{more:.1%} more than {combination(*other)}" if more >= 5e-4 else "the least"
        second, first = np.sort(self.populations.sample.scaled(self.populations.n).histogram)[-2:]
        return [
            f"Errors at ε = {epsilon:g} are the worst without and with {fakes:,} fake users. "
            f"Without them {combination(*chosen)} has {error}, {price}. One fake "
            f"user weighs as {amplification(oracle):.1f} honest ones; "
            f"{overtaking(oracle, int(first - second)).fake:,} of them swap the two most frequent "
            f"values, if frequencies are as in the sample."
        ]


def looks_of(ex: Experiment) -> tuple[tuple[int, ...], int]:
    """Repeats after which a contest looks, and how many it affords for all combinations."""
    d = ex.datasets[0].d
    return race.looks(d), race.afforded(d, len(ex.protocols) * len(ex.methods))


def raw_errors(variance: FloatArray) -> FloatArray:
    r"""Mean ℓ1 and ℓ2 of unbiased, normal estimates of these variances $v$.

    $\sum\sqrt{2v/\pi}$, and $\sqrt{\sum v}\,(1 - \sum v^2 / 4(\sum v)^2)$ to the second order.
    """
    total = variance.sum()
    l2 = np.sqrt(total) * (1 - (variance**2).sum() / (4 * total**2))
    return np.array([np.sqrt(2 * variance / np.pi).sum(), l2])


def controlled(
    values: FloatArray, off: FloatArray, world_of: IntArray, scale: FloatArray | None = None
) -> FloatArray:
    """Values by population and repeat, with what raw errors were `off` taken out.

    Slopes are fitted within worlds, in units of `scale`, by population; of the mean value of a
    world if it is not given.
    """
    measured = ~np.isnan(values).any(axis=1)
    if not measured.all():  # not asked for so far
        return values
    worlds = [world_of == w for w in np.unique(world_of)]
    if scale is None:
        scale = np.empty(len(values))
        for own in worlds:
            scale[own] = np.abs(values[own].mean())
    if not scale.min() > 0:
        return values
    a, y = off.copy(), values / scale[:, None]
    rest = y.copy()
    for own in worlds:
        a[own] -= off[own].mean(axis=(0, 1))
        rest[own] -= y[own].mean()
    x = a.reshape(-1, off.shape[-1])
    square = np.einsum("ij,ik->jk", x, x)  # not @: the same whatever the threads
    square += (1e-3 * np.trace(square) / 2 + 1e-12) * np.eye(len(square))
    slope = np.linalg.solve(square, np.einsum("ij,i->j", x, rest.ravel()))
    found = y - off @ np.clip(slope, -STEEPEST, STEEPEST)
    return np.asarray(np.where(y > 0, np.maximum(found, 0.1 * y), found) * scale[:, None])
