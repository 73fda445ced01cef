"""From a sample and a question to an answer."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import overload

import numpy as np

from ldp3.datasets.loading import load_all
from ldp3.errors import InvalidParameter
from ldp3.experiment.executors import require_threads
from ldp3.experiment.grid import NOBODY, Choice, Experiment, Named, experiment
from ldp3.experiment.run import benchmark, measure
from ldp3.experiment.simulator import Simulator
from ldp3.people import Dataset, Table, one_attribute
from ldp3.plugins import load_plugins
from ldp3.printing import percent
from ldp3.progress import Bar, Progress, available_cores
from ldp3.protocols.base import build_oracle
from ldp3.recommendation.advice import Recommendation
from ldp3.recommendation.choosing import Adviser
from ldp3.recommendation.contest import NORMAL, Contest, raw_errors
from ldp3.recommendation.populations import Populations
from ldp3.recommendation.requirements import Requirements, Threat, with_designs
from ldp3.recommendation.table_advice import TableRecommendation
from ldp3.results import names

NOISIER = 0.1  # share of raw ℓ2 beyond the least from which on no method makes good for it


@overload
def recommend(  # type: ignore[overload-overlap]
    data: Table,
    epsilons: float | Iterable[float] = ...,
    protocols: Named | Sequence[Named] = ...,
    methods: Named | Sequence[Named] = ...,
    metrics: Named | Sequence[Named] = ...,
    *,
    population: int | None = ...,
    seed: int = ...,
    threads: int | None = ...,
    executor: Executor | str | None = ...,
    plugins: Iterable[str | Path] = ...,
    progress: Progress | None = ...,
) -> TableRecommendation: ...


@overload
def recommend(
    data: object,
    epsilons: float | Iterable[float] = ...,
    protocols: Named | Sequence[Named] = ...,
    methods: Named | Sequence[Named] = ...,
    metrics: Named | Sequence[Named] = ...,
    *,
    population: int | None = ...,
    confidence: float = ...,
    margin: float = ...,
    max_bits: int | None = ...,
    max_decode: float | None = ...,
    unbiased: bool = ...,
    distribution: bool = ...,
    fake_users: float | str = ...,
    attacks: Named | Sequence[Named] = ...,
    targets: str | Sequence[str] | None = ...,
    seed: int = ...,
    threads: int | None = ...,
    executor: Executor | str | None = ...,
    plugins: Iterable[str | Path] = ...,
    progress: Progress | None = ...,
) -> Recommendation: ...


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
) -> Recommendation | TableRecommendation:
    """The best protocol and method for data like a sample, and everything tied with it.

    The same seed gives the same answer, whatever the threads.

    Parameters
    ----------
    data
        The sample: one dataset, as `ldp3.benchmark` takes it; or a table of several attributes.
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
    if isinstance(data, Table):
        attacked = fake_users not in (0, "0") or targets is not None
        if attacked or (confidence, margin, requirements) != (0.95, 0.01, Requirements()):
            raise InvalidParameter(
                "Of several attributes a recommendation knows the grid, `population` and `seed`: "
                "no requirements, no attacks, no `confidence` or `margin` of its own."
            )
        people = data if population is None else data.scaled(population)
        results = benchmark(
            people,
            epsilons,
            "attributes" if protocols in ("all", ["all"]) else protocols,
            "attributes" if methods in ("all", ["all"]) else methods,
            metrics,
            seed=seed,
            threads=threads,
            executor=executor,
            plugins=plugins,
            progress=progress,
        )
        return TableRecommendation.of(people, results, plugins)
    threat = Threat(fake_users, attacks, targets)
    sample, ex, left_out = entered(
        data, epsilons, protocols, methods, metrics, population, requirements, seed, plugins, threat
    )
    count = threads or available_cores()
    populations = Populations(sample, ex.datasets[0].n, seed)
    contest = Contest(
        ex, populations, count, 1 - confidence, margin, ("none",) if distribution else ()
    )
    with progress or Bar() as shown:
        if measure(contest.simulator, executor, threads, contest, shown) is None:
            raise KeyboardInterrupt  # half of a race is no ground for an answer
        adviser = Adviser(contest, executor, threads, shown)
        answered = tuple(adviser.advice(question) for question in contest.standings)
    robust = [
        said
        for found in answered
        for said in contest.said_of_attacks(
            (found.epsilon, found.metric), (found.best.protocol, found.best.method)
        )
    ]
    return Recommendation(
        sample.name,
        sample.n,
        sample.d,
        populations.n,
        confidence,
        margin,
        seed,
        answered,
        (*robust, *_notes(contest.simulator, sample, population), *left_out),
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
    found, *others = load_all(data, plugins=plugins)
    if others:
        raise InvalidParameter("A recommendation is for one sample: give one dataset.")
    sample = one_attribute(found)
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
    ex, noisy = _without_noisy(ex)
    return sample, ex, [*costly, *unattackable, *noisy]


def _without_noisy(ex: Experiment) -> tuple[Experiment, list[str]]:
    """Without protocols of a set whose raw estimates are noisier, and what is said.

    In all that was measured the best one had never a raw ℓ2 of a tenth more than the least. Errors
    that hang together are another matter: a method takes most of them out again.
    """
    if ex.attacks != (NOBODY,) or ex.datasets[0].n < NORMAL:  # noise is not all, or not known
        return ex, []
    errors = np.array(
        [[_raw_error(ex, c, epsilon) for c in ex.protocols] for epsilon in ex.epsilons]
    )
    least = np.where(errors > 0, errors, np.inf).min(axis=1, keepdims=True)
    more = (errors / least).min(axis=0) - 1
    out = {
        choice.spec: names.protocol(choice.spec) + f" ({percent(share)})"
        for choice, share in zip(ex.protocols, more.tolist(), strict=True)
        if share > NOISIER and not choice.asked
    }
    said = f"Left out, as their noise is larger (by so much in ℓ2): {', '.join(out.values())}."
    kept = tuple(choice for choice in ex.protocols if choice.spec not in out)
    return replace(ex, protocols=kept), [said] if out else []


def _raw_error(ex: Experiment, choice: Choice, epsilon: float) -> float:
    """Mean ℓ2 without post-processing."""
    data = ex.datasets[0]
    oracle = build_oracle(choice.thing, *load_plugins(ex.plugins), epsilon=epsilon, d=data.d)
    if oracle.correlated:
        return 0.0
    return float(raw_errors(oracle.noise(data.frequencies, data.n).variance(data.frequencies))[1])


def _notes(simulator: Simulator, sample: Dataset, population: int | None) -> Iterator[str]:
    yield from sample.notes
    yield from simulator.notes
    if population is None:
        yield "The answer is for as many people as the sample has; `population` for more."
    once = int(np.count_nonzero(sample.histogram == 1))
    if once >= 0.05 * sample.n:
        yield (
            f"About {percent(once / sample.n)} of all people hold values that are not in the "
            f"sample or in it once (Good and Turing's estimate): a larger one would tell more."
        )
    yield (
        f"The list of the {sample.d:,} values must be public: one that was read from private data "
        f"tells that somebody holds each of them."
    )
