"""`ldp3 attack infer`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.cli.console import Console
from ldp3.cli.data import one_dataset


def infer(
    *,
    rounds: Annotated[list[int], options.WHOLE, Parameter(consume_multiple=True)] = [1],  # noqa: B006
    prior: Annotated[list[str], Parameter(consume_multiple=True)] = ["uniform", "truth"],  # noqa: B006
    memoised: bool = False,
    epsilon: options.Epsilons = ["1"],  # noqa: B006
    protocols: options.Protocols = ["paper"],  # noqa: B006
    data: options.Data = ["flights"],  # noqa: B006
    seed: options.Seed = 0,
    plugins: options.Plugins = [],  # noqa: B006
    format: options.AnswerFormat = "text",
    quiet: options.Quiet = False,
    reading: options.ReadingFlags = options.AS_IT_IS,
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
        options.numbers(epsilon),
        options.specs("-p", protocols),
        prior,
        rounds,
        memoised=memoised,
        seed=seed,
        plugins=plugins,
    )
    options.tell(found, format)
