"""What fake users achieve: clean against attacked collections, repeat by repeat."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

import polars as pl

from ldp3.answers import Answer, Column, Part, table
from ldp3.attacks.base import amplification, honest_lying
from ldp3.attacks.targets import TargetShare
from ldp3.experiment.simulator import Simulator
from ldp3.printing import number
from ldp3.protocols.base import PureOracle
from ldp3.results import names
from ldp3.results.table import Results
from ldp3.results.verdict import combination

PLACE = ["dataset", "epsilon", "attack", "protocol", "method"]
SHOWN = [
    "clean", "attacked", "gain", "std", "left", "formula", "ceiling", "weight", "fake_users",
]  # fmt: skip
LEGEND = (
    "gain: what the targets' frequencies gained together; left: share of the raw gain; formula: "
    "the raw gain in expectation; weighs: honest votes that one fake report weighs."
)
PAIRED = ["dataset", "epsilon", "protocol", "method", "repeat"]


@dataclass(frozen=True)
class Poisoned:
    """Results under attack, and the table of what the attacks achieved.

    Parameters
    ----------
    results
        All errors, clean and attacked.
    table
        One row per dataset, ε, attack, protocol and method.
    """

    results: Results
    table: pl.DataFrame

    def answer(self) -> Answer:
        """What people and programs are told: a table for each dataset, ε and attack."""
        places = self.table.partition_by(["dataset", "epsilon", "attack"], maintain_order=True)
        repeats = max(self.results.table["repeat"]) + 1
        parts = [part for place in places for part in _parts(place)]
        return Answer([*parts, f"Means over {repeats} repeats. {LEGEND}"], {"gains": self.table})

    def render(self, format: str = "text", width: int | None = None) -> str:
        """As text, Markdown, LaTeX, JSON or CSV; `width` is the terminal's."""
        return self.answer().render(format, width)


def _parts(place: pl.DataFrame) -> list[Part]:
    """What one attack did on one dataset at one ε: who gave it least comes first."""
    first = place.row(0, named=True)
    title = (
        f"{names.attack(first['attack'])} with {first['fake_users']:,} fake users on "
        f"{first['dataset']} at ε = {first['epsilon']:g}; honest lying gains "
        f"{number(first['ceiling'])}"
    )
    ordered = place.sort("gain", maintain_order=True)
    least, most = (ordered.row(end, named=True) for end in (0, -1))
    said = (
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
    return [table(place, shown, "llr", title=title), said]


def _decimals(digits: int) -> Callable[[float], str]:
    return lambda value: f"{value:.{digits}f}" if isfinite(value) else "–"


def poisoned(simulator: Simulator, results: Results) -> Poisoned:
    """What each attack of a run gained.

    The columns of the table: `clean` and `attacked`, the means of the first metric; `gain`, the
    mean of what the targets' frequencies gained together, with its standard deviation `std` over
    repeats; `left`, the share of the raw gain that a method leaves; `formula`, the raw gain in
    expectation; `ceiling`, that of honest lying; `weight`, how many honest votes one fake report
    weighs.
    """
    ours = next(c.spec for c in simulator.experiment.metrics if isinstance(c.thing, TargetShare))
    error = next(c.spec for c in simulator.experiment.metrics if c.spec != ours)
    errors, shares = (_paired(results.table, metric) for metric in (error, ours))
    gains = shares.group_by(PLACE, maintain_order=True).agg(
        pl.col("moved").mean().alias("gain"), pl.col("moved").std().fill_null(0.0).alias("std")
    )
    raw = gains.filter(pl.col("method") == "none").select(*PLACE[:-1], pl.col("gain").alias("raw"))
    means = errors.group_by(PLACE, maintain_order=True).agg(
        pl.col("clean").mean(), pl.col("value").mean().alias("attacked")
    )
    joined = (
        means.join(gains, on=PLACE, maintain_order="left")
        .join(raw, on=PLACE[:-1], maintain_order="left")
        .join(pl.DataFrame(list(_theory(simulator))), on=PLACE[:-1], maintain_order="left")
        .with_columns((pl.col("gain") / pl.col("raw")).alias("left"))
        .drop("raw")
    )
    return Poisoned(results, joined.select(*PLACE, *SHOWN))


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
            "dataset": cell.dataset,
            "epsilon": cell.epsilon,
            "attack": cell.attack,
            "protocol": cell.protocol,
            "formula": attack.expected_gain(oracle, m),
            "ceiling": honest_lying(attack, m),
            "weight": amplification(oracle),
            "fake_users": m,
        }
