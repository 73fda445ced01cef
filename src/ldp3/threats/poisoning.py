"""What fake users achieve: clean against attacked collections, repeat by repeat."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from ldp3.attacks.base import amplification, honest_lying
from ldp3.attacks.targets import TargetShare
from ldp3.experiment.lab import Lab
from ldp3.protocols.base import PureOracle
from ldp3.results.table import Results

PLACE = ["dataset", "epsilon", "attack", "protocol", "method"]
SHOWN = [
    "clean", "attacked", "gain", "sd", "left", "formula", "ceiling", "amplification", "fakes",
]  # fmt: skip
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


def poisoned(lab: Lab, results: Results) -> Poisoned:
    """What each attack of a run gained.

    The columns of the table: `clean` and `attacked`, the means of the first metric; `gain`, the
    mean of what the targets' frequencies gained together, with its standard deviation `sd` over
    repeats; `left`, the share of the raw gain that a method leaves; `formula`, the raw gain in
    expectation; `ceiling`, that of honest lying; `amplification`, what one fake report weighs.
    """
    ours = next(c.spec for c in lab.experiment.metrics if isinstance(c.thing, TargetShare))
    error = next(c.spec for c in lab.experiment.metrics if c.spec != ours)
    errors, shares = (_paired(results.table, metric) for metric in (error, ours))
    gains = shares.group_by(PLACE, maintain_order=True).agg(
        pl.col("moved").mean().alias("gain"), pl.col("moved").std().fill_null(0.0).alias("sd")
    )
    raw = gains.filter(pl.col("method") == "none").select(*PLACE[:-1], pl.col("gain").alias("raw"))
    means = errors.group_by(PLACE, maintain_order=True).agg(
        pl.col("clean").mean(), pl.col("value").mean().alias("attacked")
    )
    table = (
        means.join(gains, on=PLACE, maintain_order="left")
        .join(raw, on=PLACE[:-1], maintain_order="left")
        .join(pl.DataFrame(list(_theory(lab))), on=PLACE[:-1], maintain_order="left")
        .with_columns((pl.col("gain") / pl.col("raw")).alias("left"))
        .drop("raw")
    )
    return Poisoned(results, table.select(*PLACE, *SHOWN))


def _paired(table: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Every attacked collection beside the same one without fake users."""
    own = table.filter(pl.col("metric") == metric)
    clean = own.filter(pl.col("attack") == "none").select(*PAIRED, pl.col("value").alias("clean"))
    attacked = own.filter(pl.col("attack") != "none").join(clean, on=PAIRED, maintain_order="left")
    return attacked.with_columns((pl.col("value") - pl.col("clean")).alias("moved"))


def _theory(lab: Lab) -> Iterator[dict[str, object]]:
    for cell in lab.cells:
        attack, oracle, m = lab.attackers.attack(cell), lab.oracle(cell), lab.attackers.number(cell)
        if attack is None or not isinstance(oracle, PureOracle):
            continue
        yield {
            "dataset": cell.dataset,
            "epsilon": cell.epsilon,
            "attack": cell.attack,
            "protocol": cell.protocol,
            "formula": attack.expected_gain(oracle, m),
            "ceiling": honest_lying(attack, m),
            "amplification": amplification(oracle),
            "fakes": m,
        }
