"""From the outcomes of blocks to results: arrays in, one long table out."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from ldp3.bench import Bench, Outcome

from ldp3.arrays import BoolArray, FloatArray, IntArray
from ldp3.experiment import Choice
from ldp3.results import Results


def collect(at: Bench, outcomes: Iterable[Outcome], **about: Any) -> Results:
    """The results of the blocks that ran; `about` goes into the manifest."""
    ex = at.experiment
    grid = len(ex.epsilons), len(ex.protocols)
    values = np.zeros((*grid, ex.repeats, len(ex.methods), len(ex.metrics)))
    ran = np.zeros((*grid, ex.repeats), dtype=bool)
    sums = np.zeros((*grid, len(ex.methods), ex.data.d))
    kept = np.zeros((*grid, ex.repeats, len(ex.methods), ex.data.d)) if ex.keep else None
    seconds = dict.fromkeys((c.spec for c in ex.protocols), 0.0)
    for outcome in sorted(outcomes, key=lambda o: o.block):
        block = outcome.block
        place = block.epsilon, block.protocol, slice(block.start, block.stop)
        values[place], ran[place] = outcome.values, True
        sums[place[:2]] += outcome.sums
        seconds[ex.protocols[block.protocol].spec] += outcome.seconds
        if kept is not None:
            kept[place] = outcome.estimates
    applies = (
        at.applies.swapaxes(0, 1)[:, :, None, :] & ran[..., None]
    )  # ε, protocol, repeat, method
    manifest = {
        **ex.identity,
        "better": {c.spec: m.better for c, m in zip(ex.metrics, at.metrics, strict=True)},
        "seconds": seconds,
        **about,
    }
    return Results(
        table=_table(at, values, applies),
        manifest=manifest,
        truth=ex.data.frequencies,
        labels=tuple(ex.data.labels),
        means=_means(at, sums, applies.sum(axis=2)),
        estimates=None if kept is None else _estimates(at, kept, applies),
    )


def _table(at: Bench, values: FloatArray, there: BoolArray) -> pl.DataFrame:
    ex, metrics = at.experiment, len(at.metrics)
    order = 0, 1, 3, 4, 2  # ε, protocol, method, metric, repeat
    shown = np.broadcast_to(there[..., None], (*there.shape, metrics)).transpose(order)
    e, p, m, u, r = np.nonzero(shown)
    ways = pl.Series([at.way(i) for i in range(len(ex.protocols))])
    return pl.DataFrame(
        {
            "dataset": pl.repeat(ex.data.name, len(e), eager=True),
            "n": pl.repeat(ex.data.n, len(e), dtype=pl.Int64, eager=True),
            "d": pl.repeat(ex.data.d, len(e), dtype=pl.Int64, eager=True),
            "epsilon": np.array(ex.epsilons)[e],
            "protocol": _named(ex.protocols)[p],
            "method": _named(ex.methods)[m],
            "metric": _named(ex.metrics)[u],
            "repeat": r,
            "value": values.transpose(order)[shown],
            "simulate": ways[p],
        }
    )


def _means(at: Bench, sums: FloatArray, counts: IntArray) -> pl.DataFrame:
    e, p, m = np.nonzero(counts)
    return pl.DataFrame(
        {
            **_places(at, e, p, m),
            "frequencies": _vectors(sums[e, p, m] / counts[e, p, m, None], at),
        }
    )


def _estimates(at: Bench, kept: FloatArray, there: BoolArray) -> pl.DataFrame:
    e, p, m, r = np.nonzero(there.swapaxes(2, 3))
    return pl.DataFrame(
        {**_places(at, e, p, m), "repeat": r, "frequencies": _vectors(kept[e, p, r, m], at)}
    )


def _places(at: Bench, e: IntArray, p: IntArray, m: IntArray) -> dict[str, Any]:
    ex = at.experiment
    return {
        "epsilon": np.array(ex.epsilons)[e],
        "protocol": _named(ex.protocols)[p],
        "method": _named(ex.methods)[m],
    }


def _named(choices: Sequence[Choice]) -> pl.Series:
    return pl.Series([choice.spec for choice in choices])


def _vectors(rows: FloatArray, at: Bench) -> pl.Series:
    return pl.Series(rows, dtype=pl.Array(pl.Float64, at.experiment.data.d))
