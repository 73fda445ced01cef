"""What a run measured: one long table, and what is needed to read it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ldp3 import specs
from ldp3.answers import Answer
from ldp3.errors import InvalidData, LDPError, as_path, require_share
from ldp3.metrics.base import Metric, build_metric
from ldp3.people import Dataset
from ldp3.results import rendering, storage, ties
from ldp3.results.axes import CELL, COMBINATION, CONDITIONS, LIMITS, PLACE, SCHEMA
from ldp3.results.sheets import Sheet
from ldp3.results.sheets import sheets as sheets_of


@dataclass(frozen=True, repr=False)
class Results:
    """A long tidy table, and beside it the truth and what the run was.

    Parameters
    ----------
    table
        One row per dataset, ε, attack, protocol, method, metric and repeat, in the order of the
        grid. `limit` and `distribution_limit` are what the separable oracle scores on the same
        estimate, which is no method: see docs/postprocessing.md.
    manifest
        What was run, with which versions, how long it took.
    datasets
        The data by name; none for a table that was read by itself.
    means
        Frequencies averaged over the repeats: the axes, `method frequencies`.
    estimates
        The frequencies of every repeat, where they were kept: the same with `repeat`.
    """

    table: pl.DataFrame
    manifest: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, Dataset] = field(default_factory=dict)
    means: pl.DataFrame | None = None
    estimates: pl.DataFrame | None = None

    @property
    def complete(self) -> bool:
        """Whether all of the run is here; one that was stopped holds what was finished."""
        return self.manifest.get("complete") is not False

    @property
    def better(self) -> dict[str, str]:
        """For each metric, whether lower or higher is better."""
        known = self.manifest.get("better")
        known = known if isinstance(known, dict) else {}  # a manifest is a file: anything
        metrics = self.table["metric"].unique(maintain_order=True)
        said = {spec: way for spec, way in known.items() if way in ("lower", "higher")}
        return {spec: said.get(spec) or build_metric(spec).better for spec in metrics}

    @property
    def looks(self) -> int:
        """How often the repeats may have been looked at; once where their number was given."""
        known = self.manifest.get("looks")
        return max(len(known), 1) if isinstance(known, list) else 1

    def summary(self) -> pl.DataFrame:
        """Mean, standard deviation, standard error and extremes over the repeats; × limit."""
        value = pl.col("value")
        return self.table.group_by(COMBINATION, maintain_order=True).agg(
            mean=value.mean(),
            std=value.std(),
            count=value.len(),
            standard_error=value.std() / value.len().sqrt(),
            min=value.min(),
            max=value.max(),
            limit=pl.col("limit").mean(),
            times_limit=_times("limit"),
            times_distribution_limit=_times("distribution_limit"),
        )

    def best(self, alpha: float = ties.ALPHA) -> pl.DataFrame:
        """Every protocol with every method from best to worst, for each question.

        A question is a metric, dataset, ε and attack; nothing is pooled over them. `tied` says
        that a combination is not worse than the best one: one-sided t-tests against all others,
        paired within a protocol and Welch's across, corrected for the number of comparisons. With
        probability at least 1−α every truly best combination is among the tied.
        `p_value` is that of the surest test. Methods that gave the same numbers share a rank.
        """
        require_share("alpha", alpha)
        found = ties.best(self.table, self.better, alpha, self.looks)
        # a wide table is shown without its middle: what varies goes to the end
        others = [name for name in CONDITIONS if name not in ("dataset", "epsilon")]
        varying = [name for name in others if found[name].n_unique() > 1]
        same = [name for name in others if name not in varying]
        first = ["rank", "protocol", "method", "mean", "std", "p_value"]
        last = ["dataset", *varying, "metric", "epsilon", "tied"]
        return found.select(*first, "n", "d", *same, *last)

    def sheets(self) -> list[Sheet]:
        """The paper's tables: one for each question."""
        return [
            replace(sheet, suited=self._suited(sheet))
            for sheet in sheets_of(self.table, self.better, self.looks)
        ]

    def _suited(self, sheet: Sheet) -> bool:
        """Whether the metric goes with the data, as far as both are known here."""
        data = self.datasets.get(sheet.dataset)
        with suppress(LDPError):
            return data is None or data.ordered or not build_metric(sheet.metric).needs_order
        return True

    def score(self, metric: str | type[Metric] | Metric) -> "Results":
        """The same run measured by another metric, from the estimates that were kept."""
        if self.estimates is None:
            raise InvalidData(
                "A new metric needs the estimates of every repeat: run with `keep_estimates`."
            )
        measure, spec = build_metric(metric), specs.canonical(Metric, metric)
        measures = {name: measure.on(data) for name, data in self.datasets.items()}
        kept = self.estimates.with_columns(reference=self._reference())
        values = [
            measures[name](np.asarray(reference), np.asarray(f))
            for name, f, reference in kept.select("dataset", "frequencies", "reference").rows()
        ]
        about = self.table.select(*SCHEMA).unique([*PLACE, "method"], maintain_order=True)
        keys = [name for name in self.estimates.columns if name != "frequencies"]
        scored = self.estimates.select(keys).with_columns(
            metric=pl.lit(spec), value=pl.Series(values, dtype=pl.Float64)
        )
        on = [name for name in keys if name != "repeat"]
        about = about.drop("metric", "value", "repeat").with_columns(
            pl.lit(None, pl.Float64).alias(name) for name in LIMITS
        )
        table = scored.join(about, on=on, maintain_order="left")
        manifest = {**self.manifest, "metrics": [spec], "better": {spec: measure.better}}
        return replace(self, table=table.select(*SCHEMA), manifest=manifest)

    def _reference(self) -> pl.Series:
        """What the kept estimates are compared with: the truth, or the raw one of the repeat."""
        assert self.estimates is not None
        if self.manifest.get("reference") != "raw":
            truths = {name: data.frequencies.tolist() for name, data in self.datasets.items()}
            return pl.Series([truths[name] for name in self.estimates["dataset"]])
        raw = self.estimates.filter(method="none").select(*CELL, pl.col("frequencies").alias("raw"))
        return self.estimates.join(raw, on=CELL, how="left", maintain_order="left")["raw"]

    def answer(self) -> Answer:
        """What people and programs are told: tables and sentences, summary and ranks."""
        raw = self.manifest.get("reference") == "raw"
        parts = rendering.parts(self.sheets(), raw)
        return Answer(parts, {"summary": self.summary(), "best": self.best()})

    def render(self, format: str = "text", width: int | None = None) -> str:
        """The summary as text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)

    def save(self, path: str | Path) -> None:
        """Write the table (``.csv``, ``.parquet``, ``.json``), or everything into a folder.

        What was run stands beside the table in ``….manifest.json``, in a folder in
        ``manifest.json``; it is written last, so where it is, everything is.
        """
        frames = {"table": self.table, "means": self.means, "estimates": self.estimates}
        known = {name: frame for name, frame in frames.items() if frame is not None}
        target = as_path(path, "a file or a folder")
        storage.write(target, self.manifest, known, self.datasets)

    def __repr__(self) -> str:
        return self.render()

    def _repr_markdown_(self) -> str:
        return self.render("markdown")


def load_results(path: str | Path) -> Results:
    """What `save` wrote: a folder, or a table and, where it is, the manifest beside it."""
    target = as_path(path, "a file or a folder of results")
    manifest, found, datasets = storage.read(target)
    return Results(found["table"], manifest, datasets, found.get("means"), found.get("estimates"))


def joined(parts: Sequence[Results]) -> Results:
    """All rows in one table; nothing may be there twice.

    Datasets of the same name but other data get a number. Ties go by the most looks that one of
    the runs may have taken.
    """
    first, *others = parts
    for part in others:
        first = _both(first, _renamed(part, first))
    return first


def _both(one: Results, other: Results) -> Results:
    on = [*COMBINATION, "repeat"]
    twice = one.table.join(other.table, on=on, how="semi").head(1)
    for row in twice.iter_rows(named=True):
        raise InvalidData(
            f"{row['protocol']} with {row['method']} on {row['dataset']} at ε = {row['epsilon']:g} "
            f"({row['metric']}) is in two of these results: leave one out."
        )
    manifest = {**other.manifest, **one.manifest}
    for name, held in manifest.items():
        if isinstance(held, list) and name != "targets":  # the axes
            manifest[name] = _listed(one, other, name)
    manifest["better"] = {**one.better, **other.better}
    manifest["looks"] = max((part.manifest.get("looks") or [] for part in (one, other)), key=len)
    manifest["complete"] = one.complete and other.complete
    return Results(
        pl.concat([one.table, other.table]),
        manifest,
        {**one.datasets, **other.datasets},
        _stacked(one.means, other.means),
        _stacked(one.estimates, other.estimates),
    )


def _renamed(part: Results, before: Results) -> Results:
    """With other names for datasets that are others."""
    names = {}
    taken = set(before.table["dataset"].unique()) | set(part.table["dataset"].unique())
    for name in part.table["dataset"].unique(maintain_order=True):
        if name in before.table["dataset"] and not _same_data(part, before, name):
            new = next(n for again in count(2) if (n := f"{name} ({again})") not in taken)
            names[name] = new
            taken.add(new)
    if not names:
        return part

    def other(frame: pl.DataFrame | None) -> pl.DataFrame | None:
        return None if frame is None else frame.with_columns(pl.col("dataset").replace(names))

    table = other(part.table)
    assert table is not None
    return replace(
        part,
        table=table,
        datasets={
            names.get(name, name): replace(data, name=names.get(name, name))
            for name, data in part.datasets.items()
        },
        means=other(part.means),
        estimates=other(part.estimates),
    )


def _same_data(one: Results, other: Results, name: str) -> bool:
    """By the users of each value where both are known, else by n and d."""
    a, b = one.datasets.get(name), other.datasets.get(name)
    if a is not None and b is not None:
        return bool(np.array_equal(a.histogram, b.histogram)) and a.labels == b.labels
    sizes = [part.table.filter(dataset=name).select("n", "d").unique() for part in (one, other)]
    return sizes[0].equals(sizes[1])


def _listed(one: Results, other: Results, name: str) -> list[object]:
    """What either holds, each once."""
    lists = [part.manifest.get(name) or [] for part in (one, other)]
    known = [thing for some in lists if isinstance(some, list) for thing in some]
    return [thing for i, thing in enumerate(known) if thing not in known[:i]]


def _stacked(one: pl.DataFrame | None, other: pl.DataFrame | None) -> pl.DataFrame | None:
    """Both, where both are there: half of the means would be taken for all."""
    return None if one is None or other is None else pl.concat([one, other], how="diagonal_relaxed")


def _times(limit: str) -> pl.Expr:
    """How many times the limit; null where the limit is 0 but for rounding."""
    least = pl.col(limit).mean()
    value = pl.col("value").filter(pl.col(limit).is_not_null()).mean()  # on the same estimates
    return pl.when(least > ties.ROUNDING * value).then(value / least)
