"""What there is to see in results, worked out once for pages and figures alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from ldp3 import catalog
from ldp3.arrays import FloatArray
from ldp3.errors import InvalidData, LDPError
from ldp3.protocols.base import FrequencyOracle
from ldp3.ranking import ALPHA
from ldp3.reporting.words import Candidate, throughout, verdict
from ldp3.results import Results
from ldp3.tables import Sheet

VALUES = 40  # of the domain, that people can tell apart in one chart
NUMBERS = 100_000  # of all combinations and values, that a page should carry
CELL = ["metric", "epsilon", "protocol", "method"]


@dataclass(frozen=True)
class Frequencies:
    """True and estimated frequencies of some values of the domain.

    Parameters
    ----------
    labels, truth
        The values that are shown.
    means
        Their estimates, averaged over the repeats, by ε, protocol and method.
    d
        How many values the domain has.
    """

    labels: tuple[str, ...]
    truth: FloatArray
    means: dict[tuple[float, str, str], FloatArray]
    d: int


@dataclass(frozen=True)
class Findings:
    """Results, checked, and everything that is shown of them."""

    results: Results

    def __post_init__(self) -> None:
        _check_table(self.results.table)
        _check_vectors(self.results)

    @cached_property
    def metrics(self) -> list[str]:
        """In the order of the table, like protocols and methods."""
        return self._names("metric")

    @cached_property
    def protocols(self) -> list[str]:
        """Canonical specs."""
        return self._names("protocol")

    @cached_property
    def methods(self) -> list[str]:
        """Canonical specs."""
        return self._names("method")

    @cached_property
    def epsilons(self) -> list[float]:
        """From strict to loose."""
        return sorted(self.results.table["epsilon"].unique())

    @cached_property
    def about(self) -> tuple[str, int, int]:
        """Name, users and domain of the dataset."""
        name, n, d = self.results.table.select("dataset", "n", "d").row(0)
        return str(name), int(n), int(d)

    @cached_property
    def repeats(self) -> int:
        """The most that any cell has."""
        return max(sheet.repeats for sheet in self.sheets.values())

    @cached_property
    def sheets(self) -> dict[tuple[str, float], Sheet]:
        """One metric at one ε."""
        return {(sheet.metric, sheet.epsilon): sheet for sheet in self.results.sheets()}

    @cached_property
    def cells(self) -> pl.DataFrame:
        """One row per metric, ε, protocol and method, from best to worst.

        `mean std min max count simulate`, the ends `low high` of a 95 % t-interval for the mean
        (null for a single repeat), `rank tied`, and `bits` per report (null if unknown).
        """
        from scipy.special import stdtrit  # scipy.stats takes most of a second to import

        summary = self.results.summary()
        freedom = np.maximum(summary["count"].to_numpy() - 1, 1)
        half = pl.Series(stdtrit(freedom, 1 - ALPHA / 2)) * summary["standard_error"]
        summary = summary.with_columns(low=summary["mean"] - half, high=summary["mean"] + half)
        best = self.results.best().select(*CELL, "rank", "tied")
        joined = best.join(summary, on=CELL, how="left", maintain_order="left")
        pairs = joined.select("protocol", "epsilon").rows()
        return joined.with_columns(
            bits=pl.Series([self.bits.get(p) for p in pairs], dtype=pl.Int64)
        )

    @cached_property
    def bits(self) -> dict[tuple[str, float], int]:
        """Size of a report by protocol and ε; a plug-in that is not at hand has no size."""
        found = {}
        for protocol in self.protocols:
            for epsilon in self.epsilons:
                try:
                    oracle: FrequencyOracle = catalog.build(
                        FrequencyOracle,  # type: ignore[type-abstract]
                        protocol,
                        epsilon=epsilon,
                        d=self.about[2],
                    )
                except LDPError:
                    continue
                found[protocol, epsilon] = oracle.report_bits
        return found

    @cached_property
    def sizes_differ(self) -> bool:
        """Whether there is anything to see in error against report size."""
        return any(
            len({bits for (_, e), bits in self.bits.items() if e == epsilon}) > 1
            for epsilon in self.epsilons
        )

    def candidates(self, metric: str, epsilon: float) -> list[Candidate]:
        """Every combination from best to worst."""
        rows = self.cells.filter(metric=metric, epsilon=epsilon)
        ends = rows.with_columns(pl.col("low", "high").fill_null(pl.col("mean")))
        columns = "protocol", "method", "mean", "low", "high", "tied"
        return [Candidate(*row) for row in ends.select(columns).rows()]

    def words(self, metric: str, epsilon: float) -> list[str]:
        """What to deploy, in sentences."""
        if self.results.manifest.get("reference") == "raw":
            return [
                "This run compared each method with the raw estimate, not with the truth: it says "
                "how much a method changes, not which one is best."
            ]
        better = self.sheets[metric, epsilon].better
        said = verdict(self.candidates(metric, epsilon), metric, better, epsilon, 1 - ALPHA)
        if self.repeats == 1:
            said.append("A single repeat says nothing of chance: run more.")
        if len(self.epsilons) > 1 and len(self.sheets[metric, epsilon].runs) > 1:
            where = [e for e in self.epsilons if (metric, e) in self.sheets]
            said.append(throughout([self.candidates(metric, e) for e in where]))
        return said

    def sizes(self, metric: str, epsilon: float) -> list[dict[str, Any]]:
        """For each protocol of known report size: its best method, and the error without any.

        `beside` is where to draw it: sizes that are nearly equal stand side by side.
        """
        out: list[dict[str, Any]] = []
        ranked = self.candidates(metric, epsilon)
        for protocol in self.protocols:
            own = [c for c in ranked if c.protocol == protocol]
            bits = self.bits.get((protocol, epsilon))
            if own and bits is not None:
                raw = [c.mean for c in own if c.method == "none"]
                out.append(
                    {
                        "protocol": protocol,
                        "bits": bits,
                        "best": own[0].mean,
                        "method": own[0].method,
                        "raw": raw[0] if raw else None,
                    }
                )
        beside = _apart([row["bits"] for row in out])
        return [{**row, "beside": place} for row, place in zip(out, beside, strict=True)]

    @cached_property
    def frequencies(self) -> Frequencies | None:
        """True and estimated frequencies, where the results hold them.

        A small domain is shown whole and in its own order, of a large one the most frequent
        values.
        """
        truth, labels, means = self.results.truth, self.results.labels, self.results.means
        if truth is None or labels is None or means is None or means.is_empty():
            return None
        room = min(VALUES, max(NUMBERS // len(means), 10))
        shown = np.arange(len(truth))
        if len(truth) > room:
            shown = np.argsort(-truth, kind="stable")[:room]
        vectors = means["frequencies"].to_numpy()
        places = means.select("epsilon", "protocol", "method").rows()
        estimates = {place: vectors[i][shown] for i, place in enumerate(places)}
        return Frequencies(tuple(labels[i] for i in shown), truth[shown], estimates, len(truth))

    @cached_property
    def left_out(self) -> dict[str, str]:
        """What these results cannot show, and why."""
        out = {}
        if len(self.epsilons) == 1:
            out["Error against ε"] = "only one ε was run"
        if len(self.methods) == 1:
            out["Win rates"] = "only one method was run"
        if self.frequencies is None:
            out["True and estimated frequencies"] = (
                "a table alone does not hold them; a run with --output FOLDER does"
            )
        unknown = [p for p in self.protocols if all(key[0] != p for key in self.bits)]
        if not self.sizes_differ and not unknown:
            out["Error against report size"] = "all reports have the same size"
        if unknown:
            out["Error against report size"] = f"the size is not known for {', '.join(unknown)}"
        return out

    def _names(self, column: str) -> list[str]:
        return self.results.table[column].unique(maintain_order=True).to_list()


def _apart(sizes: list[int]) -> list[float]:
    """Places on a logarithmic axis at least a fortieth of it apart, near the sizes, in order."""
    if not sizes:
        return []
    gap = max((max(sizes) / min(sizes)) ** (1 / 40), 1.01)
    out = [float(size) for size in sizes]
    groups: list[list[int]] = []
    for i in sorted(range(len(sizes)), key=sizes.__getitem__):
        near = groups and sizes[i] / sizes[groups[-1][-1]] < gap
        groups = [*groups[:-1], [*groups[-1], i]] if near else [*groups, [i]]
    for group in groups:
        middle = float(np.exp(np.mean(np.log([sizes[i] for i in group]))))
        for place, i in enumerate(group):
            out[i] = middle * gap ** (place - (len(group) - 1) / 2) if len(group) > 1 else out[i]
    return out


def _check_table(table: pl.DataFrame) -> None:
    """Refuse a table that no single run can have written."""
    if table.is_empty():
        raise InvalidData("These results hold no rows: there is nothing to show.")
    for name in table.columns:
        if table[name].null_count():
            raise InvalidData(f"Results must be complete, but {name!r} is empty in some rows.")
    for name in ("epsilon", "value"):
        if not table[name].is_finite().all():
            raise InvalidData(f"Results must be finite, but {name!r} is not in some rows.")
    data = table.select("dataset", "n", "d").unique(maintain_order=True)
    if len(data) > 1:
        names = " and ".join(f"{name} (n = {n:,}, d = {d:,})" for name, n, d in data.head(2).rows())
        raise InvalidData(f"A report shows one dataset, got {names}: report each on its own.")
    cell = table.group_by(*CELL, maintain_order=True).agg(
        twice=pl.col("repeat").is_duplicated().any(), repeats=pl.col("repeat").sort()
    )
    for metric, epsilon, protocol, method, _, _ in cell.filter("twice").head(1).rows():
        raise InvalidData(
            f"{protocol} with {method} has the same repeat twice ({metric}, ε = {epsilon:g}): "
            f"report one run at a time."
        )
    ragged = cell.group_by("metric", "epsilon", "protocol", maintain_order=True).agg(
        pl.col("repeats").n_unique() > 1
    )
    for metric, epsilon, protocol, _ in ragged.filter("repeats").head(1).rows():
        raise InvalidData(
            f"The methods of {protocol} must have the same repeats ({metric}, ε = {epsilon:g}): "
            f"the table is not whole."
        )


def _check_vectors(results: Results) -> None:
    """Refuse truth, labels and means that do not fit the table."""
    d = int(results.table["d"][0])
    lengths: dict[str, Sequence[Any] | FloatArray | None] = {
        "truth": results.truth,
        "labels": results.labels,
    }
    for name, vector in lengths.items():
        if vector is not None and len(vector) != d:
            raise InvalidData(f"The domain has d = {d} values, but the {name} {len(vector)}.")
    means = results.means
    if means is not None:
        expected = [("epsilon", pl.Float64), ("protocol", pl.String), ("method", pl.String),
                    ("frequencies", pl.Array(pl.Float64, d))]  # fmt: skip
        if list(means.schema.items())[:4] != expected:
            raise InvalidData(f"The mean estimates are not those of {d} values.")
