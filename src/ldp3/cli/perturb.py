"""`ldp3 perturb`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ldp3.budget import MODEST, require_modest, said_of
from ldp3.cli import flags
from ldp3.cli.console import Console
from ldp3.collection.reports import ReportFormat
from ldp3.errors import InvalidParameter
from ldp3.printing import plural, show

if TYPE_CHECKING:
    from ldp3.arrays import IntArray
    from ldp3.collection.plan import Plan
    from ldp3.collection.reports import RowsAndIds


def perturb(
    plan: flags.PlanFile,
    values: Path,
    /,
    *,
    output: flags.Output,
    ids: bool = False,
    format: ReportFormat | None = None,
    max_epsilon: float = MODEST,
    plugins: flags.Plugins = [],  # noqa: B006
    quiet: flags.Quiet = False,
    reading: flags.ColumnFlags = flags.ONE_COLUMN,
) -> None:
    """Randomise a file of values, one report for each row, with the secure generator.

    Reports stand in the order of the rows, in a .parquet, .arrow, .jsonl or .bin file.

    Parameters
    ----------
    values
        A .txt, .csv or .parquet file with one person's value per row.
    ids
        Give every report a random identifier, so that one that arrives twice counts once.
    format
        What to write, where the ending of the output does not say.
    max_epsilon
        The largest ε to report at; a plan that asks for more is refused.
    """
    from ldp3.collection.coding import codes_in
    from ldp3.collection.plan import Plan
    from ldp3.collection.reports import format_of, write_reports
    from ldp3.files import require_no_input, whole_file

    require_no_input(output, [plan, values, *plugins])
    collection, kind = Plan.load(plan, plugins), format_of(output, format, "format")
    require_modest(collection.name, collection.epsilon, max_epsilon)
    if ids and kind == "raw":
        raise InvalidParameter("raw bytes hold no identifiers: write .jsonl, .parquet or .arrow.")
    if ids:
        collection.require_unnamed("--ids gives every report an identifier")
    people = codes_in(values, collection, reading.of(collection.domain))
    Console(quiet=quiet).notes([*said_of(collection.epsilon), *people.notes])
    with whole_file(output) as temporary:
        write_reports(temporary, kind, _perturbed(collection, people.codes, ids))
    if not quiet:
        many = plural(len(people.codes), "report")
        show(f"{many} of {collection.report_bytes:,} bytes in {output}")


def _perturbed(collection: "Plan", codes: "IntArray", ids: bool) -> Iterator["RowsAndIds"]:
    from ldp3 import secure

    rng, step = secure(), collection.oracle.chunk_size
    for start in range(0, len(codes), step):
        reports = collection.oracle.perturb(codes[start : start + step], rng)
        names = None
        if ids:  # drawn at once: one by one takes longer than all the rest
            digits = rng.bytes(16 * len(reports)).hex()
            names = [digits[i : i + 32] for i in range(0, len(digits), 32)]
        yield collection.wire.encode(reports), names
