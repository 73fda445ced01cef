"""`ldp3 attack infer`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import one_dataset


def infer(
    *,
    rounds: Annotated[list[int], flags.WHOLE, Parameter(consume_multiple=True)] = [1],  # noqa: B006
    prior: Annotated[list[str], Parameter(consume_multiple=True)] = ["uniform", "truth"],  # noqa: B006
    memoised: bool = False,
    epsilon: flags.Epsilons = ["1"],  # noqa: B006
    protocols: flags.Protocols = ["paper"],  # noqa: B006
    data: flags.Data = ["flights"],  # noqa: B006
    seed: flags.Seed = 0,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> None:
    """Say how often the best attacker guesses a person's value from the person's own reports.

    A sum where there is one, else simulated, with its standard error; beside it what guessing
    without reports gives, and the ceiling that no protocol of this ε exceeds.

    Parameters
    ----------
    rounds
        How many collections the attacker sees, such as 1 5 15.
    prior
        What the attacker knows beforehand: uniform (nothing), truth, or the estimate of one
        collection after a post-processing method, such as norm_sub.
    memoised
        Clients send the same report again: then all rounds tell as much as one.
    """
    from ldp3.threats.sweeps import guesses

    users = one_dataset(
        data, reading, plugins, "An attack is on one collection", Console(quiet=quiet)
    )
    found = guesses(
        users,
        flags.numbers(epsilon),
        flags.specs("-p", protocols),
        prior,
        rounds,
        memoised=memoised,
        seed=seed,
        plugins=plugins,
    )
    flags.tell(found, format)
