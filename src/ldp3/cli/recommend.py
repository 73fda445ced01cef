"""`ldp3 recommend`."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import inputs, one_sample
from ldp3.errors import LARGEST_EPSILON, InvalidParameter
from ldp3.files import require_no_input
from ldp3.printing import duration, plural, show

if TYPE_CHECKING:
    from ldp3.domain import Domain
    from ldp3.experiment.grid import Experiment
    from ldp3.reading.options import Reading


def recommend(
    *,
    data: flags.Data,
    epsilon: flags.Epsilons = ["1"],  # noqa: B006
    metrics: flags.Metrics = ["l1"],  # noqa: B006
    population: flags.Population = None,
    protocols: flags.Protocols = ["all"],  # noqa: B006
    methods: flags.Methods = ["all"],  # noqa: B006
    confidence: flags.Confidence = 0.95,
    margin: float = 0.01,
    max_bits: Annotated[int | None, flags.WHOLE] = None,
    max_decode: float | None = None,
    unbiased: bool = False,
    distribution: bool = False,
    fake_users: str = "0",
    attack: flags.Attacks = ["mga"],  # noqa: B006
    targets: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    threads: flags.Threads = None,
    seed: flags.Seed = 0,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    save: Annotated[Path | None, Parameter(group=flags.OUTPUT)] = None,
    details: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    dry_run: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> None:
    """Say which protocol and method to deploy on data like a sample, and what is as good.

    An answer for each ε and metric. The confidence is the probability with which every truly best
    combination is among those called tied.

    Parameters
    ----------
    margin
        Share of the error that nobody notices: of the tied, the cheapest whose expected regret is
        within it of the least is recommended, and the race ends when those left differ by less.
    max_bits
        Leave out protocols whose reports are longer.
    max_decode
        Leave out protocols whose server would need more seconds, on one core, for all people.
    unbiased
        Choose among estimates without post-processing: nothing else is unbiased.
    distribution
        Choose among methods whose frequencies are at least 0 and sum to one.
    fake_users
        Be robust against so many fake users: a number, or a share of all reports such as 1%.
    targets
        What they want to raise: top:10, random:10, labels; the rarest values by default.
    details
        Tell, too, what was compared, and how far single values will be off.
    dry_run
        Print what would compete, the expected time, and stop.
    save
        Write the plan of a collection with what was chosen, for clients and server.
    """
    from ldp3.people import Table
    from ldp3.recommendation.advice import Recommendation
    from ldp3.recommendation.populations import Populations
    from ldp3.recommendation.recommend import entered, recommend
    from ldp3.recommendation.requirements import Requirements, Threat

    budgets, measures = flags.numbers(epsilon), flags.specs("-u", metrics)
    if save is not None and len(budgets) * len(measures) > 1:
        raise InvalidParameter("`save` is for one choice: give one epsilon and one metric.")
    grid = flags.specs("-p", protocols), flags.specs("-m", methods), measures
    attacks = flags.specs("-a", attack)
    if save is not None:
        require_no_input(save, [*inputs(data), reading.domain, *plugins])
        if reading.columns is None:
            _require_deployable(grid[0], plugins)
    with flags.announcing_compiling(quiet):
        why, silent = "A recommendation is for one sample", Console(quiet=True)
        users = one_sample(data, reading, plugins, why, silent)  # the answer holds its notes
        if dry_run:
            if isinstance(users, Table):
                raise InvalidParameter(
                    "--dry-run of a recommendation is for one attribute; of several it is a run: "
                    "`ldp3 run … -p attributes -m attributes --dry-run` tells how long."
                )
            wanted = Requirements(max_bits, max_decode, unbiased, distribution)
            threat = Threat(fake_users, attacks, targets)
            _, ex, _ = entered(users, budgets, *grid, population, wanted, seed, plugins, threat)
            _dry_run(len(Populations(users, users.n, seed).world_of), ex, threads)
            return
        console = Console(quiet=quiet)
        console.notes(said_of(*(e for e in budgets if e <= LARGEST_EPSILON)))
        console.notes(users.notes if isinstance(users, Table) else ())  # that answer does not
        with console:
            found = recommend(
                users,
                budgets,
                *grid,
                population=population,
                confidence=confidence,
                margin=margin,
                max_bits=max_bits,
                max_decode=max_decode,
                unbiased=unbiased,
                distribution=distribution,
                fake_users=fake_users,
                attacks=attacks,
                targets=targets,
                seed=seed,
                threads=threads,
                plugins=plugins,
                progress=console,
            )
    told = found.answer(details) if isinstance(found, Recommendation) else found.answer()
    with flags.telling(told, format):
        if save is not None:
            found.plan(users.domain, plugins).save(save)
            name = shlex.quote(str(save))
            console.notes(
                [
                    *_own_edges(users.domain, reading),
                    f"Saved {save}. Next: ldp3 perturb {name} ANSWERS.csv -o reports.bin; for "
                    f"those who sign: ldp3 statement {name}",
                ]
            )


def _own_edges(domain: "Domain", reading: "Reading") -> list[str]:
    """That a plan tells something of the people in the sample, where it does."""
    from ldp3.domain import Bins, Grid
    from ldp3.reading.options import Cut

    if isinstance(reading.bins, Cut) and reading.bins.scale == "quantiles":
        return [
            "The edges in the plan are quantiles of the sample, which everybody can read there; "
            "give public ones as `bins`, such as 0,18,65,120."
        ]
    if isinstance(domain, Bins | Grid) and domain.closed:  # ends at what occurs
        return [
            "The range in the plan is the sample's own, so that everybody can read its smallest "
            "and largest value there; give a public range with `within`."
        ]
    return []


def _dry_run(many: int, ex: "Experiment", threads: int | None) -> None:
    """What would compete, and for about how long.

    What is left after a look may be the slowest, so only that all of it goes on is a bound.
    """
    from ldp3.experiment.schedule import forecast
    from ldp3.experiment.simulator import Simulator
    from ldp3.recommendation.choosing import CHECKS, SEARCHED_ON, SEARCHES
    from ldp3.recommendation.contest import looks_of

    simulator = Simulator(replace(ex, repeats=1, repeats_asked=True, limit=False))
    cost, (looks, _) = forecast(simulator, threads), looks_of(ex)
    combinations = sum(int(simulator.applies(cell).sum()) for cell in simulator.cells)
    show(f"protocols  {' '.join(c.spec for c in ex.protocols)}")
    show(f"methods    {' '.join(c.spec for c in ex.methods)}")
    show(f"race       {combinations:,} combinations over all ε, on {many} populations")
    show(f"looks      after {', '.join(map(str, looks))} collections on each, fewer take part")
    first, last = (many * repeats * cost.elapsed for repeats in (looks[0], looks[-1]))
    checks = len(ex.metrics) * (many * CHECKS + SEARCHES * SEARCHED_ON)  # of the winners
    most = last + checks * max(cost.seconds.values()) / cost.threads
    show(
        f"time       about {duration(first)} for the first look, up to about {duration(most)} if "
        f"nothing leaves the race; on {plural(cost.threads, 'free core')}, once it has started"
    )


def _require_deployable(protocols: list[str], plugins: list[Path]) -> None:
    """Refuse what no plan could be made of before the work, not after."""
    from ldp3.experiment.grid import choices
    from ldp3.plugins import load_plugins
    from ldp3.protocols.base import FrequencyOracle, build_oracle

    modules = load_plugins(plugins)
    for choice in choices(FrequencyOracle, protocols, modules):
        oracle = build_oracle(choice.thing, *modules, epsilon=1.0, d=4)
        if choice.asked and not oracle.deployable:
            raise InvalidParameter(
                f"`save` needs protocols that can be deployed, and {choice.spec} does not say how "
                f"one report is drawn: leave it out."
            )
