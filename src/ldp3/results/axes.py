"""The columns of results, and what combinations are compared in."""

from typing import Any

import polars as pl

SCHEMA: dict[str, Any] = {
    "dataset": pl.String,
    "n": pl.Int64,
    "d": pl.Int64,
    "epsilon": pl.Float64,
    "attack": pl.String,
    "protocol": pl.String,
    "method": pl.String,
    "metric": pl.String,
    "repeat": pl.Int64,
    "value": pl.Float64,
    "simulate": pl.String,
    "limit": pl.Float64,
    "distribution_limit": pl.Float64,
}
LIMITS = ["limit", "distribution_limit"]  # null where there is none
# what combinations are compared in, and never pooled over
QUESTION = ["metric", "dataset", "n", "d", "epsilon", "attack"]
COMBINATION = [*QUESTION, "protocol", "method", "simulate"]  # all but the repeat
# in `best`: what is asked for first and last, for a wide table is shown without its middle
BEST = ["rank", "protocol", "method", "mean", "std", "p_value", "n", "d", "attack", "dataset",
        "metric", "epsilon", "tied"]  # fmt: skip
