"""The standing leaderboard: every combination on a fixed grid, and which is best at what.

    python -m benchmarks.leaderboard

runs the grid, writes the page docs/leaderboard.html and the table between the marks of README.md.
To enter a protocol, a method or a metric of your own, put its file into benchmarks/entries and run
the command. With `--results FOLDER` a run that was stopped goes on.

A question is a metric at an ε, without attackers, and l1 with fake users who lift the ten rarest
values. Page and table are of one engine (`ldp3.results.verdict`): first comes the combination that
loses least at its worst, against the best of each dataset. The data, and so the grid, are our
choice: measure on yours.
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
from ldp3.printing import markdown_table, percent
from ldp3.protocols.base import FrequencyOracle
from ldp3.reporting import page as report
from ldp3.results import names
from ldp3.results.table import Results, joined
from ldp3.results.verdict import Compared, Comparison, comparisons

ROOT = Path(__file__).parents[1]
ENTRIES = ROOT / "benchmarks" / "entries"
DATASETS = (
    "flights",
    "zipf(s=1.3, d=128, n=1_000_000)",
    "zipf(s=0.9, d=512, n=1_000_000)",
    "gaussian(d=64, n=100_000)",
    "bimodal(d=256, n=1_000_000)",
)
# what an order suits alone has the page on numbers: it serves two of the datasets, and would leave
# a loss of several times to everything that serves all of them
PROTOCOLS = [
    name
    for name, cls in find(FrequencyOracle).items()
    if not (cls.needs_order or cls.needs_records or cls.instead)
]
ATTACKED = ("grr", "rappor", "oue", "blh", "olh", "ss")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METRICS = ("l1", "l2", "kl", "emd", "top_k")
ATTACK, FAKE_USERS, TARGETS = "mga", "1%", "bottom:10"  # counted by l1
REPEATS = 20
RULE = (
    f"Protocols and methods on {len(DATASETS)} datasets. First comes the combination whose worst "
    "loss against the best of a dataset is the least, as in the table of the README."
)


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


def table(found: Sequence[Comparison]) -> str:
    """The best combination per question, and what it loses at its worst."""
    first = {(one.metric, one.at.attack, one.at.epsilon): one.rows[0] for one in found}
    asked = dict.fromkeys((one.metric, one.at.attack) for one in found)
    rows = [["question", *(f"ε = {e:g}" for e in EPSILONS)]]
    for metric, attack in sorted(asked, key=lambda q: (q[1] != "none", *_place(q[0]))):
        cells = [first.get((metric, attack, e)) for e in EPSILONS]
        with_fakes = "" if attack == "none" else f", {FAKE_USERS} fake users ({ATTACK.upper()})"
        rows.append([f"{names.metric(metric)}{with_fakes}", *map(_written, cells)])
    return markdown_table(rows, "l")


def _written(first: Compared | None) -> str:
    if first is None:
        return "–"
    protocol, method = names.protocol(first.pair[0]), names.method(first.pair[1])
    return f"{protocol} {'alone' if method == 'none' else f'+ {method}'} {percent(first.worst)}"


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
    fakes = [one for one in under.sheets() if (one.at.attack, one.metric) == (ATTACK, "l1")]
    text = table(comparisons([*results.sheets(), *fakes]))
    page.fill(options.readme, "leaderboard", text)
    write_text(options.page, report.page(shown(results, under), "Leaderboard", RULE))
    print(f"{text}\n\n{options.page}: {options.page.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
