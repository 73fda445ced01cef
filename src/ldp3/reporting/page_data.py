"""What the page's scripts work on, as JSON can hold it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ldp3.attacks.targets import fake_text
from ldp3.reporting.attack_charts import attack_charts
from ldp3.reporting.charts import charts
from ldp3.reporting.findings import Findings, Frequencies
from ldp3.reporting.under_attack import UnderAttack
from ldp3.results import names
from ldp3.results.axes import Conditions
from ldp3.results.sheets import Sheet
from ldp3.results.verdict import Compared, comparisons

COLUMNS = (
    "metric", "epsilon", "protocol", "method", "mean", "std", "low", "high", "min", "max",
    "count", "rank", "tied", "times_limit", "times_distribution_limit", "bits", "simulate",
)  # fmt: skip


def page_data(found: Findings, attacked: UnderAttack | None = None) -> dict[str, Any]:
    """Names, numbers, and the charts to put them into."""
    names: dict[str, list[Any]] = {
        "metric": found.metrics,
        "epsilon": found.epsilons,
        "protocol": found.protocols,
        "method": found.methods,
    }
    leader = found.candidates(*next(iter(found.sheets)))[0]
    return {
        **names,
        "combinations": {"columns": COLUMNS, "rows": _rows(found, names)},
        "sheets": [_sheet(found, *key) for key in found.sheets],
        "leader": {"protocol": leader.protocol, "method": leader.method},
        "frequencies": None
        if found.frequencies is None
        else _frequencies(found, found.frequencies),
        "charts": charts(found) | ({} if attacked is None else attack_charts(found)),
        "attacked": None if attacked is None else _attacked(attacked),
    }


def _rows(found: Findings, names: dict[str, list[Any]]) -> list[list[Any]]:
    """Every combination, with its names as places in the lists of `names`."""
    places = {key: {name: i for i, name in enumerate(values)} for key, values in names.items()}
    return [
        [places[c][v] if c in places else _short(v) for c, v in zip(COLUMNS, row, strict=True)]
        for row in found.combinations.select(COLUMNS).rows()
    ]


def _sheet(found: Findings, metric: str, epsilon: float) -> dict[str, Any]:
    sheet = found.sheets[metric, epsilon]
    plain = -3 <= sheet.exponent < 4  # as sentences write it
    factor = 1.0 if plain else 10.0**sheet.exponent
    return {
        "metric": metric,
        "epsilon": epsilon,
        "better": sheet.better,
        "measure": names.measure(metric),
        "reading": names.reading(metric, sheet.better),
        "factor": factor,
        "scale": "" if factor == 1 else f", in units of {factor:g}",
        "wins": [{"method": m, "rate": _short(rate)} for m, rate in sheet.wins.items()],
        "sizes": [
            {key: _short(value) for key, value in row.items()}
            for row in found.sizes(metric, epsilon)
        ],
    }


def _frequencies(found: Findings, given: Frequencies) -> dict[str, Any]:
    spreads = {key: found.spread(*key) for key in found.oracles}
    return {
        "labels": given.labels,
        "truth": [_short(f) for f in given.truth],
        "means": [
            {"epsilon": e, "protocol": p, "method": m, "values": [_short(f, 4) for f in means]}
            for (e, p, m), means in given.means.items()
        ],
        "spreads": [
            {"epsilon": e, "protocol": p, "values": [_short(x, 3) for x in values.tolist()]}
            for (p, e), values in spreads.items()
            if values is not None
        ],
    }


def _attacked(given: UnderAttack) -> dict[str, Any]:
    rows = {
        "worst": [
            {**row, "fake_users": fake_text(row["fake_users"])} for row in given.worst().to_dicts()
        ],
        "gains": given.gains(),
        "formulas": given.formulas(),
        "weights": given.weights(),
        "successes": given.successes(),
    }
    return {"attack": given.attacks, **{name: _packed(part) for name, part in rows.items()}}


def _packed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Every name once: there can be thousands of rows."""
    columns = list(rows[0]) if rows else []
    return {"columns": columns, "rows": [[_short(row[c]) for c in columns] for row in rows]}


def _short(value: Any, digits: int = 6) -> Any:
    """A number without the digits that nobody sees."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def overview(found: Mapping[str, Findings]) -> list[dict[str, Any]]:
    """For each metric and ε: sentences and rows, as JSON can hold them.

    A loss is null on a dataset to which the metric is not suited.
    """
    sheets = [_named(sheet, name) for name, one in found.items() for sheet in one.sheets.values()]
    return [
        {
            "metric": one.metric,
            "epsilon": one.at.epsilon,
            "sentences": one.sentences(),
            "rows": [_compared_row(row, one.datasets, list(found)) for row in one.rows],
        }
        for one in comparisons(sheets)
    ]


def _named(sheet: Sheet, name: str) -> Sheet:
    """By what the page calls its data: a name that says other conditions, too."""
    at = Conditions(dataset=name, epsilon=sheet.epsilon)
    return sheet if sheet.at == at else replace(sheet, at=at)  # a new one would test for ties anew


def _compared_row(row: Compared, datasets: Sequence[str], every: Sequence[str]) -> dict[str, Any]:
    losses = dict(zip(datasets, row.losses, strict=True))
    tied = dict(zip(datasets, row.tied, strict=True))
    return {
        "protocol": row.pair[0],
        "method": row.pair[1],
        "worst": round(row.worst, 5),
        "rank": round(row.rank, 2),
        "best": sum(row.tied),
        "losses": [round(losses[name], 5) if name in losses else None for name in every],
        "tied": [tied.get(name, False) for name in every],
    }
