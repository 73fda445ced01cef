"""`ldp3 size`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.budget import said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.cli.data import one_sample
from ldp3.errors import InvalidParameter


def size(
    *,
    epsilon: Annotated[float | None, Parameter(name=["--epsilon", "-e"])] = None,
    population: Annotated[int | None, flags.WHOLE] = None,
    error: str | None = None,
    value_share: str | None = None,
    goal: str = "value",
    data: flags.Data = [],  # noqa: B006
    method: Annotated[str, flags.METHOD_NAMES, Parameter(name=["--method", "-m"])] = "none",
    protocols: flags.Protocols = ["all"],  # noqa: B006
    confidence: flags.Confidence = 0.95,
    rounds: Annotated[int | None, flags.WHOLE] = None,
    shuffled: Annotated[bool, Parameter(negative="")] = False,
    delta: float | None = None,
    central_epsilon: float | None = None,
    seed: flags.Seed = 0,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
    reading: flags.ReadingFlags = flags.AS_IT_IS,
) -> None:
    """People, ε, error: give two, get the third, with the best protocol.

    The values are those of a sample (--data), or as many as --domain-size says.

    Parameters
    ----------
    epsilon
        Privacy budget of one report.
    population
        How many people report.
    error
        How far off the answer may be: 1% is one percentage point of a share. For l1 its
        mean, such as 0.1. For a mean a number in the unit of the values (days, of dates). For an
        order, how often it may be wrong: 5% by default.
    value_share
        How frequent the value is, such as 5%. Without it, the most frequent one of the sample, or
        one that nobody holds.
    goal
        value: one value. mean: that of numbers, such as bins of a sample. above:60, below:18,
        between:18:65 (or dates): the share of people there. top10: the ten most
        frequent ones in the right order (or any number), of a sample. l1: the sum of all errors.
        1-way, 2-way: a typical cell of the tables of one or two attributes, with --columns.
    method
        For l1: what post-processes the estimate; needs a sample.
    rounds
        How often the same people are asked, for what that costs; 52 if not given.
    shuffled
        Say which central (ε, δ) holds, too, if a shuffler that you trust mixes the reports.
    delta
        The δ of that promise, such as 1e-6: far below one over the people.
    central_epsilon
        In place of --epsilon, with --population and --delta: each protocol takes the largest ε that
        keeps this one if its reports are mixed, over all --rounds if these are given.
    """
    from ldp3.edges import number_in
    from ldp3.sizing.size import size

    mixed = shuffled or central_epsilon is not None
    if mixed != (delta is not None):
        raise InvalidParameter("--shuffled needs --delta, such as 1e-6, and --delta needs it.")
    console, why = Console(quiet=quiet), "A size is for one sample"
    users = one_sample(data, reading, plugins, why, console) if data else None
    if error is not None and goal.strip().lower() == "mean" and number_in(error) is None:
        raise InvalidParameter(
            f"--error of a mean is a number in the unit of the values, such as 1, got {error!r}."
        )
    found = size(
        epsilon,
        population,
        None if error is None else share("error", error),
        data=users,
        domain_size=None if users is not None else reading.domain_size,
        value_share=None if value_share is None else share("value_share", value_share),
        goal=goal,
        method=method,
        protocols=flags.specs("-p", protocols),
        confidence=confidence,
        rounds=rounds,
        delta=delta,
        central_epsilon=central_epsilon,
        seed=seed,
        plugins=plugins,
    )
    console.notes(said_of(found.best.epsilon))
    flags.tell(found.answer(), format)


def share(name: str, text: str) -> float:
    """``1%`` or ``0.01``."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        return float(number) / (100 if percent else 1)
    except ValueError:
        raise InvalidParameter(f"`{name}` is a share, such as 1% or 0.01, got {text!r}.") from None
