"""`ldp3 difference`."""

from pathlib import Path

from ldp3.cli import flags
from ldp3.cli.aggregate import loaded_counts
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter
from ldp3.files import real_path


def difference(
    first: Path,
    second: Path,
    /,
    *,
    mean: flags.Mean = False,
    quantiles: flags.Quantiles = [],  # noqa: B006
    above: flags.Above = [],  # noqa: B006
    below: flags.Below = [],  # noqa: B006
    between: flags.Between = [],  # noqa: B006
    table: flags.Attributes = [],  # noqa: B006
    confidence: flags.Confidence = 0.95,
    simultaneous: bool = False,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
) -> None:
    """Estimate how two collections, or two groups of one, differ, with confidence intervals.

    The frequencies of the first minus those of the second, before post-processing. Count the
    reports of each group by themselves to compare groups. With --mean, --quantiles, --above,
    --below or --between these are compared instead of the single values.

    Parameters
    ----------
    first
        The counts of one, as `ldp3 aggregate` or `ldp3 merge` wrote them.
    second
        The counts of the other, of the same values.
    table
        Of several attributes: the table of these.
    simultaneous
        Intervals that hold for all values at once with this confidence.
    """
    from ldp3.collection.differences import CollectionDifference
    from ldp3.collection.numbers import told_apart

    if real_path(first) == real_path(second):
        raise InvalidParameter(f"{second} is given twice: nothing differs from itself.")
    one, other = loaded_counts([first, second], plugins, Console(quiet=quiet))
    called = str(first), str(second)  # two collections may have one plan, and so one name
    asked = flags.asked(mean, quantiles, above, below, between)
    if asked:
        if simultaneous:
            raise InvalidParameter("--simultaneous is for single values: leave it out.")
        flags.tell(told_apart(one, other, asked, confidence, called, table), format)
        return
    found = CollectionDifference.of(one, other, confidence, simultaneous, called, table)
    flags.tell(found.answer(), format)
