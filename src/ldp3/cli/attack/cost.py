"""`ldp3 attack cost`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.cli.console import Console
from ldp3.cli.data import one_dataset


def cost(
    *,
    overtake: Annotated[tuple[str, str], Parameter(consume_multiple=True)],
    epsilon: options.Epsilons = ["1"],  # noqa: B006
    protocols: options.Protocols = ["paper"],  # noqa: B006
    data: options.Data = ["flights"],  # noqa: B006
    population: options.Population = None,
    plugins: options.Plugins = [],  # noqa: B006
    format: options.AnswerFormat = "text",
    quiet: options.Quiet = False,
    reading: options.ReadingFlags = options.AS_IT_IS,
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
    budgets, named = options.numbers(epsilon), options.specs("-p", protocols)
    options.tell(costs(users, overtake, budgets, named, plugins), format)
