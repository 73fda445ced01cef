"""The standing leaderboard: every combination on a fixed grid, and which is best at what.

    python -m benchmarks.leaderboard

runs the grid, writes the page docs/leaderboard.html and the table between the marks of README.md.
To enter a protocol, a method or a metric of your own, put its file into benchmarks/entries and run
the command. With `--results FOLDER` a run that was stopped goes on.

A question is a metric at an ε, without attackers, and l1 with fake users who lift the ten rarest
values. On every dataset a combination has a ratio to the lowest mean error;
its place is by the geometric mean of these over the datasets (for metrics of which more is better
the error is one minus the metric). The data, and so the grid, are our choice: measure on yours.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

import ldp3
from examples.reproduction import page
from ldp3.attacks.targets import TargetShare
from ldp3.files import write_text
from ldp3.kinds import find
from ldp3.metrics.base import Metric
from ldp3.plugins import load_plugins
from ldp3.postprocessing.base import PostProcessor
from ldp3.printing import markdown_table
from ldp3.protocols.base import FrequencyOracle
from ldp3.reporting import page as report
from ldp3.results import names
from ldp3.results.joining import joined
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
ATTACKED = ("grr", "rappor", "oue", "blh", "olh", "ss")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METRICS = ("l1", "l2", "kl", "emd", "top_k")
ATTACK, FAKE_USERS, TARGETS = "mga", "1%", "bottom:10"  # counted by l1
REPEATS = 20
TINY = 1e-12  # where nobody errs, all draw
RULE = (
    f"Protocols and methods on {len(DATASETS)} datasets. First comes the combination whose worst "
    "loss over the datasets is the least; the table in the README has the one with the "
    "lowest geometric mean of its error over the lowest error on each dataset."
)
COMBINATION = ["protocol", "method"]
LEAST = 1e-3  # errors below this share of the mean over combinations count as equal: all are right


def run(repeats: int, results: Path | None = None) -> Results:
    """The grid without attackers, with everything in the folder of entries."""
    files, named = _entries()
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


def attacked(repeats: int, results: Path | None = None) -> Results:
    """The same methods with fake users, on protocols whose reports they can make to order."""
    files, named = _entries()
    return ldp3.benchmark(
        list(DATASETS),
        EPSILONS,
        list(ATTACKED),
        named(PostProcessor, ["all"]),
        ["l1", TargetShare((TARGETS,))],
        repeats=repeats,
        output=results,
        plugins=files,
        attacks=ATTACK,
        fake_users=FAKE_USERS,
        targets=TARGETS,
    )


def _entries() -> tuple[list[Path], Callable[[type, Sequence[str]], list[str]]]:
    """The files, and what to run of a kind: ours, and what the files define."""
    files = sorted(ENTRIES.glob("*.py"))
    modules = load_plugins(files)

    def named(kind: type, ours: Sequence[str]) -> list[str]:
        own: dict[str, type] = find(kind)
        return [*ours, *(name for name in find(kind, *modules) if name not in own)]

    return files, named


def ratios(results: Results) -> pl.DataFrame:
    """Ratio of each combination to the best of its dataset, over the datasets, best first."""
    ordered = {name for name, data in results.datasets.items() if data.ordered}
    higher = [metric for metric, better in results.better.items() if better == "higher"]
    sums = pl.col("metric").is_in(["emd", "ks", "range_query"])
    more = pl.col("metric").is_in(higher)
    error = pl.when(more).then(1 - pl.col("mean")).otherwise(pl.col("mean"))
    question, cell = ["metric", "attack", "epsilon"], ["metric", "attack", "epsilon", "dataset"]
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
    return whole.sort(*question, "ratio", maintain_order=True)


def table(places: pl.DataFrame) -> str:
    """The best combination per question, and how far it is from the best of each dataset."""
    rows = [["question", *(f"ε = {e:g}" for e in EPSILONS)]]
    asked = places.select("metric", "attack").unique(maintain_order=True).rows()
    for metric, attack in sorted(asked, key=lambda q: (q[1] != "none", *_place(q[0]))):
        here = places.filter(metric=metric, attack=attack)
        first = [here.filter(epsilon=e).row(0, named=True) for e in EPSILONS]
        cells = [f"{_combination(r['protocol'], r['method'])} {r['ratio']:.2f}" for r in first]
        with_fakes = "" if attack == "none" else f", {FAKE_USERS} fake users ({ATTACK.upper()})"
        rows.append([f"{names.metric(metric)}{with_fakes}", *cells])
    return markdown_table(rows, "l")


def _combination(protocol: str, method: str) -> str:
    read = names.protocol(protocol)
    return f"{read} + {names.method(method)}" if method != "none" else f"{read} alone"


def shown(results: Results, under: Results) -> Results:
    """What fits on a page of 3 MB: without the mean frequencies, and without top_k."""
    errors = replace(results, table=results.table.filter(pl.col("metric") != "top_k"), means=None)
    both = pl.col("attack").eq("none") & pl.col("metric").eq("l1")  # these collections are in both
    return joined([errors, replace(under, table=under.table.filter(~both), means=None)])


def _place(metric: str) -> tuple[int, str]:
    """Ours in the order of the grid, then those of entries."""
    return METRICS.index(metric) if metric in METRICS else len(METRICS), metric


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="keep the results here")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "leaderboard.html")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_args(arguments)
    page.require_marks(options.readme, ["leaderboard"])
    if options.results:
        options.results.mkdir(parents=True, exist_ok=True)
    clean, fake = (options.results and options.results / name for name in ("clean", "attacked"))
    results, under = run(options.repeats, clean), attacked(options.repeats, fake)
    text = table(pl.concat([ratios(results), ratios(under).filter(attack=ATTACK, metric="l1")]))
    page.fill(options.readme, "leaderboard", text)
    write_text(options.page, report.page(shown(results, under), "Leaderboard", RULE))
    print(f"{text}\n\n{options.page}: {options.page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
