"""Which combination, on what data, at which ε, by which metric? And what does a fixed rule cost?

In every cell (data × ε × metric) the loss of a rule is its error over that of the best combination,
less one; for metrics of which more is better, errors are 1 − the metric. The best combination is
picked on one half of the repeats and measured, as the rule is, on the other half, and the other way
round: so the best is not flattered by having been picked.
"""

from collections.abc import Callable, Sequence
from math import exp
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtri

import ldp3
from examples.reproduction import data, figures, page, paper
from examples.reproduction.data import Files
from ldp3.people import Dataset
from ldp3.postprocessing.base import default_method

SHAPES = (
    "flights",
    "zipf(s=1.3, d=128, n=1_000_000)",
    "zipf(s=0.9, d=1024, n=1_000_000)",
    "geometric(p=0.03, d=256, n=1_000_000)",
    "gaussian(d=64, n=100_000)",
    "bimodal(d=256, n=1_000_000)",
    "uniform(d=128, n=1_000_000)",
    "spike(d=512, n=100_000)",
    "steps(d=16, n=100_000)",
)
PROTOCOLS: list[object] = ["all"]
SUMS = ("emd", "ks", "range_query")  # say nothing about labels without an order
RESCALED = ("mae", "tv")  # l1 in other units: every loss would count three times
Rule = Callable[[int, float, bool], tuple[str, str]]  # d, ε, sums along an order → combination


def _always(protocol: str, method: str) -> Rule:
    return lambda _d, _epsilon, _sums: (protocol, method)


def _by_domain(method: str) -> Rule:
    """GRR where its variance is the lower one, d < 3e^ε + 2, as Wang et al. (2017) advise."""
    return lambda d, epsilon, _sums: ("grr" if d < 3 * exp(epsilon) + 2 else "oue", method)


def _default(protocol: str) -> Rule:
    """The method that `ldp3 plan --metric` takes."""
    return lambda _d, _epsilon, sums: (protocol, default_method(sums, ordered=True))


RULES: dict[str, Rule] = {
    "oue + none": _always("oue", "none"),
    "grr + norm_sub": _always("grr", "norm_sub"),
    "oue + norm_sub": _always("oue", "norm_sub"),
    "ss + power_ns": _always("ss", "power_ns"),
    "ss + em": _always("ss", "em"),
    "ss + npmle": _always("ss", "npmle"),
    "ss + multiscale": _always("ss", "multiscale"),
    "ss + our default": _default("ss"),
    "pgr + our default": _default("pgr"),
    "grr or oue by d, norm_sub": _by_domain("norm_sub"),
}


def advise(files: Files, epsilons: Sequence[float], repeats: int, folder: Path | None) -> str:
    """The figure, the table, and the numbers of the advice."""
    originals = [data.original(table.name, files) for table in paper.TABLES]
    real = [found for found in [*originals, *data.others(files)] if found is not None]
    sources = [*real, *map(ldp3.load, SHAPES)]
    losses = pl.concat([_losses(source, epsilons, repeats) for source in sources])
    if folder:
        figures.losses(losses, folder / "advice.svg", list(RULES))
    cells = losses.select("dataset", "epsilon", "metric").unique().height
    l1 = losses.filter(pl.col("metric") == "l1", pl.col("rules").list.len() > 0)
    interval = 100 * float(np.median(l1["half_width"].to_numpy()))
    about = (
        f"{len(sources)} datasets × {len(epsilons)} ε × {losses['metric'].n_unique()} metrics: "
        f"{cells:,} cells (TV and MAE are ℓ1 in other units and count once; EMD, KS, range query "
        f"count where values are ordered). {losses['protocol'].n_unique()} protocols × every "
        f"method that applies; {repeats} repeats, exact simulation. The 95 % confidence interval "
        f"of a rule's loss in ℓ1 is ± {interval:.0f} percentage points in the median cell."
    )
    return "\n\n".join([about, _rules(losses), _by_metric(losses), _by_dataset(losses)])


def _losses(source: Dataset, epsilons: Sequence[float], repeats: int) -> pl.DataFrame:
    """One row per ε, metric and combination: its loss, and the rules that mean it."""
    results = ldp3.benchmark(source, epsilons, PROTOCOLS, "all", "all", repeats=repeats)
    better = results.better
    useless = [*RESCALED, *([] if source.ordered else SUMS)]
    distinct = results.table.filter(~pl.col("metric").is_in(useless))
    rows = []
    for (epsilon, metric), part in distinct.group_by("epsilon", "metric", maintain_order=True):
        pairs, errors = _errors(part, better[str(metric)])
        loss, half, best = _loss(errors)
        d = int(part["d"][0])
        sums = metric in SUMS
        rules = {rule: choose(d, float(epsilon), sums) for rule, choose in RULES.items()}
        rows += [
            {
                "dataset": part["dataset"][0], "epsilon": epsilon, "metric": metric,
                "protocol": pair[0], "method": pair[1], "loss": float(loss[i]),
                "half_width": float(half[i]), "best": bool(best[i]),
                "rules": [rule for rule, chosen in rules.items() if chosen == pair],
            }
            for i, pair in enumerate(pairs)
        ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _errors(part: pl.DataFrame, better: str) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Combinations, and their errors in every repeat."""
    pairs, errors = [], []
    for (protocol, method), runs in part.group_by("protocol", "method", maintain_order=True):
        values = runs.sort("repeat")["value"].to_numpy()
        pairs.append((str(protocol), str(method)))
        errors.append(values if better == "lower" else 1 - values)
    return pairs, np.array(errors)


def _loss(errors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loss, half of its 95 % confidence interval, and whether it is among the best.

    A combination is among the best if it is not significantly worse than the one with the lowest
    mean: Welch's one-sided test at 5 % over the number of combinations.
    """
    halves = errors[:, ::2].mean(axis=1), errors[:, 1::2].mean(axis=1)
    picked = int(halves[0].argmin()), int(halves[1].argmin())
    reference = (halves[1][picked[0]] + halves[0][picked[1]]) / 2
    means, spread = errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    if reference == 0:  # the ranking is always right: only who makes mistakes loses, and how much
        return np.where(means > 0, np.inf, 0.0), np.zeros(len(means)), means == 0
    leader = int(means.argmin())
    gap = np.sqrt(spread**2 + spread[leader] ** 2)
    best = means - means[leader] <= -ndtri(0.05 / len(means)) * gap
    return means / reference - 1, 1.96 * gap / reference, best


def _rules(losses: pl.DataFrame) -> str:
    """How often each rule is among the best, and how much it loses where it is not."""
    rows = [[rule, *_numbers(part)] for rule, part in _per_rule(losses)]
    fixed = losses.group_by("protocol", "method").agg(_typical().alias("typical"), pl.len())
    whole = fixed.filter(pl.col("len") == fixed["len"].max()).sort("typical")  # serves every cell
    for protocol, method in whole.select("protocol", "method").head(3).rows():
        part = losses.filter(protocol=protocol, method=method)
        rows.append([f"in hindsight: {protocol} + {method}", *_numbers(part)])
    return page.table(
        ["rule", "among the best", "median loss", "typical loss", "loss in 1 of 10 cells"],
        rows,
    )


def _per_rule(losses: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(rule, losses.filter(pl.col("rules").list.contains(rule))) for rule in RULES]


def _typical() -> pl.Expr:
    """Geometric mean of 1 + loss, less one, where the loss is a number."""
    finite = pl.col("loss").filter(pl.col("loss").is_finite())
    return (finite + 1).clip(lower_bound=0.5).log().mean().exp() - 1


def _numbers(part: pl.DataFrame) -> list[str]:
    finite = part.filter(pl.col("loss").is_finite())["loss"]
    typical = part.select(_typical()).item()
    numbers = finite.median(), typical, finite.quantile(0.9)
    best = np.mean(part["best"].to_numpy())
    return [f"{best:.0%}", *(f"{float(x):+.0%}" for x in numbers)]  # type: ignore[arg-type]


def _by_metric(losses: pl.DataFrame) -> str:
    """For each metric, what is most often among the best, and the typical loss of each rule."""
    return _grouped(losses, "metric")


def _by_dataset(losses: pl.DataFrame) -> str:
    return _grouped(losses, "dataset")


def _grouped(losses: pl.DataFrame, column: str) -> str:
    rows = []
    for (name,), part in losses.group_by(column, maintain_order=True):
        often = part.group_by("protocol", "method").agg(
            pl.col("best").sum(), _typical().alias("loss")
        )
        protocol, method, best, _ = often.sort("best", "loss", descending=[True, False]).row(0)
        cells = part.select("dataset", "epsilon", "metric").unique().height
        typical = [f"{p.select(_typical()).item():+.0%}" for _, p in _per_rule(part)]
        rows.append([str(name), f"{protocol} + {method} ({best / cells:.0%})", *typical])
    return page.table([column, "most often among the best", *RULES], rows)
