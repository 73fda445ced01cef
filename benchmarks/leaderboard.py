"""The standing leaderboard: every combination on a fixed grid, and which is best at what.

    python -m benchmarks.leaderboard

runs the grid, writes the page docs/leaderboard.html and the table between the marks of README.md.
To enter a protocol, a method or a metric of your own, put its file into benchmarks/entries and run
the command. With `--results FOLDER` a run that was stopped goes on.

A question is a metric at an ε. On every dataset a combination has a ratio to the lowest mean error;
its place is by the geometric mean of these over the datasets (for metrics of which more is better
the error is one minus the metric). The data, and so the grid, are our choice: measure on yours.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

import ldp3
from examples.reproduction import page
from ldp3.kinds import find
from ldp3.metrics.base import Metric
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import PostProcessor
from ldp3.printing import markdown_table
from ldp3.protocols.base import FrequencyOracle
from ldp3.results.table import Results

ROOT = Path(__file__).parents[1]
ENTRIES = ROOT / "benchmarks" / "entries"
DATASETS = (
    "flights",
    "zipf(s=1.3, d=128, n=1_000_000)",
    "zipf(s=0.9, d=512, n=1_000_000)",
    "gaussian(d=64, n=100_000)",
    "bimodal(d=256, n=1_000_000)",
)
PROTOCOLS = ("all",)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METRICS = ("l1", "l2", "kl", "emd", "top_k")
REPEATS = 20
TINY = 1e-12  # where nobody errs, all draw
COMBINATION = ["protocol", "method"]
LEAST = 1e-3  # errors below this share of the mean over combinations count as equal: all are right


def run(repeats: int, results: Path | None = None) -> Results:
    """The grid, with everything in the folder of entries."""
    files = sorted(ENTRIES.glob("*.py"))
    modules = load_plugins(files)

    def named(kind: type, ours: Sequence[str]) -> list[str]:
        own = find(kind)
        return [*ours, *(name for name in find(kind, *modules) if name not in own)]

    return ldp3.benchmark(
        list(DATASETS),
        EPSILONS,
        named(FrequencyOracle, PROTOCOLS),
        named(PostProcessor, ["all"]),
        named(Metric, METRICS),
        repeats=repeats,
        output=results,
        plugins=files,
    )


def ratios(results: Results) -> pl.DataFrame:
    """Ratio of each combination to the best of its dataset, over the datasets, best first."""
    ordered = {name for name, data in results.datasets.items() if data.ordered}
    higher = [metric for metric, better in results.better.items() if better == "higher"]
    sums = pl.col("metric").is_in(["emd", "ks", "range_query"])
    more = pl.col("metric").is_in(higher)
    error = pl.when(more).then(1 - pl.col("mean")).otherwise(pl.col("mean"))
    question, cell = ["metric", "epsilon"], ["metric", "epsilon", "dataset"]
    errors = (
        results.summary()
        .filter(~sums | pl.col("dataset").is_in(list(ordered)))
        .with_columns(error=error)
        .with_columns(least=LEAST * pl.col("error").mean().over(cell) + TINY)
        .with_columns(error=pl.max_horizontal("error", "least"))
        .with_columns(ratio=pl.col("error") / pl.col("error").min().over(cell))
    )
    typical = errors.group_by(*question, *COMBINATION, maintain_order=True).agg(
        ratio=pl.col("ratio").log().mean().exp(), worst=pl.col("ratio").max(), served=pl.len()
    )
    # one that serves some of the datasets only cannot win a question about all
    whole = typical.filter(pl.col("served") == pl.col("served").max().over(question))
    return whole.sort("metric", "epsilon", "ratio", maintain_order=True)


def table(places: pl.DataFrame) -> str:
    """The best combination per question, and how far it is from the best of each dataset."""
    rows = [["question", *(f"ε = {e:g}" for e in EPSILONS)]]
    for metric in places["metric"].unique(maintain_order=True).sort():
        first = [places.filter(metric=metric, epsilon=e).row(0, named=True) for e in EPSILONS]
        cells = [f"`{r['protocol']}` + `{r['method']}` {r['ratio']:.2f}" for r in first]
        rows.append([f"`{metric}`", *cells])
    return markdown_table(rows, "l")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="keep the results here")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "leaderboard.html")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_args(arguments)
    page.require_marks(options.readme, ["leaderboard"])
    results = run(options.repeats, options.results)
    ldp3.report(results, options.page)
    text = table(ratios(results))
    page.fill(options.readme, "leaderboard", text)
    print(f"{text}\n\n{options.page}: {options.page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
