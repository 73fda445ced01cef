"""`ldp3 attack cost`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.cli.data import one_dataset
from ldp3.errors import InvalidParameter
from ldp3.printing import show, terminal_width, wrapped

Format = Literal["table", "markdown", "csv", "json"]


def cost(
    *,
    overtake: Annotated[tuple[str, str], Parameter(consume_multiple=True)],
    epsilon: options.Epsilons = ["1"],  # noqa: B006
    protocols: options.Protocols = ["paper"],  # noqa: B006
    data: options.Data = ["flights"],  # noqa: B006
    population: options.Population = None,
    plugins: options.Plugins = [],  # noqa: B006
    format: Annotated[Format, Parameter(group=options.OUTPUT)] = "table",
    reading: options.ReadingFlags = options.AS_IT_IS,
) -> None:
    """Say how many fake users lift one value over another, under every protocol.

    In expectation, by reports made to order and by honest randomisation of a lie; with exactly so
    many the noise decides, and about every second ranking is wrong.

    Parameters
    ----------
    overtake
        Two labels: B A asks how many lift B over A.
    format
        How the table is printed.
    """
    from ldp3.attacks.targets import target_codes
    from ldp3.threats.tables import cost_rows, render

    users = one_dataset(data, reading, plugins, "An attack is on one collection")
    users = users if population is None else users.scaled(population)
    below, above = (_one(target_codes(users, name), name) for name in overtake)
    lead = float(users.frequencies[above] - users.frequencies[below])
    if below == above:
        raise InvalidParameter(f"`overtake` takes two different values, got {overtake[0]} twice.")
    if lead < 0:
        raise InvalidParameter(
            f"{overtake[0]} is more frequent than {overtake[1]} already: swap them."
        )
    rows = cost_rows(users, lead, options.numbers(epsilon), options.specs("-p", protocols), plugins)
    if format in ("table", "markdown"):
        leads = f"who leads by {lead:.3%} of {users.n:,} users"
        show(wrapped(f"To lift {overtake[0]} over {overtake[1]}, {leads}:", terminal_width()))
    show(render(rows, format, terminal_width()))


def _one(codes: tuple[int, ...], name: str) -> int:
    if len(codes) > 1:
        raise InvalidParameter(f"`overtake` takes single values, got {name}: {len(codes)} values.")
    return codes[0]
