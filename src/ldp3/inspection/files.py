"""The reports in files, all of them at once, as a server would count them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ldp3.arrays import Reports
from ldp3.collection import reading
from ldp3.collection.counts import Counts, Digests
from ldp3.collection.plan import Plan
from ldp3.collection.reports import ReportFormat
from ldp3.protocols.base import FrequencyOracle


@dataclass
class Kept(Counts):
    """Counts that keep the reports instead of adding them up.

    Parameters
    ----------
    chunks
        The reports, as they came.
    """

    chunks: list[Reports] = field(default_factory=list)

    def add_reports(
        self,
        oracle: FrequencyOracle,  # noqa: ARG002
        reports: Reports,
        digests: Digests | None = None,
    ) -> None:
        self.chunks.append(self.once(reports, digests))


def reports_in(
    plan: Plan, paths: Sequence[Path], input_format: ReportFormat | None = None
) -> tuple[Reports, dict[str, int]]:
    """The reports that a server would count, and the rows that it would leave out, by reason."""
    oracle, kept = plan.oracle, Kept(plan.oracle.empty)
    for path in paths:
        for part in reading.parts_of(path, plan.wire, input_format):
            reading.add_part(plan.wire, part, kept)
    none = oracle.perturb(np.zeros(0, dtype=np.int64), np.random.Generator(np.random.PCG64(0)))
    return np.concatenate([none, *kept.chunks]), kept.refused
