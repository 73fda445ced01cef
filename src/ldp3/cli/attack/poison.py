"""`ldp3 attack poison`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import users
from ldp3.cli.run import announced, measured
from ldp3.errors import InvalidParameter
from ldp3.progress import say

TARGETS = 10  # values that fake users raise, if nobody says which
_several = Parameter(consume_multiple=True)


def poison(
    *,
    attack: flags.Attacks = ["ria", "mga"],  # noqa: B006
    targets: Annotated[
        list[str] | None, _several, Parameter(show_default=lambda _: f"top:{TARGETS}")
    ] = None,
    fake_users: Annotated[list[str], _several] = ["1%"],  # noqa: B006
    epsilon: flags.Epsilons = ["1"],  # noqa: B006
    protocols: flags.Protocols = ["paper"],  # noqa: B006
    methods: flags.Methods = ["paper"],  # noqa: B006
    repeats: Annotated[int | None, flags.WHOLE, Parameter(name=["--repeats", "-r"])] = None,
    threads: flags.Threads = None,
    data: flags.Data = ["flights"],  # noqa: B006
    metrics: flags.Metrics = ["l1"],  # noqa: B006
    seed: flags.Seed = 0,
    simulate: Literal["exact", "users"] = "exact",
    population: flags.Population = None,
    executor: flags.Executor = "threads",
    plugins: flags.Plugins = [],  # noqa: B006
    output: flags.MaybeOutput = None,
    fresh: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    format: flags.AnswerFormat = "text",
    details: Annotated[bool, Parameter(group=flags.OUTPUT)] = False,
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> int:
    """Let fake users send what they like, and see what every combination makes of it.

    Clean and attacked collections share the honest reports, so that what differs is the attack.

    Parameters
    ----------
    targets
        What they want to raise: top:10, bottom:10, random:10, or labels. Of fewer than 20 values,
        by default, the most frequent half.
    fake_users
        How many they are: a number, or a share of all reports such as 1%; several, such as
        1% 5% 10%, one after the other.
    repeats
        Independent collections for each protocol, attack and ε. If not given: 10, 20, 40, … until
        what is best without and under each attack is settled, or to a ceiling, as in `ldp3 run`.
    simulate
        exact draws what the server would count from its exact law; users goes one by one.
    output
        Keep all errors in a .csv, .parquet or .json file, or a folder, as `ldp3 run` does.
    fresh
        Start over, whatever the output holds.
    details
        Show all rows of a table, not only those that give the targets least.
    """
    from ldp3.attacks.targets import TargetShare
    from ldp3.experiment.grid import experiment
    from ldp3.experiment.repeats import prepared
    from ldp3.threats.poisoning import poisoned

    named = [spec for spec in flags.specs("-a", attack) if spec != "none"]
    if not named:
        raise InvalidParameter(
            "`attack` names no attack: take mga or ria, see `ldp3 list attacks`."
        )
    console = Console(quiet=quiet)
    people = users(data, reading, plugins, population, [output], console)
    if targets is None:
        targets = [f"top:{max(1, min(TARGETS, *(one.d // 2 for one in people)))}"]
    simulator = prepared(
        experiment(
            people,
            flags.numbers(epsilon),
            flags.specs("-p", protocols),
            flags.specs("-m", methods),
            [*flags.specs("-u", metrics), TargetShare(tuple(targets), seed)],
            repeats=repeats,
            seed=seed,
            simulate=simulate,
            keep="scores",
            plugins=plugins,
            attacks=named,
            fake_users=fake_users,
            targets=targets,
        )
    )
    if all(cell.attack == "none" for cell in simulator.cells):
        raise InvalidParameter(f"None of {', '.join(named)} can be carried out here.")
    announced(simulator, console)
    results = measured(simulator, executor, threads, output, fresh, console)
    if not results.complete:
        say("Stopped: the same command goes on from there, if it has an --output.")
        return 128 + (console.signal or 0)
    flags.tell(poisoned(simulator, results).answer(details), format)
    return 0
