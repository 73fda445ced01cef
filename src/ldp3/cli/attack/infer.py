"""`ldp3 attack infer`."""

from typing import Annotated, Literal

from cyclopts import Parameter

from ldp3.cli import options
from ldp3.cli.data import one_dataset
from ldp3.errors import InvalidParameter
from ldp3.printing import show, terminal_width, wrapped

Format = Literal["table", "markdown", "csv", "json"]
LEGEND = (
    "guessed: how often the best guess is right, with its standard error, or ≈ for a sum as if all "
    "values were supported independently, where any four are; blind: without any report; ceiling: "
    "what no protocol of this ε exceeds, whatever the attacker knows beforehand."
)


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
    format: Annotated[Format, Parameter(group=options.OUTPUT)] = "table",
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
    format
        How the table is printed.
    """
    from ldp3.threats.tables import infer_rows, render

    if not all(seen >= 1 for seen in rounds):
        raise InvalidParameter(f"`rounds` must be at least 1, got {min(rounds)}.")
    users = one_dataset(data, reading, plugins, "An attack is on one collection")
    rows = infer_rows(
        users,
        options.numbers(epsilon),
        options.specs("-p", protocols),
        prior,
        rounds,
        memoised=memoised,
        seed=seed,
        plugins=plugins,
    )
    show(render(rows, format, terminal_width()))
    if format in ("table", "markdown"):
        show(f"\n{wrapped(LEGEND, terminal_width())}")
