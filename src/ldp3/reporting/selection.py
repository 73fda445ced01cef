"""Parts of results: some metrics and ε, or one dataset at a time."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import polars as pl

from ldp3 import kinds, specs
from ldp3.attacks.scene import TargetShare
from ldp3.errors import InvalidParameter, LDPError, several, short
from ldp3.metrics.base import Metric
from ldp3.reporting.checks import require_results
from ldp3.results.table import Results

# rows of what targets sum to, whoever they are: what an attack moves, which is no error
IS_SHARE = pl.col("metric").str.split("(").list.first() == kinds.name_of(TargetShare)


def selected(
    results: Results,
    metrics: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] | None = None,
) -> Results:
    """The results of these metrics and ε; of all where none are named."""
    require_results(results)
    table = results.table
    if metrics is not None:
        names = [metrics] if isinstance(metrics, str) else several(metrics, "`metrics`")
        table = _among(table, "metric", [_canonical(name) for name in names])
    if epsilons is not None:
        one = isinstance(epsilons, int | float)
        table = _among(table, "epsilon", [epsilons] if one else several(epsilons, "`epsilons`"))
    return replace(results, table=table)


def each_dataset(results: Results) -> dict[str, Results]:
    """The results of each dataset by itself, in the order of the table."""
    require_results(results)
    names = results.table["dataset"].unique(maintain_order=True)
    return {
        name: replace(results, table=results.table.filter(pl.col("dataset").eq_missing(name)))
        for name in names
    }


def is_attacked(results: Results) -> bool:
    """Whether there are attacked collections beside clean ones."""
    return results.table["attack"].n_unique() > 1 and "none" in results.table["attack"]


def clean(results: Results) -> Results:
    """The errors of the collections that nobody attacked, where there are any."""
    errors = results.table.filter(~IS_SHARE)
    return replace(results, table=errors.filter(attack="none") if is_attacked(results) else errors)


def _among(table: pl.DataFrame, column: str, wanted: Sequence[object]) -> pl.DataFrame:
    there = table[column].unique(maintain_order=True).to_list()
    for one in wanted:
        if one not in there:
            known = ", ".join(f"{x:g}" if isinstance(x, float) else x for x in there)
            raise InvalidParameter(
                f"These results hold no {column} {short(one)}: they hold {known}."
            )
    return table.filter(pl.any_horizontal(pl.col(column) == one for one in wanted))


def _canonical(name: str) -> str:
    with suppress(LDPError):  # of a plug-in that is not at hand: as it is
        return specs.canonical(Metric, name)
    return name
