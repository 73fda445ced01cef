"""`ldp3 inspect`."""

from typing import Annotated

from cyclopts import Parameter

from ldp3.cli import flags
from ldp3.cli.aggregate import require_once
from ldp3.cli.console import Console
from ldp3.collection.reports import ReportFormat
from ldp3.errors import InvalidData


def inspect(
    plan: flags.PlanFile,
    reports: Annotated[list[str], Parameter(name="REPORTS...", negative=())],
    /,
    *,
    alpha: float = 0.01,
    input_format: ReportFormat | None = None,
    seed: flags.Seed = 0,
    plugins: flags.Plugins = [],  # noqa: B006
    format: flags.AnswerFormat = "text",
    quiet: flags.Quiet = False,
) -> int:
    """Look for fake users in reports: exit code 1 if honest clients would almost never send these.

    Every test is right whatever people hold; exit code 3 if none applies. Fake users who randomise
    honestly no test can find.

    Parameters
    ----------
    reports
        Files of reports: .parquet, .arrow, .jsonl, .bin; folders of them; databases of
        `ldp3 serve` that keep reports.
    alpha
        How often honest reports may be called suspicious, by all tests together.
    input_format
        What the files hold, where their endings do not say.
    """
    from ldp3.collection.plan import as_plan
    from ldp3.collection.report_parts import foreign_reports
    from ldp3.threats.detection import inspect_batches
    from ldp3.threats.report_batches import ReportFiles

    require_once(reports)
    collection = as_plan(plan, plugins)
    found = ReportFiles(collection, reports, input_format)
    some = any(len(batch) > 0 for batch in found())
    if not some and not found.refused:
        raise InvalidData(f"{reports[0]}: there is no report to inspect.")
    if not some:
        raise foreign_reports(collection, plan.parent, reports, input_format, found.refused)
    inspection = inspect_batches(collection, found, alpha=alpha, seed=seed)
    left_out = ", ".join(f"{rows:,} {reason}" for reason, rows in found.refused.items())
    console, claim = Console(quiet=quiet), collection.shuffled
    console.notes([f"Left out: {left_out}."] if left_out else [])
    console.notes([] if claim is None else [claim.said_of(inspection.n, len(found.seen))])
    flags.tell(inspection.answer(), format)
    return inspection.exit_code
