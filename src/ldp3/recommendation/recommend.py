"""From a sample and a question to an answer."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from ldp3.datasets.loading import load_all
from ldp3.errors import InvalidParameter
from ldp3.experiment.executors import require_threads
from ldp3.experiment.grid import Experiment, Named, experiment
from ldp3.experiment.simulator import Simulator
from ldp3.progress import Bar, Progress, available_cores
from ldp3.recommendation import race
from ldp3.recommendation.advice import Advice, Recommendation
from ldp3.recommendation.choosing import Answers, run_whole
from ldp3.recommendation.contest import Contest, RobustContest, contest_of
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.race import Rules
from ldp3.recommendation.requirements import Requirements, Threat, with_designs
from ldp3.types import Dataset


def recommend(
    data: object,
    epsilons: float | Iterable[float] = 1.0,
    protocols: Named | Sequence[Named] = "all",
    methods: Named | Sequence[Named] = "all",
    metrics: Named | Sequence[Named] = "l1",
    *,
    population: int | None = None,
    confidence: float = 0.95,
    margin: float = 0.01,
    max_bits: int | None = None,
    max_decode: float | None = None,
    unbiased: bool = False,
    distribution: bool = False,
    fake_users: float | str = 0,
    attacks: Named | Sequence[Named] = "mga",
    targets: str | Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    executor: Executor | str | None = None,
    plugins: Iterable[str | Path] = (),
    progress: Progress | None = None,
) -> Recommendation:
    """The best protocol and method for data like a sample, and everything tied with it.

    The same seed gives the same answer, whatever the threads.

    Parameters
    ----------
    data
        The sample: one dataset, as `ldp3.benchmark` takes it.
    epsilons, protocols, methods, metrics
        The questions and what to choose from; one or several. `none` is always among
        the methods.
    population
        Users to answer for; as many as the sample has by default.
    confidence
        Probability with which every truly best combination is among the tied, in each answer.
    margin
        Share of the error that nobody notices: of the tied, the cheapest whose expected regret is
        within it of the least is recommended, and the race ends when those left differ by less.
    max_bits
        Leave out protocols whose reports are longer.
    max_decode
        Leave out protocols whose server would count and decode the reports of all users for more
        seconds than that, on one core, as measured here.
    unbiased
        Choose among estimates without post-processing: nothing else is unbiased.
    distribution
        Choose among methods whose frequencies are at least 0 and sum to one.
    fake_users, attacks, targets
        Be robust against so many fake users, a number or a share of all reports such as ``"1%"``,
        who do the worst of these attacks; by default they raise the rarest values. Errors are then
        those of the worst case.
    seed
        Where all randomness starts.
    threads, executor
        Where it runs: see `ldp3.benchmark`.
    plugins
        Files that define more protocols, methods and metrics.
    progress
        Who is told how the work advances; by default a bar at a terminal or in a notebook.
    """
    for name, low, given in (("confidence", 0.5, confidence), ("margin", 0, margin)):
        if not isinstance(given, int | float) or not low <= given < 1:
            raise InvalidParameter(f"`{name}` must be at least {low} and below 1, got {given!r}.")
    requirements = Requirements(max_bits, max_decode, unbiased, distribution)
    require_threads(threads)
    threat = Threat(fake_users, attacks, targets)
    sample, ex, left_out = entered(
        data, epsilons, protocols, methods, metrics, population, requirements, seed, plugins, threat
    )
    scaled = ex.datasets[0]
    contests = _contests(sample, ex, 1 - confidence, margin, threads, distribution)
    simulator = contests[0].simulator
    with progress or Bar() as shown:
        for before, contest in zip([None, *contests], contests, strict=False):
            if before is not None:
                contest.follow(before)
            if not contest.decided:
                run_whole(contest.simulator, executor, threads, shown, contest)
        answers = Answers(contests, sample, executor, threads, shown)
        answered = tuple(answers.to(question) for question in contests[0].standings)
        return Recommendation(
            sample.name,
            sample.n,
            sample.d,
            scaled.n,
            confidence,
            margin,
            seed,
            answered,
            (*_robust(contests[0], answered), *_notes(simulator, sample, population), *left_out),
        )


def entered(
    data: object,
    epsilons: float | Iterable[float],
    protocols: Named | Sequence[Named],
    methods: Named | Sequence[Named],
    metrics: Named | Sequence[Named],
    population: int | None,
    requirements: Requirements,
    seed: int,
    plugins: Iterable[str | Path],
    threat: Threat,
) -> tuple[Dataset, Experiment, list[str]]:
    """The sample, what competes on it if it had all users, and what was left out."""
    sample, *others = load_all(data, plugins=plugins)
    if others:
        raise InvalidParameter("A recommendation is for one sample: give one dataset.")
    scaled = sample.scaled(sample.n if population is None else population)
    threat = threat.on(scaled)
    ex = experiment(
        [scaled],
        epsilons,
        with_designs(protocols, scaled),
        methods,
        metrics,
        seed=seed,
        keep="scores",
        plugins=plugins,
        attacks=threat.attacks,
        fake_users=threat.fake_users,
        targets=threat.targets or (),
    )
    ex, costly = requirements.applied(requirements.methods(ex))
    ex, unattackable = threat.applied(ex)
    return sample, ex, [*costly, *unattackable]


def _contests(
    sample: Dataset,
    ex: Experiment,
    alpha: float,
    margin: float,
    threads: int | None,
    distribution: bool,
) -> list[Contest]:
    """The race on populations that the sample may come from, after a heat if values are many."""
    looks, heat, race_on = race.looks(sample.d), race.heat(sample.d), race.populations(sample.d)
    rules = Rules(alpha, margin, looks, others=1 if heat else 0)
    parts = [(Rules(alpha, margin, (1,), others=len(looks)), range(heat))] if heat else []
    parts.append((rules, range(heat, heat + race_on)))
    drawn = _populations(sample, ex.datasets[0].n, ex.seed, threads, heat + race_on)
    made = []
    for each, part in parts:
        some = drawn[part.start : part.stop]
        simulator = Simulator(replace(ex, datasets=some, repeats=each.looks[-1], limit=False))
        made.append(contest_of(simulator, each, ("none",) if distribution else ()))
    return made


def _populations(
    sample: Dataset, n: int, seed: int, threads: int | None, count: int
) -> tuple[Dataset, ...]:
    """The data that the sample may come from."""
    model = Populations(sample, n, seed)
    model.fitted  # noqa: B018 (before threads ask for it all at once)
    with ThreadPoolExecutor(threads or available_cores()) as pool:
        drawn = list(pool.map(model.draw, range(count)))
    return tuple(replace(data, name=f"population {b}") for b, data in enumerate(drawn))


def _robust(contest: Contest, answers: Sequence[Advice]) -> Iterator[str]:
    if isinstance(contest, RobustContest):
        for found in answers:
            chosen = found.best.protocol, found.best.method
            yield contest.said((found.epsilon, found.metric), chosen)


def _notes(simulator: Simulator, sample: Dataset, population: int | None) -> Iterator[str]:
    yield from sample.notes
    yield from simulator.notes
    if population is None:
        yield f"The answer is for as many users as the sample has, {sample.n:,}: say how many."
    once = int(np.count_nonzero(sample.histogram == 1))
    if once >= 0.05 * sample.n:
        yield (
            f"About {once / sample.n:.0%} of all people hold values that are not in the sample or "
            f"in it once (Good and Turing's estimate): a larger one would tell more."
        )
    yield (
        f"The list of the {sample.d:,} values must be public: one that was read from private data "
        f"tells that somebody holds each of them."
    )
