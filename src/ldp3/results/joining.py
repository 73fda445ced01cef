"""Results of several runs as one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np
import polars as pl

from ldp3.errors import InvalidData
from ldp3.results.axes import COMBINATION
from ldp3.results.table import Results


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
    looks = max((part.manifest.get("looks") or [] for part in (one, other)), key=len)
    manifest = {
        **other.manifest,
        **one.manifest,
        "better": {**one.better, **other.better},
        "looks": looks,
    }
    manifest["complete"] = one.complete and other.complete
    manifest["data"] = _listed(one, other, "data")
    for name in ("epsilons", "attacks", "fake_users", "protocols", "methods", "metrics", "notes"):
        manifest[name] = _listed(one, other, name)
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
