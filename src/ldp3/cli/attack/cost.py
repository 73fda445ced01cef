"""`ldp3 attack cost`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import one_dataset


def cost(
    *,
    overtake: Annotated[tuple[str, str], Parameter(consume_multiple=True)],
    epsilon: flags.Epsilons = ["1"],  # noqa: B006
    protocols: flags.Protocols = ["paper"],  # noqa: B006
    data: flags.Data = ["flights"],  # noqa: B006
    population: flags.Population = None,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> None:
    """Say how many fake users lift one value over another, under every protocol.

    In expectation, by reports made to order and by honest randomisation of a lie; with exactly so
    many the noise decides, and about every second ranking is wrong.

    Parameters
    ----------
    overtake
        Two labels: B A asks how many lift B over A.
    """
    from ldp3.threats.sweeps import costs

    users = one_dataset(
        data, reading, plugins, "An attack is on one collection", Console(quiet=quiet)
    )
    users = users if population is None else users.scaled(population)
    budgets, named = flags.numbers(epsilon), flags.specs("-p", protocols)
    flags.tell(costs(users, overtake, budgets, named, plugins), format)
