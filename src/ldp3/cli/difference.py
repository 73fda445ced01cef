"""`ldp3 difference`."""

from pathlib import Path

from ldp3.cli import options
from ldp3.cli.aggregate import loaded_counts
from ldp3.cli.console import Console
from ldp3.errors import InvalidParameter
from ldp3.files import real_path


def difference(
    first: Path,
    second: Path,
    /,
    *,
    confidence: options.Confidence = 0.95,
    simultaneous: bool = False,
    plugins: options.Plugins = [],  # noqa: B006
    format: options.AnswerFormat = "text",
    quiet: options.Quiet = False,
) -> None:
    """Estimate how two collections, or two groups of one, differ, with confidence intervals.

    The frequencies of the first minus those of the second, before post-processing. Count the
    reports of each group by themselves to compare groups.

    Parameters
    ----------
    first
        The counts of one, as `ldp3 aggregate` or `ldp3 merge` wrote them.
    second
        The counts of the other, of the same values.
    simultaneous
        Intervals that hold for all values at once with this confidence.
    """
    from ldp3.collection.differences import CollectionDifference

    if real_path(first) == real_path(second):
        raise InvalidParameter(f"{second} is given twice: nothing differs from itself.")
    one, other = loaded_counts([first, second], plugins, Console(quiet=quiet))
    found = CollectionDifference.of(one, other, confidence, simultaneous)
    options.tell(found.answer(), format)
