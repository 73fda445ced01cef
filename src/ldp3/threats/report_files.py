"""The reports in files, part by part, as a server would count them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ldp3.arrays import Reports
from ldp3.collection import report_parts
from ldp3.collection.counts import Counts, Digests
from ldp3.collection.plan import Plan
from ldp3.collection.reports import ReportFormat
from ldp3.protocols.base import FrequencyOracle


@dataclass
class Kept(Counts):
    """Counts that keep the reports of a part instead of adding them up.

    Parameters
    ----------
    batches
        The reports, as they came.
    """

    batches: list[Reports] = field(default_factory=list)

    def add_reports(
        self,
        oracle: FrequencyOracle,  # noqa: ARG002
        reports: Reports,
        digests: Digests | None = None,
    ) -> None:
        self.batches.append(self.once(reports, digests))


class ReportFiles:
    """The reports that a server would count: every call reads them from the start.

    One part is held at a time; besides, as a server does, the identifiers of reports that have one.

    Parameters
    ----------
    plan
        The collection.
    paths
        Its files.
    input_format
        What they hold, where their endings do not say.
    """

    def __init__(
        self, plan: Plan, paths: Sequence[Path], input_format: ReportFormat | None = None
    ) -> None:
        self._plan, self._paths, self._format = plan, paths, input_format
        self.refused: dict[str, int] = {}  # rows that the last call left out, by reason

    def __call__(self) -> Iterator[Reports]:
        kept = Kept(self._plan.oracle.empty)
        self.refused = kept.refused
        for path in self._paths:
            for part in report_parts.parts_of(path, self._plan.wire, self._format):
                report_parts.add_part(self._plan.wire, part, kept)
                yield from kept.batches
                kept.batches.clear()
