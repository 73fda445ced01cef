"""Some of results, or one dataset at a time; and what cannot be shown is refused."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import polars as pl

from ldp3 import kinds, specs
from ldp3.attacks.targets import TargetShare
from ldp3.errors import InvalidData, InvalidParameter, LDPError, several, short
from ldp3.results.axes import CONDITIONS, LIMITS, PLACE, SCHEMA, Conditions, said
from ldp3.results.table import Results

# rows of what targets sum to, whoever they are: what an attack moves, which is no error
IS_SHARE = pl.col("metric").str.split("(").list.first() == kinds.name_of(TargetShare)
LARGEST = 1e150  # of a number that can be shown
COMBINATION = ["metric", "epsilon", "protocol", "method"]  # on one dataset, without attacks
MEANS = {
    **{name: SCHEMA[name] for name in (*PLACE, "method")},
    "frequencies": pl.List(pl.Float64),
}
# a page has places for these; what differs in another condition is shown as another dataset
SHOWN_TOGETHER = ("epsilon", "attack", "fake_users")
APART = [name for name in CONDITIONS if name not in SHOWN_TOGETHER]


def selected(
    results: Results,
    metrics: str | Sequence[str] | None = None,
    epsilons: float | Sequence[float] | None = None,
    protocols: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
) -> Results:
    """The results of these metrics, ε, protocols and methods; of all where none are named."""
    require_results(results)
    table = results.table
    named = {"metrics": metrics, "protocols": protocols, "methods": methods}
    for what, given in named.items():
        if given is not None:
            chosen = [given] if isinstance(given, str) else several(given, f"`{what}`")
            wanted = [_canonical(kinds.every_kind()[what], spec) for spec in chosen]
            table = _among(table, what.removesuffix("s"), wanted)
    if epsilons is not None:
        one = isinstance(epsilons, int | float)
        table = _among(table, "epsilon", [epsilons] if one else several(epsilons, "`epsilons`"))
    return replace(results, table=table)


def each_dataset(results: Results) -> dict[str, Results]:
    """The results of each dataset by itself, in the order of the table."""
    require_results(results)
    parts = results.table.partition_by(APART, maintain_order=True)
    return {
        _called(part): replace(results, table=part, means=_means_of(part, results.means))
        for part in parts
    }


def _means_of(part: pl.DataFrame, means: pl.DataFrame | None) -> pl.DataFrame | None:
    if means is None or not set(APART) <= set(means.columns):
        return means  # of something else: refused later
    return means.join(part.select(APART), on=APART, how="semi", maintain_order="left")


def _called(part: pl.DataFrame) -> str:
    """The dataset, and in which other conditions it was collected where they are not as usual."""
    at = Conditions(**part.select(CONDITIONS).row(0, named=True))
    return f"{at.dataset} {said(at, *SHOWN_TOGETHER)}".rstrip()


def is_attacked(results: Results) -> bool:
    """Whether there are attacked collections beside clean ones."""
    return results.table["attack"].n_unique() > 1 and "none" in results.table["attack"]


def clean(results: Results) -> Results:
    """The errors of the collections that nobody attacked, where there are any."""
    errors = results.table.filter(~IS_SHARE)
    return replace(results, table=errors.filter(attack="none") if is_attacked(results) else errors)


def check(results: Results) -> None:
    """Refuse a table that no single run can have written, and truth or means of another one."""
    require_results(results)
    _check_values(results.table)
    _check_one_dataset(results.table)
    _check_repeats(results.table)
    _check_truth(results)
    _check_means(results)


def require_results(results: Results) -> None:
    """Refuse what is no results, and results without rows."""
    if not isinstance(results, Results):
        raise InvalidParameter(
            f"Results are needed, as `benchmark` gives them or `load_results` reads them, got "
            f"{short(results)}."
        )
    if results.table.is_empty():
        raise InvalidData("These results hold no rows: there is nothing to show.")


def _check_values(table: pl.DataFrame) -> None:
    for name in (n for n in table.columns if n not in LIMITS):
        if table[name].null_count():
            raise InvalidData(f"Results must be complete, but {name!r} is empty in some rows.")
    for name in ("epsilon", "value", *LIMITS):
        # whose squares are finite, too, as averages and charts need them
        if not (table[name].drop_nulls().abs() < LARGEST).all():
            raise InvalidData(f"Results must be finite, but {name!r} is not in some rows.")


def _check_one_dataset(table: pl.DataFrame) -> None:
    data = table.select("dataset", "n", "d").unique(maintain_order=True)
    if len(data) > 1:
        names = " and ".join(f"{name} (n = {n:,}, d = {d:,})" for name, n, d in data.head(2).rows())
        more = f" and {len(data) - 2} more" if len(data) > 2 else ""
        raise InvalidData(
            f"A report shows one dataset, got {names}{more}: run and report each on its own."
        )
    attacks = [name for name in table["attack"].unique(maintain_order=True) if name != "none"]
    if attacks:
        raise InvalidData(
            f"A report shows collections without attacks, got {attacks[0]!r}: report a run "
            f"without them."
        )


def _check_repeats(table: pl.DataFrame) -> None:
    combinations = table.group_by(*COMBINATION, maintain_order=True).agg(
        twice=pl.col("repeat").is_duplicated().any(), repeats=pl.col("repeat").sort()
    )
    for metric, epsilon, protocol, method, _, _ in combinations.filter("twice").head(1).rows():
        raise InvalidData(
            f"{protocol} with {method} has the same repeat twice ({metric}, ε = {epsilon:g}): "
            f"report one run at a time."
        )
    ragged = combinations.group_by("metric", "epsilon", "protocol", maintain_order=True).agg(
        pl.col("repeats").n_unique() > 1
    )
    for metric, epsilon, protocol, _ in ragged.filter("repeats").head(1).rows():
        raise InvalidData(
            f"The methods of {protocol} must have the same repeats ({metric}, ε = {epsilon:g}): "
            f"the table is not whole."
        )


def _check_truth(results: Results) -> None:
    name, n, d = results.table.select("dataset", "n", "d").row(0)
    if not results.datasets:
        return
    if name not in results.datasets:
        other = next(iter(results.datasets))
        raise InvalidData(f"The table is of {name!r}, but the truth beside it of {other!r}.")
    data = results.datasets[name]
    if (data.n, data.d) != (n, d):
        raise InvalidData(
            f"The table is of n = {n:,} people and d = {d:,} values, but the truth beside it of "
            f"n = {data.n:,} and d = {data.d:,}."
        )


def _check_means(results: Results) -> None:
    means, d = results.means, int(results.table["d"][0])
    if means is None:
        return
    fitting = {name: means.schema.get(name) for name in MEANS} == MEANS
    own = means.filter(dataset=results.table["dataset"][0])["frequencies"] if fitting else None
    if own is None or not ((own.list.len() == d).all() and own.explode().is_finite().all()):
        raise InvalidData(f"The mean estimates beside the table are not those of its {d:,} values.")


def _among(table: pl.DataFrame, column: str, wanted: Sequence[object]) -> pl.DataFrame:
    there = table[column].unique(maintain_order=True).to_list()
    for one in wanted:
        if one not in there:
            known = ", ".join(f"{x:g}" if isinstance(x, float) else x for x in there)
            raise InvalidParameter(
                f"These results hold no {column} {short(one)}: they hold {known}."
            )
    return table.filter(pl.any_horizontal(pl.col(column) == one for one in wanted))


def _canonical(kind: type, name: str) -> str:
    with suppress(LDPError):  # of a plug-in that is not at hand: as it is
        return "+".join(specs.canonical(kind, part) for part in specs.split(name, "+"))
    return name
