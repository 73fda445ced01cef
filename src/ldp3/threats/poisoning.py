"""What fake users achieve: clean against attacked collections, repeat by repeat."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

import polars as pl

from ldp3.answers import Answer, Column, Passage, table
from ldp3.attacks.base import amplification, honest_lying
from ldp3.attacks.targets import TargetShare
from ldp3.experiment.simulator import Simulator
from ldp3.printing import number
from ldp3.protocols.base import PureOracle
from ldp3.results import names
from ldp3.results.axes import CELL, CONDITIONS, PLACE, Conditions, said
from ldp3.results.table import Results
from ldp3.results.verdict import combination

UNIT = [*PLACE, "method"]
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

    def answer(self) -> Answer:
        """What people and programs are told: a table for each attack under some conditions."""
        places = self.table.partition_by(CONDITIONS, maintain_order=True)
        repeats = max(self.results.table["repeat"]) + 1
        parts = [part for place in places for part in _parts(place)]
        return Answer([*parts, f"Means over {repeats} repeats. {LEGEND}"], {"gains": self.table})

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)


def _parts(place: pl.DataFrame) -> list[Passage]:
    """What one attack did under some conditions: who gave it least comes first."""
    first = place.row(0, named=True)
    at = Conditions(**{name: first[name] for name in CONDITIONS})
    title = (
        f"{names.attack(at.attack)} with {first['fakes']:,} fake users on {at.dataset} "
        f"{said(at, 'attack', 'fake_users')}; honest lying gains {number(first['ceiling'])}"
    )
    ordered = place.sort("gain", maintain_order=True)
    least, most = (ordered.row(end, named=True) for end in (0, -1))
    least_and_most = (
        f"The targets gain least under {combination(least['protocol'], least['method'])}, "
        f"{number(least['gain'])}, and most under "
        f"{combination(most['protocol'], most['method'])}, {number(most['gain'])}."
    )
    shown = [
        Column("protocol", "protocol", names.protocol),
        Column("method", "method", names.method),
        *(Column(name, name, _decimals(4)) for name in ("clean", "attacked", "gain")),
        Column("std", "±", _decimals(4)),
        Column("left", "left", _decimals(2)),
        Column("formula", "formula", _decimals(4)),
        Column("weight", "weighs", _decimals(1)),
    ]
    return [table(place, shown, "llr", title=title), least_and_most]


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
