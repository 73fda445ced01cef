"""What fake users achieve: clean against attacked collections, repeat by repeat."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import polars as pl

from ldp3.answers import Answer, PrintedColumn, PrintedTable, table
from ldp3.attacks.base import amplification, honest_lying
from ldp3.attacks.targets import TargetShare
from ldp3.experiment.simulator import Simulator
from ldp3.printing import percent, plural
from ldp3.protocols.pure import PureOracle
from ldp3.results import names
from ldp3.results.axes import CELL, CONDITIONS, PLACE, Conditions, said
from ldp3.results.table import Results
from ldp3.results.verdict import combination

UNIT = [*PLACE, "method"]
ROWS_SHOWN = 12  # of one attack
SHOWN = ["clean", "attacked", "gain", "std", "left", "formula", "ceiling", "weight", "fakes"]
LEGEND = (
    "gain: what the targets' frequencies gained together; left: share of the raw gain; formula: "
    "the raw gain in expectation; weighs: honest votes that one fake report weighs."
)
PAIRED = [name for name in [*CELL, "method"] if name not in ("attack", "fake_users")]


@dataclass(frozen=True)
class Poisoned:
    """Results under attack, and the table of what the attacks achieved.

    Parameters
    ----------
    results
        All errors, clean and attacked.
    table
        One row per attacked cell and method, over its repeats.
    """

    results: Results
    table: pl.DataFrame

    def answer(self, details: bool = False) -> Answer:
        """What people and programs are told: what each attack achieves, and a table of it.

        Of many rows those are shown that give the targets least; all of them with `details`.
        """
        places = self.table.partition_by(CONDITIONS, maintain_order=True)
        repeats = max(self.results.table["repeat"]) + 1
        rows = len(self.table) if details else ROWS_SHOWN
        cut = "" if rows >= max(map(len, places)) else "`details` shows all rows. "
        tables = [_table(place, rows) for place in places]
        legend = f"{cut}Means over {repeats} repeats. {LEGEND}"
        return Answer([*map(_verdict, places), *tables, legend], {"gains": self.table})

    def render(self, format: str = "text", width: int | None = None, details: bool = False) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer(details).render(format, width)


def _verdict(place: pl.DataFrame) -> str:
    """What one attack achieves under some conditions, at least and at most."""
    ordered = place.sort("gain", maintain_order=True)
    least, most = (ordered.row(end, named=True) for end in (0, -1))
    at = _at(least)
    return (
        f"With {plural(least['fakes'], 'fake user')} {names.attack(at.attack)} lifts its targets "
        f"together by {percent(least['gain'])} of all people under "
        f"{combination(least['protocol'], least['method'])}, which gives least, and by "
        f"{percent(most['gain'])} under {combination(most['protocol'], most['method'])} "
        f"({at.dataset} {said(at, 'attack', 'fake_users')}). Fake users who only lie about their "
        f"value would lift them by {percent(least['ceiling'])}."
    )


def _at(row: Mapping[str, Any]) -> Conditions:
    return Conditions(**{name: row[name] for name in CONDITIONS})


def _table(place: pl.DataFrame, rows: int) -> PrintedTable:
    """What one attack did under some conditions."""
    first = place.row(0, named=True)
    at = _at(first)
    title = (
        f"{names.attack(at.attack)} with {plural(first['fakes'], 'fake user')} on {at.dataset} "
        f"{said(at, 'attack', 'fake_users')}"
    )
    shown = [
        PrintedColumn("protocol", "protocol", names.protocol),
        PrintedColumn("method", "method", names.method),
        *(PrintedColumn(name, name, _decimals(4)) for name in ("clean", "attacked", "gain")),
        PrintedColumn("std", "±", _decimals(4)),
        PrintedColumn("left", "left", _decimals(2)),
        PrintedColumn("formula", "formula", _decimals(4)),
        PrintedColumn("weight", "weighs", _decimals(1)),
    ]
    some = place if len(place) <= rows else place.sort("gain", maintain_order=True).head(rows)
    return table(some, shown, "llr", title=title)


def _decimals(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{digits}f}" if isfinite(value) else "–"


def poisoned(simulator: Simulator, results: Results) -> Poisoned:
    """What each attack of a run gained.

    The columns of the table: `clean` and `attacked`, the means of the first metric; `gain`, the
    mean of what the targets' frequencies gained together, with its standard deviation `std` over
    repeats; `left`, the share of the raw gain that a method leaves; `formula`, the raw gain in
    expectation; `ceiling`, that of honest lying; `weight`, how many honest votes one fake report
    weighs; `fakes`, how many fake users there are.
    """
    ours = next(c.spec for c in simulator.experiment.metrics if isinstance(c.thing, TargetShare))
    error = next(c.spec for c in simulator.experiment.metrics if c.spec != ours)
    errors, shares = (_paired(results.table, metric) for metric in (error, ours))
    gains = shares.group_by(UNIT, maintain_order=True).agg(
        pl.col("moved").mean().alias("gain"), pl.col("moved").std().fill_null(0.0).alias("std")
    )
    raw = gains.filter(pl.col("method") == "none").select(*PLACE, pl.col("gain").alias("raw"))
    means = errors.group_by(UNIT, maintain_order=True).agg(
        pl.col("clean").mean(), pl.col("value").mean().alias("attacked")
    )
    joined = (
        means.join(gains, on=UNIT, maintain_order="left")
        .join(raw, on=PLACE, maintain_order="left")
        .join(pl.DataFrame(list(_theory(simulator))), on=PLACE, maintain_order="left")
        .with_columns((pl.col("gain") / pl.col("raw")).alias("left"))
        .drop("raw")
    )
    return Poisoned(results, joined.select(*UNIT, *SHOWN))


def _paired(table: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Every attacked collection beside the same one without fake users."""
    own = table.filter(pl.col("metric") == metric)
    clean = own.filter(pl.col("attack") == "none").select(*PAIRED, pl.col("value").alias("clean"))
    attacked = own.filter(pl.col("attack") != "none").join(clean, on=PAIRED, maintain_order="left")
    return attacked.with_columns((pl.col("value") - pl.col("clean")).alias("moved"))


def _theory(simulator: Simulator) -> Iterator[dict[str, object]]:
    for cell in simulator.cells:
        oracle, attackers = simulator.oracle(cell), simulator.attackers
        attack, m = attackers.attack(cell), attackers.number(cell)
        if attack is None or not isinstance(oracle, PureOracle):
            continue
        yield {
            **{name: getattr(cell, name) for name in PLACE},
            "formula": attack.expected_gain(oracle, m),
            "ceiling": honest_lying(attack, m),
            "weight": amplification(oracle),
            "fakes": m,
        }
